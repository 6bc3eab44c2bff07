"""Texts that are held against others, each text once, whatever the number of pairs it is in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reports.stats.answers import IntArray
from reports.stats.pairs import FloatArray

# Pairs that are worked on at a time: bounds memory, whatever their number.
AT_ONCE = 8_192


@dataclass(frozen=True)
class Pair:
    """`candidate` is held against `references`, one or several."""

    candidate: str
    references: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Pairs:
    """distinct: the different pairs, in the order of their first place; index: which of them each pair is, shape
    (n_pairs,)."""

    distinct: tuple[Pair, ...]
    index: IntArray

    @classmethod
    def of(cls, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Pairs:
        """
        Args:
            candidates: n texts; references: for each one text or several.

        Raises:
            ValueError: their numbers differ, or a candidate has no reference.
        """
        if len(candidates) != len(references):
            raise ValueError(f"{len(candidates)} candidates and references for {len(references)}")
        place: dict[Pair, int] = {}
        index = np.empty(len(candidates), dtype=np.int64)
        for at, (candidate, of) in enumerate(zip(candidates, references, strict=True)):
            if isinstance(of, str) or not of:
                raise ValueError("each candidate needs a list of references, with one at least")
            index[at] = place.setdefault(Pair(candidate, tuple(of)), len(place))
        return cls(tuple(place), index)

    def __len__(self) -> int:
        return self.index.size

    @cached_property
    def times(self) -> IntArray:
        return np.bincount(self.index, minlength=len(self.distinct))

    def sums(self, of_block: Callable[[Sequence[Pair]], FloatArray], n_features: int) -> FloatArray:
        """What a metric counts in each pair, shape (n_pairs, n_features); a block of different pairs at a time."""
        found = np.empty((len(self.distinct), n_features))
        for start, block in self.blocks():
            found[start : start + len(block)] = of_block(block)
        return found[self.index]

    def blocks(self) -> Iterator[tuple[int, Sequence[Pair]]]:
        for start in range(0, len(self.distinct), AT_ONCE):
            yield start, self.distinct[start : start + AT_ONCE]
