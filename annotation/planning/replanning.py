"""Who takes over open work when somebody leaves, joins or is overloaded, or when a document is withdrawn.

What is begun or done stays where it is. Seats that have nobody are filled, and on request the open work is levelled,
so that three things stay low: the differences between the raters' loads, the number of raters who have to learn a
sheet, and the differences between the documents that pairs of raters share. The same state and seed always give the
same moves.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

Document = tuple[int, int]  # sheet, document in it

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
        pool += [n for n, seat in enumerate(seats) if seat.open and seat.rater in state.takers and n not in set(free)]
    for n in free:
        state.take(n)
    rng.shuffle(free)
    # The documents with the fewest to choose from go first.
    for n in sorted(free, key=lambda n: len(state.candidates(n))):
        state.give(n, state.best(n))
    for _ in range(_ROUNDS):
        rng.shuffle(pool)
        changed = False
        for n in pool:
            before = state.after[n]
            state.take(n)
            state.give(n, state.best(n, now=before))
            changed = changed or state.after[n] != before
        if not changed:
            break
    return Replan(tuple(state.after))


class _State:
    """Who sits where, and the counts that the costs follow from."""

    def __init__(self, seats: Sequence[Seat], takers: Sequence[int], learning: float | None = None) -> None:
        self.seats = seats
        self.takers = tuple(takers)
        self.after: list[int | None] = [seat.rater for seat in seats]
        self.load: Counter[int] = Counter()
        self.on_sheet: Counter[tuple[int, int]] = Counter()
        self.together: Counter[tuple[int, int]] = Counter()
        self.at: dict[Document, set[int]] = defaultdict(set)
        for seat in seats:
            if seat.rater is not None:
                self._count(seat, seat.rater, 1)
        self.new_on_sheet = _NEW_ON_SHEET * self.load.total() / max(len(self.on_sheet), 1)
        if learning is not None:
            self.new_on_sheet = min(self.new_on_sheet, learning)

    def _count(self, seat: Seat, rater: int, by: int) -> None:
        there = self.at[seat.document]
        if by < 0:
            there.remove(rater)
        for other in there:
            self.together[min(rater, other), max(rater, other)] += by
        if by > 0:
            there.add(rater)
        self.load[rater] += by
        self.on_sheet[seat.document[0], rater] += by

    def take(self, n: int) -> None:
        if (rater := self.after[n]) is not None:
            self._count(self.seats[n], rater, -1)
            self.after[n] = None

    def give(self, n: int, rater: int | None) -> None:
        if rater is not None:
            self._count(self.seats[n], rater, 1)
            self.after[n] = rater

    def candidates(self, n: int) -> list[int]:
        there = self.at[self.seats[n].document]
        return [rater for rater in self.takers if rater not in there]

    def best(self, n: int, *, now: int | None = None) -> int | None:
        """The cheapest rater for a seat that has nobody; `now` where nobody is cheaper."""
        candidates = self.candidates(n)
        if not candidates:
            return now
        return min(candidates, key=lambda rater: (self._cost(n, rater), rater != now, rater))

    def _cost(self, n: int, rater: int) -> float:
        seat = self.seats[n]
        others = self.at[seat.document]
        pairs = sum(2 * self.together[min(rater, other), max(rater, other)] + 1 for other in others)
        cost = 2 * self.load[rater] + 1 + _PAIRS * pairs
        if not self.on_sheet[seat.document[0], rater]:
            cost += self.new_on_sheet
        if seat.rater in self.takers and rater != seat.rater:
            cost += _MOVED
        return cost
