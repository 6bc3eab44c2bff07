"""What files of marked words have in common: documents, and what somebody marked or chose in each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from annotation.exchange.tables import Problems
from base.sentences import gettext_noop

NO_TEXT = gettext_noop("This line has no “text”.")


class Span(NamedTuple):
    """Marked words: code points of the text, from `start` up to `end`."""

    start: int
    end: int
    label: str


class Given(NamedTuple):
    """What one question was answered with: all words that are marked, or the options that were chosen.

    `question`: "" where the file does not say.
    """

    question: str = ""
    spans: tuple[Span, ...] | None = None
    chosen: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    """A text with what one person said of it.

    Attributes:
        line: where it begins in the file; 0 where the file is nothing else.
        name: of the row.
        given: nothing where it was left out or rejected.
        rater: "" where the file does not say.
        known: more columns of its labels.
        about: more columns of its row.
        starts: where the blocks of the text begin, as the file says.
    """

    line: int
    name: str
    text: str
    given: tuple[Given, ...] = ()
    rater: str = ""
    known: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    starts: tuple[int, ...] = ()


class Source(Protocol):
    """A file of documents, read from its start as often as asked.

    `raters_of_files`: who answered, by the names of files that do not say it themselves.
    """

    def documents(self, problems: Problems) -> Iterator[Document]:
        """All that have a text, with what is marked in them as far as `problems` says nothing else.

        Raises:
            TableError: from here on the file is not readable.
        """

    @property
    def raters_of_files(self) -> tuple[str, ...]: ...
