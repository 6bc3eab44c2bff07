"""The work of an extraction run: one document at a time, claimed, taken apart, given back or failed."""

from __future__ import annotations

import logging
import time
import uuid
from datetime import timedelta

from django.db import OperationalError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from judges import extracting, processes
from judges.actions.extraction_runs import end, send
from judges.actions.recovery import MAX_DEATHS
from judges.actions.work import LOADING, MAX_ATTEMPTS, lease, note_worker
from judges.backends.base import Backend, BackendError, Unavailable
from judges.models import Extraction, ExtractionItem, ExtractionRun
from judges.states import ItemState, RunState

log = logging.getLogger(__name__)

# A run that has work and shows no sign of life for so long is sent once more.
_SILENCE = timedelta(seconds=60)


class _GiveUp(Exception):
    """The run was cancelled, or the document belongs to another worker now."""


def extract_next(*, run_id: int, send_on: bool = False) -> bool:
    """Take the lists out of the next document of a run; False when none is to be had at the moment.

    `send_on` puts the message for the one after it on the queue.
    """
    if (item := _claim_next(run_id)) is None:
        return False
    _work_at(item)
    if _finish(run_id):
        return True
    if send_on:
        with transaction.atomic():
            send(item.run, lanes=1)
    return True


def _claim_next(run_id: int) -> ExtractionItem | None:
    """Take a free item of a running run; a conditional UPDATE decides between workers."""
    while True:
        now, token = timezone.now(), uuid.uuid4()
        free = ExtractionItem.objects.filter(run=run_id, run__state=RunState.RUNNING).filter(_is_due(now))
        pk = free.order_by("attempts", "pk").values_list("pk", flat=True).first()
        if pk is None:
            return None
        claimed = ExtractionItem.objects.filter(pk=pk, run__in=_running()).filter(_is_due(now)).update(
            state=ItemState.CLAIMED,
            token=token,
            worker=processes.this_process(),
            lease_until=now + lease(),
            not_before=None,
            attempts=F("attempts") + 1,
        )  # fmt: skip
        if claimed:
            whole = ExtractionItem.objects.select_related("run__extractor__model", "run__study", "row__sheet")
            return whole.filter(pk=pk, token=token).first()


def _is_due(now: object) -> Q:
    return Q(state=ItemState.QUEUED) & (Q(not_before=None) | Q(not_before__lte=now))


def _work_at(item: ExtractionItem) -> None:
    try:
        _extract(item)
    except _GiveUp:
        _release(item)
    except BackendError as error:
        if error.permanent or (isinstance(error, Unavailable) and item.attempts >= MAX_ATTEMPTS):
            _release(item)
            end(item.run, RunState.FAILED, error=str(error))
        else:
            _retry(item, str(error))
    except OperationalError as error:  # a database that is locked or away
        log.warning("%s: %s", item.row, error)
        _retry(item, _("The database did not answer: %(error)s") % {"error": error})
    except Exception as error:
        log.exception("Nothing could be taken out of %s", item.row)
        _fail(item, _("A mistake in Palate: %(error)s") % {"error": f"{type(error).__name__}: {error}"})
    except BaseException:  # this process is told to stop
        _release(item)
        raise


def _extract(item: ExtractionItem) -> None:
    extractor = item.run.extractor
    backend: Backend | None = None
    if extractor.model is not None:
        _hold(item, LOADING)
        backend = extracting.backend_of(extractor)
        identity = backend.identity()  # loads it, where it is not loaded yet
        _hold(item, lease())
    else:
        identity = {"parser": extractor.parser}
    note_worker(item.run, identity)
    started = renewed = time.monotonic()

    def heartbeat(_tokens: int, _answers: int) -> None:
        """Renew the lease, at most once a second; notice a cancelled run."""
        nonlocal renewed
        if time.monotonic() - renewed >= 1:
            renewed = time.monotonic()
            _hold(item, lease())

    taken = extracting.extract(extractor, item.row, backend, heartbeat)
    with transaction.atomic():
        mine = _still_held(item).update(
            state=ItemState.DONE,
            lease_until=None,
            done_at=timezone.now(),
            error="",
            seconds=time.monotonic() - started,
        )
        if not mine:
            raise _GiveUp
        # What was taken out first stands: judges may have read it.
        Extraction.objects.bulk_create(
            (
                Extraction(
                    extractor=extractor,
                    row=item.row,
                    kind=one.kind,
                    items=one.items,
                    raw=one.raw,
                    repairs=one.repairs,
                    refused=one.refused,
                    unsupported=one.unsupported,
                )
                for one in taken
            ),
            ignore_conflicts=True,
        )


