"""The researcher's pages: the report, read and downloaded."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from annotation.access import AppRequest, for_roles
from annotation.exports import label_header
from annotation.models import Role, Study
from reports import exports, queries
from reports.arrays import Filters
from reports.compute import StudyReport, compute
from reports.forms import FiltersForm
from reports.tables import about, overview, question_tables, raters, section_tables

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def report(request: AppRequest, study: Study) -> HttpResponse:
    form = FiltersForm(request.GET, study=study)
    filters = form.filters() if form.is_valid() else Filters()
    report = compute(queries.load(study, filters), filters)
    sections = [
        {
            "key": section.key,
            "title": section.title,
            "tables": list(section_tables(report, section)),
            "questions": [
                {
                    "key": question.data.name,
                    "title": question.spec.title if len(section.questions) > 1 else "",
                    "tables": list(question_tables(report, question)),
                }
                for question in section.questions
            ],
        }
        for section in report.sections
    ]
    context = {
        "study": study,
        "form": form,
        "report": report,
        "about": about(report),
        "filtered": filters != Filters(),
        "figures": _figures(report),
        "overview": overview(report),
        "sections": sections,
        "raters": raters(report),
        "query": request.GET.urlencode(),
    }
    return render(request, "reports/report.html", context)


def _figures(report: StudyReport) -> list[tuple[int, str]]:
    data, words = report.data, report.data.scheme.words
    return [
        (len(data.sheets), words.sheet if len(data.sheets) == 1 else words.sheets),
        (len(data.people), ngettext("person", "people", len(data.people))),
        (len(data.judges), ngettext("judge", "judges", len(data.judges))),
        (data.n_labels, ngettext("label", "labels", data.n_labels)),
    ]


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def report_csv(request: AppRequest, study: Study) -> HttpResponseBase:
    form = FiltersForm(request.GET, study=study)
    if not form.is_valid():
        return _not_understood(form)
    filters = form.filters()
    content = exports.report_csv(compute(queries.load(study, filters), filters))
    return _download(HttpResponse(content, content_type="text/csv; charset=utf-8"), f"{study.slug}-report.csv")


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def report_xlsx(request: AppRequest, study: Study) -> HttpResponseBase:
    form = FiltersForm(request.GET, study=study)
    if not form.is_valid():
        return _not_understood(form)
    filters = form.filters()
    report = compute(queries.load(study, filters), filters)
    content = exports.report_xlsx(report, label_header(study), queries.labels(study, filters))
    return _download(HttpResponse(content, content_type=_XLSX), f"{study.slug}-report.xlsx")


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def labels_csv(request: AppRequest, study: Study) -> HttpResponseBase:
    form = FiltersForm(request.GET, study=study)
    if not form.is_valid():
        return _not_understood(form)
    lines = exports.labels_csv(label_header(study), queries.labels(study, form.filters()))
    return _download(StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8"), f"{study.slug}-labels.csv")


def _not_understood(form: FiltersForm) -> HttpResponse:
    """A file of everything would pass for what was asked for, so there is none."""
    sentences = [f"{name}: {error}" for name, errors in form.errors.items() for error in errors]
    return HttpResponseBadRequest(
        "\n".join([_("Nothing is downloaded, since these filters are not understood:"), *sentences]),
        content_type="text/plain; charset=utf-8",
    )


def _download(response: HttpResponseBase, name: str) -> HttpResponseBase:
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
