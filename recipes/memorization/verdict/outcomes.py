"""The verdict of each item of a generated recipe, and the shares of the verdicts. Pure: no Django.

An item stands word for word in a document (memorised), stands there in another form (found inexactly), or stands in
none of those that were looked at. What stands in none is nonsense where it was called so, creative where it was called
sensible, and not examined where nobody has said (Kvapil and Fajčík, section 8: creative is what is found in no
available document and is no nonsense). Documents come first: nonsense that stands in a document was not made up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from base.proportions import wilson_interval
from reports.stats.answers import IntArray
from reports.stats.bootstrap import CONFIDENCE, N_DRAWS, Interval, resampling_of
from reports.stats.coverage import found_within
from reports.stats.pairs import FloatArray


class Outcome(StrEnum):
    MEMORISED = "memorised"
    INEXACT = "inexact"
    CREATIVE = "creative"
    NONSENSE = "nonsense"
    UNEXAMINED = "unexamined"


OUTCOMES = tuple(Outcome)


@dataclass(frozen=True)
class Item:
    """An item that somebody looked for.

    recipe: number of its recipe; column: its place among the columns of the label table. n_documents: documents looked
    at for it; exact and inexact: rows in which it was found as it stands, and in those that have it only in another
    form; set_off: those in which what was answered counts as not found, though it is not that answer (“Implied”).
    sensible: what was said of it in the examination for nonsense, None for nothing; reason: why, as it was put.
    """

    recipe: int
    column: int
    n_documents: int
    exact: tuple[int, ...]
    inexact: tuple[int, ...]
    sensible: bool | None = None
    reason: str = ""
    set_off: tuple[int, ...] = ()

    @property
    def outcome(self) -> Outcome:
        if self.exact:
            return Outcome.MEMORISED
        if self.inexact:
            return Outcome.INEXACT
        return self.if_never_found

    @property
    def why(self) -> str:
        """The reason of a verdict of nonsense. What was found may have been called nonsense too: its reason is none of
        its verdict's."""
        return self.reason if self.outcome == Outcome.NONSENSE else ""

    @property
    def if_never_found(self) -> Outcome:
        if self.sensible is None:
            return Outcome.UNEXAMINED
        return Outcome.CREATIVE if self.sensible else Outcome.NONSENSE


@dataclass(frozen=True)
class Share:
    """How many items have an outcome, and which share; 95 % from `low` to `high`, None where there is no interval."""

    outcome: Outcome
    n: int
    share: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Group:
    """The items that have one word in common: a recipe, a generator, a type of prompt, or all.

    shares: in the order of `OUTCOMES`. n_found_nonsense: items that stand in a document and were called nonsense.
    interval: why there is none, or ""; of several recipes recipes are drawn, of one its items count as independent.
    """

    name: str
    n_recipes: int
    n_items: int
    n_found_nonsense: int
    shares: tuple[Share, ...]
    interval: str

    def share(self, outcome: Outcome) -> Share:
        return self.shares[OUTCOMES.index(outcome)]


def group(name: str, items: Sequence[Item], *, n_draws: int = N_DRAWS, seed: int = 0) -> Group:
    """The shares of some items, with intervals: of several recipes by drawing recipes, since the items of one are
    alike (ten at least); of a single one by Wilson, as if its items were independent.

    Raises:
        ValueError: no item.
    """
    if not items:
        raise ValueError("no item has an answer")
    recipes, recipe = np.unique([item.recipe for item in items], return_inverse=True)
    outcome = np.array([OUTCOMES.index(item.outcome) for item in items])
    counts = np.zeros((recipes.size, len(OUTCOMES)))
    np.add.at(counts, (recipe, outcome), 1)
    totals = counts.sum(axis=0).astype(int).tolist()
    intervals, why = _intervals(counts, recipes, n_draws, seed)
    return Group(
        name=name,
        n_recipes=int(recipes.size),
        n_items=len(items),
        n_found_nonsense=sum(item.sensible is False and bool(item.exact or item.inexact) for item in items),
        shares=tuple(
            Share(each, n, n / len(items), low, high)
            for each, n, (low, high) in zip(OUTCOMES, totals, intervals, strict=True)
        ),
        interval=why,
    )


def _intervals(
    counts: FloatArray, recipes: IntArray, n_draws: int, seed: int
) -> tuple[list[tuple[float | None, float | None]], str]:
    """The ends of each outcome's interval, and why there are none."""
    if recipes.size == 1:
        n = int(counts.sum())
        return [wilson_interval(int(hits), n, CONFIDENCE) for hits in counts[0]], ""
    draws = resampling_of(recipes, "sheet", n_draws=n_draws, seed=seed, group_many=False)
    if draws.too_few:
        found: list[Interval] = [draws.without_draws()] * len(OUTCOMES)
    else:
        drawn = draws.draw(counts, lambda sums: sums / sums.sum(axis=1, keepdims=True))
        # What no recipe has, or every item is, comes out the same in each draw: that says nothing of other recipes.
        found = [
            draws.interval(drawn[:, place]) if np.ptp(drawn[:, place]) else draws.without_draws("no recipe differs")
            for place in range(len(OUTCOMES))
        ]
    given = any(of.low is not None for of in found)
    return [(of.low, of.high) for of in found], "" if given else found[0].reason


@dataclass(frozen=True)
class Covered:
    """Items of one outcome by whether the documents that have them are reserved: `alone`: all of these are; `too`: some
    are; n: all of them."""

    n: int
    alone: int
    too: int


