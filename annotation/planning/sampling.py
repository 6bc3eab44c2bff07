"""Which rows a plan is about: those with certain words at their facets, and of them a stratified sample.

A row's rank in the draw follows from the seed and its own number alone (permanent random numbers), not from what else
there is. So the same seed draws the same rows again, a larger sample holds the smaller one, and where a row is
withdrawn, one other of its stratum comes for it and the rest stay.

Sources: Ohlsson (1995), Coordination of samples using permanent random numbers; Cochran (1977), Sampling Techniques,
section 4.4, for how many are enough.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Stratum = tuple[str, ...]

_TWO_SIDED_95 = 1.959964

# Beside the facets: rows of one sheet are a stratum. No facet can have this key.
BY_SHEET = "*sheet"


@dataclass(frozen=True)
class RowChoice:
    """What is asked for.

    words: facet -> the words of which a row has to have one; "" is none. size: how many rows are drawn, None for all of
    them. within, deviation: in the place of a size so many that a mean of ratings, of which each row has one and which
    have this standard deviation, is known to ± `within` (half a 95 % interval). each: so many of each stratum; else so
    many in all, of which each stratum has its share. by: the facets that make the strata, and `BY_SHEET`.
    """

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    size: int | None = None
    within: float | None = None
    deviation: float = 0.0
    each: bool = False
    by: tuple[str, ...] = ()
    seed: int = 0

    @property
    def narrows(self) -> bool:
        return bool(self.words) or self.size is not None or self.within is not None

    def wanted(self, n: int) -> int:
        """How many are drawn of n rows, where there are as many."""
        if self.within is not None:
            return enough(n, within=self.within, deviation=self.deviation)
        return n if self.size is None else self.size


class Described(NamedTuple):
    """A row by its number, its sheet's title, and the words of its facets."""

    row: int
    sheet: str
    words: Mapping[str, str]

    def stratum(self, by: Sequence[str]) -> Stratum:
        return tuple(self.sheet if facet == BY_SHEET else self.words.get(facet, "") for facet in by)


@dataclass(frozen=True)
class Sample:
    """strata: stratum -> (rows that fit, rows drawn of them), in the order of the rows."""

    rows: frozenset[int]
    strata: Mapping[Stratum, tuple[int, int]]


def drawn_rows(rows: Sequence[Described], choice: RowChoice) -> Sample:
    """The rows of a choice. Where a stratum has fewer than it was to give, all of them are drawn."""
    strata: dict[Stratum, list[int]] = defaultdict(list)
    for row in rows:
        if all(row.words.get(facet, "") in words for facet, words in choice.words.items()):
            strata[row.stratum(choice.by)].append(row.row)
    fit = [len(of_stratum) for of_stratum in strata.values()]
    sizes = [min(choice.wanted(n), n) for n in fit] if choice.each else shares(fit, choice.wanted(sum(fit)))
    drawn = {
        stratum: sorted(of_stratum, key=lambda row: _rank(row, choice.seed))[:size]
        for (stratum, of_stratum), size in zip(strata.items(), sizes, strict=True)
    }
    return Sample(
        frozenset(row for of_stratum in drawn.values() for row in of_stratum),
        {stratum: (len(strata[stratum]), len(of_stratum)) for stratum, of_stratum in drawn.items()},
    )


def enough(n: int, *, within: float, deviation: float) -> int:
    """How many of n rows give their mean a 95 % interval of ± `within`: fewer where that is a large part of them.

    >>> [enough(n, within=0.25, deviation=1.0) for n in (20, 800, 100_000)]
    [16, 58, 62]
    """
    unlimited = (_TWO_SIDED_95 * deviation / within) ** 2
    return min(n, max(2, math.ceil(unlimited / (1 + unlimited / n)))) if n else 0


def shares(fit: Sequence[int], size: int) -> list[int]:
    """`size` rows shared out in proportion to the strata, less than one row from it; at most all rows of each.

    One row after the other goes to the stratum that has least for its size, of those whose share is not full yet (the
    quota method). So a larger size takes nothing from a stratum, as largest remainders do:

    >>> shares([19, 3, 9], 5), shares([19, 3, 9], 6)
    ([4, 0, 1], [4, 0, 2])

    Source: Balinski and Young (1975), The quota method of apportionment.
    """
    total = sum(fit)
    if size >= total:
        return list(fit)
    given = [0] * len(fit)
    open_: list[tuple[float, int]] = []  # (less for who has less for its size, stratum)
    opens: dict[int, list[int]] = defaultdict(list)  # with which row the strata whose share is full can have one more
    opens[1] = [stratum for stratum, n in enumerate(fit) if n]
    for nth in range(1, size + 1):
        for stratum in opens.pop(nth, ()):
            heapq.heappush(open_, (-fit[stratum] / (given[stratum] + 1), stratum))
        _least, stratum = heapq.heappop(open_)
        given[stratum] += 1
        full_until = given[stratum] * total // fit[stratum]  # of so many rows its share is what it has, or less
        opens[max(full_until, nth) + 1].append(stratum)
    return given


def _rank(row: int, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{row}".encode()).digest()
