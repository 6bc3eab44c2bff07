"""The work of one task: rows claimed, labelled, given back or failed."""

from __future__ import annotations

import logging
import platform
import time
import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import actions as annotation
from annotation.actions import Refused
from annotation.models import Assignment
from judges import labelling, processes
from judges.actions.runs import ORDER, end_run, finish_run
from judges.backends.base import Backend, BackendError, Unavailable
from judges.models import ExtractionRun, Run, UnreadableAnswer, WorkItem

log = logging.getLogger(__name__)

# A backend that fails in passing is asked this often for a row.
MAX_ATTEMPTS = 3
# A worker says nothing while it loads a model, or fetches it from the hub.
LOADING = timedelta(minutes=30)


class _GiveUp(Exception):
    """The run was cancelled, or the item belongs to another worker now."""


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
    now = timezone.now()
    free = run.items.filter(state=WorkItem.State.QUEUED).filter(Q(not_before=None) | Q(not_before__lte=now))
    pk = free.order_by(*ORDER).values_list("pk", flat=True).first()
    if pk is None:
        return False
    score_items(item_ids=[pk])
    return True


def _work_at(item: WorkItem) -> bool:
    """Label the row of a claimed item. True: it is done; False: its item says why not."""
    try:
        _label(item)
    except _GiveUp:
        _release(item)
    except (labelling.RowFailed, Refused) as failure:
        fail(item, str(failure))
    except Unavailable as error:
        _rest(item, str(error))
    except BackendError as error:
        if error.permanent:
            _release(item)
            end_run(item.run, Run.State.FAILED, error=str(error))
        else:
            _retry(item, str(error))
    except OperationalError as error:  # a database that is locked or away
        log.warning("%s: %s", name_of(item), error)
        _retry(item, _("The database did not answer: %(error)s") % {"error": error})
    except Exception as error:
        log.exception("%s could not be labelled", name_of(item))
        fail(item, _("A mistake in Palate: %(error)s") % {"error": f"{type(error).__name__}: {error}"})
    except BaseException:  # this process is told to stop
        _release(item)
        raise
    else:
        return True
    return False


def _claim(pk: int) -> WorkItem | None:
    """Take an item, if it is free; a conditional UPDATE decides between workers."""
    now, token = timezone.now(), uuid.uuid4()
    claimed = (
        WorkItem.objects.filter(pk=pk, state=WorkItem.State.QUEUED, run__in=_running())
        .filter(Q(not_before=None) | Q(not_before__lte=now))
        .update(
            state=WorkItem.State.CLAIMED,
            token=token,
            worker=processes.this_process(),
            lease_until=now + lease(),
            not_before=None,
            attempts=F("attempts") + 1,
        )
    )
    if not claimed:
        return None
    found = WorkItem.objects.filter(pk=pk, token=token)
    return found.select_related(
        "run__judge__model", "run__judge__prompt", "assignment__row__sheet", "assignment__rater"
    ).first()