def _hold(item: ExtractionItem, time_to_hold: timedelta) -> None:
    if not _still_held(item).update(lease_until=timezone.now() + time_to_hold):
        raise _GiveUp


def _held(item: ExtractionItem) -> QuerySet[ExtractionItem]:
    return ExtractionItem.objects.filter(pk=item.pk, token=item.token, state=ItemState.CLAIMED)


def _still_held(item: ExtractionItem) -> QuerySet[ExtractionItem]:
    return _held(item).filter(run__in=_running())


def _running() -> QuerySet[ExtractionRun]:
    return ExtractionRun.objects.filter(state=RunState.RUNNING)


def _release(item: ExtractionItem) -> None:
    _held(item).update(state=ItemState.QUEUED, lease_until=None, attempts=F("attempts") - 1)


def _retry(item: ExtractionItem, error: str) -> None:
    """Try again later, at growing distances; the third failure is the last."""
    if item.attempts >= MAX_ATTEMPTS:
        _fail(item, error)
        return
    wait = timedelta(seconds=10 * 2**item.attempts)
    _held(item).update(state=ItemState.QUEUED, lease_until=None, error=error, not_before=timezone.now() + wait)


def _fail(item: ExtractionItem, error: str) -> None:
    _held(item).update(state=ItemState.FAILED, lease_until=None, error=error, done_at=timezone.now())


def _finish(run_id: int) -> bool:
    """End a run in which nothing is left to do; whoever finishes last does it."""
    with transaction.atomic():
        run = ExtractionRun.objects.select_for_update().filter(pk=run_id, state=RunState.RUNNING).first()
        if run is None:
            return True
        if run.items.filter(state__in=[ItemState.QUEUED, ItemState.CLAIMED]).exists():
            return False
        end(run, RunState.FINISHED)
        return True


def recover_extractions(*, at_start: bool = False) -> None:
    """Give the work of dead workers to living ones; as `recover_runs`, and as harmless when it comes too early."""
    for item in ExtractionItem.objects.filter(state=ItemState.CLAIMED).select_related("run"):
        assert item.lease_until is not None
        if item.lease_until > timezone.now() and not processes.is_dead(item.worker):
            continue
        if item.attempts >= MAX_DEATHS and item.run.state == RunState.RUNNING:
            _fail(item, _("%(n)s workers died at this document, or fell silent.") % {"n": item.attempts})
        else:
            # The lease as it was read: a worker that has renewed it meanwhile is alive.
            _held(item).filter(lease_until=item.lease_until).update(state=ItemState.QUEUED, lease_until=None)
    for run in _running().select_related("extractor__model"):
        if _finish(run.pk):
            continue
        now = timezone.now()
        with transaction.atomic():
            if run.items.filter(_is_due(now)).exists() and (at_start or _is_silent(run)):
                send(run, lanes=1)


def _is_silent(run: ExtractionRun) -> bool:
    """No worker has it, and the queue has had its time since the last message or document."""
    if run.items.filter(state=ItemState.CLAIMED).exists():
        return False
    last = run.items.order_by(F("done_at").desc(nulls_last=True)).values_list("done_at", flat=True).first()
    return timezone.now() - max(filter(None, (last, run.sent_at, run.started_at))) > _SILENCE
