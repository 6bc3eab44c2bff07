"""The work of dead workers, given to living ones."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from work import kinds, processes, queries
from work.actions.doing import fail, give_back_strays
from work.actions.holding import LONGEST_HOLD, held, lease
from work.actions.runs import finish, put_on_queue, send_items
from work.kinds import Kind
from work.models import Item, Run
from work.states import ItemState, RunState

log = logging.getLogger(__name__)

I = TypeVar("I", bound=Item)  # noqa: E741

# An item at which workers die is taken up more often than a failing one, since few deaths are the item's fault:
# machines are switched off, workers are killed.
MAX_DEATHS = 5


def recover(*, at_start: bool = False) -> None:
    """Give the work of dead workers to living ones; runs at the start of each worker, and every few seconds.

    - What this process holds in the database alone is put back.
    - An item whose lease ran out, or whose process on this host is gone, is queued again, a few times.
    - Items whose time to be tried again has come are sent.
    - A run that has queued work but shows no sign of life is sent once more: some queues lose what a killed worker had
      taken. At the start of a worker this is done at once.
    - A run whose last worker died between its last item and the end is ended.
    - What the clock of a machine wrote while it was ahead holds nobody up once it has been set back.

    All this is harmless when it comes too early, or twice, since items are claimed.
    """
    give_back_strays(at_once=True)
    for kind in kinds.every():
        for item in kind.item._default_manager.filter(state=ItemState.CLAIMED):
            _take_from_the_dead(kind, item)
        for run in kind.run._default_manager.filter(state=RunState.RUNNING):
            _look_after(kind, run, at_start=at_start)


def _take_from_the_dead(kind: Kind[I], item: I) -> None:
    assert item.lease_until is not None
    # The lease as it was read goes into each UPDATE: a worker that has renewed it meanwhile is alive.
    now = timezone.now()
    longest = max(LONGEST_HOLD, lease()) + queries.LONGEST_WAIT
    if now < item.lease_until <= now + longest and not processes.is_dead(item.worker):
        return
    log.warning("%s: its worker %s is gone", kind.name(item), item.worker)
    if item.attempts >= max(MAX_DEATHS, kind.most_attempts) and item.run.is_running:
        fail(kind, item, str(kind.died) % {"n": item.attempts}, unrenewed_since=item.lease_until)
    else:
        held(item).filter(lease_until=item.lease_until).update(state=ItemState.QUEUED, lease_until=None, not_before=now)


def _look_after(kind: Kind[Any], run: Run, *, at_start: bool) -> None:
    finish(run)
    longest = max(queries.LONGEST_WAIT, *kind.waits)
    with transaction.atomic():
        now = timezone.now()
        run.items.filter(state=ItemState.QUEUED, not_before__gt=now + longest).update(not_before=now)
        if run.rest_until is not None and run.rest_until > now + longest:
            type(run)._default_manager.filter(pk=run.pk).update(rest_until=now)
        if queries.is_waiting(run, now=now) and (at_start or _is_quiet(run)):
            put_on_queue(run)
        else:
            due: Any = run.items.filter(state=ItemState.QUEUED, not_before__lte=now)
            if longest > queries.LONGEST_WAIT and due.exists():
                _tell_sent(run, now)
            send_items(run, due)
            due.update(not_before=None)


def _tell_sent(run: Run, now: datetime) -> None:
    """Of a run whose items wait for hours, that some were sent just now: the queue would seem to stand still."""
    if run.enqueued_at is None or run.enqueued_at < now - queries.LONGEST_WAIT:
        type(run)._default_manager.filter(pk=run.pk).update(queued_at=now, enqueued_at=now, enqueued_times=1)


def _is_quiet(run: Run) -> bool:
    """No worker has it, and the queue has had its time: longer each time, lest a long queue fills with copies."""
    if run.items.filter(state=ItemState.CLAIMED).exists():
        return False
    now, sent = timezone.now(), run.enqueued_at or run.started_at
    if sent > now + queries.LONGEST_WAIT:  # by a clock that has been set back; sent again, it is told by the right one
        return True
    last = run.items.filter(done_at__lte=now).aggregate(last=Max("done_at"))["last"] or sent
    # Work that was done since the last sending says that the queue is read: from then on the patience is short again.
    times = 1 if last > sent else run.enqueued_times
    return now - max(last, sent) > timedelta(seconds=20 * 2 ** min(times, 7))
