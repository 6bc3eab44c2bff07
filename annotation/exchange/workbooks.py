"""Workbooks (.xlsx): texts as their cells hold them, and a sheet read as the tables that CSV files are.

Pure Python: no Django, no database.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from annotation.answers.codes import plain as plain_number
from annotation.exchange.tables import (
    FileLine,
    FileTable,
    Gaps,
    Problems,
    TableError,
    check_headings,
    check_size,
    open_table,
    unsafe_cell,
)
from base import zips
from base.sentences import gettext_noop
from base.text import storable

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

_EXACT = 2**53  # below it a float holds every whole number
MOST_IN_A_CELL = 32_767  # UTF-16 units that programs keep of a cell
_MAX_UNPACKED = 200_000_000
# Tags of XML; a cell has four, and a second goes on reading 80,000 to 300,000 cells. A small file has no room for so
# many, unless it was made to keep busy whoever opens it.
_MOST_TAGS = 8_000_000
_TAGS_OF_ANY, _TAGS_A_BYTE = 1_000_000, 2
_SIGNATURE = b"PK\x03\x04"
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")  # how a workbook writes a character by its number


class TooLarge(ValueError):
    """A workbook that would fill the memory when it is unpacked."""


# --- cells ------------------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """A text as a cell can hold it."""
    return _NOT_IN_XML.sub("", text)


def escaped(text: str) -> str:
    """A plain text as the file has it.

    >>> escaped("_x0041_")
    '_x005F_x0041_'
    """
    return _ESCAPED.sub(lambda found: f"_x005F{found[0]}", text)


def unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def fits(text: str) -> bool:
    """Whether a cell can hold it all."""
    return len(text) <= MOST_IN_A_CELL // 2 or len(text.encode("utf-16-le")) // 2 <= MOST_IN_A_CELL


def fitting(text: str) -> str:
    return text if fits(text) else f"{text[: MOST_IN_A_CELL // 2 - 1]}…"


def text_in(value: object) -> str:
    """What a cell says, as a text."""
    if value is None:
        return ""
    if isinstance(value, float):
        value = plain_number(int(value) if value.is_integer() else value)  # Excel writes all numbers so
    return storable(unescaped(str(value))).replace("\r\n", "\n").replace("\r", "\n").strip()


# --- files ------------------------------------------------------------------------------------------------------------


def opened(data: bytes, *, data_only: bool = False, most_tags: int = _MOST_TAGS) -> Workbook:
    """A workbook, to be read by `lines_in`; `data_only`: of formulas what became of them.

    Raises:
        TooLarge: it takes more than 200 MB when it is unpacked, or has more than `most_tags`, or too many for its size.
        ValueError: it is no workbook.
    """
    from openpyxl import load_workbook  # large: only who opens a workbook loads it

    try:
        with zips.opened(io.BytesIO(data)) as archive:
            _check_contents(archive, most_tags=min(most_tags, _TAGS_OF_ANY + _TAGS_A_BYTE * len(data)))
        # Read only: else each merged range, and each link over one, becomes cells in the memory.
        return load_workbook(io.BytesIO(data), read_only=True, data_only=data_only, keep_links=False)
    except TooLarge:
        raise
    except Exception as error:  # openpyxl lets through whatever went wrong inside
        raise ValueError("no workbook") from error


def _check_contents(archive: zipfile.ZipFile, *, most_tags: int) -> None:
    """Raises TooLarge. What the archive says of its sizes is asked first, and not believed."""
    if sum(member.file_size for member in archive.infolist()) > _MAX_UNPACKED:
        raise TooLarge
    tags = unpacked = 0
    for member in archive.infolist():
        with archive.open(member) as stream:
            while part := stream.read(2**20):
                tags += part.count(b"<")
                unpacked += len(part)
                if tags > most_tags or unpacked > _MAX_UNPACKED:
                    raise TooLarge


class Found(NamedTuple):
    """A cell of a workbook, its type as openpyxl calls it: “f” is a formula, “e” an error."""

    value: Any
    data_type: str


NOTHING = Found(None, "n")


def lines_in(sheet: Any) -> Iterator[tuple[int, dict[int, Found]]]:
    """The lines of a sheet of `opened` that are in its file: number, and cells by column, both from 1.

    It takes as long as there are cells. openpyxl's own ways make up all lines and cells that are not there: a line that
    says it is the billionth is a billion.

    Raises:
        ValueError: the file is broken from here on.
    """
    from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

    class Parser(WorkSheetParser):  # type: ignore[misc]  # it has no types
        def parse_formula(self, element: Any) -> str:
            """As it stands: to move a shared one to each of its cells takes long, and nobody reads it."""
            return f"={element.findtext(FORMULA_TAG) or ''}"

        def parse_cell(self, element: Any) -> dict[str, Any]:
            """A formula without a result is one, where results are asked for too."""
            cell: dict[str, Any] = super().parse_cell(element)
            is_empty = self.data_only and cell["value"] is None
            if is_empty and element.find(FORMULA_TAG) is not None and element.get("t") != "str":  # a text may be empty
                cell["data_type"] = "f"
            return cell

    book = sheet.parent
    try:
        with sheet._get_source() as source:
            parser = Parser(
                source,
                sheet._shared_strings,
                data_only=book.data_only,
                epoch=book.epoch,
                date_formats=book._date_formats,
                timedelta_formats=book._timedelta_formats,
            )
            for number, cells in parser.parse():
                yield number, {cell["column"]: Found(cell["value"], cell["data_type"]) for cell in cells}
    except Exception as error:
        raise ValueError("no workbook") from error


def is_workbook(start: bytes) -> bool:
    return start.startswith(_SIGNATURE)


def is_xlsx(stream: BinaryIO) -> bool:
    """It is Excel's, and no other ZIP."""
    stream.seek(0)
    if not is_workbook(stream.read(4)):
        return False
    try:
        with zips.opened(stream) as packed:
            return "[Content_Types].xml" in packed.namelist()
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError):
        return False


