"""The pages of an annotator: my work, a sheet's grid, saving a cell, the evidence of a row, submitting it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import trigger_client_event

from annotation import actions, queries
from annotation.access import AppRequest
from annotation.evidence import find_items
from annotation.forms import CellForm
from annotation.models import Assignment, Column, Row, Sheet


@require_GET
def my_work(request: AppRequest) -> HttpResponse:
    return render(request, "annotation/my_work.html", {"progress": queries.my_sheets(request.user)})


@require_GET
def sheet(request: AppRequest, pk: int) -> HttpResponse:
    sheet = get_object_or_404(Sheet.objects.select_related("study__scheme"), pk=pk)
    grid = queries.grid(sheet, Assignment.objects.of_user(request.user))
    if not grid.assignments:
        raise Http404(_("You have no work on this sheet."))
    context = {
        "sheet": sheet,
        "study": sheet.study,
        "scheme": sheet.study.scheme.parsed,
        "grid": grid,
        "n_submitted": sum(a.state == Assignment.State.SUBMITTED for a in grid.assignments),
        "palette": _palette(grid),
        "messages_for_script": _messages_for_script(),
    }
    return render(request, "annotation/sheet.html", context)


@require_POST
def record_cell(request: AppRequest, pk: int) -> HttpResponse:
    """Save one choice. The answer is what changed on the page: the cells of the column, and the counts."""
    if request.headers.get("X-Palate-User", str(request.user.pk)) != str(request.user.pk):
        # Somebody else has logged in in this browser. The script keeps the choice; after a 409 it would drop it.
        return HttpResponse(status=403)
    form = CellForm(request.POST, assignments=Assignment.objects.of_user(request.user).filter(row__sheet_id=pk))
    if not form.is_valid():
        return _refusal(" ".join(str(e) for errors in form.errors.values() for e in errors))
    assignment: Assignment = form.cleaned_data["assignment"]
    answer = form.answer()
    try:
        actions.record(assignment=assignment, answers=[answer], key=form.cleaned_data["key"])
    except actions.Refused as refusal:
        return _refusal(str(refusal))
    response = _drawn_again(request, assignment, [answer.column])
    # The script takes an edit for saved when it sees its key here, and not from a login page that came instead.
    response["X-Palate-Saved"] = str(form.cleaned_data["key"])
    return response


@require_GET
def evidence(request: AppRequest, pk: int) -> HttpResponse:
    return render(request, "annotation/_evidence.html", evidence_of(_my_assignment(request, pk).row))


def evidence_of(row: Row) -> dict[str, Any]:
    """The row's text, and where each column's words stand in it."""
    blocks = row.blocks
    hits: dict[int, dict[str, list[tuple[int, int, int, float]]]] = {}
    columns = list(row.sheet.columns.select_related("section"))
    sections = {section.key: section for section in row.sheet.study.scheme.parsed.sections}
    for section in sections.values():
        of_section = [column for column in columns if column.section.key == section.key]
        for facet in section.column.facets:
            found = find_items(
                blocks,
                [column.facets.get(facet, "") for column in of_section],
                language=row.language or "en",
                kinds=section.evidence,
            )
            for column, places in zip(of_section, found, strict=True):
                hits.setdefault(column.pk, {})[facet] = [
                    (hit.block, hit.start, hit.end, round(hit.share, 2)) for hit in places
                ]
    return {"row": row, "blocks": blocks, "hits": hits}


@require_POST
def submit(request: AppRequest, pk: int) -> HttpResponse:
    assignment = _my_assignment(request, pk)
    try:
        assignment = actions.submit(assignment=assignment)
    except actions.Refused as refusal:
        return _refusal(str(refusal))
    return _drawn_again(request, assignment, list(assignment.row.sheet.columns.all()))


@require_POST
def reopen(request: AppRequest, pk: int) -> HttpResponse:
    assignment = actions.reopen(assignment=_my_assignment(request, pk))
    return _drawn_again(request, assignment, list(assignment.row.sheet.columns.all()))


def _my_assignment(request: AppRequest, pk: int) -> Assignment:
    mine = Assignment.objects.of_user(request.user).select_related("row__sheet__study__scheme")
    return get_object_or_404(mine, pk=pk)


def _drawn_again(request: HttpRequest, assignment: Assignment, columns: Sequence[Column]) -> HttpResponse:
    """The cells of some columns as they are now, each of which finds its own place on the page."""
    cells = queries.cells_of_columns(assignment, columns)
    response = render(request, "annotation/_saved.html", {"cells": cells})
    return trigger_client_event(response, "assignment", {"id": assignment.pk, "state": assignment.state})


def _refusal(sentence: str) -> JsonResponse:
    """409: the request was understood, and sending it again would not help."""
    return JsonResponse({"message": sentence}, status=409)


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
            "options": [
                {"key": o.key, "label": o.label, "sign": o.sign, "hotkey": o.hotkey, "colour": o.colour}
                for o in table.spec.question(question.key).options
            ],
        }
        for table in grid.tables
        for question in table.questions
    }


def _messages_for_script() -> dict[str, str]:
    return {
        "saved": _("Saved"),
        "saving": _("Saving…"),
        "waiting": _("Some choices are still on their way to the server. Submit when they are saved."),
        "notSubmitted": _("The server did not answer. Nothing was submitted; your labels are safe. Try again."),
        "retrying": _("Not saved yet: retrying"),
        "clear": _("clear"),
        "notAsked": _("Not asked: the answer above switches this off."),
        "locked": _("Submitted. Take it back to change it."),
        "noMatch": _("No match found on this page."),
        "loggedOut": _("You are logged out. Log in again in another tab; your last choices are kept here."),
        "left": _("{open} of {all} cells left"),
        "ready": _("complete, not submitted"),
        "submitted": _("submitted"),
        "started": _("started"),
        "open": _("not started"),
        "empty": _("empty"),
        "off": _("not asked"),
        "evidenceFailed": _("The document could not be loaded. It is tried again when you come back to it."),
    }
