"""A change of cells of several rows at once, as a person makes it in the grid."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import groupby

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import queries
from annotation.actions.base import NotNow, Refused, SheetClosed
from annotation.actions.labels import record, record_together
from annotation.labels.answer import Answer
from annotation.labels.writer import Recorded
from annotation.models import Assignment


@dataclass(frozen=True)
class Edit:
    """What `change` is asked for."""

    answers: Mapping[Assignment, Sequence[Answer]]
    key: uuid.UUID
    whole: bool = False
    reopen: bool = False


@dataclass
class Changed:
    """What came of `change`: the columns of the assignments as they are now, and what was left out and why.

    `columns`: {assignment: {column: {question: value}}}, values as `queries.cell_values` says them; `states`:
    {assignment: state}; `conflicts`: the cells (assignment, column, question) in which something else stood; `held`:
    the assignments that took nothing now and may later; `closed`: because their sheet is. `warnings`: {assignment:
    {column: {question: sentences}}} of the columns that were looked at, {} for a column without any.
    """

    columns: dict[int, dict[int, dict[int, str]]] = field(default_factory=dict)
    states: dict[int, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    conflicts: list[tuple[int, int, int]] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    closed: bool = False
    warnings: dict[int, dict[int, dict[int, list[str]]]] = field(default_factory=dict)


@transaction.atomic
def change_each(edits: Sequence[Edit]) -> list[Changed]:
    """Several changes in their order; what is refused of one takes nothing of the others back.

    Answers to one row, as somebody gives who goes through its cells, are written together where they can be.
    """
    changed: list[Changed] = []
    for assignment, run in groupby(edits, key=_row_alone):
        some = list(run)
        recorded: dict[uuid.UUID, Recorded] = {}
        if assignment is not None and len(some) > 1 and len({edit.key for edit in some}) == len(some):
            of_each = {edit.key: edit.answers[assignment] for edit in some}
            recorded = record_together(assignment=assignment, changes=of_each)
        for edit in some:
            if assignment is not None and edit.key in recorded:
                changed.append(_changed(assignment, recorded[edit.key]))
            else:
                changed.append(change(answers=edit.answers, key=edit.key, whole=edit.whole, reopen=edit.reopen))
    return changed


def _row_alone(edit: Edit) -> Assignment | None:
    """The one assignment that a change is about, where it may be written together with others."""
    [first, *others] = edit.answers
    return None if others or edit.whole else first


def _changed(assignment: Assignment, recorded: Recorded) -> Changed:
    return Changed(
        columns={assignment.pk: recorded.values or {}},
        states={assignment.pk: recorded.state},
        conflicts=[(assignment.pk, *cell) for cell in sorted(recorded.conflicts)],
        warnings={assignment.pk: recorded.warnings or {}},
    )


def change(
    *, answers: Mapping[Assignment, Sequence[Answer]], key: uuid.UUID, whole: bool = False, reopen: bool = False
) -> Changed:
    """Record the answers of each assignment: all of one or none of it, but for cells in which something else stood.

    `whole`: where one part does not go in, nothing does. Else, what comes late to a row that was given to somebody else
    is kept with the withdrawn work, and that is said. `reopen`: as for `record`.
    """
    changed = Changed()
    unknown = []
    with transaction.atomic() if whole or len(answers) > 1 else nullcontext():
        for assignment in sorted(answers, key=lambda assignment: assignment.pk):  # in one order, for the locks
            try:
                recorded = record(
                    assignment=assignment, answers=answers[assignment], key=key, late=not whole, reopen=reopen
                )
            except Refused as refusal:
                changed.refused.append(str(refusal))
                if isinstance(refusal, NotNow):
                    changed.held.append(assignment.pk)
                changed.closed |= isinstance(refusal, SheetClosed)
                unknown.append(assignment.pk)
                continue
            changed.conflicts += [(assignment.pk, *cell) for cell in sorted(recorded.conflicts)]
            changed.states[assignment.pk] = recorded.state
            if recorded.state == Assignment.State.WITHDRAWN:
                changed.refused.append(
                    _(
                        "“%(row)s” was withdrawn or given to somebody else meanwhile. What you answered there is kept "
                        "with your work; it counts no more."
                    )
                    % {"row": assignment.row.name}
                )
            if recorded.values is None:
                unknown.append(assignment.pk)
            else:
                changed.columns[assignment.pk] = recorded.values
            if recorded.warnings is not None:
                changed.warnings[assignment.pk] = recorded.warnings
        if whole and (changed.refused or changed.conflicts):
            transaction.set_rollback(True)
            unknown = [assignment.pk for assignment in answers]
            changed.warnings.clear()
    if unknown:
        _look_again(changed, answers, unknown)
    return changed


def _look_again(changed: Changed, answers: Mapping[Assignment, Sequence[Answer]], unknown: Sequence[int]) -> None:
    """What the database has of the assignments that were not written just now. Two queries."""
    touched = {
        assignment.pk: {answer.column.pk for answer in of_one}
        for assignment, of_one in answers.items()
        if assignment.pk in unknown
    }
    values = queries.cell_values(touched, set().union(*touched.values()))
    for pk, columns in touched.items():
        changed.columns[pk] = {column: values.get((pk, column), {}) for column in columns}
    changed.states |= dict(Assignment.objects.filter(pk__in=unknown).order_by().values_list("pk", "state"))
