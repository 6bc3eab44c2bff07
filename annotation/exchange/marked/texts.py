"""A text as another program has it, and the blocks that a row has of it. Pure.

Offsets are of Unicode code points, as Python counts them; `from_utf16` makes them of those that Java counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

from base.text import UNSTORABLE, storable

_ENDLESS = 2**31


class MarkedText:
    """A text in which words are marked.

    Args:
        text: of the file, with its line breaks; None where the file has none, which counts as one block without an end.
        starts: where the blocks begin, as the file says; else each line is one, with the blanks that it begins with but
            for the first, as where rows are imported.
    """

    def __init__(self, text: str | None, starts: Sequence[int] = ()) -> None:
        self._text, self._starts = text, starts

    @cached_property
    def _stored(self) -> str:
        return storable(self._text or "")

    @cached_property
    def _removed(self) -> list[int]:
        """Where characters stand that no database keeps."""
        if len(self._stored) == len(self._text or ""):
            return []
        return [found.start() for found in UNSTORABLE.finditer(self._text or "")]

    @cached_property
    def extents(self) -> list[tuple[int, int]]:
        """Begin and end of each block in the stored text."""
        if self._text is None:
            return [(0, _ENDLESS)]
        if self._starts:
            inside = {start for start in self._starts if 0 <= start <= len(self._text)}
            begins = sorted({0, *map(self.stored, inside)})
            return list(zip(begins, [*(start - 1 for start in begins[1:]), len(self._stored)], strict=True))
        found: list[tuple[int, int]] = []
        at = 0
        for line in self._stored.splitlines(keepends=True):
            if words := line.strip():
                found.append((at if found else line.index(words) + at, at + len(line.rstrip())))
            at += len(line)
        return found

    def stored(self, at: int) -> int:
        """Where a character of the file's text stands in what is stored of it."""
        return at - bisect_left(self._removed, at) if self._removed else at

    @property
    def moves(self) -> bool:
        """Whether anything stands elsewhere in what is stored."""
        return bool(self._removed)

    def moved(self, span: Mapping[str, Any]) -> dict[str, int]:
        """The `start` and `end` of a span as `stored`, where these are other ones."""
        if not self._removed:
            return {}
        return {side: self.stored(at) for side in ("start", "end") if type(at := span.get(side)) is int}

    @property
    def blocks(self) -> list[str]:
        return [self._stored[start:end] for start, end in self.extents]

    def has(self, start: int, end: int) -> bool:
        """Whether this is a stretch of the text."""
        return 0 <= start < end and (self._text is None or end <= len(self._text))

    def words(self, start: int, end: int) -> str:
        return self._stored[self.stored(start) : self.stored(end)]

    @cached_property
    def digest(self) -> str:
        """By which `begins_with` knows a row that has this text; "" where there is none."""
        return _digest_of(self.blocks) if self._text is not None and self.extents else ""


def _digest_of(blocks: Sequence[str]) -> str:
    said = "".join(f"{len(block)}:{block}" for block in blocks)
    return f"{len(blocks)}:{blake2b(said.encode(), digest_size=16).hexdigest()}"


def begins_with(blocks: Sequence[str], digest: str) -> bool:
    """Whether these blocks are those of the text with that digest, and more of a row behind them at most."""
    return _digest_of(blocks[: int(digest.partition(":")[0])]) == digest


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
