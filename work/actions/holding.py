"""Items of work as a worker holds them: claimed, kept, given back, finished.

The conditions stand in each UPDATE itself (a join would move them into a subquery): PostgreSQL then looks at them again
when another worker changed the item while this one waited for it.
"""

from __future__ import annotations

import platform
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Case, F, QuerySet, UUIDField, Value, When
from django.utils import timezone

from work import processes, queries
from work.kinds import Kind
from work.models import Item, Run
from work.outcomes import GiveUp
from work.states import ItemState, RunState

I = TypeVar("I", bound=Item)  # noqa: E741

# A model is loaded, or fetched from the hub. A thread says every few seconds that it still is: who does not hear of it
# for so long takes it that the worker is gone. A library that lets no thread run is quicker than that.
LOADING, UNHEARD = timedelta(minutes=30), timedelta(minutes=5)
_SAID_EVERY = 30.0  # seconds
# Nothing is held for longer without a sign of life; the recovery counts on it.
LONGEST_HOLD = timedelta(hours=2)

DATABASE_ERRORS = (OperationalError, InterfaceError)

# Tokens of what this process is really at, whatever the database says of it.
_at_work: set[uuid.UUID] = set()


def lease() -> timedelta:
    return timedelta(seconds=settings.PALATE_LEASE_SECONDS)


def held(item: Item) -> QuerySet[Any]:
    """The item, if it is still this holder's."""
    return type(item)._default_manager.filter(pk=item.pk, token=item.token, state=ItemState.CLAIMED)


class Held(Generic[I]):
    """An item in the hands of a worker: what an action that does one item gets."""

    def __init__(self, kind: Kind[I], item: I) -> None:
        self.kind, self.item = kind, item
        self.is_finished = False
        # What was taken up with it and is not done yet: its lease is renewed with this one's.
        self.beside: list[Held[I]] = []
        # What `Kind.ahead` has found for it.
        self.found: Any = None
        self._since = self._renewed = time.monotonic()
        self._spent = 0.0

    @property
    def key(self) -> uuid.UUID:
        """Of this attempt; what is written under it is written once."""
        assert self.item.token is not None
        return self.item.token

    def still(self) -> QuerySet[Any]:
        """The item, if it is still this holder's and its run has it done."""
        return held(self.item).filter(run__in=self.kind.run._default_manager.filter(self.kind.run.lets_end()))

    def hold(self, until: timedelta | None = None, **told: Any) -> None:
        """Renew the lease, for at most `LONGEST_HOLD`; `told`: other fields of the item that are to be seen meanwhile.

        Raises:
            GiveUp: it is not this holder's any more, or its run has ended.
        """
        lease_until = timezone.now() + min(until or lease(), LONGEST_HOLD)
        if not self.still().update(lease_until=lease_until, **told):
            raise GiveUp
        if self.beside:
            others = self.kind.item._default_manager.filter(
                pk__in=[other.item.pk for other in self.beside],
                token__in=[other.key for other in self.beside],
                state=ItemState.CLAIMED,
            )
            others.update(lease_until=lease_until)
        self._renewed = time.monotonic()
        for other in self.beside:
            other._renewed = self._renewed

    def beat(self, *_progress: object) -> None:
        """Renew the lease, at most once a second; raises as `hold`. Takes what any progress callback is given."""
        if time.monotonic() - self._renewed >= 1:
            self.hold()

    @contextmanager
    def quiet(self, longest: timedelta) -> Iterator[None]:
        """While something is done that cannot `beat`; raises as `hold`, before and after it."""
        self.hold(longest)
        yield
        self.hold()

    @contextmanager
    def loading(self) -> Iterator[None]:
        """While a model is loaded, which cannot `beat` and takes `LOADING` at most: a thread does. Raises as `hold`,
        before and after it."""
        self.hold(UNHEARD)
        over = threading.Event()
        beating = threading.Thread(target=self._beat_beside, args=[over], daemon=True)
        beating.start()
        try:
            yield
        finally:
            over.set()
            beating.join(timeout=5)  # what it says too late is a longer lease, no harm
        self.hold()

    def _beat_beside(self, over: threading.Event) -> None:
        """Renew the lease until it is `over`, by a connection of this thread's own."""
        until = time.monotonic() + LOADING.total_seconds()
        try:
            while not over.wait(_SAID_EVERY) and time.monotonic() < until:
                try:
                    self.hold(UNHEARD)
                except DATABASE_ERRORS:
                    connection.close()  # it is away or locked, and asked again
        except GiveUp:
            pass  # this is told at the end of loading
        finally:
            connection.close()

    @contextmanager
    def finishing(self, **numbers: Any) -> Iterator[None]:
        """One transaction, which writes what was done and ends the item; `numbers`: other fields of the item.

        Raises:
            GiveUp: it is not this holder's any more, or its run has ended. Nothing is written then.
        """
        with transaction.atomic():
            mine = self.still().update(
                state=ItemState.DONE,
                lease_until=None,
                done_at=timezone.now(),
                error="",
                seconds=self.seconds,
                **numbers,
            )
            if not mine:
                raise GiveUp
            yield
        self.is_finished = True

    @property
    def seconds(self) -> float:
        """Since it was claimed; of what was taken up together, since its turn came, and its share of what was done
        ahead."""
        return time.monotonic() - self._since + self._spent

    def begin(self, *, spent: float) -> None:
        """Its turn has come; `spent`: seconds, its share of what was done ahead."""
        self._since, self._spent = time.monotonic(), spent

    def note_worker(self, identity: Mapping[str, str]) -> None:
        note_worker(self.item.run, identity)


