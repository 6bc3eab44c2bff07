"""The work of an extraction run: one document at a time, claimed, taken apart, given back or failed."""

from __future__ import annotations

import logging
import time
from datetime import timedelta

from django.db import OperationalError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from judges import extracting, processes
from judges.actions import claims
from judges.actions.extraction_runs import end, send
from judges.actions.recovery import MAX_DEATHS
from judges.backends.base import Backend, BackendError, Unavailable
from judges.models import Extraction, ExtractionItem, ExtractionRun
from judges.states import ItemState, RunState

log = logging.getLogger(__name__)

# A run that has work and shows no sign of life for so long is sent once more.
_SILENCE = timedelta(seconds=60)


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
        free = ExtractionItem.objects.filter(claims.due(timezone.now()), run=run_id, run__state=RunState.RUNNING)
        pk = free.order_by("attempts", "pk").values_list("pk", flat=True).first()
        if pk is None:
            return None
        if claimed := claims.claim(ExtractionItem, pk):
            return claimed.select_related("run__extractor__model", "run__study", "row__sheet").first()


def _work_at(item: ExtractionItem) -> None:
    try:
        _extract(item)
    except claims.GiveUp:
        claims.release(item)
    except BackendError as error:
        if error.permanent or (isinstance(error, Unavailable) and item.attempts >= claims.MAX_ATTEMPTS):
            claims.release(item)
            end(item.run, RunState.FAILED, error=str(error))
        else:
            claims.retry(item, str(error), fail=_fail)
    except OperationalError as error:  # a database that is locked or away
        log.warning("%s: %s", item.row, error)
        claims.retry(item, _("The database did not answer: %(error)s") % {"error": error}, fail=_fail)
    except Exception as error:
        log.exception("Nothing could be taken out of %s", item.row)
        _fail(item, _("A mistake in Palate: %(error)s") % {"error": f"{type(error).__name__}: {error}"})
    except BaseException:  # this process is told to stop
        claims.release(item)
        raise


def _extract(item: ExtractionItem) -> None:
    extractor = item.run.extractor
    backend: Backend | None = None
    if extractor.model is not None:
        backend = extracting.backend_of(extractor)
        identity = claims.identified(item, backend)
    else:
        identity = {"parser": extractor.parser}
    claims.note_worker(item.run, identity)
    started = time.monotonic()
    taken = extracting.extract(extractor, item.row, backend, claims.heartbeat(item))
    with transaction.atomic():
        mine = claims.still_held(item).update(
            state=ItemState.DONE,
            lease_until=None,
            done_at=timezone.now(),
            error="",
            seconds=time.monotonic() - started,
        )
        if not mine:
            raise claims.GiveUp
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


def _running() -> QuerySet[ExtractionRun]:
    return ExtractionRun.objects.filter(state=RunState.RUNNING)


def _fail(item: ExtractionItem, error: str) -> None:
    claims.held(item).update(state=ItemState.FAILED, lease_until=None, error=error, done_at=timezone.now())


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
            claims.held(item).filter(lease_until=item.lease_until).update(state=ItemState.QUEUED, lease_until=None)
    for run in _running().select_related("extractor__model"):
        if _finish(run.pk):
            continue
        now = timezone.now()
        with transaction.atomic():
            if run.items.filter(claims.due(now)).exists() and (at_start or _is_silent(run)):
                send(run, lanes=1)


def _is_silent(run: ExtractionRun) -> bool:
    """No worker has it, and the queue has had its time since the last message or document."""
    if run.items.filter(state=ItemState.CLAIMED).exists():
        return False
    last = run.items.order_by(F("done_at").desc(nulls_last=True)).values_list("done_at", flat=True).first()
    return timezone.now() - max(filter(None, (last, run.sent_at, run.started_at))) > _SILENCE
