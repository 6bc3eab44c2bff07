"""The page on which a person goes through the lines of a document and mends them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation.actions import Refused
from annotation.evidence import kinds
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING
from annotation.models import Role, Row, Study
from annotation.people.access import AppRequest, for_roles
from recipes.cooking import actions
from recipes.cooking import mending_queries as queries
from recipes.cooking.models import Document, Mending
from recipes.cooking.pages.mending import Line
from recipes.cooking.vocabulary import INGREDIENT, STEP


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def mend(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    row = get_object_or_404(Row.objects.select_related("sheet__study__scheme"), sheet__study=study, pk=pk)
    if request.method == "GET":
        return _page(request, study, row, [Line(block, i) for i, block in enumerate(row.blocks)])
    lines: list[Line] = []
    try:
        lines = _lines(request)
        entry = actions.mend(row=row, lines=lines, seen=request.POST.get("seen", ""), by=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
        return _page(request, study, row, lines or [Line(block, i) for i, block in enumerate(row.blocks)], status=409)
    if entry.is_confirmation:
        messages.success(request, _("Nothing was changed: it is noted that you found the lines right."))
    else:
        messages.success(request, _("The lines are mended. Labels that stand were not touched."))
    return redirect("recipes:document", study.slug, row.pk)


@require_POST
@for_roles(Role.MANAGER)
def put_back(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """Put the lines back to what they were before an entry of the history."""
    entry = get_object_or_404(Mending.objects.select_related("row__sheet"), row__sheet__study=study, pk=pk)
    try:
        actions.put_back(entry=entry, seen=request.POST.get("seen", ""), by=request.user)
        messages.success(request, _("The lines are as they were before. Labels that stand were not touched."))
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("recipes:document", study.slug, entry.row_id)


def _lines(request: HttpRequest) -> list[Line]:
    sent = [request.POST.getlist(name) for name in ("kind", "text", "origin")]
    if len({len(values) for values in sent}) != 1:
        raise Refused(_("The lines did not arrive whole. Send them again."))
    return [
        Line(Block(kind, text), int(origin) if origin.isdecimal() and len(origin) < 9 else None)
        for kind, text, origin in zip(*sent, strict=True)
    ]


def _page(request: AppRequest, study: Study, row: Row, lines: list[Line], status: int = 200) -> HttpResponse:
    known = kinds.known(study.scheme.parsed.block_kinds)
    used = dict.fromkeys([INGREDIENT, STEP, HEADING, *(line.block.kind for line in lines)])
    context = {
        "study": study,
        "row": row,
        "lines": lines,
        "kinds": [(kind, known[kind].title if kind in known else kind) for kind in used],
        "seen": request.POST.get("seen") or queries.digest_of(row),
        "state": queries.states(study).get(row.pk),
        "stored": Document.objects.filter(row=row).exists(),
    }
    return render(request, "recipes/mend.html", context, status=status)
