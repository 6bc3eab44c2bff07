"""Reads about runs and their items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Min, Q, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from work import kinds, line
from work.line import InLine
from work.models import Run
from work.states import ItemState, RunState

# The pace is taken from what was done lately, so that it follows workers that come and go.
_PACE_WINDOW = timedelta(minutes=2)
# A worker that is free takes up work within a second or two.
_SOON, _SILENCE = timedelta(seconds=3), timedelta(seconds=30)
# Between two items it is not longer away, a model that it loads meanwhile included, so that it is at other work then.
_BREATH = timedelta(seconds=20)
# Of so many runs before another one it is asked how quick they are.
_PACES_ASKED = 5
# No wait before another attempt, or for a server, is longer. What lies farther ahead was written by a clock that was
# ahead and has been set back.
LONGEST_WAIT = timedelta(minutes=5)


@dataclass(frozen=True)
class Progress:
    """How far a run is. Items; seconds.

    Attributes:
        sums: of numbers that its items have, those that were asked for.
        paces: the same numbers a second, of late; None before the first item.
        void: of those that are not done, items that a run which has ended would do no more if it were resumed.
        silent: since the last sign of life, while work waits and nobody is at it.
        is_behind: while it is silent: the workers of its queue are at other work.
        before: while it is behind: the runs to which workers come first, where that is known.
        wait: until its turn comes, at their pace; None where none of them has one.
        wait_is_least: some of them have none, so that it is longer.
    """

    total: int
    done: int
    failed: int
    at_work: int
    void: int
    elapsed: timedelta
    left: timedelta | None
    silent: timedelta | None
    is_behind: bool
    before: Sequence[InLine] = ()
    wait: timedelta | None = None
    wait_is_least: bool = False
    sums: dict[str, int] = field(default_factory=dict)
    paces: dict[str, float | None] = field(default_factory=dict)

    @property
    def lacks_a_worker(self) -> bool:
        return self.silent is not None and self.silent > _SILENCE and not self.is_behind

    @property
    def silent_for(self) -> timedelta:
        return whole_seconds(self.silent or timedelta())

    @property
    def seconds(self) -> float:
        return self.elapsed.total_seconds()

    @property
    def seconds_left(self) -> float | None:
        return self.left.total_seconds() if self.left is not None else None

    @property
    def left_over(self) -> int:
        return self.total - self.done - self.void

    @property
    def waiting(self) -> int:
        return self.total - self.done - self.failed - self.at_work

    @property
    def n_before(self) -> int:
        return len(self.before)

    @property
    def seconds_until_turn(self) -> float | None:
        return self.wait.total_seconds() if self.wait is not None else None


def due(now: datetime) -> Q:
    """Of items that a worker may take."""
    return Q(state=ItemState.QUEUED) & (Q(not_before=None) | Q(not_before__lte=now))


def has_unfinished(run: Run) -> bool:
    """Whether a run has items that are neither done nor failed. One query."""
    return bool(run.items.filter(state__in=[ItemState.QUEUED, ItemState.CLAIMED]).exists())


def is_waiting(run: Run, *, now: datetime) -> bool:
    """Whether a run has work that a worker may take. One query."""
    return bool(run.items.filter(due(now)).exists())


def works_elsewhere(queue: str, *, now: datetime) -> bool:
    """Whether a worker holds an item of any run on this queue, or was through with one a moment ago: it comes to what
    waits next. At most two queries a kind of work."""
    since = now - _BREATH
    held = Q(state=ItemState.CLAIMED, lease_until__gt=now)
    just_done = Q(done_at__gt=since, done_at__lte=now) & (Q(run__ended_at=None) | Q(run__ended_at__gt=since))
    return any(
        kind.item._default_manager.filter(at_it, run__queue=queue).exists()
        for at_it in (held, just_done)
        for kind in kinds.every()
    )


def somebody_waits(kind: kinds.Kind[Any], queue: str) -> bool:
    """Whether work of a kind that goes before this one stands on a queue, somebody waits for it, and nobody is at it.
    At most one query for each such kind."""
    now = timezone.now()
    return any(
        other.item._default_manager.filter(
            due(now),
            run__in=other.run._default_manager.filter(
                other.run.lets_end(), state=RunState.RUNNING, queue=queue, queued_at__isnull=False
            ).exclude(rest_until__gt=now),
        ).exists()
        for other in kinds.every()
        if other.awaited and other.priority < kind.priority
    )


@dataclass(frozen=True)
class Standing:
    """A queue whose work nobody takes. `waiting`: items; `silent`: since the last sign of life."""

    name: str
    waiting: int
    silent: timedelta

    @property
    def sentence(self) -> str:
        return _(
            "On the queue “%(queue)s” %(n)d pieces of work wait, and for %(minutes)d minutes no worker has taken one. "
            "Is a worker of this queue running?"
        ) % {"queue": self.name, "n": self.waiting, "minutes": self.silent.total_seconds() // 60}


def standing(*, now: datetime | None = None) -> list[Standing]:
    """Queues on which work waits while no worker is at any of it; runs that rest by themselves are not meant.

    Work that a dead worker still holds waits too. One query of each kind of work, and a few more of those that wait.
    """
    now = now or timezone.now()
    waiting: dict[str, int] = {}
    silent: dict[str, timedelta] = {}
    lost = Q(state=ItemState.CLAIMED, lease_until__lte=now)
    for kind in kinds.every():
        runs = kind.run._default_manager.filter(state=RunState.RUNNING).exclude(rest_until__gt=now)
        for run in runs.annotate(
            n=Count("items", filter=_of_items(due(now) | lost)),
            last=Max("items__done_at", filter=Q(items__done_at__lte=now)),
            held_until=Max("items__lease_until", filter=_of_items(lost)),
            due_since=Max("items__not_before", filter=_of_items(due(now))),
        ).filter(n__gt=0):
            signs = [run.started_at, run.queued_at or run.enqueued_at, run.last, run.held_until, run.due_since]
            told = [min(sign, now) for sign in signs if sign is not None and sign <= now + LONGEST_WAIT]
            since = now - max(told, default=now)
            waiting[run.queue] = waiting.get(run.queue, 0) + run.n
            silent[run.queue] = min(since, silent.get(run.queue, since))
    return [
        Standing(name, waiting[name], max(silent[name], timedelta()))
        for name in sorted(waiting)
        if not works_elsewhere(name, now=now)
    ]


def _of_items(condition: Q) -> Q:
    """The same condition of a run's items."""
    return Q(
        *(
            _of_items(part) if isinstance(part, Q) else (f"items__{part[0]}", part[1])  # type: ignore[index]
            for part in condition.children
        ),
        _connector=condition.connector,
        _negated=condition.negated,
    )