class SheetLine(NamedTuple):
    """The cells of a line that are not empty, by their columns; `number`: of the line, the headings being 1."""

    number: int
    texts: Mapping[int, str] = {}
    rounded: frozenset[int] = frozenset()
    unstored: frozenset[int] = frozenset()

    def of(self, columns: frozenset[int]) -> SheetLine:
        if self.texts.keys() | self.rounded | self.unstored <= columns:
            return self
        texts = {column: text for column, text in self.texts.items() if column in columns}
        return SheetLine(self.number, texts, self.rounded & columns, self.unstored & columns)


@dataclass(frozen=True)
class WorkbookTable(FileTable):
    """A sheet of a workbook. `places`: the column of each heading; `records`: its lines but the headings."""

    places: tuple[int, ...] = ()
    records: tuple[SheetLine, ...] = ()

    def lines(self, problems: Problems) -> Iterator[FileLine]:
        """See `FileTable.lines`."""
        gaps = Gaps(self.name, len(self.header))
        for number, texts, rounded, unstored in self.records:
            gaps.add(len(texts))
            cells = [texts.get(place, "") for place in self.places]
            yield FileLine(number, cells, self._at(rounded), self._at(unstored))

    def _at(self, columns: frozenset[int]) -> frozenset[int]:
        return frozenset(map(self.places.index, columns)) if columns else columns


def open_rows(stream: BinaryIO, *, name: str, max_bytes: int) -> FileTable:
    """A file of rows: CSV, TSV, or the sheet of a workbook with the heading “row”. Raises as `open_table`."""
    return _table_or_sheet(stream, "row", name=name, max_bytes=max_bytes)


def open_columns(stream: BinaryIO, *, name: str, max_bytes: int) -> FileTable:
    """A file of columns: CSV, TSV, or the sheet of a workbook with the heading “section”. Raises as `open_table`."""
    return _table_or_sheet(stream, "section", name=name, max_bytes=max_bytes)


def has_columns_too(stream: BinaryIO) -> bool:
    """Whether a file of rows is a workbook that has a sheet of columns beside that of the rows. False also for one that
    cannot be read, which is refused where it is."""
    if not is_xlsx(stream):
        return False
    stream.seek(0)
    try:
        heads = [next(_lines_of_text(sheet), SheetLine(1)).texts for sheet in opened(stream.read()).worksheets]
    except ValueError:
        return False
    rows, columns = _headed(heads, ("row",)), _headed(heads, ("section",))
    return bool(rows and columns) and rows[0] != columns[0]


