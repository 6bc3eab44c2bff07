"""Answers, and what follows from them; submitting."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import queries
from annotation.actions.base import refuse_closed, refuse_withdrawn, take_back
from annotation.actions.drafting import confirm as confirm_drafts
from annotation.answers import bare, skip_code
from annotation.labels.answer import Answer
from annotation.labels.refusals import NotNow, Refused
from annotation.labels.writer import Recorded, write
from annotation.models import Assignment, Column, LabelEvent, User
from annotation.plain_sql import Update
from annotation.webhooks.outbox import Event, tell_of_row

_submitted = Update(Assignment, "state", "submitted_at", "failure")
_answered = Update(Assignment, "state", "started_at", "submitted_at", "failure")


class Unanswered(Refused):
    """A row cannot be submitted yet: `cells` are still open."""

    def __init__(self, cells: Sequence[queries.OpenCell], sentence: str) -> None:
        self.cells = tuple(cells)
        super().__init__(sentence)


class Unconfirmed(Refused):
    """A row cannot be submitted yet: `cells` hold drafts that nobody has confirmed."""

    def __init__(self, cells: Sequence[queries.OpenCell], sentence: str) -> None:
        self.cells = tuple(cells)
        super().__init__(sentence)


class SeenOtherwise(Refused):
    """A row is submitted by somebody who was shown other answers than it has by now; `values` are these."""

    def __init__(self, values: dict[int, dict[int, str]], sentence: str) -> None:
        self.values = values
        super().__init__(sentence)


@transaction.atomic
def record(
    *,
    assignment: Assignment,
    answers: Iterable[Answer],
    key: uuid.UUID,
    by: User | None = None,
    late: bool = False,
    reopen: bool = False,
) -> Recorded:
    """Write answers, the rules' consequences and the history, all or nothing.

    An answer that switches questions off clears their cells; a question that a column presets is filled in as soon as
    one of its column is answered. `key` names this change: the same change sent again is acknowledged and does nothing.
    `by` is who acts where that is somebody other than the rater. `late`: what was answered before the row was given to
    somebody else is kept with the withdrawn work. `reopen`: a submission that an answer changes is taken back.

    Raises:
        NotNow: the assignment is submitted and not to be reopened, or (`SheetClosed`) its sheet is closed.
        Refused: the assignment is withdrawn, a cell is not one of its cells or not asked, what was answered is no
            answer of its question, or breaks a check that refuses; another change without `seen` had this key.
    """
    answers = list(answers)
    assignment = queries.locked(assignment)
    known = queries.known(assignment, key)
    if known.recorded:
        _refuse_another(assignment, answers, key)
        return Recorded(state=assignment.state, conflicts=_left_out(assignment, answers, key))
    is_submitted = assignment.state == Assignment.State.SUBMITTED
    if is_submitted and not reopen:
        raise _is_submitted(assignment)
    if not late:
        refuse_withdrawn(assignment)
    refuse_closed(assignment)

    recorded = write(assignment, answers, key, by=by, exposed=known.exposed, has_skips=known.has_skips)
    if recorded.changed:
        if is_submitted:
            take_back([assignment])
            tell_of_row(Event.ROW_REOPENED, assignment)
        if _is_untouched(assignment):
            _begin(assignment)
    recorded.state = assignment.state
    return recorded


def record_and_submit(*, assignment: Assignment, answers: Sequence[Answer], key: uuid.UUID) -> None:
    """What `record` and then `submit` with `allow_open` do, with as many statements as one of them takes: for a judge,
    which answers a row at one go. In the caller's transaction.

    Raises:
        NotNow, Refused: as `record`; the caller's transaction is not to go on then.
    """
    assert connection.in_atomic_block
    assignment = queries.locked(assignment)
    known = queries.known(assignment, key)
    is_submitted = assignment.state == Assignment.State.SUBMITTED
    if is_submitted and known.recorded:
        return
    if is_submitted:
        raise _is_submitted(assignment)
    refuse_withdrawn(assignment)
    refuse_closed(assignment)
    begins = False
    if not known.recorded:
        recorded = write(assignment, answers, key, by=None, exposed=known.exposed, has_skips=known.has_skips)
        begins = bool(recorded.changed) and _is_untouched(assignment)
    now = timezone.now()
    _answered(assignment.pk, [Assignment.State.SUBMITTED, assignment.started_at or (now if begins else None), now, ""])


def _is_submitted(assignment: Assignment) -> NotNow:
    return NotNow(_("“%(row)s” is submitted; take it back first to change it.") % {"row": assignment.row.name})


@transaction.atomic
def record_together(
    *, assignment: Assignment, changes: Mapping[uuid.UUID, Sequence[Answer]]
) -> dict[uuid.UUID, Recorded]:
    """What `record` does with each of the changes {key: answers}, with as many statements as one of them takes.

    Without those that were recorded before. {}, and nothing is written, where one may depend on another, or is not
    simply taken: two of them are about one column (one that was recorded before, too: it is answered with what stands
    before the other), or a section has checks, which look at all its columns; the row is submitted, withdrawn or
    closed; an answer is refused.
    """
    assignment = queries.locked(assignment)
    of_all = [{answer.column.pk for answer in of_one} for of_one in changes.values()]
    if len(set[int]().union(*of_all)) < sum(map(len, of_all)):
        return {}
    known = queries.known(assignment, *changes)
    if known.recorded:
        before = queries.recorded(assignment, changes)
        changes = {key: of_one for key, of_one in changes.items() if key not in before}
    answers = [answer for of_one in changes.values() for answer in of_one]
    columns = {key: {answer.column.pk for answer in of_one} for key, of_one in changes.items()}
    keys = {column: key for key, of_one in columns.items() for column in of_one}
    sections = queries.whole_sections([answer.column for answer in answers]).values()
    if any(section.spec.checks for section in sections):
        return {}
    if not answers or assignment.state not in (Assignment.State.OPEN, Assignment.State.STARTED):
        return {}
    try:
        refuse_closed(assignment)
        recorded = write(
            assignment,
            answers,
            next(iter(changes)),
            by=None,
            exposed=known.exposed,
            has_skips=known.has_skips,
            keys=keys,
        )
    except Refused:  # before anything is written
        return {}
    if recorded.changed and _is_untouched(assignment):
        _begin(assignment)
    recorded.state = assignment.state
    return {key: recorded.of_columns(of_one) for key, of_one in columns.items()}


def _is_untouched(assignment: Assignment) -> bool:
    """Whether its rater has not begun it: it may be started all the same, with what somebody else has drafted."""
    state = Assignment.State
    return assignment.state == state.OPEN or (assignment.state == state.STARTED and assignment.started_at is None)


def _begin(assignment: Assignment) -> None:
    assignment.state = Assignment.State.STARTED
    assignment.started_at = assignment.started_at or timezone.now()
    assignment.save(update_fields=["state", "started_at"])


@transaction.atomic
def submit(
    *,
    assignment: Assignment,
    allow_open: bool = False,
    confirm: bool = False,
    seen: Mapping[tuple[int, int], str] | None = None,
) -> Assignment:
    """Close the work on a row.

    `seen` are the answers {(column, question): code} that whoever submits was shown; None does not look. `confirm`:
    what is still a draft is confirmed with it.

    Raises:
        SeenOtherwise: other answers stand there by now.
        Unanswered: cells are still open; the sentence says how many. Judges pass `allow_open`: what their prompt does
            not ask stays open.
        Unconfirmed: cells hold drafts, and `confirm` is not said.
    """
    assignment = queries.locked(assignment)
    if assignment.state == Assignment.State.SUBMITTED:
        return assignment
    refuse_withdrawn(assignment)
    refuse_closed(assignment)
    standing = queries.standing(assignment) if seen is not None or not allow_open else None
    if standing is not None and seen is not None:
        _refuse_unseen(assignment, seen, standing)
    if standing is not None and not allow_open and queries.is_unfinished(assignment, standing):
        left = queries.unfinished_cells(assignment)
        if left.open:
            raise Unanswered(
                left.open,
                ngettext(
                    "%(count)s cell of “%(row)s” is still open: %(cells)s.",
                    "%(count)s cells of “%(row)s” are still open, first %(cells)s.",
                    len(left.open),
                )
                % _counted(assignment, left.open),
            )
        if left.drafts and not confirm:
            raise Unconfirmed(
                left.drafts,
                ngettext(
                    "%(count)s cell of “%(row)s” holds a draft that you have not confirmed: %(cells)s.",
                    "%(count)s cells of “%(row)s” hold drafts that you have not confirmed, first %(cells)s.",
                    len(left.drafts),
                )
                % _counted(assignment, left.drafts),
            )
        if left.drafts:
            confirm_drafts(assignment=assignment, key=uuid.uuid4())
    assignment.state = Assignment.State.SUBMITTED
    assignment.submitted_at = timezone.now()
    assignment.failure = ""
    _submitted(assignment.pk, [assignment.state, assignment.submitted_at, assignment.failure])
    tell_of_row(Event.ROW_SUBMITTED, assignment)
    return assignment


def _refuse_another(assignment: Assignment, answers: Iterable[Answer], key: uuid.UUID) -> None:
    """Each cell that a change is about has an event with what it said, and consequences of it may have more.

    A page that says what it saw sends the rest of a change under the same key, and is told what was left out of it.
    """
    sent = {(one.column.pk, one.question.pk): one.code for one in answers if one.seen is None}
    if not sent:
        return
    events = LabelEvent.objects.filter(assignment=assignment, key=key).select_related("after")
    written = {(one.column_id, one.question_id): skip_code(one.skip_after) or one.code_after for one in events}
    if not sent.items() <= written.items():
        raise Refused(
            _("Another change was sent with this key before, and stands. Send what is new with a key of its own.")
        )


def _left_out(assignment: Assignment, answers: Iterable[Answer], key: uuid.UUID) -> set[tuple[int, int]]:
    """The cells that a change which was recorded before did not get, since something else stood there: whoever sends it
    again has not heard of it."""
    mine = list(LabelEvent.objects.filter(assignment=assignment, key=key).values_list("pk", "column_id", "question_id"))
    written = {(column, question) for _pk, column, question in mine}
    left = {(one.column.pk, one.question.pk): one.code for one in answers if one.seen is not None}
    left = {cell: code for cell, code in left.items() if cell not in written}
    if not left:
        return set()
    # What was chosen where it stood already was taken, and has no event: it may have been answered anew since.
    first = min(pk for pk, _column, _question in mine)
    then = queries.codes_before(assignment, {column for column, _question in left}, event=first)
    left = {cell: code for cell, code in left.items() if then.get(cell, "") != code}
    if not left:
        return set()
    standing = queries.cell_values([assignment.pk], {column for column, _question in left})
    return {
        (column, question)
        for (column, question), code in left.items()
        if bare(standing.get((assignment.pk, column), {}).get(question, "")) != code
    }


def _counted(assignment: Assignment, cells: Sequence[queries.OpenCell]) -> dict[str, object]:
    return {"count": len(cells), "row": assignment.row.name, "cells": ", ".join(cell.name for cell in cells[:3])}


def _refuse_unseen(assignment: Assignment, seen: Mapping[tuple[int, int], str], standing: queries.Standing) -> None:
    stands = {cell: bare(value) for cell, value in (standing.skips | standing.labels).items()}
    other = {cell[0] for cell in stands.keys() | seen.keys() if stands.get(cell, "") != bare(seen.get(cell, ""))}
    if other:
        of_sheet = Column.objects.filter(sheet=assignment.row.sheet_id).values_list("pk", flat=True)
        columns = [pk for pk in of_sheet if pk in other]
        values = {column: of for (_a, column), of in queries.cell_values([assignment.pk], columns).items()}
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
    one = Assignment.objects.select_related("row__sheet", "rater").select_for_update(of=("self",))
    assignment = one.get(pk=assignment.pk)
    refuse_closed(assignment)
    if take_back([assignment]):
        tell_of_row(Event.ROW_REOPENED, assignment)
    return assignment
