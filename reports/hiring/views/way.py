"""The way from people's labels to a judge's: where a study stands, the split, and the judges to choose from."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation.actions import Refused
from annotation.exchange.exports import safe_lines
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles, posted_from
from reports.forms import not_understood
from reports.hiring import actions, queries
from reports.hiring.forms import EpsilonForm, SplitForm
from reports.hiring.queries.choosing import Candidate
from reports.hiring.views.panels import of_split
from reports.hiring.words import SCORES, drawn_as, title_of
from reports.models import Certificate, TestLook

_LOOKS = 20  # on the page


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def way(request: AppRequest, study: Study) -> HttpResponse:
    return _way(request, study)


def _way(request: AppRequest, study: Study, form: SplitForm | None = None) -> HttpResponse:
    split = queries.split_of(study)
    certificates = Certificate.objects.filter(study=study).select_related(
        "study__scheme", "rater", "question__section__scheme", "created_by", "revocation"
    )
    looks = TestLook.objects.filter(study=study).select_related("by", "certificate")
    context: dict[str, Any] = {
        "study": study,
        "scheme": study.scheme.parsed,
        "may_write": Role.MANAGER in study.roles,
        **of_split(study, split),
        "form": form or SplitForm.showing(split, study=study),
        "looks": [(look, title_of(study, look.question) if look.question else "") for look in looks[:_LOOKS]],
        "certificates": [
            (
                certificate,
                title_of(study, queries.question_name(certificate.question)),
                queries.standing_of(certificate),
            )
            for certificate in certificates
        ],
        "has_judges": study.raters.judges().exists(),
    }
    return render(request, "reports/hiring/way.html", context)


@for_roles(Role.MANAGER)
@posted_from("reports:hiring")
def draw_split(request: AppRequest, study: Study) -> HttpResponse:
    form = SplitForm(request.POST, study=study)
    if not form.is_valid():
        return _way(request, study, form)
    try:
        actions.draw_split(study=study, by=request.user, **form.cleaned_data)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("The split is drawn. From now on every look at the test part is counted."))
    return redirect("reports:hiring", study.slug)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def choose(request: AppRequest, study: Study, form: str = "") -> HttpResponse:
    """The study's judges with what they are worth on development documents; as a page, or as CSV."""
    asked = EpsilonForm(request.GET if "epsilon" in request.GET else None, initial={"epsilon": 5})
    sort = request.GET.get("sort", "")
    sort = sort if sort in queries.SORTS else "coverage"
    found = queries.in_order(queries.candidates(study, epsilon=asked.share), sort)
    if form == "csv":
        return not_understood(asked) if asked.errors else _csv_of(study, found)
    query = request.GET.copy()
    query.pop("sort", None)
    scheme = study.scheme.parsed
    context = {
        "study": study,
        "scheme": scheme,
        "intervals_by": drawn_as(queries.units_of(study)[0], scheme.words),
        "may_write": Role.MANAGER in study.roles,
        "split": queries.split_of(study),
        "form": asked,
        "epsilon": asked["epsilon"].value(),
        "sort": sort,
        "query": query.urlencode(),
        "candidates": [(candidate, SCORES[candidate.score]) for candidate in found if candidate.cells],
        "with_examples": any(candidate.examples for candidate in found),
        "n_empty": sum(not candidate.cells for candidate in found),
    }
    return render(request, "reports/hiring/choose.html", context)


def _csv_of(study: Study, candidates: list[Candidate]) -> HttpResponse:
    """Each number as the API has it: shares, not as the page rounds them."""
    heads = [field.name for field in fields(Candidate)]
    rows = [["" if value is None else str(value) for value in astuple(one)] for one in candidates]
    content = "\ufeff" + "".join(safe_lines(heads, rows))
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-judges.csv"'
    return response
