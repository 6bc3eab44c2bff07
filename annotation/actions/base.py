"""What all actions share."""

from __future__ import annotations

from django.db.models import QuerySet
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
    "keep_submissions",
    "lock_study",
    "lock_to_resume",
    "refuse_closed",
    "refuse_while_shown",
    "refuse_withdrawn",
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


def keep_submissions(work: QuerySet[Assignment]) -> None:
    """Write down the submissions among this work, which is about to be taken back, in the caller's transaction. Not of
    gold, which is opened and closed with each decision. Two queries where there is any."""
    submitted = work.filter(state=Assignment.State.SUBMITTED).exclude(rater__kind=Rater.Kind.GOLD).order_by("pk")
    found = submitted.select_for_update(of=("self",)).values_list("pk", "submitted_at")
    now = timezone.now()
    PastSubmission.objects.bulk_create(
        [PastSubmission(assignment_id=pk, submitted_at=at, until=now) for pk, at in found if at is not None]
    )


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
