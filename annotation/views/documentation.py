"""The documentation, shown in the program."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from annotation.documentation import FOLDER, address_of
from annotation.people.access import AppRequest
from base.documentation import CONTENTS, found, groups_in, pages_in, place_of
from base.markup import html_of


@require_GET
def page(request: AppRequest, name: str = CONTENTS) -> HttpResponse:
    """A page of it, beside its contents; with `q` where its words are, in all pages."""
    pages = pages_in(FOLDER)
    shown = pages.get(name)
    if shown is None:
        raise Http404

    def here(href: str) -> str | None:
        other, anchor = place_of(name, href)
        return address_of(f"{other}#{anchor}" if anchor else other) if other in pages else None

    above = name.partition("/")[0]  # the page that leads to this one, where the contents do not
    query = " ".join(request.GET.get("q", "").split())[:100]
    context = {
        "page": shown,
        "body": mark_safe(html_of(shown.text, here)),  # noqa: S308 (it escapes all)
        "sections": [one for one in shown.sections if one.level == 2],
        "groups": [(group, any(one in (name, above) for one, _called in group.pages)) for group in groups_in(FOLDER)],
        "above": above,
        "is_contents": name == CONTENTS,
        "query": query,
        "hits": found((one for one in pages.values() if one.name != CONTENTS), query),
    }
    return render(request, "annotation/documentation.html", context)
