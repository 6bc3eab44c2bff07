"""Who takes over open work when somebody leaves, joins or is overloaded, or when a document is withdrawn.

What is begun or done stays where it is. Seats that have nobody are filled, and on request the open work is levelled,
so that three things stay low: the differences between the raters' loads, the number of raters who have to learn a
sheet, and the differences between the documents that pairs of raters share. The same state and seed always give the
same moves.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Document = tuple[int, int]  # sheet, document in it
_Counts = npt.NDArray[np.int64]

# What a rater new to a sheet costs, in units of the squared load and for each document that a rater has on a sheet on
# average: worth it once the loads differ by two thirds of such a part.
_NEW_ON_SHEET = 1.3
# The weight of level pairs beside that of level loads.
_PAIRS = 0.2
# A seat that somebody has moves only if that levels the loads by more than one document.
_MOVED = 2.5
_ROUNDS = 4


@dataclass(frozen=True)
class Seat:
    """One rater's place at a document. `open`: nothing is begun, it can move. `rater` None: it has nobody."""

    document: Document
    rater: int | None
    open: bool = True


@dataclass(frozen=True)
class Replan:
    """`after`: the rater of each seat in the order they were given in, None where nobody can take it."""

    after: tuple[int | None, ...]

    def moved(self, seats: Sequence[Seat]) -> list[int]:
        """Places of the seats that change hands."""
        return [n for n, (seat, rater) in enumerate(zip(seats, self.after, strict=True)) if seat.rater != rater]


def replan(
    seats: Sequence[Seat],
    *,
    takers: Collection[int],
    leaving: Collection[int] = (),
    level: bool = False,
    seed: int = 0,
    learning: float | None = None,
) -> Replan:
    """Give the seats without a rater, and the open ones of who is `leaving`, to the `takers`.

    A document never gets the same rater twice. `level`: open seats may also move from one taker to another. `learning`:
    the most that a rater new to a sheet costs, in units of the squared load; else as much as sheets are large.
    """
    state = _State(seats, [rater for rater in takers if rater not in leaving], learning)
    rng = random.Random(seed)  # noqa: S311  a plan, not a secret
    free = [n for n, seat in enumerate(seats) if seat.rater is None or (seat.open and seat.rater in leaving)]
    pool = list(free)
    if level:
        among_free = set(free)
        pool += [n for n, seat in enumerate(seats) if seat.open and seat.rater in state.place and n not in among_free]
    for n in free:
        state.take(n)
    rng.shuffle(free)
    # The documents with the fewest to choose from go first.
    for n in sorted(free, key=state.n_candidates):
        state.give(n, state.best(n))
    for _ in range(_ROUNDS):
        rng.shuffle(pool)
        changed = False
        for n in pool:
            if (best := state.best(n)) != state.after[n]:
                state.take(n)
                state.give(n, best)
                changed = True
        if not changed:
            break
    return Replan(tuple(state.after))


class _State:
    """Who sits where, and the counts that the costs follow from. Of each count there is an array of the takers in their
    order, since all of them are compared for each seat."""

    def __init__(self, seats: Sequence[Seat], takers: Sequence[int], learning: float | None = None) -> None:
        self.seats = seats
        self.takers = tuple(sorted(set(takers)))
        self.place = {rater: place for place, rater in enumerate(self.takers)}
        self.after: list[int | None] = [seat.rater for seat in seats]
        self.at: dict[Document, set[int]] = defaultdict(set)
        self.load = self._zeros()
        self.together: dict[int, _Counts] = defaultdict(self._zeros)  # rater -> documents that each taker shares
        self.on_sheet: dict[int, _Counts] = defaultdict(self._zeros)
        held = [(seat.document[0], seat.rater) for seat in seats if seat.rater is not None]
        for seat in seats:
            if seat.rater is not None:
                self._count(seat, seat.rater, 1)
        self.new_on_sheet = _NEW_ON_SHEET * len(held) / max(len(set(held)), 1)
        if learning is not None:
            self.new_on_sheet = min(self.new_on_sheet, learning)

    def _zeros(self) -> _Counts:
        return np.zeros(len(self.takers), dtype=np.int64)

    def _count(self, seat: Seat, rater: int, by: int) -> None:
        there = self.at[seat.document]
        if by < 0:
            there.remove(rater)
        place = self.place.get(rater)
        mine = self.together[rater]
        for other in there:
            if (others := self.place.get(other)) is not None:
                mine[others] += by
            if place is not None:
                self.together[other][place] += by
        if by > 0:
            there.add(rater)
        if place is not None:
            self.load[place] += by
            self.on_sheet[seat.document[0]][place] += by

    def take(self, n: int) -> None:
        if (rater := self.after[n]) is not None:
            self._count(self.seats[n], rater, -1)
            self.after[n] = None

    def give(self, n: int, rater: int | None) -> None:
        if rater is not None:
            self._count(self.seats[n], rater, 1)
            self.after[n] = rater

    def n_candidates(self, n: int) -> int:
        return len(self.takers) - sum(rater in self.place for rater in self.at[self.seats[n].document])

    def best(self, n: int) -> int | None:
        """The cheapest rater for a seat, of several the first; who has it where nobody is cheaper."""
        seat, now = self.seats[n], self.after[n]
        others = [rater for rater in self.at[seat.document] if rater != now]
        there = [self.place[rater] for rater in others if rater in self.place]
        if len(there) == len(self.takers):
            return now
        cost = self._costs(seat, others, now)
        cost[there] = np.inf
        least = int(cost.argmin())
        if now in self.place and cost[self.place[now]] == cost[least]:
            return now
        return self.takers[least]

    def _costs(self, seat: Seat, others: Sequence[int], now: int | None) -> npt.NDArray[np.float64]:
        """What each taker would cost at a seat beside the others, if `now` had given it up."""
        load, on_sheet, pairs = self.load, self.on_sheet[seat.document[0]], self._zeros()
        for other in others:
            pairs += self.together[other]
        if now in self.place:
            mine = np.arange(len(self.takers)) == self.place[now]
            load, on_sheet, pairs = load - mine, on_sheet - mine, pairs - mine * len(others)
        cost: npt.NDArray[np.float64] = 2 * load + 1 + _PAIRS * (2 * pairs + len(others))
        cost += np.where(on_sheet, 0, self.new_on_sheet)
        if seat.rater in self.place:
            stays = cost[self.place[seat.rater]]
            cost += _MOVED
            cost[self.place[seat.rater]] = stays
        return cost
