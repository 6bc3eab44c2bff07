"""The work of one task: rows claimed, labelled, given back or failed."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from datetime import timedelta

from django.db import OperationalError, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import actions as annotation
from annotation.actions import Refused
from annotation.models import Assignment
from judges import labelling
from judges.actions import claims
from judges.actions.runs import ORDER, end_run, finish_run
from judges.backends.base import Backend, BackendError, Unavailable
from judges.models import Run, UnreadableAnswer, WorkItem

log = logging.getLogger(__name__)


def score_items(*, item_ids: Sequence[int]) -> int:
    """Label the rows of some work items, one transaction a row. Items that somebody else has are passed over.

    Returns how many rows were labelled. What goes wrong with a row is written to its item, and a mistake of ours to the
    log as well; the other rows go on.
    """
    done = 0
    for pk in item_ids:
        if (item := _claim(pk)) is None:
            continue
        done += _work_at(item)
        finish_run(run_id=item.run_id)
    return done


def take_up(*, run: Run) -> bool:
    """Label the next row of a run in this process; False when no row is to be had at the moment."""
    free = run.items.filter(claims.due(timezone.now()))
    pk = free.order_by(*ORDER).values_list("pk", flat=True).first()
    if pk is None:
        return False
    score_items(item_ids=[pk])
    return True


def _work_at(item: WorkItem) -> bool:
    """Label the row of a claimed item. True: it is done; False: its item says why not."""
    try:
        _label(item)
    except claims.GiveUp:
        claims.release(item)
    except (labelling.RowFailed, Refused) as failure:
        fail(item, str(failure))
    except Unavailable as error:
        _rest(item, str(error))
    except BackendError as error:
        if error.permanent:
            claims.release(item)
            end_run(item.run, Run.State.FAILED, error=str(error))
        else:
            claims.retry(item, str(error), fail=fail)
    except OperationalError as error:  # a database that is locked or away
        log.warning("%s: %s", name_of(item), error)
        claims.retry(item, _("The database did not answer: %(error)s") % {"error": error}, fail=fail)
    except Exception as error:
        log.exception("%s could not be labelled", name_of(item))
        fail(item, _("A mistake in Palate: %(error)s") % {"error": f"{type(error).__name__}: {error}"})
    except BaseException:  # this process is told to stop
        claims.release(item)
        raise
    else:
        return True
    return False


def _claim(pk: int) -> WorkItem | None:
    """Take an item, if it is free; a conditional UPDATE decides between workers."""
    if (claimed := claims.claim(WorkItem, pk)) is None:
        return None
    return claimed.select_related(
        "run__judge__model", "run__judge__prompt", "assignment__row__sheet", "assignment__rater"
    ).first()


def _label(item: WorkItem) -> None:
    judge, assignment = item.run.judge, item.assignment
    if assignment.state == Assignment.State.SUBMITTED:  # an earlier run was still writing it when this one was started
        claims.held(item).update(state=WorkItem.State.DONE, lease_until=None, done_at=timezone.now(), error="")
        return
    backend: Backend | None = None
    if judge.model is not None:
        backend = labelling.backend_of(judge)
        identity = claims.identified(item, backend)
    else:
        identity = labelling.lexical_identity()
    claims.note_worker(item.run, identity)
    started = time.monotonic()
    labelled = labelling.label_row(judge, assignment, backend, claims.heartbeat(item))
    seconds = time.monotonic() - started
    with transaction.atomic():
        mine = claims.still_held(item).update(
            state=WorkItem.State.DONE,
            lease_until=None,
            done_at=timezone.now(),
            error="",
            cells=len(labelled.answers),
            unreadable=len(labelled.unread),
            tokens=labelled.tokens,
            seconds=seconds,
        )
        if not mine:
            raise claims.GiveUp
        # The token is the key of the change: one attempt's labels can be written once only.
        assert item.token is not None
        annotation.record(assignment=assignment, answers=labelled.answers, key=item.token)
        UnreadableAnswer.objects.filter(assignment=assignment).delete()  # of an earlier, unfinished attempt
        UnreadableAnswer.objects.bulk_create(
            UnreadableAnswer(assignment=assignment, column=one.column, question=one.question, why=one.why, raw=one.raw)
            for one in labelled.unread
        )
        annotation.submit(assignment=assignment, allow_open=True)
    if item.run.rests:
        Run.objects.filter(pk=item.run_id).update(rests=0, rest_until=None)
    fed = f", {labelled.tokens:,} tokens" if backend is not None else ""
    log.info("%s: %s cells%s, %.1f s", name_of(item), len(labelled.answers), fed, seconds)


def _rest(item: WorkItem, error: str) -> None:
    """Nobody is there, which is no row's fault: the whole run waits, at growing distances; the third time it fails."""
    run, now = Run.objects.get(pk=item.run_id), timezone.now()
    until = run.rest_until
    if until is None or until <= now:
        if run.rests + 1 >= claims.MAX_ATTEMPTS:
            claims.release(item)
            end_run(run, Run.State.FAILED, error=error)
            return
        until = now + timedelta(seconds=10 * 2 ** (run.rests + 1))
        # Of several workers that find nobody at the same time one counts.
        Run.objects.filter(pk=run.pk, rests=run.rests).update(rests=F("rests") + 1, rest_until=until)
    claims.held(item).update(
        state=WorkItem.State.QUEUED, lease_until=None, error=error, not_before=until, attempts=F("attempts") - 1
    )
    waiting = WorkItem.objects.filter(run=run, state=WorkItem.State.QUEUED)
    waiting.filter(Q(not_before=None) | Q(not_before__lt=until)).update(not_before=until)


@transaction.atomic
def fail(item: WorkItem, error: str) -> None:
    if claims.held(item).update(state=WorkItem.State.FAILED, lease_until=None, error=error, done_at=timezone.now()):
        closed = [Assignment.State.SUBMITTED, Assignment.State.WITHDRAWN]
        Assignment.objects.filter(pk=item.assignment_id).exclude(state__in=closed).update(
            state=Assignment.State.FAILED, failure=error
        )


def name_of(item: WorkItem) -> str:
    row, repeat = item.assignment.row, item.assignment.repeat
    return f"{row.sheet.title} · {row.name}" + (f" · {repeat}" if repeat > 1 else "")
