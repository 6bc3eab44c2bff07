"""What the planner is asked for, and the design that it draws."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from base.sentences import Sentence, SentenceError

Pair = tuple[int, int]


class ImpossibleDesign(SentenceError):
    """No design can meet the request; `sentence` says which number is in the way."""


@dataclass(frozen=True)
class OverlapRequest:
    """What the planner asks for.

    raters: raters in the study. sheets: the number of documents of each sheet. raters_per_sheet: the size of a block.
    share_twice, share_thrice: the shares of all documents to label by exactly two and exactly three raters, together
    0 to 1. raters_per_row: in the place of the shares, how many raters label every document; 0 leaves it to them. seed:
    of all that is left to chance. standing: how many documents each rater has already, which count when the work is
    levelled; without it nobody has any.
    """

    raters: int
    sheets: tuple[int, ...]
    raters_per_sheet: int
    share_twice: Fraction | float
    seed: int = 0
    share_thrice: Fraction | float = 0
    standing: tuple[int, ...] = ()
    raters_per_row: int = 0

    @property
    def shares(self) -> tuple[Fraction | float, Fraction | float]:
        """Of documents labelled by two raters, and by the `most`."""
        if self.raters_per_row:
            return int(self.raters_per_row == 2), int(self.raters_per_row > 2)
        return self.share_twice, self.share_thrice

    @property
    def most(self) -> int:
        """The most raters that a document can get."""
        return max(self.raters_per_row, 3)

    @property
    def has_uneven_standing(self) -> bool:
        return len(set(self.standing)) > 1


@dataclass(frozen=True)
class Design:
    """(sheet, document, rater) of every assignment, in ascending order, all counted from 0; `notes` says what is
    unwise."""

    request: OverlapRequest
    assignments: tuple[tuple[int, int, int], ...]
    notes: tuple[Sentence, ...] = ()

    @cached_property
    def raters_of(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """The raters of each (sheet, document), one or several."""
        raters: dict[tuple[int, int], tuple[int, ...]] = {}
        for sheet, document, rater in self.assignments:
            raters[sheet, document] = (*raters.get((sheet, document), ()), rater)
        return raters

    @property
    def documents_of_rater(self) -> list[int]:
        """Documents that each rater labels, shape (raters,)."""
        counts = Counter(rater for _, _, rater in self.assignments)
        return [counts[rater] for rater in range(self.request.raters)]
