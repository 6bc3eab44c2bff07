"""What raters ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F
from django.utils.text import Truncator

from annotation.answers import shown_code
from annotation.models import Label, Note, Sheet, Skip, Study, User


@dataclass(frozen=True)
class Asked:
    """A note with what stands in its cell by now: the label, or the reason of a skip, or neither."""

    note: Note
    label: Label | None
    skip: str

    @property
    def value(self) -> str:
        """The label's answer on one line, where it is none of the options."""
        if self.label is None or self.label.option is not None:
            return ""
        return shown_code(self.note.question.spec, self.label.code)

    @property
    def beginning(self) -> str:
        """Of the row's text."""
        return Truncator(" ".join(block.text for block in self.note.assignment.row.blocks[:8])).chars(240)

    def is_of(self, user: User) -> bool:
        return self.note.assignment.rater.user_id == user.pk


def notes(study: Study) -> list[Asked]:
    """All that was asked in a study. Three queries.

    What is not answered comes first, the oldest at the top; then the answered, the newest at the top.
    """
    found = list(
        Note.objects.filter(assignment__rater__study=study)
        .select_related(
            "assignment__row__sheet", "assignment__rater", "column__sheet", "question__section__scheme", "answered_by"
        )
        .order_by(F("answered_at").desc(nulls_first=True), "at")
    )
    cells = {"assignment__in": {note.assignment_id for note in found}, "column__in": {note.column_id for note in found}}
    labels = {
        (label.assignment_id, label.column_id, label.question_id): label
        for label in Label.objects.filter(**cells).select_related("option__question__section__scheme")
    }
    skips = {(s.assignment_id, s.column_id, s.question_id): s.reason for s in Skip.objects.filter(**cells)}
    return [
        Asked(note, labels.get(cell), skips.get(cell, ""))
        for note in found
        for cell in [(note.assignment_id, note.column_id, note.question_id)]
    ]


def sheets_shown(asked: Iterable[Asked], user: User) -> set[Sheet]:
    """Of which `user` sees labels of others: what the rater says of the cell so far stands beside the question."""
    return {one.note.column.sheet for one in asked if (one.label or one.skip) and not one.is_of(user)}
