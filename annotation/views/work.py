"""The pages of an annotator: my work, a sheet's grid, saving a cell, the evidence of a row, submitting it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_POST

from annotation import actions, doors, queries
from annotation.answers import transitions
from annotation.evidence.matching import WordIndex
from annotation.forms.labelling import SubmitForm
from annotation.labels.tables import warnings_of
from annotation.models import Assignment, Row, Sheet
from annotation.people.access import AppRequest
from annotation.scheme.spec import RowFacet, facet_word
from annotation.views.palette import checks_for_script, messages_for_script, palette
from annotation.views.saving import refusal


@require_GET
def my_work(request: AppRequest) -> HttpResponse:
    progress = queries.my_sheets(request.user)
    several = len({item.sheet.study_id for item in progress}) > 1
    return render(request, "annotation/my_work.html", {"progress": progress, "several_studies": several})


@gzip_page
@require_GET
def sheet(request: AppRequest, pk: int) -> HttpResponse:
    with_scheme = Sheet.objects.select_related("study__scheme")
    sheet = get_object_or_404(with_scheme.defer("study__scheme__spec", "study__scheme__source"), pk=pk)
    sheet.study.scheme = queries.whole_scheme(sheet.study.scheme)
    grid = queries.grid(sheet, Assignment.objects.of_user(request.user))
    if not grid.assignments:
        raise Http404(_("You have no work on this sheet."))
    context = {
        "sheet": sheet,
        "study": sheet.study,
        "scheme": sheet.study.scheme.parsed,
        "grid": grid,
        "seconds": {assignment.pk: assignment.active_seconds for assignment in grid.assignments},
        "n_submitted": sum(a.state == Assignment.State.SUBMITTED for a in grid.assignments),
        "warnings": _warnings(grid),
        "sheet_pages": doors.sheet_pages(sheet),
        "palette": palette(grid),
        "checks": checks_for_script(grid),
        "beginnings": _beginnings(grid),
        "has_states": queries.has_states(sheet.study.scheme.parsed),
        "messages_for_script": messages_for_script(closed=sheet.closed_at is not None),
    }
    return render(request, "annotation/sheet.html", context)


def _warnings(grid: queries.Grid) -> list[tuple[int, int, dict[int, list[str]]]]:
    """What the scheme warns of, as saving a change tells it: [assignment, column, {question: sentences}]."""
    if all(table.spec.never_warns for table in grid.tables):
        return []
    told: dict[tuple[int, int], dict[int, list[str]]] = {}
    for assignment in grid.assignments:
        assignment.row.sheet = grid.sheet
        for (column, question), sentences in warnings_of(assignment).items():
            told.setdefault((assignment.pk, column), {})[question] = sentences
    return [(assignment, column, said) for (assignment, column), said in told.items()]


def _beginnings(grid: queries.Grid) -> dict[int, dict[int, list[str]]]:
    """What there is before the first step of a table: {assignment: {question: names}}; no hidden facet."""
    found: dict[int, dict[int, list[str]]] = {}
    for table in grid.tables:
        for question in table.questions:
            spec = table.spec.question(question.key)
            if spec.transitions is None:
                continue
            for assignment in grid.assignments:
                found.setdefault(assignment.pk, {})[question.pk] = transitions.start(spec, assignment.row.facets)
    return found


@require_GET
def evidence(request: AppRequest, pk: int) -> HttpResponse:
    return render(request, "annotation/_evidence.html", evidence_of(_my_assignment(request, pk).row))


def evidence_of(row: Row, *, hidden: bool = False) -> dict[str, Any]:
    """The row's text and facets, and where each column's words stand in it. `hidden`: also the facets that no rater is
    shown."""
    blocks, scheme = row.blocks, row.sheet.study.scheme.parsed
    indexes = {
        section.key: WordIndex(blocks, language=row.language or "en", kinds=section.evidence, synonyms=scheme.synonyms)
        for section in scheme.sections
    }
    hits: dict[int, dict[str, list[tuple[int, int, int, str, float]]]] = {}
    for column in row.sheet.columns.select_related("section"):
        index = indexes[column.section.key]
        hits[column.pk] = {
            facet: [(hit.block, hit.start, hit.end, hit.kind.value, round(hit.share, 2)) for hit in index.find(text)]
            for facet, text in column.facets.items()
        }
    return {
        "row": row,
        "facets": _facets(row, scheme.row.facets if hidden else scheme.row.shown),
        "blocks": blocks,
        "declared": scheme.block_kinds,
        "hits": hits,
        "original": doors.stored_page(row),
        "picture": doors.picture_of(row),
    }


def _facets(row: Row, facets: Iterable[RowFacet]) -> list[tuple[RowFacet, str]]:
    return [(facet, facet_word(said)) for facet in facets if (said := row.facets.get(facet.key))]


@require_POST
def submit(request: AppRequest, pk: int) -> HttpResponse:
    assignment = _my_assignment(request, pk)
    form = SubmitForm(request.POST)
    if not form.is_valid():
        return refusal(form.refusal)
    try:
        assignment = actions.submit(
            assignment=assignment, seen=form.cleaned_data["seen"], confirm=form.cleaned_data["confirm"]
        )
    except actions.SeenOtherwise as error:
        return refusal(str(error), columns=[[pk, column, values] for column, values in error.values.items()])
    except actions.Unanswered as error:
        return refusal(str(error), open=[[cell.id, cell.name] for cell in error.cells])
    except actions.Unconfirmed as error:
        return refusal(str(error), drafts=[[cell.id, cell.name] for cell in error.cells])
    except actions.Refused as error:
        return refusal(str(error))
    return JsonResponse({"state": assignment.state})


@require_POST
def reopen(request: AppRequest, pk: int) -> HttpResponse:
    try:
        assignment = actions.reopen(assignment=_my_assignment(request, pk))
    except actions.Refused as error:
        return refusal(str(error))
    return JsonResponse({"state": assignment.state})


def _my_assignment(request: AppRequest, pk: int) -> Assignment:
    mine = Assignment.objects.of_user(request.user).select_related("row__sheet__study__scheme")
    return get_object_or_404(mine, pk=pk)
