"""The pages of an annotator: my work, a sheet's grid, saving a cell, the evidence of a row, submitting it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_POST

from annotation import actions, doors, queries
from annotation.answers import transitions
from annotation.evidence.beside import beside
from annotation.evidence.lines import without_gaps
from annotation.evidence.matching import WordIndex
from annotation.labels.tables import warnings_of
from annotation.models import Assignment, Column, Row, Sheet
from annotation.people.access import AppRequest
from annotation.queries import parts
from annotation.scheme.spec import Layout, RowFacet, facet_word
from annotation.views.going_on import to_first_page
from annotation.views.palette import checks_for_script, grid_messages, palette
from annotation.views.saving import is_of_another, of_another, refusal
from annotation.views.submitting import my_assignment, submission


# A browser that keeps a page shows it as it was at “Back”, without the answers since.
@never_cache
@require_GET
def my_work(request: AppRequest) -> HttpResponse:
    progress = queries.my_sheets(request.user)
    studies = {item.sheet.study_id: item.sheet.study for item in progress}
    context = {"progress": progress, "studies": studies.values(), "several_studies": len(studies) > 1}
    return render(request, "annotation/my_work.html", context)


@never_cache  # as above
@gzip_page
@require_GET
def sheet(request: AppRequest, pk: int) -> HttpResponse:
    with_scheme = Sheet.objects.select_related("study__scheme")
    sheet = get_object_or_404(with_scheme.defer("study__scheme__spec", "study__scheme__source"), pk=pk)
    sheet.study.scheme = queries.whole_scheme(sheet.study.scheme)
    mine = Assignment.objects.of_user(request.user)
    asked = {name: _number(request.GET.get(name, "")) for name in ("part", "assignment")}
    part = parts.part_of_work(sheet, request.user, number=asked["part"], assignment=asked["assignment"])
    grid = queries.grid(sheet, mine.filter(pk__in=part.ids) if part else mine)
    if not grid.assignments:
        raise Http404(_("You have no work on this sheet."))
    if first := actions.first_page(study=sheet.study, user=request.user):
        return to_first_page(request, first, sheet.study)
    context = {
        "sheet": sheet,
        "study": sheet.study,
        "scheme": sheet.study.scheme.parsed,
        "grid": grid,
        "seconds": {assignment.pk: assignment.active_seconds for assignment in grid.assignments},
        "part": part,
        "n_rows": part.of if part else len(grid.assignments),
        "n_submitted": sum(a.state == Assignment.State.SUBMITTED for a in grid.assignments)
        + (part.submitted_elsewhere if part else 0),
        "warnings": _warnings(grid),
        "sheet_pages": doors.sheet_pages(sheet),
        "sheet_text": doors.sheet_text(sheet),
        "palette": palette(grid),
        "checks": checks_for_script(grid),
        "beginnings": beginnings(grid),
        "has_states": queries.has_states(sheet.study.scheme.parsed),
        "sentences": grid_messages(closed=sheet.closed_at is not None),
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


def beginnings(grid: queries.Grid) -> dict[int, dict[int, list[str]]]:
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
    row = my_assignment(request, pk).row
    if owed := actions.owed_in_study(study=row.sheet.study, user=request.user):
        return refusal(owed)
    answer = render(request, "annotation/_evidence.html", evidence_of(row))
    # A page that was opened before what is asked was reworded tells by it.
    answer["X-Scheme-Version"] = str(row.sheet.study.scheme.version)
    return answer


LINE = "line"  # in the place of a kind of match: the block is the column itself, and no words in it are marked


def evidence_of(row: Row, *, hidden: bool = False, columns: Iterable[Column] | None = None) -> dict[str, Any]:
    """The row's text and facets, and where each column's words stand in it; of a table's line that is one of the
    text, which one. `hidden`: also what no rater is shown: facets, and why it was withdrawn. `columns`: those of its
    sheet, each with its section, where they are not looked up."""
    blocks, scheme = row.blocks, row.sheet.study.scheme.parsed
    indexes = {
        section.key: WordIndex(blocks, language=row.language or "en", kinds=section.evidence, synonyms=scheme.synonyms)
        for section in scheme.sections
    }
    read_down = {section.key for section in scheme.sections if section.layout == Layout.DOWN}
    lines: dict[str, list[int]] = {}  # where each line of the text stands, for those that are columns themselves
    for number, block in enumerate(without_gaps(blocks)):
        lines.setdefault(block.text, []).append(number)
    hits: dict[int, dict[str, list[tuple[int, int, int, str, float]]]] = {}
    if columns is None:
        columns = row.sheet.columns.select_related("section").order_by("section", "position")
    for column in columns:
        index = indexes[column.section.key]
        found = hits.setdefault(column.pk, {})
        shown = scheme.section(column.section.key).column.facets
        for facet, text in ((facet, column.facets.get(facet, "")) for facet in shown):
            if column.section.key in read_down and (places := lines.get(text)):
                found[facet] = [(places[0], 0, 0, LINE, 1.0)]
                places.append(places.pop(0))  # the next column of these words is the next such line
            elif text.strip():  # a blank column asks about the whole text: there is nothing to look for
                found[facet] = [
                    (hit.block, hit.start, hit.end, hit.kind.value, round(hit.share, 2)) for hit in index.find(text)
                ]
    return {
        "row": row,
        "withdrawn": hidden and row.withdrawn_at is not None,
        "facets": _facets(row, scheme.row.facets if hidden else scheme.row.shown),
        "blocks": blocks,
        "beside": beside(blocks, scheme.sides) if scheme.sides else None,
        "declared": scheme.block_kinds,
        "hits": hits,
        "original": doors.stored_page(row),
        "picture": doors.picture_of(row),
    }


def _facets(row: Row, facets: Iterable[RowFacet]) -> list[tuple[RowFacet, str]]:
    return [(facet, facet_word(said)) for facet in facets if (said := row.facets.get(facet.key))]


@require_POST
def submit(request: AppRequest, pk: int) -> HttpResponse:
    if is_of_another(request):
        return of_another()
    return submission(request, pk, request.POST).response()


def _number(said: str) -> int | None:
    """A number of an address, or None where it is none."""
    return int(said) if said.isdecimal() and len(said) < 19 else None


@require_POST
def reopen(request: AppRequest, pk: int) -> HttpResponse:
    if is_of_another(request):
        return of_another()
    assignment = my_assignment(request, pk)
    if owed := actions.owed_in_study(study=assignment.row.sheet.study, user=request.user):
        return refusal(owed)
    try:
        assignment = actions.reopen(assignment=assignment)
    except actions.Refused as error:
        return refusal(str(error))
    return JsonResponse({"state": assignment.state})
