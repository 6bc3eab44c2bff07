"""Texts whose lines are blocks: cut into them, and how each is laid out, so that what was written with line breaks is
read as it was meant. Language models answer in Markdown; its signs stay, since they are what was written. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH

_FENCE = re.compile(r"(`{3,}|~{3,})")
_HEAD = re.compile(r"#{1,6}\s+\S")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+\S")
_TABLE = re.compile(r"\|.*\|\s*$")
_TAB = 4
_DEEPEST = 4  # what lies deeper is laid out as this


class Look(StrEnum):
    """How a line is laid out: its words alone; with its own blanks; as what begins a list's entry, or goes on with it;
    as a heading; in letters of one width, with its own blanks; as the mark around such lines."""

    WORDS = ""
    KEPT = "kept"
    ITEM = "item"
    MORE = "more"
    HEAD = "head"
    CODE = "code"
    FENCE = "fence"


class Line(NamedTuple):
    """`depth`: of an entry and what belongs to it, from 0; of other lines 0."""

    block: Block
    look: Look
    depth: int = 0

    @property
    def gap(self) -> bool:
        """Whether empty lines stand before it."""
        return self.block.text.startswith("\n")


def lines_of(text: str, *, gaps: bool = False) -> list[str]:
    """The lines of a text that have something on them, each with the blanks that it begins with, but for the first.

    `gaps`: empty lines are kept too, as line breaks that the line behind them begins with.

    >>> lines_of("  Do this:\\n\\n    pan.rub()  \\n")
    ['Do this:', '    pan.rub()']
    >>> lines_of("  Do this:\\n\\n    pan.rub()  \\n", gaps=True)
    ['Do this:', '\\n    pan.rub()']
    """
    found: list[str] = []
    empty = 0
    for line in text.strip().splitlines():
        if line.strip():
            found.append("\n" * (empty if gaps else 0) + line.rstrip())
        empty = 0 if line.strip() else empty + 1
    return found


def paragraphs_of(text: str) -> list[Block]:
    """A text as it was written, with its empty lines."""
    return [Block(PARAGRAPH, line) for line in lines_of(text, gaps=True)]


def without_gaps(blocks: Iterable[Block]) -> list[Block]:
    """Blocks as those read them who have one a line: without the empty lines before them."""
    return [replace(one, text=one.text.lstrip("\n")) if one.text.startswith("\n") else one for one in blocks]


def indent_of(text: str) -> int:
    """How many blanks a line begins with, a tab counting four; empty lines before it count none.

    >>> indent_of("  one"), indent_of("\\tone"), indent_of("one"), indent_of("\\n\\n  one")
    (2, 4, 0, 2)
    """
    text = text.lstrip("\n")
    return len(text[: len(text) - len(text.lstrip(" \t"))].expandtabs(_TAB))


def laid_out(blocks: Sequence[Block]) -> Iterator[Line]:
    """The lines of one text.

    >>> text = "# To do\\n- rub\\n  - oil\\n    well\\nSo:\\n```\\nif dry:\\n    rub()\\n```"
    >>> [(line.look.value, line.depth) for line in laid_out(paragraphs_of(text))]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('head', 0), ('item', 0), ('item', 1), ('more', 1), ('', 0), ('fence', 0), ('code', 0), ('code', 0), ('fence', 0)]
    """
    fence = ""
    entries: list[int] = []  # how far those begin that the line may belong to, the outermost first
    for block in blocks:
        text = block.text.strip()
        indent = indent_of(block.text)
        mark = _FENCE.match(text)
        if fence:
            ends = mark is not None and mark[1].startswith(fence) and text.strip(fence[0]) == ""
            fence = "" if ends else fence
            yield Line(block, Look.FENCE if ends else Look.CODE)
            continue
        if mark:
            fence = mark[1]
            yield Line(block, Look.FENCE)
        elif _TABLE.match(text):
            yield Line(block, Look.CODE)
        elif _ITEM.match(text):
            while entries and indent <= entries[-1]:
                entries.pop()
            entries.append(indent)
            yield Line(block, Look.ITEM, min(len(entries) - 1, _DEEPEST))
        else:
            while entries and indent <= entries[-1]:
                entries.pop()
            if entries:
                yield Line(block, Look.MORE, min(len(entries) - 1, _DEEPEST))
            else:
                yield Line(block, Look.KEPT if indent else Look.HEAD if _HEAD.match(text) else Look.WORDS)
