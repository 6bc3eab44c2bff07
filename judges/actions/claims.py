"""Items of work as a worker holds them: rows of a judge's run, documents of an extractor's.

The conditions stand in each UPDATE itself (a join would move them into a subquery): PostgreSQL then looks at them again
when another worker changed the item while this one waited for it.
"""

from __future__ import annotations

import platform
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from judges import processes
from judges.backends.base import Backend
from judges.models import ExtractionItem, ExtractionRun, Run, WorkItem
from judges.states import ItemState, RunState

Item = TypeVar("Item", WorkItem, ExtractionItem)

# A backend that fails in passing is asked this often for an item.
MAX_ATTEMPTS = 3
# A worker says nothing while it loads a model, or fetches it from the hub.
_LOADING = timedelta(minutes=30)


class GiveUp(Exception):
    """The run was cancelled, or the item belongs to another worker now."""


def due(now: datetime) -> Q:
    return Q(state=ItemState.QUEUED) & (Q(not_before=None) | Q(not_before__lte=now))


def claim(model: type[Item], pk: int) -> QuerySet[Item] | None:
    """Take an item, if it is free; a conditional UPDATE decides between workers."""
    now, token = timezone.now(), uuid.uuid4()
    claimed = model._default_manager.filter(due(now), pk=pk, run__in=_running(model)).update(
        state=ItemState.CLAIMED,
        token=token,
        worker=processes.this_process(),
        lease_until=now + _lease(),
        not_before=None,
        attempts=F("attempts") + 1,
    )
    return model._default_manager.filter(pk=pk, token=token) if claimed else None


def held(item: Item) -> QuerySet[Item]:
    return type(item)._default_manager.filter(pk=item.pk, token=item.token, state=ItemState.CLAIMED)


def still_held(item: Item) -> QuerySet[Item]:
    return held(item).filter(run__in=_running(type(item)))


def _running(model: type[WorkItem] | type[ExtractionItem]) -> QuerySet[Any]:
    runs = Run.objects if model is WorkItem else ExtractionRun.objects
    return runs.filter(state=RunState.RUNNING)


def _lease() -> timedelta:
    return timedelta(seconds=settings.PALATE_LEASE_SECONDS)


def hold(item: Item, lease: timedelta) -> None:
    if not still_held(item).update(lease_until=timezone.now() + lease):
        raise GiveUp


def identified(item: Item, backend: Backend) -> dict[str, str]:
    """The identity of a backend, which loads it, where it is not loaded yet."""
    hold(item, _LOADING)
    identity = backend.identity()
    hold(item, _lease())
    return identity


def heartbeat(item: Item) -> Callable[[int, int], None]:
    """Renews the lease, at most once a second; notices a cancelled run."""
    renewed = time.monotonic()

    def beat(_tokens: int, _answers: int) -> None:
        nonlocal renewed
        if time.monotonic() - renewed >= 1:
            renewed = time.monotonic()
            hold(item, _lease())

    return beat


def release(item: Item) -> None:
    """Put an item back as if it had not been taken; the recovery sends it again."""
    held(item).update(state=ItemState.QUEUED, lease_until=None, not_before=timezone.now(), attempts=F("attempts") - 1)


def retry(item: Item, error: str, *, fail: Callable[[Item, str], None]) -> None:
    """Try again later, at growing distances; the third failure is the last. The recovery sends it when it is due."""
    if item.attempts >= MAX_ATTEMPTS:
        fail(item, error)
        return
    wait = timedelta(seconds=10 * 2**item.attempts)
    held(item).update(state=ItemState.QUEUED, lease_until=None, error=error, not_before=timezone.now() + wait)


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
