"""The page of one cell that a judge has answered: what it was asked there, and the same once more."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_POST

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.models import Assignment, Column, Question, Role, Study
from annotation.people.access import AppRequest, for_roles
from judges import actions, retracing
from judges.models import WorkItem
from judges.runs.asking import RowFailed
from judges.tool_views import authors, trial_piece
from llm.backends.base import BackendError


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def asked(request: AppRequest, study: Study, assignment: int, column: int, question: str) -> HttpResponse:
    """What a judge with a model was asked at a cell, and what it answered, which is a look at the sheet."""
    item, of_column, of_question = _found(study, assignment, column, question)
    annotating.note_look(sheet=item.assignment.row.sheet, user=request.user)
    context: dict[str, Any] = {
        "study": study,
        "run": item.run,
        "item": item,
        "assignment": item.assignment,
        "column": of_column,
        "question": of_question,
        "said": retracing.answer_at(item.assignment, (column, question)),
        "may_ask": Role.MANAGER in study.roles and request.user.has_perm("judges.add_judge"),
    }
    try:
        context["retraced"] = retracing.retraced(item, (column, question))
    except (RowFailed, BackendError) as error:
        context["problem"] = str(error)
    return render(request, "judges/asked.html", context)


@require_POST
@authors
def ask_again(request: AppRequest, study: Study, assignment: int, column: int, question: str) -> HttpResponse:
    """The same asked once more; its answer is shown and not kept."""
    item, _column, _question = _found(study, assignment, column, question)
    try:
        trial = actions.start_trial(
            study=study,
            described=retracing.described(item),
            row=item.assignment.row,
            cell=(column, question),
            by=request.user,
        )
    except (Refused, BackendError) as refused:
        return render(request, "judges/_trial.html", {"study": study, "problems": [str(refused)]})
    return trial_piece(request, study, trial)


def _found(study: Study, assignment: int, column: int, question: str) -> tuple[WorkItem, Column, Question]:
    here = get_object_or_404(Assignment, rater__study=study, pk=assignment)
    return retracing.cell_at(retracing.work_at(study, here.pk), column, question)
