"""What a person did to the lines of a document: added, dropped, moved, changed. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from annotation.evidence.blocks import Block

What = Literal["added", "dropped", "moved", "changed"]


@dataclass(frozen=True)
class Line:
    """A line as it is to stand; `origin`: which of the lines until now it is, None for a new one."""

    block: Block
    origin: int | None = None


@dataclass(frozen=True)
class Change:
    """`was`: the text of a changed line until then, else ""."""

    what: What
    kind: str
    text: str
    was: str = ""


def changes(before: Sequence[Block], lines: Sequence[Line]) -> list[Change]:
    """The fewest changes from `before` to `lines`, in the order of the new lines, the dropped ones last.

    A line has moved if it is not in the longest run of lines that kept their order; a line whose kind is another now
    (an ingredient that was a step) has moved too.

    Raises:
        ValueError: two lines come from one, or one from a line that was not there.
    """
    origins = [line.origin for line in lines if line.origin is not None]
    if len(set(origins)) < len(origins) or any(not 0 <= origin < len(before) for origin in origins):
        raise ValueError("lines must come from different lines of the document")
    stayed = _longest_rising(origins)
    found: list[Change] = []
    for line in lines:
        kind, text = line.block.kind, line.block.text
        if line.origin is None:
            found.append(Change("added", kind, text))
            continue
        old = before[line.origin]
        if line.origin not in stayed or old.kind != kind:
            found.append(Change("moved", kind, text))
        if old.text != text:
            found.append(Change("changed", kind, text, old.text))
    kept = set(origins)
    found += [Change("dropped", block.kind, block.text) for i, block in enumerate(before) if i not in kept]
    return found


def _longest_rising(numbers: Sequence[int]) -> frozenset[int]:
    """The longest rising part of different numbers (patience sorting)."""
    tops: list[int] = []
    last: list[int] = []
    previous: dict[int, int | None] = {}
    for number in numbers:
        pile = bisect_left(tops, number)
        previous[number] = last[pile - 1] if pile else None
        if pile == len(tops):
            tops.append(number)
            last.append(number)
        else:
            tops[pile] = last[pile] = number
    run: list[int] = []
    number_or_none = last[-1] if last else None
    while number_or_none is not None:
        run.append(number_or_none)
        number_or_none = previous[number_or_none]
    return frozenset(run)
