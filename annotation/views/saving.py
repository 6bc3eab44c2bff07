"""Saving what was changed in the grid. The script has painted it already and asks only what the database now has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from annotation import actions
from annotation.forms.labelling import NO_CHANGES, ChangeForm, EditsForm
from annotation.people.access import AppRequest


def is_of_another(request: HttpRequest) -> bool:
    """Somebody else has logged in in this browser. The script keeps its change; after a 409 it would drop it."""
    return request.headers.get("X-Palate-User", str(request.user.pk)) != str(request.user.pk)


def refusal(sentence: str, **more: object) -> JsonResponse:
    """409: the request was understood, and sending it again would not help."""
    return JsonResponse({"message": sentence, **more}, status=409)


@require_POST
def record_cells(request: AppRequest, pk: int) -> HttpResponse:
    """Save changes, each of one cell or of many, in their order: each is taken, or refused, by itself.

    `edits` is a list of what `ChangeForm` takes. The answers have the same order. A page that was loaded before this
    came sends the fields of a single change, and gets its answer alone.
    """
    if is_of_another(request):
        return HttpResponse(status=403)
    if "edits" not in request.POST:
        answer = _saved(request, pk, request.POST)
        return JsonResponse(answer, status=409 if "message" in answer else 200)
    form = EditsForm(request.POST)
    if not form.is_valid():
        return refusal(str(NO_CHANGES))
    return JsonResponse({"answers": [_saved(request, pk, edit) for edit in form.cleaned_data["edits"]]})


def _saved(request: AppRequest, sheet_id: int, edit: Mapping[str, Any]) -> dict[str, Any]:
    """One change. The answer tells every touched column as it is now; or, in a `message`, why nothing was taken."""
    form = ChangeForm(edit, sheet_id=sheet_id, user_id=request.user.pk)
    if not form.is_valid():
        return {"key": edit.get("key", ""), "message": form.refusal, "held": form.not_mine}
    answers, key = form.cleaned_data["answers"], form.cleaned_data["key"]
    changed = actions.change(
        answers=answers, key=key, whole=form.cleaned_data["restore"], reopen=form.cleaned_data["reopen"]
    )
    wanted = {
        (assignment.pk, answer.column.pk, answer.question.pk): answer.code
        for assignment, of_one in answers.items()
        for answer in of_one
    }
    return {
        # The script takes a change for saved when it sees its key here; a login page that came instead has none.
        "key": str(key),
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