def covered(items: Sequence[Item], outcome: Outcome, reserved: Collection[int]) -> Covered:
    """`outcome`: memorised or found inexactly; reserved: rows whose site has reserved them.

    >>> items = [Item(0, 0, 2, (0,), ()), Item(0, 1, 2, (0, 1), ()), Item(0, 2, 2, (1,), ())]
    >>> covered(items, Outcome.MEMORISED, {0})
    Covered(n=3, alone=1, too=1)
    """
    rows = [item.exact or item.inexact for item in items if item.outcome == outcome]
    n_reserved = [sum(row in reserved for row in of_item) for of_item in rows]
    alone = sum(n == len(of_item) for n, of_item in zip(n_reserved, rows, strict=True))
    return Covered(len(rows), alone, sum(map(bool, n_reserved)) - alone)


@dataclass(frozen=True)
class Closest:
    """The document that has most of a recipe. rows: it, or several that have as much. `exact`, `somehow`: of each
    section the share of the recipe's items that it (the first) has in the same words, and in any form; None where the
    recipe has none there."""

    recipe: int
    rows: tuple[int, ...]
    exact: tuple[float | None, ...]
    somehow: tuple[float | None, ...]

    @property
    def mean(self) -> float:
        """Over the sections that the recipe has: one that has a single section is held to no more than that.

        >>> Closest(0, (7,), (None, 0.5), (None, 1.0)).mean, Closest(1, (8,), (0.5, 0.5), (0.6, 0.6)).mean
        (1.0, 0.6)
        """
        of_sections = [share for share in self.somehow if share is not None]
        return sum(of_sections) / max(len(of_sections), 1)


def closest(sections: Sequence[Sequence[Item]]) -> list[Closest]:
    """Of each recipe of which a document has anything. Sections count alike, however many items they have: first comes
    what a document has in any form, then what it has in the same words.

    >>> items = [Item(0, 0, 2, (7,), (8,)), Item(0, 1, 2, (), (8,))]
    >>> closest([items])
    [Closest(recipe=0, rows=(8,), exact=(0.0,), somehow=(1.0,))]
    """
    parts: dict[int, list[list[Item]]] = {}
    for place, items in enumerate(sections):
        for item in items:
            parts.setdefault(item.recipe, [[] for _section in sections])[place].append(item)
    found = []
    for recipe, of_recipe in sorted(parts.items()):
        exact = [Counter(row for item in items for row in item.exact) for items in of_recipe]
        somehow = [Counter(row for item in items for row in (*item.exact, *item.inexact)) for items in of_recipe]
        sizes = [len(items) for items in of_recipe]
        ranks = {row: (_rank(somehow, sizes, row), _rank(exact, sizes, row)) for counts in somehow for row in counts}
        if ranks:
            most = max(ranks.values())
            best = tuple(sorted(row for row, rank in ranks.items() if rank == most))
            found.append(Closest(recipe, best, _shares(exact, sizes, best[0]), _shares(somehow, sizes, best[0])))
    return found


def _shares(counts: Sequence[Counter[int]], sizes: Sequence[int], row: int) -> tuple[float | None, ...]:
    return tuple(of[row] / size if size else None for of, size in zip(counts, sizes, strict=True))


def _rank(counts: Sequence[Counter[int]], sizes: Sequence[int], row: int) -> Fraction:
    """The sum of the sections' shares, exactly: equal ones tie."""
    return sum((Fraction(of[row], size) for of, size in zip(counts, sizes, strict=True) if size), Fraction())


def groups(items: Sequence[Item], word: Callable[[Item], str], *, seed: int = 0) -> list[Group]:
    """The items by a word, in the order in which words come up."""
    by_word: dict[str, list[Item]] = {}
    for item in items:
        by_word.setdefault(word(item), []).append(item)
    return [group(name, of_word, seed=seed) for name, of_word in by_word.items()]


@dataclass(frozen=True, eq=False)
class Curve:
    """The shares to expect of n documents drawn from those of each recipe, for n = 1, 2, …

    shares: shape (n_outcomes, n_points), in the order of `OUTCOMES`; n_items: items that have n documents or more,
    shape (n_points,).
    """

    shares: FloatArray
    n_items: IntArray


def curve(items: Sequence[Item]) -> Curve:
    """How the shares move with the number of documents, exactly (hypergeometric)."""
    n_documents = np.array([item.n_documents for item in items], dtype=np.int64)
    size = int(n_documents.max(initial=0))
    exact = found_within(n_documents, np.array([len(item.exact) for item in items], dtype=np.int64), size)
    somehow = np.array([len(item.exact) + len(item.inexact) for item in items], dtype=np.int64)
    found = found_within(n_documents, somehow, size)
    has = np.arange(1, size + 1)[np.newaxis] <= n_documents[:, np.newaxis]
    of_outcome = {Outcome.MEMORISED: exact, Outcome.INEXACT: found - exact}
    for outcome in OUTCOMES[2:]:
        would_be = np.array([item.if_never_found == outcome for item in items], dtype=bool)
        of_outcome[outcome] = np.where(would_be[:, np.newaxis], 1 - found, 0.0)
    n_items = has.sum(axis=0)
    shares = np.stack([np.where(has, of_outcome[outcome], 0.0).sum(axis=0) / n_items for outcome in OUTCOMES])
    return Curve(shares=shares, n_items=n_items)
