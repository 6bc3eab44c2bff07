"""The report as the study stands, taken along: downloads, figures, and the cells and texts behind a count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.actions import Refused, note_looks
from annotation.models import Role, Row, Study
from annotation.people.access import AppRequest, for_roles
from reports import exported_labels, exports, queries
from reports.answer_figures import answer_figures
from reports.answers import answers_of
from reports.contents import Contents, contents_of
from reports.data.arrays import LEAVE_OUT, Filters
from reports.data.cells import study_data
from reports.exports import labels as long_form
from reports.exports.wide import wide
from reports.forms import FiltersForm, not_understood
from reports.hiring.queries import with_decided
from reports.live import Live
from reports.numbers.report import StudyReport, compute
from reports.views.pages import cells_csv, cells_page, figure_response, kept

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def report_csv(request: AppRequest, study: Study) -> HttpResponseBase:
    found = _kept_or_made(request, study)
    if isinstance(found, HttpResponse):
        return found
    _filters, contents = found
    content = exports.report_csv(contents)
    return _download(HttpResponse(content, content_type="text/csv; charset=utf-8"), f"{study.slug}-report.csv")


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def report_xlsx(request: AppRequest, study: Study) -> HttpResponseBase:
    found = _kept_or_made(request, study)
    if isinstance(found, HttpResponse):
        return found
    filters, contents = found
    note_looks(sheets=exported_labels.sheets_in(study, filters), user=request.user)
    content = exports.report_xlsx(contents, *_labels(study, filters))
    return _download(HttpResponse(content, content_type=_XLSX), f"{study.slug}-report.xlsx")


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def labels_csv(request: AppRequest, study: Study) -> HttpResponseBase:
    form = FiltersForm(request.GET, study=study)
    if not form.is_valid():
        return not_understood(form)
    note_looks(sheets=exported_labels.sheets_in(study, form.filters()), user=request.user)
    lines = exports.labels_csv(*_labels(study, form.filters()))
    return _download(StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8"), f"{study.slug}-labels.csv")


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def labels_wide_csv(request: AppRequest, study: Study) -> HttpResponseBase:
    """The same labels, a line for each rater and row."""
    form = FiltersForm(request.GET, study=study)
    if not form.is_valid():
        return not_understood(form)
    filters = form.filters()
    note_looks(sheets=exported_labels.sheets_in(study, filters), user=request.user)
    lines = exports.labels_csv(*wide(study.scheme.parsed, *_labels(study, filters), filters.questions))
    name = f"{study.slug}-labels-wide.csv"
    return _download(StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8"), name)


def _labels(study: Study, filters: Filters) -> tuple[tuple[str, ...], Iterator[tuple[str, ...]]]:
    """The headings and lines of the labels: those that stand, or that stood at the moment of the filters. What a judge
    has seen the label table alone knows."""
    if filters.moment is None and filters.seen != LEAVE_OUT:
        return exported_labels.header(study), exported_labels.lines(study, filters)
    table = with_decided(queries.label_table(study, replace(filters, normalisations={}), notes=True), study)
    told = table, filters.questions, queries.rows_about(study, table)
    return long_form.header(table), chain(long_form.records(*told), long_form.skipped(*told))


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def figure(request: AppRequest, study: Study, key: str, ending: str) -> HttpResponse:
    """A figure of the page, which kept it under its digest; computed again where it is not kept any more."""
    found = kept(study, request.GET.get("v", ""))
    if found is None or found.key != key:
        report = _computed(request, study)
        if isinstance(report, HttpResponse):
            return report
        every = [*contents_of(report).figures, *answer_figures(answers_of(report))]
        found = next((figure for figure in every if figure.key == key), None)
    return figure_response(request, found, ending)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def cells(request: AppRequest, study: Study, form: str = "") -> HttpResponse:
    """The cells behind a count of a confusion table, as the study stands; `form` "csv": all of them, as a spreadsheet
    reads them."""
    report = _computed(request, study, notes=True)
    if isinstance(report, HttpResponse):
        return report
    if form == "csv":
        return cells_csv(request, study, report)
    return cells_page(request, study, report, reverse("reports:cells-csv", args=[study.slug]), {})


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def evidence(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """The text of a row, as its raters read it."""
    row = get_object_or_404(Row.objects.select_related("sheet"), sheet__study=study, pk=pk)
    return render(request, "reports/evidence.html", {"study": study, "row": row, "blocks": row.blocks})


def _computed(request: AppRequest, study: Study, *, notes: bool = False) -> StudyReport | HttpResponse:
    """The report that the query asks for, or what is said instead."""
    form = FiltersForm(request.GET, study=study)
    if form.is_valid():
        filters = form.filters()
        try:
            table = queries.label_table(study, filters, notes=notes, frequent=True)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            return compute(study_data(table, filters), filters)
    return not_understood(form)


def _kept_or_made(request: AppRequest, study: Study) -> tuple[Filters, Contents] | HttpResponse:
    """The same, for what shows no single label: as the pages have kept it, where they have."""
    form = FiltersForm(request.GET, study=study)
    if form.is_valid():
        filters = form.filters()
        try:
            return filters, Live(study).made(filters).contents
        except Refused as refused:
            form.add_error(None, str(refused))
    return not_understood(form)


def _download(response: HttpResponseBase, name: str) -> HttpResponseBase:
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
