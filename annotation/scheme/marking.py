"""Two wordings of a text beside each other, with the words marked that the other one has not. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

_WORD = re.compile(r"\s+|\w+|[^\w\s]+")
# Of what is the same in both this many words and spaces are shown on each side of a change.
_AROUND = 40
# Of what is marked so many signs at each end.
_ENDS = 2000
LEFT_OUT = " … "


class Piece(NamedTuple):
    text: str
    is_marked: bool


class Compared(NamedTuple):
    """`steps`: what it cost, as `_steps` has it."""

    before: list[Piece]
    after: list[Piece]
    steps: int


def compared(before: str, after: str, *, most: int) -> Compared:
    """`most`: where it would take more steps, all is marked that stands between what both begin and end with."""
    ours, theirs = _WORD.findall(before), _WORD.findall(after)
    first = _n_equal(ours, theirs)
    last = _n_equal(ours[first:][::-1], theirs[first:][::-1])
    middles = ours[first : len(ours) - last], theirs[first : len(theirs) - last]
    steps = _steps(*map(len, middles))
    blocks = [(0, 0, first)]
    if 0 < steps <= most:
        found = SequenceMatcher(None, *middles).get_matching_blocks()
        blocks += [(block.a + first, block.b + first, block.size) for block in found if block.size]
    blocks.append((len(ours) - last, len(theirs) - last, last))
    return Compared(
        _pieces(ours, [(a, size) for a, _b, size in blocks]),
        _pieces(theirs, [(b, size) for _a, b, size in blocks]),
        steps if steps <= most else 0,
    )


def _steps(n: int, m: int) -> int:
    """How long difflib takes for so many words, at worst: of a text of 200 and more it looks for no word that stands
    everywhere, of a shorter one for each."""
    return n * m * (max(1, m // 10) if m < 200 else 1)


def _n_equal(some: Sequence[str], others: Sequence[str]) -> int:
    """How many words two texts have in common at their beginning."""
    beside = enumerate(zip(some, others, strict=False))
    return next((n for n, (one, other) in beside if one != other), min(len(some), len(others)))


def _pieces(words: Sequence[str], equal: Sequence[tuple[int, int]]) -> list[Piece]:
    """`equal`: where words begin that the other text has too, and how many; at both ends there may be none."""
    pieces = [Piece(_end_of(words[: equal[0][1]]), is_marked=False)]
    for (at, size), (then, n) in pairwise(equal):
        pieces.append(Piece(_shortened("".join(words[at + size : then])), is_marked=True))
        is_last = then + n == len(words)
        same = words[then : then + n]
        pieces.append(Piece(_start_of(same) if is_last else _middle_of(same), is_marked=False))
    return [piece for piece in pieces if piece.text]


def _end_of(words: Sequence[str]) -> str:
    return "".join(words) if len(words) <= 2 * _AROUND else LEFT_OUT.lstrip() + "".join(words[-_AROUND:]).lstrip()


def _start_of(words: Sequence[str]) -> str:
    return "".join(words) if len(words) <= 2 * _AROUND else "".join(words[:_AROUND]).rstrip() + LEFT_OUT.rstrip()


def _middle_of(words: Sequence[str]) -> str:
    if len(words) <= 4 * _AROUND:
        return "".join(words)
    return "".join(words[:_AROUND]).rstrip() + LEFT_OUT + "".join(words[-_AROUND:]).lstrip()


def _shortened(text: str) -> str:
    return text if len(text) <= 2 * _ENDS else text[:_ENDS] + LEFT_OUT + text[-_ENDS:]
