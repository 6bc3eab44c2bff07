"""Reads about runs and their items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from django.db.models import Case, Count, DateTimeField, Max, Min, Q, QuerySet, Sum, Value, When
from django.utils import timezone
from django.utils.translation import gettext as _

from work import kinds, line
from work.kinds import Kind
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
        is_untaken: while it is silent: no worker has taken any of it up since it was last put on its queue.
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
    is_untaken: bool
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
    def is_waiting(self) -> bool:
        """For its turn, or for any worker at all; known at once, where `is_behind` takes some seconds."""
        return self.is_behind or self.is_untaken

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


def somebody_waits(kind: Kind[Any], queue: str) -> bool:
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
            "Work waits on the queue “%(queue)s” (items: %(n)d), and no worker has taken any for %(minutes)d min. "
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
    """How far a run is: `progress_of` one."""
    return progress_of([run], sums=sums, paces=paces)[0]


def progress_of(
    runs: Sequence[Run], *, sums: Sequence[str] = (), paces: Mapping[str, Any] | None = None
) -> list[Progress]:
    """How far each of some runs is, of whatever kinds; `sums` names numbers of their items, `paces` such numbers, or
    expressions of them, by a name.

    What a dead worker still holds waits: where no other one is there, nobody puts it back.

    However many runs, two queries for each kind of theirs. Where nobody is at some of them for some seconds, one more
    for each of their queues and for each kind of the first runs before them; for a queue on which one has waited longer
    and is behind no other at most two for each kind of work.
    """
    now, paces = timezone.now(), paces or {}
    counted = _counted(runs, sums, now)
    paced = _paces({named: whole["last_done"] for named, whole in counted.items()}, paces)
    silent = {run: since for run in runs if (since := _silent(run, counted[_named(run)], now)) is not None}
    turns = _turns({run: since for run, since in silent.items() if since > _SOON}, now)
    told = []
    for run in runs:
        whole, pace, turn = counted[_named(run)], paced.get(_named(run), {}), turns.get(run, _Turn())
        unfinished = whole["n"] - whole["n_done"] - whole["n_failed"]
        told.append(
            Progress(
                total=whole["n"],
                done=whole["n_done"],
                failed=whole["n_failed"],
                at_work=whole["n_at_work"],
                void=0 if run.is_running else whole["n_void"],
                elapsed=whole_seconds((run.ended_at or now) - run.started_at),
                left=whole_seconds(timedelta(seconds=unfinished / pace["items"])) if pace and run.is_running else None,
                silent=silent.get(run),
                is_untaken=run in silent and _is_untaken(run, whole),
                sums={name: whole[f"sum_{name}"] or 0 for name in sums},
                paces={name: pace.get(name) for name in paces},
                **turn._asdict(),
            )
        )
    return told


# A run, by its kind and key.
_Named: TypeAlias = tuple[Kind[Any], int]


def _named(run: Run) -> _Named:
    return kinds.of(run), run.pk


def _by_kind(runs: Iterable[_Named]) -> dict[Kind[Any], list[int]]:
    found: dict[Kind[Any], list[int]] = {}
    for kind, pk in runs:
        found.setdefault(kind, []).append(pk)
    return found


def _counted(runs: Sequence[Run], sums: Sequence[str], now: datetime) -> dict[_Named, dict[str, Any]]:
    """The items of each run, counted, with the `sums` of their numbers. One query for each kind."""
    lost = Q(state=ItemState.CLAIMED, lease_until__lte=now)
    counts = {
        "n": Count("pk"),
        "n_done": Count("pk", filter=Q(state=ItemState.DONE)),
        "n_failed": Count("pk", filter=Q(state=ItemState.FAILED)),
        "n_at_work": Count("pk", filter=Q(state=ItemState.CLAIMED, lease_until__gt=now)),
        "n_due": Count("pk", filter=due(now) | lost),
    }
    numbers = {
        "held_until": Max("lease_until", filter=lost),
        "last": Max("done_at"),
        "last_done": Max("done_at", filter=Q(state=ItemState.DONE)),
        **{f"sum_{name}": Sum(name) for name in sums},
    }
    none = dict.fromkeys((*counts, "n_void"), 0) | dict.fromkeys(numbers)
    ended = {_named(run) for run in runs if not run.is_running}
    counted = {_named(run): none for run in runs}
    for kind, pks in _by_kind(counted).items():
        void = {}
        if kind.is_void is not None and any((kind, pk) in ended for pk in pks):
            void = {"n_void": Count("pk", filter=~Q(state=ItemState.DONE) & kind.is_void)}
        items = kind.item._default_manager.filter(run__in=pks).order_by().values("run")
        for found in items.annotate(**counts, **void, **numbers):
            counted[kind, found["run"]] = none | found
    return counted


def _silent(run: Run, counted: Mapping[str, Any], now: datetime) -> timedelta | None:
    """Since the last sign of life of a run whose work waits while nobody is at it."""
    if not (run.is_running and counted["n_due"]) or counted["n_at_work"]:
        return None
    signs = (run.started_at, run.queued_at or run.enqueued_at, counted["last"], counted["held_until"])
    return now - max(min(sign, now) for sign in signs if sign)


def _is_untaken(run: Run, counted: Mapping[str, Any]) -> bool:
    """Whether none of the signs of life of a silent run is of a worker."""
    since = run.queued_at or run.enqueued_at or run.started_at
    return all(sign is None or sign < since for sign in (counted["last"], counted["held_until"]))


class _Turn(NamedTuple):
    """When a run's turn comes, as `Progress` has it."""

    is_behind: bool = False
    before: Sequence[InLine] = ()
    wait: timedelta | None = None
    wait_is_least: bool = False