def claim(kind: Kind[I], pk: int) -> Held[I] | None:
    """Take an item, if it is free."""
    return next(iter(claim_all(kind, [pk])), None)


def claim_all(kind: Kind[I], pks: Sequence[int], *, known: Run | None = None) -> list[Held[I]]:
    """Take those of some items that are free, in their order, each under a token of its own; a conditional UPDATE
    decides between workers. Items of one run come with one object for it, so that what is read of it is read once:
    with `known`, if they are of that run. Two queries."""
    now, tokens = timezone.now(), {pk: uuid.uuid4() for pk in pks}
    items, running = kind.item._default_manager, kind.run._default_manager.filter(state=RunState.RUNNING)
    found: dict[int, I] = {}
    _at_work.update(tokens.values())
    try:
        if items.filter(queries.due(now), pk__in=pks, run__in=running).update(
            state=ItemState.CLAIMED,
            token=_of_each(tokens),
            worker=processes.this_process(),
            lease_until=now + lease(),
            not_before=None,
            attempts=F("attempts") + 1,
        ):
            ours = items.filter(pk__in=pks, token__in=tokens.values()).select_related(*kind.related)
            found = {item.pk: item for item in ours.order_by()}
    finally:
        _at_work.difference_update(token for pk, token in tokens.items() if pk not in found)
    runs: dict[int, Any] = {} if known is None else {known.pk: known}
    for item in found.values():
        item.run = runs.setdefault(item.run_id, item.run)
    return [Held(kind, found[pk]) for pk in tokens if pk in found]


def _of_each(tokens: Mapping[int, uuid.UUID]) -> uuid.UUID | Case:
    if len(tokens) == 1:
        return next(iter(tokens.values()))
    return Case(*(When(pk=pk, then=Value(token, UUIDField())) for pk, token in tokens.items()))


def let_go(holder: Held[Any]) -> None:
    """This process is not at it any more."""
    _at_work.discard(holder.key)


def release(item: Item) -> None:
    """Put an item back as if it had not been taken; the recovery sends it again."""
    held(item).update(state=ItemState.QUEUED, lease_until=None, not_before=timezone.now(), attempts=F("attempts") - 1)


def release_strays(kind: Kind[Any]) -> int:
    """Put back what the database says that this process holds, and it does not. Returns how many there were.

    So it is when the database went away in the middle of an item, and came back after this worker had stopped asking;
    or when a process that died had the number that this one has now.
    """
    ours = kind.item._default_manager.filter(state=ItemState.CLAIMED, worker=processes.this_process())
    strays = [item for item in ours.only("pk", "token", "state") if item.token not in _at_work]
    for item in strays:
        release(item)
    return len(strays)


def note_worker(run: Run, identity: Mapping[str, str]) -> None:
    """Add a worker's model and libraries to the run's record, once for all workers that are alike. No query where they
    are there."""
    whole = {**identity, "python": platform.python_version()}
    if whole in run.provenance.get("workers", []):
        return
    with transaction.atomic():
        locked = type(run)._default_manager.select_for_update().get(pk=run.pk)
        if whole not in locked.provenance.setdefault("workers", []):
            locked.provenance["workers"].append(whole)
            locked.save(update_fields=["provenance"])
    run.provenance = locked.provenance
