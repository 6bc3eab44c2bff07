"""The pages of an annotator: my work, a sheet's grid, saving a cell, the evidence of a row, submitting it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_POST

from annotation import actions, originals, queries, scripts
from annotation.access import AppRequest
from annotation.forms import SubmitForm
from annotation.matching import WordIndex
from annotation.models import Assignment, Row, Sheet
from annotation.scheme import QuestionSpec
from annotation.spreadsheet.layout import skipped
from annotation.templatetags.palate import NOTE_WORDS
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
        "palette": _palette(grid),
        "messages_for_script": _messages_for_script(closed=sheet.closed_at is not None),
        "script": scripts.grid_bundle().digest,
    }
    return render(request, "annotation/sheet.html", context)


@require_GET
def evidence(request: AppRequest, pk: int) -> HttpResponse:
    return render(request, "annotation/_evidence.html", evidence_of(_my_assignment(request, pk).row))


def evidence_of(row: Row) -> dict[str, Any]:
    """The row's text, and where each column's words stand in it."""
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
    return {"row": row, "blocks": blocks, "hits": hits, "original": originals.address(row)}


@require_POST
def submit(request: AppRequest, pk: int) -> HttpResponse:
    assignment = _my_assignment(request, pk)
    form = SubmitForm(request.POST)
    if not form.is_valid():
        return refusal(form.refusal)
    try:
        assignment = actions.submit(assignment=assignment, seen=form.cleaned_data["seen"])
    except actions.SeenOtherwise as error:
        return refusal(str(error), columns=[[pk, column, values] for column, values in error.values.items()])
    except actions.Unanswered as error:
        return refusal(str(error), open=[[cell.id, cell.name] for cell in error.cells])
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


def options_for_script(question: QuestionSpec) -> list[dict[str, object]]:
    return [
        {"key": o.key, "label": o.label, "sign": o.sign, "hotkey": o.hotkey, "colour": o.colour}
        for o in question.options
    ]


def evidence_messages() -> dict[str, Any]:
    """What the script says in the panel of the evidence."""
    return {
        "matches": {
            "exact": _("same words"),
            "synonym": _("synonym"),
            "part": _("part"),
            "near": _("near spelling"),
        },
        "noMatch": _("No match found on this page."),
        "evidenceFailed": _("The document could not be loaded. It is tried again when you come back to it."),
    }


def _palette(grid: queries.Grid) -> dict[int, dict[str, object]]:
    """What the script needs to draw a choice before the server has confirmed it: question -> its options."""
    ids = {(table.section.key, question.key): question.pk for table in grid.tables for question in table.questions}
    return {
        question.pk: {
            "key": question.key,
            "title": question.title,
            "about": table.spec.question(question.key).about,
            "section": table.section.key,
            "askUnless": {
                ids[table.section.key, other]: options
                for other, options in table.spec.question(question.key).ask_unless.items()
            },
            "presets": {
                column.pk: preset
                for column in table.columns
                if (preset := table.spec.presets(column.facets).get(question.key))
            },
            "options": options_for_script(table.spec.question(question.key)),
        }
        for table in grid.tables
        for question in table.questions
    }


def _messages_for_script(*, closed: bool) -> dict[str, Any]:
    is_closed = _("This sheet is closed: its work is finished. The manager can open it again.")
    log_in = _("Log in again in another tab")
    return {
        "saved": _("Saved"),
        "saving": _("Saving…"),
        "retrying": _("Not saved yet: retrying"),
        "held": _("Kept in this browser, not saved: {n}"),
        "conflicts": _("Two answers: {n}"),
        "conflict": _("Two answers: “{theirs}” was saved elsewhere meanwhile, “{mine}” was chosen here. Choose one."),
        "decideFirst": _("Some cells have two answers. Choose one in each of them, then submit."),
        "waiting": _("Some choices are still on their way to the server. Submit when they are saved."),
        "notSubmitted": _("The server did not answer. Nothing was submitted; your labels are safe. Try again."),
        "loggedOut": _("You are logged out. %(log_in)s; your last choices are kept here.") % {"log_in": log_in},
        "logIn": log_in,
        "clear": _("clear"),
        "notAsked": _("Not asked: the answer above switches this off."),
        "locked": is_closed if closed else _("Submitted. Take it back to change it."),
        "closed": is_closed,
        "discard": _("Throw away what is kept in this browser and not saved? It cannot be brought back."),
        "skipped": _("cannot tell: {reason}"),
        "skippedWord": skipped("{reason}"),
        "skipRange": _("The open cells of the range: {n}"),
        "skipRest": _("All that is still open in “{row}”: {n} cells"),
        "stillOpen": _("Still open in “{row}”: {n}"),
        "noteOpen": _("You asked: “{asked}” · not answered yet"),
        "noteAnswered": _("The manager: “{answer}”"),
        "noteStates": {state: str(words) for state, words in NOTE_WORDS.items()},
        "noAnswer": _("The server did not answer. Your words stand here still; try again."),
        "timeTitle": _("Active on {row}: {one}. On the whole sheet: {all}. Pauses over a minute are left out."),
        "underAMinute": _("under 1 min"),
        "minutes": _("{min} min"),
        "hours": _("{h} h {min} min"),
        "selected": _("Cells selected: {n} (Esc lets go)"),
        "filled": _("Cells filled: {n}."),
        "cleared": _("Cells cleared: {n}."),
        "leftOff": _("Left out, not asked: {n}."),
        "leftLocked": _("Left out, submitted: {n}."),
        "leftForeign": _("Left out, “{option}” is no answer there: {n}."),
        "leftOutside": _("Left out, beyond the end of the table: {n}."),
        "unknownWord": _("“{word}” is no answer here"),
        "nothingToUndo": _("There is nothing to undo."),
        "nothingToRedo": _("There is nothing to do again."),
        "stepIsGone": _("That step was left as it is: its cells were changed elsewhere since."),
        "stepWaits": _("That step waits: “{row}” is submitted. Take it back first."),
        "stepWaitsOnSheet": _("That step waits: this sheet is closed. The manager can open it again."),
        "found": _("{n} of {all}"),
        "notFound": _("not found"),
        "left": _("{open} of {all} cells left"),
        "ready": _("complete, not submitted"),
        "complete": _("complete: s submits it, Ctrl+→ goes on"),
        "submitted": _("submitted"),
        "withdrawn": _("given to somebody else"),
        "started": _("started"),
        "open": _("not started"),
        "empty": _("empty"),
        "off": _("not asked"),
        **evidence_messages(),
    }
