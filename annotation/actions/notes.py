"""Questions of raters about single cells, and the manager's answers."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.base import Refused, refuse_withdrawn
from annotation.models import Assignment, Column, Note, Question, User


@transaction.atomic
def ask(*, assignment: Assignment, column: Column, question: Question, text: str, by: User) -> Note:
    """Ask the manager about a cell. A question that is not answered yet gets the new words.

    Raises:
        Refused: it is no cell of this assignment, which may be gone by now, or the text says nothing.
    """
    text = text.strip()
    if not text:
        raise Refused(_("Write what you want to ask."))
    if (
        column.sheet_id != assignment.row.sheet_id
        or question.section_id != column.section_id
        or not assignment.asks(column.section)
    ):
        raise Refused(_("That cell is not part of this assignment."))
    locked = Assignment.objects.select_for_update(no_key=True).filter(pk=assignment.pk)
    refuse_withdrawn(assignment, is_gone=not locked.values_list("pk", flat=True).first())
    cell = {"assignment": assignment, "column": column, "question": question}
    note, _made = Note.objects.update_or_create(
        **cell, answered_at=None, defaults={"text": text}, create_defaults={"text": text, "author": by}
    )
    return note


@transaction.atomic
def answer_note(*, note: Note, answer: str, by: User) -> Note:
    """Answer a rater's question, or give it another answer; the rater is shown it as new.

    Raises:
        Refused: the rater has taken the question back meanwhile, or the answer says nothing.
    """
    answer = answer.strip()
    if not answer:
        raise Refused(_("Write an answer."))
    standing = Note.objects.select_for_update().filter(pk=note.pk).first()
    if standing is None:
        raise Refused(_("The question was taken back meanwhile. Nothing was answered."))
    standing.answer, standing.answered_by, standing.answered_at = answer, by, timezone.now()
    standing.read_at = None
    standing.save(update_fields=["answer", "answered_by", "answered_at", "read_at"])
    return standing


@transaction.atomic
def withdraw_note(*, note: Note) -> None:
    """Take a question back; the answered ones stay.

    Raises:
        Refused: it has been answered meanwhile.
    """
    standing = Note.objects.select_for_update().filter(pk=note.pk).first()
    if standing is None:
        return
    if standing.answered_at is not None:
        raise Refused(_("The manager has answered meanwhile. The question stays, with its answer."))
    standing.delete()


@transaction.atomic
def read_answers(*, assignment: Assignment, column: Column, question: Question) -> int:
    """The rater has looked at what was answered about a cell. Returns how many answers were new."""
    unread = Note.objects.unread().filter(assignment=assignment, column=column, question=question)
    return unread.update(read_at=timezone.now())
