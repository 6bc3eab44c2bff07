"""What pages of live and of frozen reports share: figures, and the cells behind a count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec

from csp.constants import NONE, UNSAFE_INLINE
from csp.decorators import csp
from django.core.cache import caches
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _

from annotation.actions import note_looks
from annotation.exchange.exports import safe_lines
from annotation.models import Column, Question, Row, Study
from annotation.people.access import AppRequest
from reports.exports.figures import figure_csv
from reports.exports.names import file_name
from reports.figures.base import Figure, digest_of
from reports.numbers.behind import Behind, Where, cells_behind
from reports.numbers.report import StudyReport
from reports.tables import Head, ReportTable
from reports.words import asked_name, cap

_LINES = 50  # on a page of the cells behind a count
_TYPES = {"csv": "text/csv; charset=utf-8", "svg": "image/svg+xml", "pdf": "application/pdf"}
# A figure that is opened by itself is a page of its own: matplotlib writes its styles into it, nothing else is let in.
_FIGURE = {"default-src": [NONE], "style-src": [UNSAFE_INLINE], "base-uri": [NONE], "frame-ancestors": [NONE]}
_FIGURE["sandbox"] = []
_Asked = ParamSpec("_Asked")


def keep(study: Study, figures: Iterable[Figure], known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Keep the figures of a page, so that they need not be computed again to be drawn; key of each -> its digest,
    unless that is `known`."""
    digests = {}
    for figure in figures:
        digests[figure.key] = digest = known[figure.key] if known else digest_of(figure)
        key = f"{study.pk}-{digest}"
        if key not in caches["figures"]:
            caches["figures"].set(key, vars(figure))
    return digests


def kept(study: Study, digest: str) -> Figure | None:
    found = caches["figures"].get(f"{study.pk}-{digest}") if digest.isalnum() and len(digest) <= 64 else None
    return Figure(**found) if found else None


def _drawn(figure: Figure, form: str, theme: str) -> bytes:
    from reports.figures.svg import draw  # matplotlib comes with it

    return draw(figure, "pdf" if form == "pdf" else "svg", "dark" if theme == "dark" else "light")


def _by_itself(view: Callable[_Asked, HttpResponse]) -> Callable[_Asked, HttpResponse]:
    return csp(_FIGURE)(view)  # type: ignore[arg-type, return-value]  # its types know a view of a request alone


@_by_itself
def figure_response(request: AppRequest, figure: Figure | None, form: str) -> HttpResponse:
    if figure is None or form not in _TYPES:
        raise Http404
    if form == "csv":
        response = HttpResponse(figure_csv(figure), content_type=_TYPES[form])
        response["Content-Disposition"] = f'attachment; filename="{file_name(figure.key)}.csv"'
        return response
    theme = "dark" if request.GET.get("theme") == "dark" else "light"
    content = caches["figures"].get_or_set(f"{digest_of(figure)}-{form}-{theme}", lambda: _drawn(figure, form, theme))
    response = HttpResponse(content, content_type=_TYPES[form])
    if form == "pdf":
        response["Content-Disposition"] = f'attachment; filename="{file_name(figure.key)}.pdf"'
    patch_cache_control(response, private=True, max_age=3600)
    return response


@dataclass(frozen=True)
class _Line:
    cell: Any
    row_id: int | None
    lens: str  # the address of the cell among everybody's answers; "" where it is not there any more


def csv_of(table: ReportTable | None) -> HttpResponse:
    if table is None:
        raise Http404
    heads = [head.full_title for head in table.heads]
    rows = [["" if value is None else str(value) for value in row] for row in table.rows]
    content = "\ufeff" + "".join(safe_lines(heads, rows))
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name(table.key)}.csv"'
    return response


def _behind(request: AppRequest, report: StudyReport) -> tuple[Where, list[Behind]]:
    """Which count is asked for, and the comparisons that it counts."""
    where = Where(*(request.GET.get(f"cell.{name}", "") for name in ("question", "judge", "person", "chosen")))
    try:
        return where, cells_behind(report, where)
    except LookupError as error:
        raise Http404 from error


