"""Starting from another rater's answers: what is drafted is nobody's own until it is changed or confirmed."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import queries
from annotation.actions.base import NotNow, Refused, refuse_closed, refuse_withdrawn
from annotation.answers import AnswerRefused, kind_of
from annotation.labels.answer import Answer
from annotation.labels.batch import Batch
from annotation.labels.writer import Recorded, Writer, write
from annotation.models import Assignment, Label, Rater, User


@transaction.atomic
def draft(*, assignment: Assignment, rater: Rater, key: uuid.UUID, by: User | None = None) -> int:
    """Fill the open cells of an assignment with what another rater answered of the same row; returns how many.

    Of several rounds of that rater the last submitted counts. What is drafted counts as exposed, and keeps whose answer
    it was; what that rater's column presets stays a preset. Cells that are answered or skipped stay as they are, and so
    do those where a model elsewhere wrote what the scheme refuses of people.

    Raises:
        NotNow: the assignment is submitted, or its sheet is closed.
        Refused: it is withdrawn; the other rater is of another study, is the same, or has not submitted this row.
    """
    assignment = queries.locked(assignment)
    known = queries.known(assignment, key)
    if known.recorded:
        return 0
    if assignment.state == Assignment.State.SUBMITTED:
        raise NotNow(_("“%(row)s” is submitted; take it back first to change it.") % {"row": assignment.row.name})
    refuse_withdrawn(assignment)
    refuse_closed(assignment)
    theirs = (
        Assignment.objects.filter(rater=rater, row=assignment.row_id, state=Assignment.State.SUBMITTED)
        .exclude(pk=assignment.pk)
        .order_by("-repeat")
        .first()
    )
    if theirs is None or rater.pk == assignment.rater_id:
        raise Refused(
            _("“%(rater)s” has not submitted “%(row)s”, so there is nothing to start from.")
            % {"rater": rater.code, "row": assignment.row.name}
        )
    labels = [
        label
        for label in Label.objects.filter(assignment=theirs)
        .select_related("column__section__scheme", "question", "option")
        .order_by("column__section", "column__position", "question__position")
        if assignment.asks(label.column.section) and _may_be_drafted(label)
    ]
    answers = [Answer(label.column, label.question, label.option, value=label.value) for label in labels]
    batch = Batch(key, by=by)
    writer = Writer(assignment, answers, batch, exposed=True, has_skips=known.has_skips)
    writer.spoken_of.clear()  # cells that keep what they have are not spoken of
    drafted = 0
    for label in labels:
        if writer.standing(label.column_id, label.question_id) is None:
            own = Label(
                assignment=assignment,
                column=label.column,
                question=label.question,
                option=label.option,
                value=label.value,
                preset=label.preset,
                exposed=not label.preset,
                drafted_from=None if label.preset else rater,
            )
            writer.put(label.column, label.question, own)
            drafted += not label.preset
    writer.settle()
    writer.leave()
    batch.flush()
    if assignment.state == Assignment.State.OPEN and writer.recorded.changed:
        # Its person has begun nothing where somebody else has drafted.
        if by is None or by.pk == assignment.rater.user_id:
            assignment.started_at = assignment.started_at or timezone.now()
        assignment.state = Assignment.State.STARTED
        assignment.save(update_fields=["state", "started_at"])
    return drafted


def _may_be_drafted(label: Label) -> bool:
    if label.value is None:
        return True
    question = label.column.section.spec.question(label.question.key)
    try:
        kind_of(question).canonical(question, label.value)
    except AnswerRefused:
        return False
    return True


@dataclass(frozen=True)
class Started:
    """How many assignments began from a draft, and how many answers were drafted in them."""

    assignments: int
    answers: int


@transaction.atomic
def start_from(*, assignments: Sequence[Assignment], rater: Rater, by: User | None = None) -> Started:
    """`draft` for several assignments, all or none."""
    answers = [draft(assignment=one, rater=rater, key=uuid.uuid4(), by=by) for one in assignments]
    return Started(sum(n > 0 for n in answers), sum(answers))


@transaction.atomic
def confirm(
    *,
    assignment: Assignment,
    key: uuid.UUID,
    cells: Iterable[tuple[int, int]] | None = None,
    by: User | None = None,
) -> Recorded:
    """Take drafted answers for one's own, as they are: those of some cells (column, question), or of all.

    Cells without a draft are left out.

    Raises:
        NotNow: the assignment is submitted, or its sheet is closed.
        Refused: it is withdrawn.
    """
    assignment = queries.locked(assignment)
    known = queries.known(assignment, key)
    if known.recorded:
        return Recorded(state=assignment.state)
    if assignment.state == Assignment.State.SUBMITTED:
        raise NotNow(_("“%(row)s” is submitted; take it back first to change it.") % {"row": assignment.row.name})
    refuse_withdrawn(assignment)
    refuse_closed(assignment)
    wanted = None if cells is None else set(cells)
    drafts = (
        Label.objects.filter(assignment=assignment, drafted_from__isnull=False, confirmed_at=None)
        .select_related("column__section__scheme", "question", "option")
        .order_by("column__section", "column__position", "question__position")
    )
    answers = [
        Answer(label.column, label.question, label.option, value=label.value)
        for label in drafts
        if wanted is None or (label.column_id, label.question_id) in wanted
    ]
    recorded = write(assignment, answers, key, by=by, exposed=True, has_skips=known.has_skips)
    if recorded.changed and assignment.started_at is None:
        assignment.started_at = timezone.now()
        assignment.save(update_fields=["started_at"])
    recorded.state = assignment.state
    return recorded
