"""Labels, the rules' consequences and the history; submitting."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import queries
from annotation.actions.base import Refused
from annotation.models import (
    Assignment,
    Column,
    Label,
    LabelEvent,
    Look,
    Option,
    Question,
    Section,
    User,
)


@dataclass(frozen=True)
class Answer:
    """What a rater says of one cell. `option` None clears it; `note` None leaves the note that stands there."""

    column: Column
    question: Question
    option: Option | None
    scores: Any = None
    note: str | None = None


@dataclass
class Recorded:
    """What `record` did: the labels that now stand in the touched columns, and the cells that changed."""

    changed: set[tuple[int, int]] = field(default_factory=set)  # (column, question)


@transaction.atomic
def record(*, assignment: Assignment, answers: Iterable[Answer], key: uuid.UUID, by: User | None = None) -> Recorded:
    """Write answers, the rules' consequences and the history, all or nothing.

    An answer that switches questions off clears their labels; a question that a column presets is filled in as soon as
    one of its column is answered. `key` names this change: the same change sent again is acknowledged and does nothing.
    `by` is who acts where that is somebody other than the rater.

    Raises:
        Refused: the assignment is closed, or a cell is not one of its cells or not asked.
    """
    answers = list(answers)
    # The row's lock orders writers of one assignment; on SQLite the transaction itself is the lock.
    looks = Look.objects.filter(sheet=OuterRef("row__sheet"), user=OuterRef("rater__user"))
    assignment = (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("row")
        .annotate(exposed=Exists(looks))
        .get(pk=assignment.pk)
    )
    if LabelEvent.objects.filter(assignment=assignment, key=key).exists():
        return Recorded()
    if assignment.state == Assignment.State.SUBMITTED:
        raise Refused(_("“%(row)s” is submitted; take it back first to change it.") % {"row": assignment.row.name})
    _refuse_withdrawn(assignment)

    writer = _Writer(assignment, answers, key, by=by, exposed=assignment.exposed)
    for answer in answers:
        writer.write(answer)
    writer.settle()
    writer.flush()

    if assignment.state == Assignment.State.OPEN and writer.recorded.changed:
        assignment.state = Assignment.State.STARTED
        assignment.started_at = assignment.started_at or timezone.now()
        assignment.save(update_fields=["state", "started_at"])
    return writer.recorded


def _refuse_withdrawn(assignment: Assignment) -> None:
    if assignment.state == Assignment.State.WITHDRAWN:
        raise Refused(_("“%(row)s” is no longer assigned to this rater.") % {"row": assignment.row.name})


class _Writer:
    """One transaction's worth of changes to the labels of one assignment.

    Holds the labels of the touched columns in memory, applies answers and rules to them, and writes the difference
    with a fixed number of statements, however many cells there are.
    """

    def __init__(
        self, assignment: Assignment, answers: Sequence[Answer], key: uuid.UUID, *, by: User | None, exposed: bool
    ) -> None:
        self.assignment = assignment
        self.key = key
        self.by = by
        self.exposed = exposed
        self.recorded = Recorded()
        self.columns = {answer.column.pk: answer.column for answer in answers}
        self.spoken_of = {(answer.column.pk, answer.question.pk) for answer in answers}
        section_ids = {column.section_id for column in self.columns.values()}
        self.sections = {
            section.pk: section
            for section in Section.objects.filter(pk__in=section_ids)
            .select_related("scheme")
            .prefetch_related("questions__options")
        }
        self.specs = {pk: section.spec for pk, section in self.sections.items()}
        self.questions = {
            section.pk: {question.key: question for question in section.questions.all()}
            for section in self.sections.values()
        }
        self.before: dict[tuple[int, int], Label] = {
            (label.column_id, label.question_id): label
            for label in Label.objects.filter(assignment=assignment, column_id__in=self.columns).select_related(
                "option"
            )
        }
        self.after: dict[tuple[int, int], Label | None] = {}

    def standing(self, column_id: int, question_id: int) -> Label | None:
        cell = (column_id, question_id)
        return self.after[cell] if cell in self.after else self.before.get(cell)

    def answers_of(self, column: Column) -> dict[str, str]:
        labels = (
            (key, self.standing(column.pk, question.pk)) for key, question in self.questions[column.section_id].items()
        )
        return {key: label.option.key for key, label in labels if label is not None}

    def write(self, answer: Answer) -> None:
        column, question, option = answer.column, answer.question, answer.option
        section = self.sections[column.section_id]
        if (
            column.sheet_id != self.assignment.row.sheet_id
            or question.section_id != column.section_id
            or not self.assignment.asks(section)
        ):
            raise Refused(_("That cell is not part of this assignment."))
        if option is None:
            self.after[column.pk, question.pk] = None
            return
        if option.question_id != question.pk:
            raise Refused(
                _("“%(option)s” is no answer to “%(question)s”.") % {"option": option.label, "question": question.title}
            )
        asked = {spec.key for spec in self.specs[section.pk].asked(self.answers_of(column))}
        if question.key not in asked:
            raise Refused(
                _("“%(question)s” is not asked of “%(column)s” here.")
                % {"question": question.title, "column": column.name}
            )
        standing = self.standing(column.pk, question.pk)
        self.after[column.pk, question.pk] = Label(
            assignment=self.assignment,
            column=column,
            question=question,
            option=option,
            scores=answer.scores,
            note=(standing.note if standing else "") if answer.note is None else answer.note,
            # What was chosen before its rater saw the others' labels stays so when it is chosen again.
            exposed=standing.exposed if standing and standing.option_id == option.pk else self.exposed,
        )

    def settle(self) -> None:
        """Bring each touched column in line with the rules of its section."""
        for column in self.columns.values():
            spec, questions = self.specs[column.section_id], self.questions[column.section_id]
            cleared = {
                key for key, question in questions.items() if self.after.get((column.pk, question.pk), 0) is None
            }
            answers = self.answers_of(column)
            presets = spec.presets(column.facets)
            if all(self._is_preset(column, questions[key]) for key in answers):
                # Nobody has answered this column, or nobody any more: what follows from answering it goes too.
                self.after |= {(column.pk, questions[key].pk): None for key in answers}
                presets = {}
            for key in presets.keys() - answers.keys() - cleared:
                question = questions[key]
                option = next(option for option in question.options.all() if option.key == presets[key])
                self.after[column.pk, question.pk] = Label(
                    assignment=self.assignment, column=column, question=question, option=option, preset=True
                )
            asked = {question.key for question in spec.asked(self.answers_of(column))}
            for key, question in questions.items():
                if key not in asked and self.standing(column.pk, question.pk) is not None:
                    self.after[column.pk, question.pk] = None

    def _is_preset(self, column: Column, question: Question) -> bool:
        label = self.standing(column.pk, question.pk)
        return label is not None and label.preset

    def flush(self) -> None:
        """Write what differs from before, and an event for each cell that was spoken of.

        Also for a choice of what stood there already, and for a clear of what was clear: the event's key is what makes
        a resend harmless.
        """
        inserts, updates, deletes, events = [], [], [], []
        for cell, label in self.after.items():
            old = self.before.get(cell)
            if old is None and label is None and cell not in self.spoken_of:
                continue  # a preset that a rule took back in the same breath
            events.append(
                LabelEvent(
                    assignment=self.assignment,
                    column_id=cell[0],
                    question_id=cell[1],
                    before=old.option if old else None,
                    after=label.option if label else None,
                    note=label.note if label else "",
                    preset=label.preset if label else False,
                    by=self.by,
                    key=self.key,
                )
            )
            if old is None and label is None:
                continue
            self.recorded.changed.add(cell)
            if label is None:
                assert old is not None
                deletes.append(old.pk)
            elif old is None:
                inserts.append(label)
            else:
                label.pk, label.revision, label.updated_at = old.pk, old.revision + 1, timezone.now()
                updates.append(label)
        Label.objects.bulk_create(inserts)
        Label.objects.bulk_update(
            updates, ["option", "scores", "note", "preset", "exposed", "revision", "updated_at"], batch_size=200
        )
        Label.objects.filter(pk__in=deletes).delete()
        LabelEvent.objects.bulk_create(events)


@transaction.atomic
def submit(*, assignment: Assignment, allow_open: bool = False) -> Assignment:
    """Close the work on a row.

    Raises:
        Refused: cells are still open; the sentence says how many. Judges pass `allow_open`: what their prompt does not
            ask stays open.
    """
    assignment = Assignment.objects.select_for_update(of=("self",)).select_related("row").get(pk=assignment.pk)
    if assignment.state == Assignment.State.SUBMITTED:
        return assignment
    _refuse_withdrawn(assignment)
    if not allow_open and (left := queries.open_cells(assignment)):
        raise Refused(
            ngettext(
                "%(count)s cell of “%(row)s” is still open: %(cells)s.",
                "%(count)s cells of “%(row)s” are still open, first %(cells)s.",
                len(left),
            )
            % {"count": len(left), "row": assignment.row.name, "cells": ", ".join(left[:3])}
        )
    assignment.state = Assignment.State.SUBMITTED
    assignment.submitted_at = timezone.now()
    assignment.failure = ""
    assignment.save(update_fields=["state", "submitted_at", "failure"])
    return assignment


@transaction.atomic
def reopen(*, assignment: Assignment) -> Assignment:
    """Take a submission back."""
    Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.SUBMITTED).update(
        state=Assignment.State.STARTED, submitted_at=None
    )
    assignment.refresh_from_db()
    return assignment
