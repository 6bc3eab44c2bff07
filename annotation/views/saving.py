"""Saving what was changed in the grid. The script has painted it already and asks only what the database now has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from annotation import actions, queries
from annotation.forms.labelling import NO_CHANGES, ChangeForm, EditsForm, Reach
from annotation.people.access import AppRequest
from annotation.views.submitting import submission


def is_of_another(request: HttpRequest) -> bool:
    """Somebody else has logged in in this browser."""
    return request.headers.get("X-Palate-User", str(request.user.pk)) != str(request.user.pk)


def of_another() -> HttpResponse:
    """403, and why, for the script: it keeps its change then; after a 409 it would drop it."""
    return HttpResponse(status=403, headers={"X-Palate-Login": "another"})


def refusal(sentence: str, **more: object) -> JsonResponse:
    """409: the request was understood, and sending it again would not help."""
    return JsonResponse({"message": sentence, **more}, status=409)


@require_POST
def record_cells(request: AppRequest, pk: int) -> HttpResponse:
    """Save changes, each of one cell or of many, in their order: each is taken, or refused, by itself.

    `edits` is a list of what `ChangeForm` takes. The answers have the same order. `submit` is an assignment that is
    submitted behind them, with what `SubmitForm` takes, if all of them were taken whole; “submitted” tells of it. A
    page that was loaded before this came sends the fields of a single change, and gets its answer alone.
    """
    if is_of_another(request):
        return of_another()
    reach = Reach(sheet_id=pk, user_id=request.user.pk)
    if "edits" not in request.POST:
        answer = _saved(reach, request.POST)
        return JsonResponse(answer, status=409 if "message" in answer else 200)
    form = EditsForm(request.POST)
    if not form.is_valid():
        return refusal(str(NO_CHANGES))
    edits, asked = form.cleaned_data["edits"], form.cleaned_data["submit"]
    answers = [_saved(reach, edits[0])] if len(edits) == 1 else _saved_together(reach, edits)
    if asked is None or not all(map(_is_whole, answers)):
        return JsonResponse({"answers": answers})
    submitted = submission(request, asked, request.POST)
    if submitted.is_taken:
        for answer in answers:
            answer["states"] |= {pk: submitted.told["state"] for pk in answer["states"] if pk == asked}
    return JsonResponse({"answers": answers, "submitted": submitted.told})


def _is_whole(answer: Mapping[str, Any]) -> bool:
    return not any(answer.get(name) for name in ("message", "refused", "held", "closed", "conflicts"))


def _saved(reach: Reach, edit: Mapping[str, Any]) -> dict[str, Any]:
    """One change. The answer tells every touched column as it is now; or, in a `message`, why nothing was taken."""
    form = ChangeForm(edit, reach=reach)
    if not form.is_valid():
        return _not_understood(form)
    asked = form.edit
    return _told(form, actions.change(answers=asked.answers, key=asked.key, whole=asked.whole, reopen=asked.reopen))


def _saved_together(reach: Reach, edits: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Several changes, as `_saved` tells of each."""
    assignments = reach.prepare(edits)
    forms = [ChangeForm(edit, reach=reach) for edit in edits]
    understood = [form for form in forms if form.is_valid()]
    # One transaction: a database acknowledges many as quickly as one. What is refused takes nothing else back.
    with transaction.atomic():
        queries.lock_in_order(assignments)
        changed = iter(actions.change_each([form.edit for form in understood]))
    return [_told(form, next(changed)) if form.is_valid() else _not_understood(form) for form in forms]


def _not_understood(form: ChangeForm) -> dict[str, Any]:
    return {"key": form.data.get("key", ""), "message": form.refusal, "held": form.not_mine}


def _told(form: ChangeForm, changed: actions.Changed) -> dict[str, Any]:
    wanted = {
        (assignment.pk, answer.column.pk, answer.question.pk): answer.code
        for assignment, of_one in form.edit.answers.items()
        for answer in of_one
    }
    return {
        # The script takes a change for saved when it sees its key here; a login page that came instead has none.
        "key": str(form.edit.key),
        "columns": [
            [pk, column, values] for pk, columns in changed.columns.items() for column, values in columns.items()
        ],
        "states": changed.states,
        "refused": [*changed.refused, *filter(None, [form.left_out])],
        # What they were asked to take is kept by the browser: it may be taken later.
        "held": [*changed.held, *form.not_mine],
        "closed": changed.closed,
        "conflicts": [["c-{}-{}-{}".format(*cell), wanted[cell]] for cell in changed.conflicts],
        # What a scheme warns of, of every column that was looked at: [assignment, column, {question: sentences}].
        "warnings": [
            [pk, column, said] for pk, columns in changed.warnings.items() for column, said in columns.items()
        ],
    }
