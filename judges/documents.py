"""What a floor above knows of the documents behind rows: it registers that when it is loaded, so that no app names one
above it.

A parser is an extractor without a model: it reads what a document states for programs. The text of a page is all that
it shows, from which a model may be asked to take the lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise

from annotation.evidence import BlockKind
from annotation.models import Row


class NothingStated(Exception):
    """A parser finds nothing in this document; `str()` is a sentence that says what is missing."""


@dataclass(frozen=True)
class Parser:
    """`read` gives the lines of each of `kinds` that a row's document states, and may raise `NothingStated`."""

    key: str
    label: Promise | str
    kinds: tuple[BlockKind, ...]
    read: Callable[[Row], Mapping[BlockKind, Sequence[str]]]


_parsers: dict[str, Parser] = {}
_page_readers: list[Callable[[Row], Sequence[str]]] = []
_prompts: list[str] = []


def register_parser(parser: Parser) -> None:
    _parsers[parser.key] = parser


def register_page_reader(read: Callable[[Row], Sequence[str]]) -> None:
    """`read` gives the lines that the page behind a row shows; none where it keeps no page of that row."""
    _page_readers.append(read)


def parsers() -> list[Parser]:
    return list(_parsers.values())


def parser(key: str) -> Parser | None:
    return _parsers.get(key)


def page_of(row: Row) -> list[str]:
    """The lines that the page behind a row shows; empty where nobody keeps it."""
    return [line for read in _page_readers for line in read(row)]


def suggest_prompt(text: str) -> None:
    """`text` is a prompt file for extractors of this floor's documents, to begin from."""
    _prompts.append(text)


def suggested_prompt() -> str:
    return _prompts[0] if _prompts else ""
