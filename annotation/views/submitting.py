"""Submitting a row: by itself, or behind the changes that it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import actions, doors, queries
from annotation.crowd import queries as crowd
from annotation.forms.labelling import SubmitForm
from annotation.models import Assignment, Role, Row
from annotation.people.access import AppRequest
from annotation.queries import parts


@dataclass(frozen=True)
class Submission:
    """What the script is told: the new state, or in a `message` why it is the old one."""

    told: dict[str, Any]

    @property
    def is_taken(self) -> bool:
        return "message" not in self.told

    def response(self) -> JsonResponse:
        return JsonResponse(self.told, status=200 if self.is_taken else 409)


def my_assignment(request: AppRequest, pk: int) -> Assignment:
    mine = Assignment.objects.of_user(request.user).select_related("row__sheet__study__scheme")
    return get_object_or_404(mine, pk=pk)


def submission(request: AppRequest, pk: int, asked: Mapping[str, Any]) -> Submission:
    """Submit a row of who asks. `asked`: the fields of `SubmitForm`."""
    mine = queries.mine_to_submit(user_id=request.user.pk, pk=pk)
    if not mine.assignments:
        raise Http404
    form = SubmitForm(asked)
    if not form.is_valid():
        return Submission({"message": form.refusal})
    if mine.owes:
        sheet = Row.objects.values_list("sheet", flat=True).get(assignments=pk)
        if refusal := actions.owed_of_sheet(sheet_id=sheet, user_id=request.user.pk):
            return Submission({"message": refusal})
    try:
        assignment = actions.submit(
            assignment=Assignment(pk=pk), seen=form.cleaned_data["seen"], confirm=form.cleaned_data["confirm"]
        )
    except actions.SeenOtherwise as error:
        columns = [[pk, column, values] for column, values in error.values.items()]
        return Submission({"message": str(error), "columns": columns})
    except actions.Unanswered as error:
        return Submission({"message": str(error), "open": [[cell.id, cell.name] for cell in error.cells]})
    except actions.Unconfirmed as error:
        return Submission({"message": str(error), "drafts": [[cell.id, cell.name] for cell in error.cells]})
    except actions.Refused as error:
        return Submission({"message": str(error)})
    done = _done(request, assignment)
    return Submission({"state": assignment.state} | ({"done": done} if done else {}))


def _done(request: AppRequest, assignment: Assignment) -> dict[str, Any] | None:
    """What the script says at the end of a sheet, or of a part of a large one, and where it leads; None before."""
    sheet = assignment.row.sheet
    n, left = queries.rows_of_sheet(user_id=request.user.pk, sheet_id=sheet.pk)
    if left:
        return _part_done(request, assignment, n, left)
    links = [{"label": _("My work"), "url": reverse("annotation:my-work")}]
    if Role.MANAGER in queries.roles(request.user, sheet.study) and doors.next_in(sheet.study, request.user):
        links.insert(0, {"label": _("What comes next"), "url": reverse("annotation:study", args=[sheet.study.slug])})
    for place in crowd.of_user(request.user):
        if place.is_done and assignment.row_id in place.participant.rows:
            address = reverse("annotation:crowd-done", args=[place.participant.pk])
            links.insert(0, {"label": place.participant.link.end, "url": address})
    if following := queries.next_sheet(request.user, sheet):
        label = _("Next: %(sheet)s (%(n)s to submit)") % {"sheet": following.title, "n": following.n_left}
        links.insert(0, {"label": label, "url": reverse("annotation:sheet", args=[following.pk])})
    words = sheet.study.scheme.parsed.words
    sentence = ngettext(
        "“%(sheet)s” is done: all of it is submitted.",
        "“%(sheet)s” is done: all %(n)s %(rows)s are submitted.",
        n,
    )
    return {"sentence": sentence % {"sheet": sheet.title, "n": n, "rows": words.rows}, "links": links}


def _part_done(request: AppRequest, assignment: Assignment, n: int, left: int) -> dict[str, Any] | None:
    sheet = assignment.row.sheet
    part = parts.part_of_work(sheet, request.user, assignment=assignment.pk) if n > 1 else None
    if part is None or n - left - part.submitted_elsewhere < len(part.ids):
        return None
    following = parts.part_of_work(sheet, request.user)  # the first one with work left
    if following is None:
        return None
    words = sheet.study.scheme.parsed.words
    said = {"first": part.first, "last": part.last, "left": left, "rows": words.rows}
    onward = {"first": following.first, "last": following.last, "rows": words.rows}
    return {
        "sentence": _("%(rows)s %(first)s–%(last)s are submitted; %(left)s of the sheet are not.") % said,
        "links": [
            {
                "label": _("Next: %(rows)s %(first)s–%(last)s") % onward,
                "url": f"{reverse('annotation:sheet', args=[sheet.pk])}?part={following.number}",
            },
            {"label": _("My work"), "url": reverse("annotation:my-work")},
        ],
    }
