"""Frozen reports: made, read, computed again, compared."""

from __future__ import annotations

import hashlib
from functools import wraps
from urllib.parse import urlencode

from django.contrib import messages
from django.core.cache import caches
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.actions import Refused
from annotation.models import Role, Study
from annotation.people.access import AppRequest, P, StudyView, for_roles, posted_from
from reports import actions
from reports.answer_figures import answer_figures
from reports.answer_table import KEY, answer_table
from reports.answers import Answers, answers_of
from reports.contents import read_contents
from reports.data.arrays import Filters
from reports.data.cells import study_data
from reports.data.label_table import UnknownFormat
from reports.forms import CompareForm, FiltersForm, FreezeForm
from reports.frozen import recomputing
from reports.frozen.versions import code_version
from reports.models import Report
from reports.numbers.report import compute
from reports.views.answers import said_of
from reports.views.comparing import compared, differences, of_frozen
from reports.views.pages import cells_csv, cells_page, csv_of, figure_response, keep


@require_POST
@for_roles(Role.RESEARCHER, Role.MANAGER)
def freeze(request: AppRequest, study: Study) -> HttpResponse:
    """Freeze what the page shows: its filters come in the query, the title in the form."""
    form, filters = FreezeForm(request.POST), FiltersForm(request.GET, study=study)
    back = redirect("reports:report", study.slug)
    back["Location"] += f"?{request.GET.urlencode()}" if request.GET else ""
    if not form.is_valid() or not filters.is_valid():
        messages.error(request, _("Nothing is frozen: give the report a title, and filters that are understood."))
        return back
    try:
        report = actions.freeze(
            study=study, title=form.cleaned_data["title"], filters=filters.filters(), by=request.user
        )
    except Refused as refused:
        messages.error(request, str(refused))
        return back
    messages.success(request, _("Frozen. It stays as it is, whatever is labelled from now on."))
    return redirect("reports:frozen", study.slug, report.pk)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def frozen_list(request: AppRequest, study: Study) -> HttpResponse:
    reports = study.reports.defer("labels", "results").select_related("created_by")
    return render(
        request, "reports/frozen_list.html", {"study": study, "reports": reports, "here": "reports:frozen-list"}
    )


def _report(study: Study, pk: int) -> Report:
    return get_object_or_404(study.reports.select_related("created_by"), pk=pk)


def _reads_labels(view: StudyView[P]) -> StudyView[P]:
    """For what is computed from frozen labels: where this version cannot read them, the report's page says so."""

    @wraps(view)
    def wrapper(request: AppRequest, study: Study, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            return view(request, study, *args, **kwargs)
        except UnknownFormat:
            messages.error(request, _("The labels of this report cannot be read by this version of Palate."))
            return redirect("reports:frozen", study.slug, kwargs["pk"])

    return wrapper


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def frozen(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    return _page(request, study, _report(study, pk))


@for_roles(Role.RESEARCHER, Role.MANAGER, archived=True)
@posted_from("reports:frozen")
@_reads_labels
def recompute(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    report = _report(study, pk)
    return _page(request, study, report, recomputing.recompute(report))


def _page(
    request: AppRequest, study: Study, report: Report, again: recomputing.Recomputed | None = None
) -> HttpResponse:
    contents = read_contents(report.results)
    context = {
        "study": study,
        "frozen": report,
        "contents": contents,
        "digests": keep(study, contents.figures),
        "again": again,
        "compare_form": CompareForm(report=report),
        "here": "reports:frozen-list",
    }
    return render(request, "reports/frozen.html", context)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def frozen_answers(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """A piece of the page: the answers, computed from the frozen labels by the methods of the report's day and said in
    its language. They are no part of what is frozen, and are made once the page is there."""
    report = _report(study, pk)
    try:
        answers = _answers(report)
    except UnknownFormat:
        return HttpResponse(_("The labels of this report cannot be read by this version of Palate."))
    if not answers.n_labels:
        return HttpResponse("")
    with translation.override(report.language):
        context = said_of(answers, study)
        context |= {"study": study, "frozen": report, "here": "reports:frozen-list", "part": None}
        context["digests"] = keep(study, context["figures"])
        return render(request, "reports/_answers.html", context)


def _answers(report: Report) -> Answers:
    key = hashlib.sha256(f"{report.results_digest}:{report.pk}:{code_version()}".encode()).hexdigest()
    found = caches["reports"].get(key)
    if not isinstance(found, Answers):
        filters = Filters.from_json(report.filters)
        with translation.override(report.language):
            found = answers_of(compute(study_data(recomputing.labels_of(report), filters), filters))
        caches["reports"].set(key, found)
    return found


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def compare(request: AppRequest, study: Study, pk: int, form: str = "") -> HttpResponse:
    """What differs from another frozen report; `form` "csv": all of it, as a spreadsheet reads it."""
    report = _report(study, pk)
    choice = CompareForm(request.GET, report=report)
    if not choice.is_valid():
        messages.error(request, _("Choose a frozen report of this study to compare with."))
        return redirect("reports:frozen", study.slug, pk)
    other: Report = choice.cleaned_data["other"]
    sides = (of_frozen(report), of_frozen(other))
    if form == "csv":
        return csv_of(differences(*sides))
    csv = f"{reverse('reports:compare-csv', args=[study.slug, pk])}?{urlencode({'other': other.pk})}"
    return render(request, "reports/compare.html", {"study": study, "frozen": report, "csv": csv, **compared(*sides)})


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
@_reads_labels
def frozen_figure(request: AppRequest, study: Study, pk: int, key: str, ending: str) -> HttpResponse:
    report = _report(study, pk)
    found = next((figure for figure in read_contents(report.results).figures if figure.key == key), None)
    if found is None and key.startswith("answers."):
        with translation.override(report.language):
            found = next((figure for figure in answer_figures(_answers(report)) if figure.key == key), None)
    return figure_response(request, found, ending)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
@_reads_labels
def frozen_table(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """One table of a frozen report as a spreadsheet reads it."""
    report = _report(study, pk)
    if request.GET.get("table") == KEY:
        with translation.override(report.language):
            return csv_of(answer_table(_answers(report)))
    contents = read_contents(report.results)
    return csv_of(next((table for table in contents.tables if table.key == request.GET.get("table")), None))


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
@_reads_labels
def frozen_cells(request: AppRequest, study: Study, pk: int, form: str = "") -> HttpResponse:
    """The cells behind a count of a frozen confusion table, from the labels that are frozen with it; `form` "csv": all
    of them, as a spreadsheet reads them."""
    report = _report(study, pk)
    filters = Filters.from_json(report.filters)
    data = study_data(recomputing.labels_of(report), filters)
    computed = compute(data, filters)
    if form == "csv":
        return cells_csv(request, study, computed)
    csv = reverse("reports:frozen-cells-csv", args=[study.slug, pk])
    return cells_page(request, study, computed, csv, {"frozen": report})
