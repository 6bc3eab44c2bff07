"""Evidence: the blocks of text that people are shown and judges prompted with, and where an item's words are in them.

Pure: no database. Words are compared by stem (Snowball), so that "tomatoes" is found under "tomato".
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

import snowballstemmer


class BlockKind(StrEnum):
    HEADING = "heading"
    INGREDIENT = "ingredient"
    STEP = "step"
    TASK = "task"
    PARAGRAPH = "paragraph"
    LIST = "list"


@dataclass(frozen=True)
class Block:
    kind: str
    text: str


class Hit(NamedTuple):
    """Characters start..end of block number `block` are a word of the item; `share` of its words are in that block."""

    block: int
    start: int
    end: int
    share: float


# Languages that Snowball stems, by their ISO 639-1 code.
LANGUAGES = {
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# Words too common to point at anything.
_STOP = frozenset(
    re.findall(
        r"\w+", "a an and as at be by for from in into is it its of on or the then this to until up with you your"
    )
)


def blocks_to_json(blocks: Iterable[Block]) -> list[dict[str, str]]:
    return [{"kind": block.kind, "text": block.text} for block in blocks]


def blocks_from_json(data: Sequence[dict[str, Any]]) -> list[Block]:
    return [Block(str(item["kind"]), str(item["text"])) for item in data]


def find_items(
    blocks: Sequence[Block], items: Sequence[str], *, language: str = "en", kinds: Sequence[str] = ()
) -> list[list[Hit]]:
    """Where the words of each item stand, in reading order.

    Args:
        kinds: kinds of block that count; empty means all but headings.
    Returns:
        one list of hits per item. Empty where no word of the item is on the page.
    """
    stem_of = _stemmer(language)
    places: dict[str, list[tuple[int, int, int]]] = {}
    for number, block in enumerate(blocks):
        if block.kind in kinds if kinds else block.kind != BlockKind.HEADING:
            for word in _WORD.finditer(block.text):
                places.setdefault(stem_of(word[0].casefold()), []).append((number, *word.span()))
    return [_hits(item, places, stem_of) for item in items]


def _hits(item: str, places: dict[str, list[tuple[int, int, int]]], stem: Any) -> list[Hit]:
    words = [word.casefold() for word in _WORD.findall(item)]
    stems = {stem(word) for word in words if word not in _STOP} or {stem(word) for word in words}
    found = [(place, s) for s in stems for place in places.get(s, ())]
    in_block: dict[int, set[str]] = {}
    for (block, _, _), s in found:
        in_block.setdefault(block, set()).add(s)
    return sorted(Hit(block, start, end, len(in_block[block]) / len(stems)) for (block, start, end), _ in found)


def stem(word: str, *, language: str = "en") -> str:
    """The stem of a word in lower case."""
    return _stemmer(language)(word)


@lru_cache(maxsize=32)
def _stemmer(language: str) -> Callable[[str], str]:
    """Stems words of a language. A Snowball stemmer keeps state while it works, so each thread has one of its own."""
    name = LANGUAGES.get(language.split("-")[0].lower(), "english")
    of_thread = threading.local()

    @lru_cache(maxsize=50_000)
    def stem(word: str) -> str:
        if not hasattr(of_thread, "stemmer"):
            of_thread.stemmer = snowballstemmer.stemmer(name)
        return str(of_thread.stemmer.stemWord(word))

    return stem
