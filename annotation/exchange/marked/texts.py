"""A text as another program has it, and where its characters stand in the blocks that a row has of it. Pure.

Offsets are of Unicode code points, as Python counts them; `from_utf16` makes them of those that Java counts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

from annotation.answers.places import Place
from base.text import UNSTORABLE, storable


class MarkedText:
    """A text in which words are marked.

    Args:
        text: of the file, with its line breaks; None where the file has none, which counts as one block without an end.
        starts: where the blocks begin, as the file says; else each line is one, without the white space around it, as
            where rows are imported.
    """

    def __init__(self, text: str | None, starts: Sequence[int] = ()) -> None:
        self._text, self._starts = text, starts

    @cached_property
    def _stored(self) -> str:
        return storable(self._text or "")

    @cached_property
    def _removed(self) -> list[int]:
        """Where characters stand that no database keeps."""
        return [found.start() for found in UNSTORABLE.finditer(self._text or "")]

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """Begin and end of each block in the stored text."""
        if self._starts:
            begins = [self._moved(start) for start in self._starts]
            return list(zip(begins, [*(start - 1 for start in begins[1:]), len(self._stored)], strict=True))
        found, at = [], 0
        for line in self._stored.splitlines(keepends=True):
            if words := line.strip():
                start = at + len(line) - len(line.lstrip())
                found.append((start, start + len(words)))
            at += len(line)
        return found

    def _moved(self, at: int) -> int:
        return at - bisect_left(self._removed, at) if self._removed else at

    @property
    def blocks(self) -> list[str]:
        return [self._stored[start:end] for start, end in self._blocks]

    def has(self, start: int, end: int) -> bool:
        """Whether this is a stretch of the text."""
        return 0 <= start < end and (self._text is None or end <= len(self._text))

    def words(self, start: int, end: int) -> str:
        return self._stored[self._moved(start) : self._moved(end)]

    def places(self, start: int, end: int) -> list[Place]:
        """Where a stretch stands, block by block; nowhere if it is none, or has nothing but white space between blocks.

        >>> MarkedText("Whisk.\\n\\n  Bake it.").places(0, 14)
        [Place(block=0, start=0, end=6), Place(block=1, start=0, end=4)]
        """
        if not self.has(start, end):
            return []
        if self._text is None:
            return [Place(0, start, end)]
        start, end = self._moved(start), self._moved(end)
        first = bisect_right(self._blocks, (start, len(self._stored)))
        found = []
        for block in range(max(first - 1, 0), len(self._blocks)):
            begins, ends = self._blocks[block]
            if begins >= end:
                break
            if max(start, begins) < min(end, ends):
                found.append(Place(block, max(start, begins) - begins, min(end, ends) - begins))
        return found

    @cached_property
    def digest(self) -> str:
        """Of the blocks, "" where the file has no text."""
        return "" if self._text is None else digest_of(self.blocks)


def digest_of(blocks: Iterable[str]) -> str:
    """The same for two rows with the same text in the same blocks."""
    found = blake2b(digest_size=16)
    for block in blocks:
        found.update(f"{len(block)}:{block}".encode())
    return found.hexdigest()


class Utf16(NamedTuple):
    """A text whose characters are counted in units of UTF-16: those beyond U+FFFF are two. `wide`: where these stand,
    in units."""

    length: int
    wide: Sequence[int]

    @classmethod
    def of(cls, text: str) -> Utf16:
        wide = [at + n for n, at in enumerate(at for at, sign in enumerate(text) if sign > "\uffff")]
        return cls(len(text) + len(wide), wide)

    def code_point(self, unit: int) -> int | None:
        """Which character begins at a unit; None for none, and in the middle of one.

        >>> [Utf16.of("🙂 Ann").code_point(at) for at in (0, 1, 2, 6, 7)]
        [0, None, 1, 5, None]
        """
        before = bisect_left(self.wide, unit)
        inside = before > 0 and self.wide[before - 1] == unit - 1
        return None if inside or not 0 <= unit <= self.length else unit - before
