"""What raters ask about cells, on the grid; and the manager's page of all that is asked in a study."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import actions, queries
from annotation.models import Assignment, Column, Note, Question, Role, Study
from annotation.people.access import AppRequest, for_roles, why_unchanged
from annotation.views.saving import is_of_another, of_another, refusal


@require_http_methods(["GET", "POST"])
def of_cell(request: AppRequest, pk: int, column: int, question: int) -> HttpResponse:
    """What the rater has asked about one of their cells, with the answers (GET); ask (POST)."""
    if is_of_another(request):
        return of_another()
    assignment, cell_column, cell_question = _my_cell(request, pk, column, question)
    if request.method == "POST":
        if (study := assignment.row.sheet.study).archived_at is not None:
            return refusal(why_unchanged(study))
        if owed := actions.owed_in_study(study=study, user=request.user):
            return refusal(owed)
        try:
            actions.ask(
                assignment=assignment,
                column=cell_column,
                question=cell_question,
                text=_written(request, "text"),
                by=request.user,
            )
        except actions.Refused as error:
            return refusal(str(error))
    notes = Note.objects.filter(assignment=assignment, column=cell_column, question=cell_question)
    context = {"notes": notes, "open": next((note for note in notes if note.answered_at is None), None)}
    return render(request, "annotation/_notes.html", context)


@require_POST
def read(request: AppRequest, pk: int, column: int, question: int) -> HttpResponse:
    assignment, cell_column, cell_question = _my_cell(request, pk, column, question)
    actions.read_answers(assignment=assignment, column=cell_column, question=cell_question)
    return HttpResponse(status=204)


@require_POST
def withdraw(request: AppRequest, pk: int) -> HttpResponse:
    mine = Note.objects.filter(assignment__in=Assignment.objects.of_user(request.user))
    note = get_object_or_404(mine.select_related("assignment__rater__study"), pk=pk)
    if (study := note.assignment.rater.study).archived_at is not None:
        return refusal(why_unchanged(study))
    try:
        actions.withdraw_note(note=note)
    except actions.Refused as error:
        return refusal(str(error))
    return HttpResponse(status=204)


def _my_cell(request: AppRequest, pk: int, column: int, question: int) -> tuple[Assignment, Column, Question]:
    mine = Assignment.objects.of_user(request.user).select_related("row__sheet__study").defer("row__evidence")
    assignment = get_object_or_404(mine, pk=pk)
    found = get_object_or_404(Column.objects.select_related("section"), pk=column, sheet=assignment.row.sheet_id)
    return assignment, found, get_object_or_404(Question, pk=question, section=found.section_id)


# --- the manager ----------------------------------------------------------------------------------------------------


@never_cache  # as a sheet
@require_GET
@for_roles(Role.MANAGER)
def page(request: AppRequest, study: Study) -> HttpResponse:
    """All that was asked in a study, what is not answered first."""
    asked = queries.notes(study)
    actions.note_looks(sheets=queries.sheets_shown(asked, request.user), user=request.user)
    n_open = sum(one.note.answered_at is None for one in asked)
    context = {"study": study, "scheme": study.scheme.parsed, "asked": asked, "n_open": n_open}
    return render(request, "annotation/notes.html", context)


@require_POST
@for_roles(Role.MANAGER)
def answer(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    note = get_object_or_404(Note, pk=pk, assignment__rater__study=study)
    try:
        actions.answer_note(note=note, answer=_written(request, "answer"), by=request.user)
    except actions.Refused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Answered. The rater sees it on the cell and under “My work”."))
    return redirect("annotation:notes", study.slug)


def _written(request: AppRequest, name: str) -> str:
    """Without the zero character, which fits in no database."""
    return request.POST.get(name, "").replace("\0", "")[: Note.MOST]