def cells_csv(request: AppRequest, study: Study, report: StudyReport) -> HttpResponse:
    """All comparisons behind one count of a confusion table, as a spreadsheet reads them."""
    where, cells = _behind(request, report)
    note_looks(sheets=study.sheets.filter(title__in={cell.sheet for cell in cells}), user=request.user)
    words = report.data.scheme.words
    section = report.data.scheme.section(where.question.split(".")[0])
    heads = (
        *(Head(name, cap(word)) for name, word in (("sheet", words.sheet), ("row", words.row))),
        Head("column", section.column.title),
        Head("rater", _("Rater")),
        Head("answer", _("Answer")),
        Head("note", _("Note"), "note"),
        Head("judge", where.judge),
        Head("judge_note", _("Note"), "note", where.judge),
        Head("margin", _("Margin (nats)"), "number"),
    )
    rows = tuple(
        (
            cell.sheet,
            cell.row,
            cell.column,
            cell.rater.code,
            cell.answer,
            cell.note,
            cell.judge_answer,
            cell.judge_note,
            cell.margin,
        )
        for cell in cells
    )
    key = ".".join(filter(None, (where.question, "cells", where.judge, where.person, where.chosen)))
    return csv_of(ReportTable(key, "", "", heads, rows))


def cells_page(
    request: AppRequest, study: Study, report: StudyReport, csv: str, context: dict[str, Any]
) -> HttpResponse:
    """The page of the comparisons behind one count of a confusion table. `csv`: where all of them are taken along."""
    asked = request.GET
    where, cells = _behind(request, report)
    page = Paginator(cells, _LINES).get_page(asked.get("page"))
    note_looks(sheets=study.sheets.filter(title__in={cell.sheet for cell in page}), user=request.user)
    rows = Row.objects.filter(sheet__study=study, name__in={cell.row for cell in page})
    ids = {(sheet, name): pk for pk, sheet, name in rows.values_list("pk", "sheet__title", "name")}
    question = next(q for s in report.sections for q in s.questions if q.data.name == where.question)
    labels = {option.key: option.label for option in question.spec.options}
    query = asked.copy()
    query.pop("page", None)
    places = _lens_addresses(study, page, where.question)
    return render(
        request,
        "reports/cells.html",
        {
            "study": study,
            "page": page,
            "lines": [
                _Line(cell, ids.get((cell.sheet, cell.row)), places.get((cell.sheet, cell.row, cell.column), ""))
                for cell in page
            ],
            "words": report.data.scheme.words,
            "question": question,
            "asked": asked_name(report.data.scheme, question.data.section, question.spec),
            "judge": where.judge,
            "said": labels[where.person],
            "chose": labels.get(where.chosen, ""),
            "scored": any(cell.margin is not None for cell in cells),
            "query": query.urlencode(),
            "csv": f"{csv}?{query.urlencode()}",
            **context,
        },
    )


def _lens_addresses(study: Study, cells: Iterable[Any], question: str) -> dict[tuple[str, str, str], str]:
    """(sheet, row, column) -> the address of that cell of a question in the lens. Three queries."""
    section_key, key = question.split(".", 1)
    asked = Question.objects.filter(section__scheme__studies=study, section__key=section_key, key=key).first()
    if asked is None:
        return {}
    wanted = {(cell.sheet, cell.row, cell.column) for cell in cells}
    in_sheets = {"sheet__study": study, "sheet__title__in": {sheet for sheet, _row, _column in wanted}}
    rows = Row.objects.filter(**in_sheets, name__in={row for _sheet, row, _column in wanted})
    columns = Column.objects.filter(**in_sheets, section=asked.section_id).order_by("-position")
    row_ids = {(title, name): (pk, sheet) for pk, sheet, title, name in _named(rows)}
    column_ids = {(title, name): pk for pk, _sheet, title, name in _named(columns)}
    found = {}
    for sheet, row, column in wanted:
        if (sheet, row) in row_ids and (sheet, column) in column_ids:
            row_id, sheet_id = row_ids[sheet, row]
            cell = f"c-{row_id}-{column_ids[sheet, column]}-{asked.pk}"
            found[sheet, row, column] = f"{reverse('annotation:lens', args=[sheet_id])}?row={row_id}#{cell}"
    return found


def _named(objects: QuerySet[Any]) -> Iterable[tuple[int, int, str, str]]:
    return objects.values_list("pk", "sheet", "sheet__title", "name")
