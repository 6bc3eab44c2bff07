"""Bringing the labels of a sheet back to how they were at a moment."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.actions.base import Refused, take_back
from annotation.labels import history
from annotation.labels.answer import Answer
from annotation.labels.batch import Batch
from annotation.labels.history import Change
from annotation.labels.writer import Writer
from annotation.lens import lens
from annotation.models import Assignment, ExperimentSeat, Label, Look, Rater, Sheet, Skip, User
from annotation.webhooks.outbox import Event, tell_of_rows


@transaction.atomic
def restore(
    *, sheet: Sheet, to: datetime, rater: Rater | None = None, submitted: bool = False, shown: str, by: User
) -> int:
    """Make people's labels of a sheet what they were at a moment, of one rater or of all, by new events of the history.

    Rows that are submitted stay as they are, unless `submitted`: then those that change are taken back first, so that
    their rater sees them and submits them again. `shown` is the digest of the changes that `by` was shown, which are
    what is done. Returns how many cells were changed.

    Raises:
        Refused: the labels have changed since; the sheet is closed.
    """
    if Sheet.objects.select_for_update(no_key=True).get(pk=sheet.pk).closed_at is not None:
        raise Refused(_("“%(sheet)s” is closed. Open it again to restore labels of it.") % {"sheet": sheet.title})
    work = Assignment.objects.select_for_update().filter(row__sheet=sheet, rater__kind=Rater.Kind.PERSON)
    list(work.order_by("pk").values_list("pk"))  # writers of these rows wait until all is restored
    todo = history.preview(history.changes(sheet, to=to, rater=rater), submitted=submitted).done
    if lens.digest(todo) != shown:
        raise Refused(
            _(
                "The labels have changed since you looked. Nothing was restored: look again. "
                "If it was sent before, it may be done already."
            )
        )
    key = uuid.uuid4()
    for _pk, of_row in itertools.groupby(todo, key=attrgetter("assignment.pk")):
        _restore_row(list(of_row), to, by, key)
    taken_back = take_back({change.assignment.pk: change.assignment for change in todo}.values())
    tell_of_rows(Event.ROW_REOPENED, [assignment.pk for assignment in taken_back])
    return len(todo)


def _restore_row(changes: Sequence[Change], to: datetime, by: User, key: uuid.UUID) -> None:
    assignment = changes[0].assignment
    answers = [Answer(change.column, change.question) for change in changes]
    batch = Batch(key, by=by, restored_to=to)
    writer = Writer(assignment, answers, batch, exposed=False, has_skips=True)
    looks = Look.objects.filter(sheet=assignment.row.sheet_id, user=assignment.rater.user_id)
    first_look = looks.order_by("pk").values_list("at", flat=True).first()
    shown = ExperimentSeat.objects.filter(assignment=assignment, shown=True).exists()
    for change in changes:
        writer.put(change.column, change.question, _as_it_was(change, first_look, shown=shown))
    writer.leave()
    batch.flush()


def _is_before(look: datetime | None, change: Change) -> bool:
    return look is not None and change.given_at is not None and look < change.given_at


def _as_it_was(change: Change, first_look: datetime | None, *, shown: bool) -> Label | Skip | None:
    then = change.then
    here = {"assignment": change.assignment, "column": change.column, "question": change.question}
    if then is not None and then.code_after:
        exposed = shown or then.drafted_from_id is not None or _is_before(first_look, change)
        label = Label(**here, option=then.after, value=then.value_after, note=then.note, preset=then.preset)
        label.exposed = exposed and not then.preset  # which nobody chose
        label.drafted_from_id, label.confirmed_at = then.drafted_from_id, then.confirmed_at
        return label
    return Skip(**here, reason=then.skip_after) if then is not None and then.skip_after else None