def _turns(silent: Mapping[Run, timedelta], now: datetime) -> dict[Run, _Turn]:
    """When the turn of each of some runs comes that nobody is at since a while."""
    lines = {queue: line.on(queue, now=now) for queue in {run.queue for run in silent}}
    before = {run: lines[run.queue].before(run) for run in silent}
    paces = _paces({(one.kind, one.pk): one.last_done for of in before.values() for one in of[:_PACES_ASKED]}, {})
    behind_none = {run.queue for run, since in silent.items() if since > _BREATH and not before[run]}
    elsewhere = {queue for queue in behind_none if works_elsewhere(queue, now=now)}
    return {
        run: _Turn(
            bool(before[run]) or (since > _BREATH and run.queue in elsewhere),
            before[run],
            *_until_turn(before[run], paces),
        )
        for run, since in silent.items()
    }


def _until_turn(before: Sequence[InLine], paces: Mapping[_Named, Mapping[str, float]]) -> tuple[timedelta | None, bool]:
    """How long the runs before another one still take at the pace that each had of late, and whether that leaves some
    out that have none, or are not among the first."""
    known = [one.left / pace["items"] for one in before[:_PACES_ASKED] if (pace := paces.get((one.kind, one.pk)))]
    return (whole_seconds(timedelta(seconds=sum(known))) if known else None), len(known) < len(before)


def _paces(until: Mapping[_Named, datetime | None], of: Mapping[str, Any]) -> dict[_Named, dict[str, float]]:
    """Items of runs, and numbers of theirs, that were done a second in the last while before a moment; of a run without
    such a moment, or that did all in none, nothing. One query for each kind."""
    paces: dict[_Named, dict[str, float]] = {}
    begun = {named: last for named, last in until.items() if last is not None}
    for kind, pks in _by_kind(begun).items():
        since = (When(run=pk, then=Value(begun[kind, pk] - _PACE_WINDOW)) for pk in pks)
        lately = kind.item._default_manager.filter(
            run__in=pks, state=ItemState.DONE, done_at__gte=Case(*since, output_field=DateTimeField())
        )
        for done in (
            lately.order_by()
            .values("run")
            .annotate(
                n=Count("pk"),
                worked=Sum("seconds"),
                first=Min("done_at"),
                last=Max("done_at"),
                **{f"sum_{name}": Sum(number) for name, number in of.items()},
            )
        ):
            # The first of them was begun before it was done: its own time counts too.
            span = (done["last"] - done["first"]).total_seconds() + done["worked"] / done["n"]
            if span:
                sums = {name: (done[f"sum_{name}"] or 0) / span for name in of}
                paces[kind, done["run"]] = {"items": done["n"] / span, **sums}
    return paces


def whole_seconds(time: timedelta) -> timedelta:
    return timedelta(seconds=round(time.total_seconds()))


def with_makers(runs: QuerySet[Any]) -> QuerySet[Any]:
    """Runs with what their `maker` is read from, which asks nothing then."""
    return runs.select_related(*runs.model.made_by) if runs.model.made_by else runs


def counts(prefix: str) -> dict[str, Count]:
    """Annotations of a query of runs: {prefix}, n_done and n_failed."""
    return {
        prefix: Count("items"),
        "n_done": Count("items", filter=Q(items__state=ItemState.DONE)),
        "n_failed": Count("items", filter=Q(items__state=ItemState.FAILED)),
    }
