"""A text as another program has it, and the blocks that a row has of it. Pure.

Offsets are of Unicode code points, as Python counts them; `Utf16` makes them of those that Java and JavaScript count.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

from annotation.answers.spans import places_of
from base.text import UNSTORABLE, storable

_ENDLESS = 2**31


class MarkedText:
    """A text in which words are marked.

    Args:
        text: of the file, with its line breaks; None where the file has none, which counts as one block without an end.
        starts: where the blocks begin, as the file says; else each line is one, with the blanks that it begins with but
            for the first, as where rows are imported.
        stored: what is stored of the text, where the caller has it.
    """

    def __init__(self, text: str | None, starts: Sequence[int] = (), *, stored: str | None = None) -> None:
        self._text, self._starts = text, starts
        self._stored = storable(text or "") if stored is None else stored

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
            if words := line.rstrip():
                found.append((at if found else at + len(words) - len(words.lstrip()), at + len(words)))
            at += len(line)
        return found

    @cached_property
    def _bare(self) -> list[tuple[int, int]]:
        """The extents without the blanks that lines begin with, as rows of earlier imports have them; none where they
        are the same."""
        if self._text is None or self._starts or not any(block[0].isspace() for block in self.blocks):
            return []
        return [(end - len(self._stored[start:end].lstrip()), end) for start, end in self.extents]

    def result(self, spans: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What `annotation.answers.spans.from_spans` reads, and the digest of the text behind it."""
        told = [{**span, "places": places_of(span, self.extents)} for span in spans]
        if self._bare:
            told = [{**span, "bare": places_of(span, self._bare)} for span in told]
        return {"spans": told, "text": self.digest}

    def stored(self, at: int) -> int:
        """Where a character of the file's text stands in what is stored of it."""
        return at - bisect_left(self._removed, at) if self._removed else at

    @cached_property
    def _units(self) -> Utf16 | None:
        """None where each character is one unit."""
        return Utf16.of(self._text) if self._text and is_wide(self._text) else None

    @property
    def moves(self) -> bool:
        """Whether anything can stand elsewhere than where the file says."""
        return bool(self._removed) or self._units is not None

    def moved(self, span: Mapping[str, Any]) -> dict[str, int]:
        """The `start` and `end` of a span of Label Studio as `stored`. It counts code points; before version 1.5 it
        counted units of UTF-16, which is told by the words that a span says that it has."""
        start, end = span.get("start"), span.get("end")
        if type(start) is not int or type(end) is not int or self._text is None:
            return {}
        if self._units is not None and isinstance(words := span.get("text"), str) and self._text[start:end] != words:
            first, last = self._units.code_point(start), self._units.code_point(end)
            if first is not None and last is not None and self._text[first:last] == words:
                start, end = first, last
        return {"start": self.stored(start), "end": self.stored(end)}

    @cached_property
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
        if self._text is None or not self.extents:
            return ""
        digest = _digest_of(self.blocks)
        return (
            f"{digest} {_digest_of([self._stored[start:end] for start, end in self._bare])}" if self._bare else digest
        )


def _digest_of(blocks: Sequence[str]) -> str:
    said = "\0".join(blocks)  # none has it
    return f"{len(blocks)}:{blake2b(said.encode(), digest_size=16).hexdigest()}"


class Begins(Enum):
    AS_IT_IS = auto()
    BARE = auto()  # without the blanks that its lines begin with


def begins_with(blocks: Sequence[str], digest: str) -> Begins | None:
    """How these blocks are those of the text with that digest, and more of a row behind them at most; None if they are
    not."""
    for one, how in zip(digest.split(" "), Begins, strict=False):
        if _digest_of(blocks[: int(one.partition(":")[0])]) == one:
            return how
    return None


def on_bare(answer: str) -> str:
    """An answer that marks words, as JSON, in the blocks without the blanks that they begin with."""
    result = json.loads(answer)
    for span in result["value"]["spans"]:
        span["places"] = span["bare"]
    return json.dumps(result, ensure_ascii=False)


def is_wide(text: str) -> bool:
    """Whether a text has characters that are two units of UTF-16."""
    return not text.isascii() and len(text.encode("utf-16-le", "surrogatepass")) > 2 * len(text)


class Utf16(NamedTuple):
    """A text whose characters are counted in units of UTF-16: those beyond U+FFFF are two. `wide`: where these stand,
    in units."""

    length: int
    wide: Sequence[int]

    @classmethod
    def of(cls, text: str) -> Utf16:
        if not is_wide(text):
            return cls(len(text), ())
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

    def unit(self, at: int) -> int:
        """Where a character begins, in units.

        >>> [Utf16.of("🙂 Ann").unit(at) for at in (0, 1, 5)]
        [0, 2, 6]
        """
        return at + bisect_left(range(len(self.wide)), at, key=lambda n: self.wide[n] - n)
