"""Frozen reports: made, read, computed again, compared."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.actions import Refused
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from reports import actions
from reports.contents import read_contents
from reports.data.arrays import Filters, study_data
from reports.data.label_table import UnknownFormat
from reports.forms import CompareForm, FiltersForm, FreezeForm
from reports.frozen import comparison, recomputing
from reports.models import Report
from reports.numbers.report import compute
from reports.views.pages import cells_page, figure_response, keep


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
    return render(request, "reports/frozen_list.html", {"study": study, "reports": reports})


def _report(study: Study, pk: int) -> Report:
    return get_object_or_404(study.reports.select_related("created_by"), pk=pk)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def frozen(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    return _page(request, study, _report(study, pk))


@require_POST
@for_roles(Role.RESEARCHER, Role.MANAGER)
def recompute(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    report = _report(study, pk)
    try:
        again = recomputing.recompute(report)
    except UnknownFormat:
        messages.error(request, _("The labels of this report cannot be read by this version of Palate."))
        return redirect("reports:frozen", study.slug, pk)
    return _page(request, study, report, again)


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
    }
    return render(request, "reports/frozen.html", context)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def compare(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    report = _report(study, pk)
    form = CompareForm(request.GET, report=report)
    if not form.is_valid():
        messages.error(request, _("Choose a frozen report of this study to compare with."))
        return redirect("reports:frozen", study.slug, pk)
    other: Report = form.cleaned_data["other"]
    compared = comparison.compare(read_contents(report.results), read_contents(other.results))
    context = {"study": study, "frozen": report, "other": other, "compared": compared}
    return render(request, "reports/compare.html", context)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def frozen_figure(request: AppRequest, study: Study, pk: int, key: str, ending: str) -> HttpResponse:
    contents = read_contents(_report(study, pk).results)
    found = next((figure for figure in contents.figures if figure.key == key), None)
    return figure_response(request, found, ending)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def frozen_cells(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """The cells behind a count of a frozen confusion table, from the labels that are frozen with it."""
    report = _report(study, pk)
    filters = Filters.from_json(report.filters)
    data = study_data(recomputing.labels_of(report), filters)
    return cells_page(request, study, compute(data, filters), {"frozen": report})