def _table_or_sheet(stream: BinaryIO, heading: str, *, name: str, max_bytes: int) -> FileTable:
    if is_xlsx(stream):
        return open_sheet(stream, name=name, max_bytes=max_bytes, headings=(heading,))
    return open_table(stream, name=name, max_bytes=max_bytes)


def open_labels_sheet(stream: BinaryIO, *, name: str, max_bytes: int) -> WorkbookTable:
    """The sheet of labels of a workbook: the one whose first line names row, rater and answer, which no other sheet of
    a report does, else the only one.

    Raises as `open_sheet`.
    """
    return open_sheet(stream, name=name, max_bytes=max_bytes, headings=("row", "rater", "answer"))


def open_sheet(
    stream: BinaryIO, *, name: str, max_bytes: int, headings: Sequence[str], also: Mapping[str, str] | None = None
) -> WorkbookTable:
    """The sheet of a workbook whose first line has these headings, else the only one.

    Args:
        also: other headings, in small letters, each with the one of these that it means.
    Raises:
        TableError: too large, no workbook, or none of several sheets has these headings.
    """
    check_size(stream, name=name, max_bytes=max_bytes)
    stream.seek(0)
    try:
        book = opened(stream.read(), data_only=True)
        return _sheet(book, stream, name, headings, also or {})
    except TooLarge as error:
        raise TableError(
            gettext_noop("“%(file)s” is too large a workbook. Save its sheet as “CSV UTF-8” and try that."),
            file=name,
        ) from error
    except TableError:
        raise
    except ValueError as error:
        raise TableError(gettext_noop("“%(file)s” is no workbook that can be read."), file=name) from error


def _headed(
    heads: Sequence[Mapping[int, str]], headings: Sequence[str], also: Mapping[str, str] = MappingProxyType({})
) -> list[int]:
    """Which of several first lines have these headings, or what means them."""
    folded = [{text.casefold() for text in head.values()} for head in heads]
    return [n for n, head in enumerate(folded) if {also.get(text, text) for text in head} >= set(headings)]


def _sheet(
    book: Workbook, stream: BinaryIO, name: str, headings: Sequence[str], also: Mapping[str, str]
) -> WorkbookTable:
    sheets = [_lines_of_text(sheet) for sheet in book.worksheets]
    heads = [next(lines, SheetLine(1)).texts for lines in sheets]
    found = _headed(heads, headings, also)
    if not found and len(sheets) > 1:
        raise TableError(
            gettext_noop(
                "No sheet of “%(file)s” has the headings %(headings)s. Save the sheet that is meant as “CSV UTF-8” and "
                "try that."
            ),
            file=name,
            headings=", ".join(headings),
        )
    at = found[0] if found else 0
    if not heads or not heads[at]:
        raise TableError(gettext_noop("“%(file)s” is empty."), file=name)
    places = tuple(sorted(heads[at]))
    header = tuple(heads[at][place] for place in places)
    check_headings(header, name=name)
    known = frozenset(places)
    read = (line.of(known) for line in sheets[at])
    records = tuple(line for line in read if line.texts or line.unstored)
    book.close()
    return WorkbookTable(stream, name, "utf-8", "", header, places, records)


def _lines_of_text(sheet: Any) -> Iterator[SheetLine]:
    """What stands in the cells of a sheet that are not empty."""
    for number, cells in lines_in(sheet):
        texts = ((column, unsafe_cell(text_in(found.value))) for column, found in cells.items())
        there = {column: text for column, text in texts if text}
        others = [(column, found) for column, found in cells.items() if not isinstance(found.value, str)]
        if not others:
            yield SheetLine(number, there)
            continue
        rounded = frozenset(column for column, found in others if _is_rounded(found.value))
        yield SheetLine(number, there, rounded, frozenset(column for column, found in others if found.data_type == "f"))


def _is_rounded(value: object) -> bool:
    """A whole number so large that others are the same: what was typed cannot be known."""
    return isinstance(value, float) and value.is_integer() and abs(value) >= _EXACT
