"""Tables that people bring: CSV or TSV in, cells of text out, every problem named by its line.

Pure Python: no Django, no database. What the cells are is told by their headings (`annotation.exchange.records`).
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from annotation.answers import AnswerKind, Value
from annotation.scheme.spec import QuestionSpec
from base import zips
from base.sentences import Sentence, SentenceError, gettext_noop

DELIMITERS = "\t;,"
MAX_PROBLEMS_SHOWN = 50
_MAX_LINES_NAMED = 10
_MAX_CELL = 2**24  # characters; the csv module's own limit is too small for a document
_MOST_HEADINGS = 10_000
# Cells that a file leaves out at the ends of its lines are made up to some number, and then to so many times those that
# it has: a file of a megabyte could ask for a hundred thousand millions.
_MISSING_OF_ANY, _MISSING_A_CELL = 1_000_000, 10


class TableError(SentenceError, ValueError):
    """The file as a whole cannot be read; `sentence` says why and what helps."""


@dataclass
class Lines:
    """The lines that have one and the same problem: the first ten, and how many there are."""

    first: list[int] = field(default_factory=list)
    total: int = 0
    last: int | None = None

    def add(self, line: int) -> bool:
        """A line once: a file of Label Studio may be a single one. Whether it was new."""
        if line == self.last:
            return False
        self.total, self.last = self.total + 1, line
        if len(self.first) < _MAX_LINES_NAMED:
            self.first.append(line)
        return True


@dataclass
class Problems:
    """What is wrong in one file. All is counted, a sentence once a line; the first `MAX_PROBLEMS_SHOWN` sentences are
    kept, with their lines.

    Line 0 is the file as a whole. Of a ZIP, whose files are read one behind the other, `parts` has their names,
    each with how many lines come before it.
    """

    file: str
    total: int = 0
    shown: dict[Sentence, Lines] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)

    def add(self, line: int, template: str, **values: int | str) -> None:
        sentence = Sentence(template, tuple(values.items()))
        is_kept = sentence in self.shown or len(self.shown) < MAX_PROBLEMS_SHOWN
        self.total += not is_kept or self.shown.setdefault(sentence, Lines()).add(line)

    def begin_part(self, before: int, name: str) -> None:
        """What comes next is a file of a ZIP, behind so many lines of others."""
        self.parts[name] = before

    def part_of(self, line: int) -> tuple[str, int]:
        """In which file of a ZIP a line stands, and which line it is there; 0 for the whole file."""
        before, name = max(((n, part) for part, n in self.parts.items() if n <= line), default=(0, ""))
        return name, line - before


# --- cells that a spreadsheet could take for formulas ---------------------------------------------------------------

# A number is no formula, whatever its sign: -0.25 stays a number for every program that reads it.
_RISKY = re.compile(r"(?![+-]?\d+(\.\d+)?([eE][+-]?\d+)?\Z)'*[=+\-@\t\r]", re.ASCII)
_RISKY_FIRST = frozenset("'=+-@\t\r")  # with one of these begins all that `_RISKY` finds
_MADE_SAFE = re.compile(r"'+[=+\-@\t\r]")


def safe_cell(text: str) -> str:
    """`text` with an apostrophe before it where a spreadsheet could run it as a formula. `unsafe_cell` undoes it.

    Numbers, negative ones too, are left as they are.
    """
    return f"'{text}" if _RISKY.match(text) else text


def safe_cells(texts: Iterable[str]) -> list[str]:
    """`safe_cell` of each; most are told by their first character, which takes a third of the time."""
    return [safe_cell(text) if text[:1] in _RISKY_FIRST else text for text in texts]


def unsafe_cell(text: str) -> str:
    """What `safe_cell` was given."""
    return text[1:] if _MADE_SAFE.match(text) else text


# --- reading --------------------------------------------------------------------------------------------------------


class FileLine(NamedTuple):
    """One record.

    Attributes:
        number: the line of the file where it begins, the headings being 1.
        cells: fit the headings.
        rounded: places of numbers that the file holds with fewer digits than they may have had.
        unstored: places of formulas of which the file has no result; their cells are empty.
    """

    number: int
    cells: Sequence[str]
    rounded: frozenset[int] = frozenset()
    unstored: frozenset[int] = frozenset()


@dataclass(frozen=True)
class FileTable:
    """An open file of which the headings are known. Read from its start as often as asked, never held in memory."""

    stream: BinaryIO
    name: str
    encoding: str
    delimiter: str
    header: tuple[str, ...]

    @property
    def names_controls(self) -> bool:
        """Its questions go by the names of another program's controls."""
        return False

    @property
    def silent(self) -> frozenset[str]:
        """Headings that need not be read."""
        return frozenset()

    @property
    def plain(self) -> frozenset[str]:
        """Headings of texts that are taken as they stand, since something counts their characters."""
        return frozenset()

    @property
    def raters_of_files(self) -> tuple[str, ...]:
        """Who answered, where it is told by the names of files alone."""
        return ()

    @property
    def needs_texts(self) -> bool:
        """Its answers are about texts that the rows have to have."""
        return False

    def type_of(self, answer: str) -> str:
        """As which type of Label Studio's results an answer is told, where that may say which question it is of."""
        return ""

    def labels_of(self, answer: str) -> list[str]:
        """Of the words that an answer marks."""
        return []

    def text_digest(self, answer: str) -> str:
        """Of the text that an answer marks words in (`annotation.exchange.marked.texts`); "" where none is known."""
        return ""

    def value(self, kind: AnswerKind, spec: QuestionSpec, answer: str, *, by_model: bool = False) -> Value | None:
        """What an answer of this table says, None for nothing; as a rule it is a text form. `by_model`: a model wrote
        it, so that it may break rules for people.

        Raises:
            AnswerRefused: it says no answer to this question.
        """
        return kind.taken(spec, answer) if by_model else kind.read(spec, answer)

    def in_words(self, answer: str) -> str:
        """An answer as people write it."""
        return answer

    def lines(self, problems: Problems) -> Iterator[FileLine]:
        """The records below the headings, white space and protecting apostrophes taken off; blank lines left out.

        Raises:
            TableError: from here on the file is not readable.
        """
        width = len(self.header)
        gaps = Gaps(self.name, width)
        records = _records(self.stream, self.name, self.encoding, self.delimiter)
        next(records, None)
        for number, record in records:
            if len(record) > width and any(cell.strip() for cell in record[width:]):
                problems.add(
                    number,
                    gettext_noop(
                        "This line has %(cells)s cells and the headings are %(headings)s. "
                        "A text with the separator in it needs quotation marks."
                    ),
                    cells=len(record),
                    headings=width,
                )
                continue
            cells = [unsafe_cell(cell.strip()) for cell in record[:width]]
            gaps.add(len(cells))
            cells.extend([""] * (width - len(cells)))
            yield FileLine(number, cells)


