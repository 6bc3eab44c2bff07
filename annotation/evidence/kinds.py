"""Kinds of evidence block: what there is everywhere, what a domain pack brings, what a scheme declares. Pure.

A block's kind says what its text is (a paragraph, a clause), so that a section looks for its items in some kinds alone,
a judge's prompt can show one kind, and an extractor makes blocks of one. A block whose kind nobody knows any more is
shown as an item of a list, and stays what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from annotation.evidence.blocks import Block

# As long as the database holds.
PATTERN = r"^[a-z][a-z0-9]{0,11}$"

HEADING = "heading"
PARAGRAPH = "paragraph"
LIST = "list"
EVERYWHERE = frozenset({HEADING, PARAGRAPH, LIST})


class Shown(StrEnum):
    """How blocks of one kind that follow each other are laid out."""

    HEADINGS = "headings"
    PARAGRAPHS = "paragraphs"
    ITEMS = "items"
    NUMBERED = "numbered"


class BlockKind(NamedTuple):
    """`title`: str() of it is what people read. `running`: its texts are sentences, not entries of a list."""

    key: str
    title: object
    shown: Shown = Shown.ITEMS
    running: bool = False


_kinds: dict[str, BlockKind] = {
    HEADING: BlockKind(HEADING, "heading", Shown.HEADINGS),
    PARAGRAPH: BlockKind(PARAGRAPH, "paragraph", Shown.PARAGRAPHS, running=True),
    LIST: BlockKind(LIST, "list"),
}


def register(*kinds: BlockKind) -> None:
    """Add kinds that every study may use.

    Raises:
        ValueError: another kind of that key is there.
    """
    for kind in kinds:
        if _kinds.setdefault(kind.key, kind) != kind:
            raise ValueError(f"there is another kind of block called {kind.key!r}")


def known(declared: Iterable[BlockKind] = ()) -> Mapping[str, BlockKind]:
    """All kinds by their keys; those that a scheme declares come before the others of their key."""
    return _kinds | {kind.key: kind for kind in declared}


class Group(NamedTuple):
    shown: Shown
    blocks: list[Block]


def grouped(blocks: Sequence[Block], declared: Iterable[BlockKind] = ()) -> list[Group]:
    """Blocks of one kind that follow each other, together."""
    kinds = known(declared)
    return [
        Group(kinds[kind].shown if kind in kinds else Shown.ITEMS, list(of_kind))
        for kind, of_kind in groupby(blocks, key=lambda block: block.kind)
    ]
