"""Which of the candidates of a dish is the best, in the memorization paper's order (its section 5): the amount of
objective faults, then how correct it seems, then preference. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Criterion(StrEnum):
    FAULTS = "faults"
    CORRECTNESS = "correctness"
    PREFERENCE = "preference"


@dataclass(frozen=True)
class Candidate:
    """What was said of one candidate: how many faults (fewer are better), how correct, how well liked (more is better).
    Means over raters are as good as one rater's numbers; None where nobody has said it."""

    key: int
    faults: float | None
    correctness: float | None
    preference: float | None

    @property
    def is_whole(self) -> bool:
        return None not in (self.faults, self.correctness, self.preference)

    @property
    def rank_key(self) -> tuple[float, float, float]:
        """Smaller is better, one criterion after the other."""
        assert self.faults is not None
        assert self.correctness is not None
        assert self.preference is not None
        return (self.faults, -self.correctness, -self.preference)


@dataclass(frozen=True)
class Choice:
    """`order`: the candidates from the best on, those that nothing tells apart in one group. `decided_by`: the first
    criterion that puts the best before the next group, None where there is no next one. `unsaid`: candidates that lack
    an answer and are not compared."""

    order: tuple[tuple[Candidate, ...], ...]
    decided_by: Criterion | None
    unsaid: tuple[Candidate, ...]

    @property
    def best(self) -> tuple[Candidate, ...]:
        """One candidate; several where they tie, none where none was answered for."""
        return self.order[0] if self.order else ()

    @property
    def is_tied(self) -> bool:
        return len(self.best) > 1


def choose(candidates: Sequence[Candidate]) -> Choice:
    """
    >>> many, few = Candidate(1, 2, 5, 10), Candidate(2, 1, 3, 4)
    >>> found = choose([many, few])
    >>> found.best[0].key, str(found.decided_by)
    (2, 'faults')
    """
    groups: dict[tuple[float, float, float], list[Candidate]] = {}
    for candidate in candidates:
        if candidate.is_whole:
            groups.setdefault(candidate.rank_key, []).append(candidate)
    order = tuple(tuple(groups[key]) for key in sorted(groups))
    decided = None
    if len(order) > 1:
        first, second = order[0][0].rank_key, order[1][0].rank_key
        decided = next(criterion for criterion, a, b in zip(Criterion, first, second, strict=True) if a != b)
    return Choice(order, decided, tuple(candidate for candidate in candidates if not candidate.is_whole))
