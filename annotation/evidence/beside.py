"""Two texts of a row, side by side: which blocks are of which. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING


class Side(NamedTuple):
    """`title`: what it is called, "" where its first block is a heading that says it; without blocks it is a text that
    is empty."""

    title: str
    blocks: list[Block]


class Beside(NamedTuple):
    """In the order of the row: what stands before the two, and the two."""

    before: list[Block]
    sides: list[Side]


def beside(blocks: Sequence[Block], places: Sequence[tuple[str, str]]) -> Beside | None:
    """A row's blocks as texts side by side; None where they are none.

    Args:
        places: keys and labels of the sides, from the left. A side is the blocks of a kind of that key, or what stands
            below a heading of that key or label.

    >>> blocks = [Block("prompt", "Why?"), Block("left", "So."), Block("right", "Thus.")]
    >>> found = beside(blocks, [("left", "Left"), ("right", "Right")])
    >>> [side.title for side in found.sides], len(found.before)
    (['Left', 'Right'], 1)
    """
    before: list[Block] = []
    sides = [Side(label, []) for _key, label in places]
    at = -1
    for block in blocks:
        of_kind = next((n for n, (key, _label) in enumerate(places) if block.kind == key), None)
        found = of_kind if of_kind is not None else _headed(block, places)
        if found is not None:
            if found < at:
                return None
            if of_kind is None and not sides[found].blocks:
                sides[found] = Side("", [])
            at = found
        (before if at < 0 else sides[at].blocks).append(block)
    return Beside(before, sides) if any(side.blocks for side in sides) else None


def _headed(block: Block, places: Sequence[tuple[str, str]]) -> int | None:
    if block.kind != HEADING:
        return None
    return next((n for n, names in enumerate(places) if _folded(block.text) in map(_folded, names)), None)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
