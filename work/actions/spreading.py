"""What one message brings, shared with the other workers of its queue where a run has little left.

Items that are taken up together go into large messages, which serves one worker well and leaves the others idle at
short runs, and at the end of long ones.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from celery import current_app
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from work import queries
from work.actions.runs import send_items
from work.kinds import Kind
from work.states import SHORT_WORK_PRIORITY

log = logging.getLogger(__name__)

_ASKED_EVERY = 60  # seconds between two looks at who reads a queue
_ANSWER_WITHIN = 0.5
_known: dict[str, tuple[float, int]] = {}


def shared_out(kind: Kind[Any], item_ids: Sequence[int]) -> list[int]:
    """Those of a message's items that this worker is to do; the others go back on the queue in parts of that size.

    A part is what each worker of the queue would have of all that is left of the run, and at least `kind.batch`: what
    is that small is never parted again.
    """
    kept = list(item_ids)
    try:
        return _shared_out(kind, kept)
    except (OperationalError, InterfaceError) as error:  # the work itself waits for a database that is away
        log.warning("Work is not shared out: %s", error)
        return kept


def _shared_out(kind: Kind[Any], kept: list[int]) -> list[int]:
    if len(kept) <= kind.batch:
        return kept
    item = kind.item._default_manager.select_related("run").filter(pk=kept[0]).first()
    if item is None or kind.together(item.run) <= kind.batch:
        return kept
    run = item.run
    if (n_workers := _n_workers(run.queue)) < 2:
        return kept
    left = run.items.filter(queries.due(timezone.now())).count()
    size = max(kind.batch, -(-left // n_workers))
    if size < len(kept):
        # It was this run's turn: behind what others have sent it would end after them.
        send_items(run, run.items.filter(pk__in=kept[size:]), size=size, priority=SHORT_WORK_PRIORITY)
    return kept[:size]


def _n_workers(queue: str) -> int:
    """Processes that read this queue, as the workers tell; 1 where they cannot be asked, as in a queue that is a
    folder."""
    if str(current_app.conf.broker_url).startswith(("filesystem", "memory")):
        return 1
    now = time.monotonic()
    asked, n = _known.get(queue, (0.0, 0))
    if not n or now - asked > _ASKED_EVERY:
        n = 1
        try:
            asking = current_app.control.inspect(timeout=_ANSWER_WITHIN)
            reading = [
                name
                for name, queues in (asking.active_queues() or {}).items()
                if any(one["name"] == queue for one in queues)
            ]
            if reading:
                told = current_app.control.inspect(reading, timeout=_ANSWER_WITHIN).stats() or {}
                n = max(1, sum(_processes(told.get(name) or {}) for name in reading))
        except Exception as error:  # each broker has its own
            log.warning("Who reads the queue %s is not known: %s", queue, error)
        _known[queue] = now, n
    return n


def _processes(stats: Any) -> int:
    return int((stats.get("pool") or {}).get("max-concurrency") or 1)