@dataclass
class Gaps:
    """Counts the cells that the lines of a file lack of `width`, so that nobody makes up most of a table."""

    name: str
    width: int
    there: int = 0
    missing: int = 0

    def add(self, cells: int) -> None:
        """Of another line. Raises TableError once too many are missing."""
        self.there += cells
        self.missing += self.width - cells
        if self.missing > _MISSING_OF_ANY + _MISSING_A_CELL * self.there:
            raise TableError(
                gettext_noop("“%(file)s” has %(headings)s headings and hardly any cells below. Leave out headings."),
                file=self.name,
                headings=self.width,
            )


def check_headings(header: Sequence[str], *, name: str) -> None:
    """Raises TableError for more than anybody has."""
    if len(header) > _MOST_HEADINGS:
        raise TableError(
            gettext_noop("“%(file)s” has more than %(most)s headings. Import it in parts."),
            file=name,
            most=_MOST_HEADINGS,
        )


def check_size(stream: BinaryIO, *, name: str, max_bytes: int) -> None:
    """Raises TableError for a file that is too large."""
    size = stream.seek(0, io.SEEK_END)
    if size > max_bytes:
        raise TableError(
            gettext_noop("“%(file)s” has %(size)s MB; at most %(limit)s MB go in at once. Import it in parts."),
            file=name,
            size=-(-size // 2**20),
            limit=max_bytes // 2**20,
        )


def open_table(stream: BinaryIO, *, name: str, max_bytes: int) -> FileTable:
    """Find out encoding, separator and headings of a file.

    UTF-8 with or without a byte order mark, UTF-16 with one; separated by comma, semicolon or tab, whichever gives the
    first line the most cells.

    Args:
        stream: the bytes; must be seekable, and stay open as long as the table is read.
        name: what sentences call the file.
    Raises:
        TableError: too large, empty, a workbook, or text in another encoding.
    """
    check_size(stream, name=name, max_bytes=max_bytes)
    stream.seek(0)
    start = stream.read(4)
    if start.startswith(b"PK\x03\x04") and not _is_workbook(stream):
        raise TableError(gettext_noop("“%(file)s” is a ZIP. Unpack it, and give the table that is in it."), file=name)
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise TableError(
            gettext_noop("“%(file)s” is a workbook. Save its sheet as “CSV UTF-8” and try that."), file=name
        )
    encoding = "utf-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    headers = {}
    for delimiter in DELIMITERS:
        try:
            headers[delimiter] = next(_records(stream, name, encoding, delimiter), (0, []))[1]
        except _Malformed:
            continue  # a quotation mark where this separator expects none; another one may fit
    if not headers:
        raise TableError(gettext_noop("The headings of “%(file)s” are not readable as CSV or TSV."), file=name)
    delimiter = max(headers, key=lambda candidate: len(headers[candidate]))
    header = tuple(unsafe_cell(cell.strip()) for cell in headers[delimiter])
    if not header:
        raise TableError(gettext_noop("“%(file)s” is empty."), file=name)
    check_headings(header, name=name)
    return FileTable(stream, name, encoding, delimiter, header)


def _is_workbook(stream: BinaryIO) -> bool:
    """Of a ZIP: that of Excel or LibreOffice. What cannot be looked into may be one."""
    try:
        with zips.opened(stream) as packed:
            return not {"[Content_Types].xml", "content.xml"}.isdisjoint(packed.namelist())
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError):
        return True


