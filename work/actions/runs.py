"""Runs: started, cancelled, resumed, ended; their work put on the queue."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import DateTimeField, F, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from work import kinds, queries
from work.models import Item, Run
from work.states import ItemState, RunState

log = logging.getLogger(__name__)

TASK = "work.tasks.do_items"


@transaction.atomic
def start(run: Run, items: Iterable[Item], *, enqueue: bool = True) -> None:
    """Give a stored run its items, in the order in which they are to be done, and put them on the queue.

    `enqueue` False leaves the work to the caller (`take_up`); workers take it over if that goes silent.
    """
    kinds.of(run).item._default_manager.bulk_create(items)
    put_on_queue(run, send=enqueue)


@transaction.atomic
def add(run: Run, items: Iterable[Item]) -> None:
    """Give a run more items, which came up in its work: called in the transaction in which one of its items ends, so
    that the run does not end between them."""
    made = kinds.of(run).item._default_manager.bulk_create(items)
    send_items(run, run.items.filter(pk__in=[item.pk for item in made]))


@transaction.atomic
def cancel(run: Run) -> bool:
    """Stop a run. What is done stays; a worker gives up its item at its next look, within seconds. False: it had ended
    already."""
    ours = type(run)._default_manager.filter(pk=run.pk, state=RunState.RUNNING)
    return bool(ours.update(state=RunState.CANCELLED, ended_at=timezone.now()))


@transaction.atomic
def resume(run: Run, *, enqueue: bool = True) -> int:
    """Go on with what is not done, failed items included; `enqueue`: as for `start`. Items that have become void leave
    the run. Returns how many are left; where that is none, the run stays as it is."""
    kind = kinds.of(run)
    left = run.items.exclude(state=ItemState.DONE)
    # Locked, so that the last word of a worker which was still writing is seen here.
    list(left.select_for_update(of=("self",)).values_list("pk", flat=True))
    if kind.is_void is not None:
        leave(run, left.filter(kind.is_void))
    n: int = left.update(
        state=ItemState.QUEUED, attempts=0, error="", token=None, lease_until=None, not_before=None, done_at=None
    )
    if n:
        type(run)._default_manager.filter(pk=run.pk).update(
            state=RunState.RUNNING,
            ended_at=None,
            error="",
            queued_at=None,
            enqueued_times=0,
            rests=0,
            rest_until=None,
        )
        put_on_queue(run, send=enqueue)
    return n


@transaction.atomic
def leave(run: Run, items: QuerySet[Any]) -> None:
    """Take items that have become void out of their run."""
    kinds.of(run).leaving(run, items)
    items.delete()


def put_on_queue(run: Run, *, send: bool = True) -> None:
    """Put all queued items of a run on the queue, once this transaction is through. What is there already keeps its
    place."""
    run.queue, now = run.wanted_queue, timezone.now()
    place = {"queued_at": Coalesce("queued_at", Value(now), output_field=DateTimeField())} if send else {}
    type(run)._default_manager.filter(pk=run.pk).update(
        queue=run.queue, enqueued_at=now, enqueued_times=F("enqueued_times") + 1, **place
    )
    if send:
        send_items(run, run.items.filter(queries.due(timezone.now())))


def send_items(run: Run, items: QuerySet[Any], *, size: int | None = None, priority: int | None = None) -> None:
    """`size`: how many go into one message, `priority`: of the messages, where they are not the kind's."""
    kind = kinds.of(run)
    pks = list(items.order_by(*kind.order).values_list("pk", flat=True))
    size = size or kind.in_a_message(run)
    priority = kind.priority if priority is None else priority
    batches = [pks[start : start + size] for start in range(0, len(pks), size)]
    if batches:
        transaction.on_commit(
            partial(_publish, kind=kind.key, queue=run.wanted_queue, priority=priority, batches=batches)
        )


def _publish(*, kind: str, queue: str, priority: int, batches: Sequence[Sequence[int]]) -> None:
    for batch in batches:
        try:
            current_app.send_task(TASK, args=[kind, batch], queue=queue, priority=priority)
        except Exception:  # each broker has its own
            # The run is there all the same, and the recovery sends its work later.
            log.exception("The queue cannot be reached")
            return


def end(run: Run, state: RunState, *, error: str = "", **also: Any) -> None:
    """In the caller's transaction. `also`: what else is written to the run, where it is this that ends it."""
    ours = type(run)._default_manager.filter(pk=run.pk, state=RunState.RUNNING)
    if ours.update(state=state, ended_at=timezone.now(), error=error, **also):
        kinds.of(run).ended(run, state)


def finish(run: Run) -> None:
    """End a run in which nothing is left to do; whoever finishes last does it."""
    if queries.has_unfinished(run):
        return
    with transaction.atomic():
        # Locked and looked at again: it may have been cancelled and resumed in between.
        locked = type(run)._default_manager.select_for_update().filter(pk=run.pk, state=RunState.RUNNING).first()
        if locked is None or queries.has_unfinished(locked):
            return
        failed = locked.items.filter(state=ItemState.FAILED).first() if kinds.of(run).fails_the_run else None
        if failed is not None:
            end(locked, RunState.FAILED, error=failed.error)
        else:
            end(locked, RunState.FINISHED)