def _label(item: WorkItem) -> None:
    judge, assignment = item.run.judge, item.assignment
    if assignment.state == Assignment.State.SUBMITTED:  # an earlier run was still writing it when this one was started
        held(item).update(state=WorkItem.State.DONE, lease_until=None, done_at=timezone.now(), error="")
        return
    backend: Backend | None = None
    if judge.model is not None:
        _hold(item, LOADING)
        backend = labelling.backend_of(judge)
        identity = backend.identity()  # loads it, where it is not loaded yet
        _hold(item, lease())
    else:
        identity = labelling.lexical_identity()
    note_worker(item.run, identity)
    started = renewed = time.monotonic()

    def heartbeat(_tokens: int, _cells: int) -> None:
        """Renew the lease, at most once a second; notice a cancelled run."""
        nonlocal renewed
        if time.monotonic() - renewed >= 1:
            renewed = time.monotonic()
            _hold(item, lease())

    labelled = labelling.label_row(judge, assignment, backend, heartbeat)
    seconds = time.monotonic() - started
    with transaction.atomic():
        mine = _still_held(item).update(
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
            raise _GiveUp
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


def _hold(item: WorkItem, lease: timedelta) -> None:
    if not _still_held(item).update(lease_until=timezone.now() + lease):
        raise _GiveUp


# The conditions of these stand in the UPDATE itself (a join would move them into a subquery): PostgreSQL then looks at
# them again when another worker changed the row while this one waited for it.


def held(item: WorkItem) -> QuerySet[WorkItem]:
    return WorkItem.objects.filter(pk=item.pk, token=item.token, state=WorkItem.State.CLAIMED)


def _still_held(item: WorkItem) -> QuerySet[WorkItem]:
    return held(item).filter(run__in=_running())


def _running() -> QuerySet[Run]:
    return Run.objects.filter(state=Run.State.RUNNING)


def _release(item: WorkItem) -> None:
    """Put an item back as if it had not been taken; recover_runs sends it again."""
    held(item).update(
        state=WorkItem.State.QUEUED, lease_until=None, not_before=timezone.now(), attempts=F("attempts") - 1
    )


def _retry(item: WorkItem, error: str) -> None:
    """Try again later, at growing distances; the third failure is the last. recover_runs sends it when it is due."""
    if item.attempts >= MAX_ATTEMPTS:
        fail(item, error)
        return
    wait = timedelta(seconds=10 * 2**item.attempts)
    held(item).update(state=WorkItem.State.QUEUED, lease_until=None, error=error, not_before=timezone.now() + wait)


def _rest(item: WorkItem, error: str) -> None:
    """Nobody is there, which is no row's fault: the whole run waits, at growing distances; the third time it fails."""
    run, now = Run.objects.get(pk=item.run_id), timezone.now()
    until = run.rest_until
    if until is None or until <= now:
        if run.rests + 1 >= MAX_ATTEMPTS:
            _release(item)
            end_run(run, Run.State.FAILED, error=error)
            return
        until = now + timedelta(seconds=10 * 2 ** (run.rests + 1))
        # Of several workers that find nobody at the same time one counts.
        Run.objects.filter(pk=run.pk, rests=run.rests).update(rests=F("rests") + 1, rest_until=until)
    held(item).update(
        state=WorkItem.State.QUEUED, lease_until=None, error=error, not_before=until, attempts=F("attempts") - 1
    )
    waiting = WorkItem.objects.filter(run=run, state=WorkItem.State.QUEUED)
    waiting.filter(Q(not_before=None) | Q(not_before__lt=until)).update(not_before=until)


@transaction.atomic
def fail(item: WorkItem, error: str) -> None:
    if held(item).update(state=WorkItem.State.FAILED, lease_until=None, error=error, done_at=timezone.now()):
        closed = [Assignment.State.SUBMITTED, Assignment.State.WITHDRAWN]
        Assignment.objects.filter(pk=item.assignment_id).exclude(state__in=closed).update(
            state=Assignment.State.FAILED, failure=error
        )


@transaction.atomic
def note_worker(run: Run | ExtractionRun, identity: dict[str, str]) -> None:
    """Add a worker's model and libraries to the run's record, once for all workers that are alike."""
    whole = {**identity, "python": platform.python_version()}
    if whole in run.provenance["workers"]:
        return
    locked = type(run).objects.select_for_update().get(pk=run.pk)
    if whole not in locked.provenance["workers"]:
        locked.provenance["workers"].append(whole)
        locked.save(update_fields=["provenance"])
    run.provenance = locked.provenance


def lease() -> timedelta:
    return timedelta(seconds=settings.PALATE_LEASE_SECONDS)


def name_of(item: WorkItem) -> str:
    row, repeat = item.assignment.row, item.assignment.repeat
    return f"{row.sheet.title} · {row.name}" + (f" · {repeat}" if repeat > 1 else "")