class _Malformed(TableError):
    """Quotation marks that do not match."""


def _records(stream: BinaryIO, name: str, encoding: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    stream.seek(0)
    csv.field_size_limit(_MAX_CELL)
    text = io.TextIOWrapper(stream, encoding=encoding, newline="")
    try:
        # Strict: without it, a forgotten quotation mark swallows the rest of the file in silence.
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        number = 1
        for record in reader:
            if any("\0" in cell for cell in record):
                raise TableError(
                    gettext_noop(
                        "Line %(line)s of “%(file)s” has a NUL in it, which is no text. Save it as “CSV UTF-8”."
                    ),
                    file=name,
                    line=number,
                )
            if any(record) and any(cell.strip() for cell in record):
                yield number, record
            number = reader.line_num + 1
    except csv.Error as error:
        raise _Malformed(
            gettext_noop(
                "“%(file)s” is not readable from line %(line)s on: a quotation mark is missing there, or stands alone. "
                "Inside a quoted text it is written twice."
            ),
            file=name,
            line=number,
        ) from error
    except UnicodeError as error:
        line = _first_undecodable(stream, encoding)
        raise TableError(_NOT_TEXT, file=name, line=line) from error
    finally:
        if not stream.closed:
            text.detach()  # else the garbage collector would close the stream


_NOT_TEXT = gettext_noop("Line %(line)s of “%(file)s” is not UTF-8 text. Save the file as “CSV UTF-8” and try again.")


def _first_undecodable(stream: BinaryIO, encoding: str) -> int:
    if encoding == "utf-16":
        return 1  # lines of UTF-16 cannot be told apart before it is decoded
    stream.seek(0)
    for number, line in enumerate(stream, 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            return number
    return 1
