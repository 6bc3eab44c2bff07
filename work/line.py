"""What stands on a queue: which runs a worker that is free comes to before another one.

Messages are taken by their kind's priority, and of one priority in the order in which they were sent: all of a run at
once, when it is started or resumed. What is sent again later, such as a second try, stands behind what was there. So a
run comes before another one with what it has sent and nobody has taken up yet, or with what a worker is at just now.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import CharField, Count, Max, Q, QuerySet, Value
from django.utils import timezone

from work import kinds
from work.kinds import Kind
from work.models import Run
from work.states import ItemState, RunState


class InLine(NamedTuple):
    """A run that has work on a queue. `fresh`: items that no worker has taken up yet; `at_work`: that one is at."""

    key: str
    pk: int
    queued_at: datetime
    total: int
    done: int
    at_work: int
    fresh: int
    last_done: datetime | None

    @property
    def kind(self) -> Kind[Any]:
        return kinds.called(self.key)

    @property
    def left(self) -> int:
        return self.fresh + self.at_work

    @property
    def turn(self) -> tuple[int, datetime, int]:
        return self.kind.priority, self.queued_at, self.pk

    def is_of(self, run: Run) -> bool:
        return self.pk == run.pk and self.kind.run is type(run)


@dataclass(frozen=True)
class Line:
    """The runs of a queue, in the order in which free workers come to them."""

    runs: Sequence[InLine]

    def before(self, run: Run) -> Sequence[InLine]:
        """What a run waits for, at what a worker is first: none, where a worker is at it, no worker is at any other, or
        it has no fresh work."""
        mine = next((one for one in self.runs if one.is_of(run)), None)
        if mine is None or mine.at_work or not any(one.at_work for one in self.runs):
            return ()
        first = [one for one in self.runs if one is not mine and one.at_work]
        return [*first, *(one for one in self.runs if not one.at_work and one.turn < mine.turn)]


def on(queue: str, *, now: datetime | None = None) -> Line:
    """What nobody waits for, which is done in between, is left out. One query."""
    now = now or timezone.now()
    first, *others = (_of_kind(kind, queue, now) for kind in kinds.every() if kind.awaited)
    found = map(InLine._make, first.union(*others, all=True))
    return Line(sorted(found, key=lambda one: one.turn))


def of_runs(runs: Iterable[Run]) -> dict[tuple[type[Run], int], Sequence[InLine]]:
    """What comes before each of some runs that wait, by their class and key. One query a queue of theirs."""
    running = [run for run in runs if run.is_running]
    lines = {queue: on(queue) for queue in {run.queue for run in running}}
    return {(type(run), run.pk): before for run in running if (before := lines[run.queue].before(run))}


def _of_kind(kind: Kind[Any], queue: str, now: datetime) -> QuerySet[Any, tuple[Any, ...]]:
    """Those that rest wait for nobody, and those that a process does by itself are not on the queue."""
    runs = kind.run._default_manager.filter(
        kind.run.lets_end(), state=RunState.RUNNING, queue=queue, queued_at__isnull=False
    ).exclude(rest_until__gt=now)
    done = Q(items__state=ItemState.DONE)
    return (
        runs.order_by()
        .annotate(
            of_kind=Value(kind.key, CharField()),
            n=Count("items"),
            n_done=Count("items", filter=done),
            n_at_work=Count("items", filter=Q(items__state=ItemState.CLAIMED, items__lease_until__gt=now)),
            n_fresh=Count("items", filter=Q(items__state=ItemState.QUEUED, items__attempts=0, items__not_before=None)),
            last_done=Max("items__done_at", filter=done),
        )
        .filter(Q(n_at_work__gt=0) | Q(n_fresh__gt=0))
        .values_list("of_kind", "pk", "queued_at", "n", "n_done", "n_at_work", "n_fresh", "last_done")
    )
