"""What a study was made of and what was made of it, and a form to make one."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import permission_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation import doors
from annotation.actions import Refused, store_scheme
from annotation.deriving import making, queries
from annotation.deriving.actions import derive_study, note_looks
from annotation.deriving.forms import DeriveForm
from annotation.forms.schemes import SchemeText
from annotation.models import Role, Scheme, Study
from annotation.people.access import AppRequest, for_roles

_A_PAGE = 500


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def lineage(request: AppRequest, study: Study) -> HttpResponse:
    """Each made row and column beside what it rests on; then what was made of this study's own cells.

    Answers of raters are shown: who labels in that study too has looked at its sheets.
    """
    begin = _number(request.GET.get("begin", ""))
    before = study.derived_from if queries.may_read_before(study, request.user) else None
    rests = queries.lineage_in(study, begin=begin, most=_A_PAGE) if before else []
    made = queries.made_of(study, request.user, begin=begin, most=_A_PAGE)
    note_looks([*rests, *made], by=request.user)
    context = {
        "study": study,
        "before": before,
        "rests": rests,
        "made": made,
        "derived": queries.derived_studies(study, request.user),
        "earlier": max(begin - _A_PAGE, 0) if begin else None,
        "later": begin + _A_PAGE if max(len(rests), len(made)) == _A_PAGE else None,
    }
    return render(request, "annotation/lineage.html", context)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _suggested(request: AppRequest) -> dict[str, str]:
    """What a link to the form has filled in: title, slug, settings; `scheme` by its key, the newest version of it."""
    given = {key: str(value) for key, value in request.GET.items() if key != "deriver"}
    stored = Scheme.objects.filter(slug=given.get("scheme", "")).order_by("-version").values_list("pk", flat=True)
    return given | {"scheme": str(stored[0])} if stored else given


def _is_offered(deriver: making.Deriver, study: Study) -> bool:
    """Something can come of it in this study: the scheme asks for it, and texts that it reads were written."""
    return deriver.fits(study.scheme.parsed) and (not deriver.reads_texts or any(doors.texts_of(study).values()))


@permission_required("annotation.add_study", raise_exception=True)
@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def derive(request: AppRequest, study: Study) -> HttpResponse:
    chosen = making.deriver(request.GET.get("deriver", ""))
    derivers = [one for one in making.derivers() if one is chosen or _is_offered(one, study)]
    deriver = chosen or derivers[0]
    form = DeriveForm(
        request.POST or None, request.FILES or None, study=study, deriver=deriver, initial=_suggested(request)
    )
    if request.method == "POST" and form.is_valid():
        data: dict[str, Any] = form.cleaned_data
        try:
            with transaction.atomic():
                scheme = data["scheme"]
                if isinstance(scheme, SchemeText):
                    scheme = store_scheme(spec=scheme.spec, source=scheme.source)
                made = derive_study(
                    source=study,
                    deriver=deriver.key,
                    scheme=scheme,
                    slug=data["slug"],
                    title=data["title"],
                    rater=rater.code if (rater := data.get("rater")) else "",
                    settings=form.chosen(),
                    by=request.user,
                )
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("annotation:study", made.slug)
    return render(
        request, "annotation/derive.html", {"study": study, "form": form, "derivers": derivers, "deriver": deriver}
    )