def progress(run: Run, *, sums: Sequence[str] = (), paces: Mapping[str, Any] | None = None) -> Progress:
    """How far a run is; `sums` names numbers of its items, `paces` such numbers, or expressions of them, by a name.

    What a dead worker still holds waits: where no other one is there, nobody puts it back.

    Two queries; of a run that nobody is at for some seconds one more and one for each of the first that are before it;
    of one that still waits where nobody is at any at most two for each kind of work.
    """
    now, paces = timezone.now(), paces or {}
    lost = Q(state=ItemState.CLAIMED, lease_until__lte=now)
    is_void = kinds.of(run).is_void
    void = {} if run.is_running or is_void is None else {"void": Count("pk", filter=~Q(state=ItemState.DONE) & is_void)}
    whole = run.items.aggregate(
        total=Count("pk"),
        done=Count("pk", filter=Q(state=ItemState.DONE)),
        failed=Count("pk", filter=Q(state=ItemState.FAILED)),
        at_work=Count("pk", filter=Q(state=ItemState.CLAIMED, lease_until__gt=now)),
        due=Count("pk", filter=due(now) | lost),
        held_until=Max("lease_until", filter=lost),
        last=Max("done_at"),
        last_done=Max("done_at", filter=Q(state=ItemState.DONE)),
        **void,
        **{f"sum_{name}": Sum(name) for name in sums},
    )
    unfinished = whole["total"] - whole["done"] - whole["failed"]
    pace = _pace(run.items, paces, until=whole["last_done"])
    before: Sequence[InLine] = ()
    silent, wait, wait_is_least = None, None, False
    if run.is_running and whole["due"] and not whole["at_work"]:
        signs = (run.started_at, run.queued_at or run.enqueued_at, whole["last"], whole["held_until"])
        silent = now - max(min(sign, now) for sign in signs if sign)
        if silent > _SOON:
            before = line.on(run.queue, now=now).before(run)
            wait, wait_is_least = _until_turn(before)
    return Progress(
        total=whole["total"],
        done=whole["done"],
        failed=whole["failed"],
        at_work=whole["at_work"],
        void=whole.get("void", 0),
        elapsed=whole_seconds((run.ended_at or now) - run.started_at),
        left=whole_seconds(timedelta(seconds=unfinished / pace["items"])) if pace and run.is_running else None,
        silent=silent,
        is_behind=bool(before) or (silent is not None and silent > _BREATH and works_elsewhere(run.queue, now=now)),
        before=before,
        wait=wait,
        wait_is_least=wait_is_least,
        sums={name: whole[f"sum_{name}"] or 0 for name in sums},
        paces={name: pace.get(name) for name in paces},
    )


def _until_turn(before: Sequence[InLine]) -> tuple[timedelta | None, bool]:
    """How long the runs before another one still take at the pace that each had of late, and whether that leaves some
    out that have none. One query for each of the first that have begun."""
    seconds, n_known = 0.0, 0
    for one in before[:_PACES_ASKED]:
        if pace := _pace(one.kind.item._default_manager.filter(run=one.pk), {}, until=one.last_done):
            seconds, n_known = seconds + one.left / pace["items"], n_known + 1
    return (whole_seconds(timedelta(seconds=seconds)) if n_known else None), n_known < len(before)


def _pace(items: Any, of: Mapping[str, Any], *, until: datetime | None) -> dict[str, float]:
    """Items, and numbers of theirs, that were done a second in the last while; {} before the first. One query."""
    if until is None:
        return {}
    done: dict[str, Any] = items.filter(state=ItemState.DONE, done_at__gte=until - _PACE_WINDOW).aggregate(
        n=Count("pk"),
        seconds=Sum("seconds"),
        first=Min("done_at"),
        last=Max("done_at"),
        **{f"sum_{name}": Sum(number) for name, number in of.items()},
    )
    # The first of them was begun before it was done: its own time counts too.
    span = (done["last"] - done["first"]).total_seconds() + done["seconds"] / done["n"]
    if not span:
        return {}
    return {"items": done["n"] / span, **{name: (done[f"sum_{name}"] or 0) / span for name in of}}


def whole_seconds(time: timedelta) -> timedelta:
    return timedelta(seconds=round(time.total_seconds()))


def counts(prefix: str) -> dict[str, Count]:
    """Annotations of a query of runs: {prefix}, n_done and n_failed."""
    return {
        prefix: Count("items"),
        "n_done": Count("items", filter=Q(items__state=ItemState.DONE)),
        "n_failed": Count("items", filter=Q(items__state=ItemState.FAILED)),
    }
