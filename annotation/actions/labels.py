"""Labels, the rules' consequences and the history; submitting."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import queries
from annotation.actions.base import NotNow, Refused, SheetClosed
from annotation.models import (
    Assignment,
    Column,
    Label,
    LabelEvent,
    Option,
    Question,
    Rater,
    Skip,
    User,
)


class Unanswered(Refused):
    """A row cannot be submitted yet: `cells` are still open."""

    def __init__(self, cells: Sequence[queries.OpenCell], sentence: str) -> None:
        self.cells = tuple(cells)
        super().__init__(sentence)


class SeenOtherwise(Refused):
    """A row is submitted by somebody who was shown other answers than it has by now; `values` are these."""

    def __init__(self, values: dict[int, dict[int, str]], sentence: str) -> None:
        self.values = values
        super().__init__(sentence)


@dataclass(frozen=True)
class Answer:
    """What a rater says of one cell: an option, or that they cannot tell and why (`skip`), or nothing, which clears it.

    `note` None leaves the note that stands there. `preset`: the option is what the column presets, and nobody chose it.
    `seen` is the `code` that the writer saw in the cell; where another stands there by now, the answer is left out and
    reported as a conflict. None does not look.
    """

    column: Column
    question: Question
    option: Option | None
    scores: Any = None
    note: str | None = None
    skip: str = ""
    preset: bool = False
    seen: str | None = None

    @property
    def code(self) -> str:
        return self.option.key if self.option else queries.skip_code(self.skip)


@dataclass
class Recorded:
    """What `record` did: the cells (column, question) that changed, and those left out because of what stood there."""

    changed: set[tuple[int, int]] = field(default_factory=set)
    conflicts: set[tuple[int, int]] = field(default_factory=set)
    # What stands in the touched columns, as `queries.cell_values` says it; None after a resend, which looks at nothing.
    values: dict[int, dict[int, str]] | None = None
    state: str = ""


@transaction.atomic
def record(
    *, assignment: Assignment, answers: Iterable[Answer], key: uuid.UUID, by: User | None = None, late: bool = False
) -> Recorded:
    """Write answers, the rules' consequences and the history, all or nothing.

    An answer that switches questions off clears their cells; a question that a column presets is filled in as soon as
    one of its column is answered. `key` names this change: the same change sent again is acknowledged and does nothing.
    `by` is who acts where that is somebody other than the rater. `late`: what was answered before the row was given to
    somebody else is kept with the withdrawn work.

    Raises:
        NotNow: the assignment is submitted, or (`SheetClosed`) its sheet is closed.
        Refused: the assignment is withdrawn, or a cell is not one of its cells or not asked.
    """
    answers = list(answers)
    locked = queries.locked(assignment)
    assignment = cast(Assignment, locked)
    if queries.was_recorded(assignment, key):
        return Recorded(state=assignment.state)
    if assignment.state == Assignment.State.SUBMITTED:
        raise NotNow(_("“%(row)s” is submitted; take it back first to change it.") % {"row": assignment.row.name})
    if not late:
        _refuse_withdrawn(assignment)
    _refuse_closed(assignment)

    writer = Writer(assignment, answers, key, by=by, exposed=locked.exposed, has_skips=locked.has_skips)
    for answer in answers:
        writer.write(answer)
    writer.settle()
    writer.flush()

    if assignment.state == Assignment.State.OPEN and writer.recorded.changed:
        assignment.state = Assignment.State.STARTED
        assignment.started_at = assignment.started_at or timezone.now()
        assignment.save(update_fields=["state", "started_at"])
    writer.recorded.state = assignment.state
    writer.recorded.values = writer.values()
    return writer.recorded


def _refuse_withdrawn(assignment: Assignment) -> None:
    if assignment.state == Assignment.State.WITHDRAWN:
        raise Refused(_("“%(row)s” is no longer assigned to this rater.") % {"row": assignment.row.name})


def _refuse_closed(assignment: Assignment) -> None:
    """People change nothing on a closed sheet. Judges do, and the gold of an adjudication: their work comes after."""
    sheet = assignment.row.sheet
    if sheet.closed_at is not None and assignment.rater.kind == Rater.Kind.PERSON:
        raise SheetClosed(
            _("“%(sheet)s” is closed: its work is finished. What you saved is safe; ask the manager to open it again.")
            % {"sheet": sheet.title}
        )


def _code(standing: Label | Skip | None) -> str:
    return (
        standing.option.key if isinstance(standing, Label) else queries.skip_code(standing.reason if standing else "")
    )


class Writer:
    """One transaction's worth of changes to the labels of one assignment.

    Holds the labels of the touched columns in memory, applies answers and rules to them, and writes the difference
    with a fixed number of statements, however many cells there are.
    """

    def __init__(
        self,
        assignment: Assignment,
        answers: Sequence[Answer],
        key: uuid.UUID,
        *,
        by: User | None,
        exposed: bool,
        has_skips: bool,
    ) -> None:
        self.assignment = assignment
        self.key = key
        self.by = by
        self.exposed = exposed
        self.restored_to: datetime | None = None
        self.recorded = Recorded()
        self.columns = {answer.column.pk: answer.column for answer in answers}
        self.spoken_of = {(answer.column.pk, answer.question.pk) for answer in answers}
        self.sections = queries.whole_sections(self.columns.values())
        self.specs = {pk: section.spec for pk, section in self.sections.items()}
        self.questions = {
            section.pk: {question.key: question for question in section.questions.all()}
            for section in self.sections.values()
        }
        labels = {
            (label.column_id, label.question_id): label for label in queries.labels_of_columns(assignment, self.columns)
        }
        options = {
            option.pk: option
            for questions in self.questions.values()
            for question in questions.values()
            for option in question.options.all()
        }
        for label in labels.values():
            label.option = options[label.option_id]
        self.before: dict[tuple[int, int], Label | Skip] = dict(labels)
        if has_skips:
            self.before |= {
                (skip.column_id, skip.question_id): skip
                for skip in Skip.objects.filter(assignment=assignment, column_id__in=self.columns).order_by()
            }
        self.after: dict[tuple[int, int], Label | Skip | None] = {}

    def standing(self, column_id: int, question_id: int) -> Label | Skip | None:
        cell = (column_id, question_id)
        return self.after[cell] if cell in self.after else self.before.get(cell)

    def answers_of(self, column: Column) -> dict[str, str]:
        answers = (
            (key, self.standing(column.pk, question.pk)) for key, question in self.questions[column.section_id].items()
        )
        return {key: label.option.key for key, label in answers if isinstance(label, Label)}

    def skipped_in(self, column: Column) -> set[str]:
        questions = self.questions[column.section_id]
        return {key for key, q in questions.items() if isinstance(self.standing(column.pk, q.pk), Skip)}

    def write(self, answer: Answer) -> None:
        column, question, option = answer.column, answer.question, answer.option
        section = self.sections[column.section_id]
        if (
            column.sheet_id != self.assignment.row.sheet_id
            or question.section_id != column.section_id
            or not self.assignment.asks(section)
        ):
            raise Refused(_("That cell is not part of this assignment."))
        before = self.before.get((column.pk, question.pk))
        if answer.seen is not None and _code(before) not in {answer.seen, answer.code}:
            self.recorded.conflicts.add((column.pk, question.pk))
            return
        is_preset = isinstance(before, Label) and before.preset
        if answer.seen == answer.code == _code(before) and answer.note is None and answer.preset == is_preset:
            return  # it stands there as it was seen: nothing to write, and nothing for the history
        if option is None and not answer.skip:
            self.after[column.pk, question.pk] = None
            return
        if option is not None and option.question_id != question.pk:
            raise Refused(
                _("“%(option)s” is no answer to “%(question)s”.") % {"option": option.label, "question": question.title}
            )
        asked = {spec.key for spec in self.specs[section.pk].asked(self.answers_of(column))}
        if question.key not in asked:
            raise Refused(
                _("“%(question)s” is not asked of “%(column)s” here.")
                % {"question": question.title, "column": column.name}
            )
        if option is None:
            self.after[column.pk, question.pk] = Skip(
                assignment=self.assignment, column=column, question=question, reason=answer.skip
            )
            return
        standing = self.standing(column.pk, question.pk)
        label = standing if isinstance(standing, Label) else None
        self.after[column.pk, question.pk] = Label(
            assignment=self.assignment,
            column=column,
            question=question,
            option=option,
            scores=answer.scores,
            note=(label.note if label else "") if answer.note is None else answer.note,
            preset=answer.preset and self.specs[section.pk].presets(column.facets).get(question.key) == option.key,
            # What was chosen before its rater saw the others' labels stays so when it is chosen again.
            exposed=label.exposed if label and label.option_id == option.pk else self.exposed,
        )

    def settle(self) -> None:
        """Bring each touched column in line with the rules of its section."""
        for column in self.columns.values():
            spec, questions = self.specs[column.section_id], self.questions[column.section_id]
            cleared = {
                key for key, question in questions.items() if self.after.get((column.pk, question.pk), 0) is None
            }
            answers, skipped = self.answers_of(column), self.skipped_in(column)
            presets = spec.presets(column.facets)
            if not skipped and all(self._is_preset(column, questions[key]) for key in answers):
                # Nobody has answered this column, or nobody any more: what follows from answering it goes too.
                self.after |= {(column.pk, questions[key].pk): None for key in answers}
                presets = {}
            for key in presets.keys() - answers.keys() - skipped - cleared:
                question = questions[key]
                option = next(option for option in question.options.all() if option.key == presets[key])
                self.after[column.pk, question.pk] = Label(
                    assignment=self.assignment, column=column, question=question, option=option, preset=True
                )
            asked = {question.key for question in spec.asked(self.answers_of(column))}
            for key, question in questions.items():
                if key not in asked and self.standing(column.pk, question.pk) is not None:
                    self.after[column.pk, question.pk] = None

    def values(self) -> dict[int, dict[int, str]]:
        values: dict[int, dict[int, str]] = {column_id: {} for column_id in self.columns}
        for (column_id, question_id), standing in (self.before | self.after).items():
            if standing is not None:
                preset = isinstance(standing, Label) and standing.preset
                values[column_id][question_id] = ("=" if preset else "") + _code(standing)
        return values

    def _is_preset(self, column: Column, question: Question) -> bool:
        label = self.standing(column.pk, question.pk)
        return isinstance(label, Label) and label.preset

    def flush(self) -> None:
        """Write what differs from before, and an event for each cell that was spoken of.

        Also for a choice of what stood there already, and for a clear of what was clear: the event's key is what makes
        a resend harmless.
        """
        events, now = [], timezone.now()  # one moment for all of it: what belongs together is restored together
        for cell, new in self.after.items():
            old = self.before.get(cell)
            if old is None and new is None and cell not in self.spoken_of:
                continue  # a preset that a rule took back in the same breath
            label = new if isinstance(new, Label) else None
            events.append(
                LabelEvent(
                    assignment=self.assignment,
                    column_id=cell[0],
                    question_id=cell[1],
                    before=old.option if isinstance(old, Label) else None,
                    after=label.option if label else None,
                    skip_before=old.reason if isinstance(old, Skip) else "",
                    skip_after=new.reason if isinstance(new, Skip) else "",
                    note=label.note if label else "",
                    preset=label.preset if label else False,
                    by=self.by,
                    restored_to=self.restored_to,
                    at=now,
                    key=self.key,
                )
            )
            if old is not None or new is not None:
                self.recorded.changed.add(cell)
        self._flush_labels()
        self._flush_skips()
        LabelEvent.objects.bulk_create(events)

    def _flush_labels(self) -> None:
        inserts, updates, deletes = [], [], []
        for cell, new in self.after.items():
            old = self.before.get(cell)
            if isinstance(old, Label) and isinstance(new, Label):
                new.pk, new.revision, new.updated_at = old.pk, old.revision + 1, timezone.now()
                updates.append(new)
            elif isinstance(new, Label):
                inserts.append(new)
            elif isinstance(old, Label):
                deletes.append(old.pk)
        Label.objects.bulk_create(inserts)
        fields = ["option", "scores", "note", "preset", "exposed", "revision", "updated_at"]
        if len(updates) == 1:
            updates[0].save(force_update=True, update_fields=fields)  # a third of the work of an update of many
        else:
            Label.objects.bulk_update(updates, fields, batch_size=200)
        if deletes:
            Label.objects.filter(pk__in=deletes).delete()

    def _flush_skips(self) -> None:
        gone = [old.pk for cell in self.after if isinstance(old := self.before.get(cell), Skip)]
        if gone:
            Skip.objects.filter(pk__in=gone).delete()
        Skip.objects.bulk_create(new for new in self.after.values() if isinstance(new, Skip))


@transaction.atomic
def submit(
    *, assignment: Assignment, allow_open: bool = False, seen: Mapping[tuple[int, int], str] | None = None
) -> Assignment:
    """Close the work on a row.

    `seen` are the answers {(column, question): code} that whoever submits was shown; None does not look.

    Raises:
        SeenOtherwise: other answers stand there by now.
        Unanswered: cells are still open; the sentence says how many. Judges pass `allow_open`: what their prompt does
            not ask stays open.
    """
    assignment = (
        Assignment.objects.select_for_update(of=("self",)).select_related("row__sheet", "rater").get(pk=assignment.pk)
    )
    if assignment.state == Assignment.State.SUBMITTED:
        return assignment
    _refuse_withdrawn(assignment)
    _refuse_closed(assignment)
    if seen is not None:
        _refuse_unseen(assignment, seen)
    if not allow_open and (left := queries.open_cells(assignment)):
        raise Unanswered(
            left,
            ngettext(
                "%(count)s cell of “%(row)s” is still open: %(cells)s.",
                "%(count)s cells of “%(row)s” are still open, first %(cells)s.",
                len(left),
            )
            % {"count": len(left), "row": assignment.row.name, "cells": ", ".join(cell.name for cell in left[:3])},
        )
    assignment.state = Assignment.State.SUBMITTED
    assignment.submitted_at = timezone.now()
    assignment.failure = ""
    assignment.save(update_fields=["state", "submitted_at", "failure"])
    return assignment


def _refuse_unseen(assignment: Assignment, seen: Mapping[tuple[int, int], str]) -> None:
    columns = assignment.row.sheet.columns.values_list("pk", flat=True)
    values = {column: of for (_a, column), of in queries.cell_values([assignment.pk], columns).items()}
    standing = {(column, q): value.removeprefix("=") for column, of in values.items() for q, value in of.items()}
    other = {cell[0] for cell in standing.keys() | seen.keys() if standing.get(cell, "") != seen.get(cell, "")}
    if other:
        raise SeenOtherwise(
            {column: values.get(column, {}) for column in other},
            _("“%(row)s” was changed elsewhere meanwhile, and is shown now as it is. Look at it, then submit it again.")
            % {"row": assignment.row.name},
        )


@transaction.atomic
def reopen(*, assignment: Assignment) -> Assignment:
    """Take a submission back.

    Raises:
        Refused: the manager has closed the sheet.
    """
    assignment = Assignment.objects.select_related("row__sheet", "rater").get(pk=assignment.pk)
    _refuse_closed(assignment)
    Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.SUBMITTED).update(
        state=Assignment.State.STARTED, submitted_at=None
    )
    assignment.refresh_from_db()
    return assignment
