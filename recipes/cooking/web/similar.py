"""Pages that say nearly the same: a recipe that one site took over from another. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Words in a row; and from which share of common ones on two texts are one text with small changes.
SHINGLE, NEAR = 4, 0.6


def shingles(lines: Iterable[str]) -> frozenset[tuple[str, ...]]:
    """All runs of `SHINGLE` words; of a shorter text the whole of it. Case and signs do not count."""
    words = re.findall(r"\w+", " ".join(lines).casefold())
    if not words:
        return frozenset()
    return frozenset(tuple(words[at : at + SHINGLE]) for at in range(max(1, len(words) - SHINGLE + 1)))


def resemblance(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """The share of runs of words that two texts have in common, 0 to 1; 0 where one has none.

    Source: Broder (1997), On the resemblance and containment of documents.
    """
    return len(one & other) / len(one | other) if one and other else 0.0
