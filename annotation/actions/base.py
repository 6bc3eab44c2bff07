"""What all actions share."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.labels.refusals import NotNow, Refused, SheetClosed
from annotation.models import Assignment, PastSubmission, Rater, Study
from annotation.queries.arriving import is_being_shown
from work.models import Run

__all__ = [
    "NotNow",
    "Refused",
    "SheetClosed",
    "lock_study",
    "lock_to_resume",
    "refuse_closed",
    "refuse_while_shown",
    "refuse_withdrawn",
    "take_back",
]


def lock_study(study_id: int) -> None:
    """Make others who change the make-up of this study (its people, sheets, rows, plans) wait for this transaction.

    Raises:
        Study.DoesNotExist: it was deleted meanwhile, or is on its way out.
    """
    # Not the stronger lock: it would hold up everybody who adds something that refers to the study.
    Study.objects.select_for_update(no_key=True).values_list("pk").get(pk=study_id, deleted_at=None)


def lock_to_resume(run: Run) -> None:
    """Make others who would go on with a run wait for this transaction.

    Raises:
        Refused: it is at work.
    """
    if type(run)._default_manager.select_for_update().get(pk=run.pk).is_running:
        raise Refused(_("It is at work already."))


def refuse_while_shown(study_id: int) -> None:
    """What computes on labels waits until all of an import is seen, or it would count a part of it. One query.

    Raises:
        Refused: an import is being shown in steps.
    """
    if is_being_shown(study_id):
        raise Refused(_("An import is being shown; try again in a moment."))


def refuse_withdrawn(assignment: Assignment, *, is_gone: bool = False) -> None:
    """`is_gone`: it was deleted meanwhile, with the plan that gave it."""
    if is_gone or assignment.state == Assignment.State.WITHDRAWN:
        raise Refused(_("“%(row)s” is no longer assigned to this rater.") % {"row": assignment.row.name})


def refuse_closed(assignment: Assignment) -> None:
    """People change nothing on a closed sheet. Judges do, and the gold of an adjudication: their work comes after."""
    sheet = assignment.row.sheet
    if sheet.closed_at is None or assignment.rater.kind != Rater.Kind.PERSON:
        return
    if contact := Study.objects.only("contact", "contact_address").get(sheets=sheet.pk).contact_text:
        raise SheetClosed(
            _(
                "“%(sheet)s” is closed: its work is finished. What you saved is safe; to have it opened again, contact "
                "%(contact)s."
            )
            % {"sheet": sheet.title, "contact": contact}
        )
    raise SheetClosed(
        _("“%(sheet)s” is closed: its work is finished. What you saved is safe; ask the manager to open it again.")
        % {"sheet": sheet.title}
    )


def take_back(work: Iterable[Assignment]) -> list[Assignment]:
    """Open those of this work again that are submitted, and write down that they were; not of gold, which is opened and
    closed with each decision. The caller has locked them. Returns them. Two queries where there is any."""
    submitted, now = [one for one in work if one.state == Assignment.State.SUBMITTED], timezone.now()
    past = [
        PastSubmission(assignment=one, submitted_at=one.submitted_at, until=now)
        for one in submitted
        if one.submitted_at is not None and one.rater.kind != Rater.Kind.GOLD
    ]
    PastSubmission.objects.bulk_create(past, batch_size=500)
    for one in submitted:
        one.state, one.submitted_at = Assignment.State.STARTED, None
    Assignment.objects.bulk_update(submitted, ["state", "submitted_at"], batch_size=200)
    return submitted
