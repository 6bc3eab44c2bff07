"""What a floor above knows of the documents behind rows, and what it keeps by a judge's name: it registers that when it
is loaded, so that no app names one above it.

A parser is an extractor without a model: it reads what a document states for programs. The text of a page is all that
it shows, from which a model may be asked to take the lists.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.functional import Promise

from annotation.evidence.blocks import Block
from annotation.models import Row
from annotation.scheme.values import ItemsSpec
from judges.methods import lexicons


class NothingStated(Exception):
    """A parser finds nothing in this document; `str()` is a sentence that says what is missing."""


@dataclass(frozen=True)
class Parser:
    """`read` gives the lines of each of `kinds` that a row's document states, and may raise `NothingStated`."""

    key: str
    label: Promise | str
    kinds: tuple[str, ...]
    read: Callable[[Row], Mapping[str, Sequence[str]]]


@dataclass(frozen=True)
class ItemParser:
    """Answers a question of the kind `items` by rules. `read`: from the question's settings, the blocks of the evidence
    and the language (ISO 639-1) to records; it raises `NothingStated` where it cannot read such a text."""

    key: str
    label: Promise | str
    read: Callable[[ItemsSpec, Sequence[Block], str], list[dict[str, Any]]]


register_lexicon = lexicons.register

_parsers: dict[str, Parser] = {}
_item_parsers: dict[str, ItemParser] = {}
_page_readers: list[Callable[[Row], Sequence[str]]] = []
_html_readers: list[Callable[[Row], Sequence[str]]] = []
_picture_readers: list[Callable[[Row], str | None]] = []
_renamed: list[Callable[[Collection[int], str, str], None]] = []
_prompts: list[str] = []
_judge_prompts: dict[str, Path] = {}
_recommended: list[Callable[[], str]] = []
_wordings: list[tuple[Path, frozenset[str]]] = []


def register_renamed(tell: Callable[[Collection[int], str, str], None]) -> None:
    """`tell` is told when a judge gets another name: the studies in which it is a rater, the old code and the new."""
    _renamed.append(tell)


def tell_renamed(studies: Collection[int], old: str, new: str) -> None:
    for tell in _renamed:
        tell(studies, old, new)


def register_parser(parser: Parser) -> None:
    _parsers[parser.key] = parser


def register_item_parser(parser: ItemParser) -> None:
    """A judge without a model answers by it, where its prompt names it: `lexical: {parser: KEY}`."""
    _item_parsers[parser.key] = parser


def item_parser(key: str) -> ItemParser | None:
    return _item_parsers.get(key)


def register_page_reader(read: Callable[[Row], Sequence[str]]) -> None:
    """`read` gives the lines that the page behind a row shows; none where it keeps no page of that row."""
    _page_readers.append(read)


def register_html_reader(read: Callable[[Row], Sequence[str]]) -> None:
    """`read` gives the lines of the HTML of the page behind a row; none where it keeps no page of that row."""
    _html_readers.append(read)


def parsers() -> list[Parser]:
    return list(_parsers.values())


def parser(key: str) -> Parser | None:
    return _parsers.get(key)


def register_picture_reader(read: Callable[[Row], str | None]) -> None:
    """`read` gives the picture of a row as a data: address, None where it keeps none of that row."""
    _picture_readers.append(read)


def picture_of(row: Row) -> str:
    """The picture of a row as a data: address; "" where nobody keeps one."""
    return next((found for read in _picture_readers if (found := read(row))), "")


def page_of(row: Row) -> list[str]:
    """The lines that the page behind a row shows; empty where nobody keeps it."""
    return [line for read in _page_readers for line in read(row)]


def html_of(row: Row) -> list[str]:
    """The HTML of the page behind a row, by its lines; empty where nobody keeps it."""
    return [line for read in _html_readers for line in read(row)]


def suggest_prompt(text: str) -> None:
    """`text` is a prompt file for extractors of this floor's documents, to begin from."""
    _prompts.append(text)


def suggested_prompt() -> str:
    return _prompts[0] if _prompts else ""


def register_prompt(file: Path) -> None:
    """`file` is a judge's prompt to begin from; its name without the ending is what it goes by."""
    _judge_prompts[file.stem] = file


def shipped_prompts() -> dict[str, Path]:
    """The prompt files that come with the floors above, in alphabetical order."""
    return dict(sorted(_judge_prompts.items()))


def recommend_prompt(name: Callable[[], str]) -> None:
    """`name` gives, of the registered prompts, the one to begin from where nobody chooses; it may ask what is here."""
    _recommended.append(name)


def recommended_prompts() -> list[Path]:
    """The prompts that are recommended, in the order of the packs."""
    return [_judge_prompts[name()] for name in _recommended]


def register_wordings(file: Path, *, schemes: Collection[str]) -> None:
    """`file` has types of prompts (`llm.generating.wordings`) by which texts are written for the rows of studies with
    these schemes."""
    _wordings.append((file, frozenset(schemes)))


def wordings_for(scheme: str) -> list[Path]:
    """The files of prompt types for studies with a scheme; where there are none, its studies are not written about."""
    return [file for file, schemes in _wordings if scheme in schemes]
