"""Workbooks (.xlsx): texts as their cells hold them, and a sheet of labels read as the tables that CSV files are.

Pure Python: no Django, no database.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from annotation.answers.codes import plain as plain_number
from annotation.exchange.tables import FileLine, FileTable, Problems, TableError, check_size, unsafe_cell
from base.sentences import gettext_noop
from base.text import storable

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

MOST_IN_A_CELL = 32_767  # UTF-16 units that programs keep of a cell
_MAX_UNPACKED = 200_000_000
_SIGNATURE = b"PK\x03\x04"
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")  # how a workbook writes a character by its number
# The headings of a sheet of labels; other sheets of a report have none of these together.
_OF_LABELS = {"row", "rater", "answer"}


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


def opened(data: bytes, **how: Any) -> Workbook:
    """A workbook, with what openpyxl is to heed.

    Raises:
        TooLarge: it takes more than 200 MB when it is unpacked.
        ValueError: it is no workbook.
    """
    from openpyxl import load_workbook  # large: only who opens a workbook loads it

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MAX_UNPACKED:
                raise TooLarge
        return load_workbook(io.BytesIO(data), **how)
    except TooLarge:
        raise
    except Exception as error:  # openpyxl lets through whatever went wrong inside
        raise ValueError("no workbook") from error


def is_workbook(start: bytes) -> bool:
    return start.startswith(_SIGNATURE)


@dataclass(frozen=True)
class WorkbookTable(FileTable):
    """A sheet of a workbook. `records`: its lines with cells of text, by number, the headings being 1."""

    records: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def lines(self, problems: Problems) -> Iterator[FileLine]:
        for number, cells in self.records:
            yield FileLine(number, cells)


def open_labels_sheet(stream: BinaryIO, *, name: str, max_bytes: int) -> WorkbookTable:
    """The sheet of labels of a workbook: the one whose first line names row, rater and answer, else the only one.

    Raises:
        TableError: too large, no workbook, or none of several sheets holds labels.
    """
    check_size(stream, name=name, max_bytes=max_bytes)
    stream.seek(0)
    try:
        book = opened(stream.read(), read_only=True, data_only=True)
    except TooLarge as error:
        raise TableError(
            gettext_noop("“%(file)s” is too large a workbook. Save its sheet of labels as “CSV UTF-8” and try that."),
            file=name,
        ) from error
    except ValueError as error:
        raise TableError(gettext_noop("“%(file)s” is no workbook that can be read."), file=name) from error
    sheets = [sheet.iter_rows(values_only=True) for sheet in book.worksheets]
    heads = [tuple(unsafe_cell(text_in(cell)) for cell in next(lines, ())) for lines in sheets]
    of_labels = [n for n, head in enumerate(heads) if {text.casefold() for text in head} >= _OF_LABELS]
    if not of_labels and len(sheets) > 1:
        raise TableError(
            gettext_noop(
                "No sheet of “%(file)s” has the headings row, rater and answer. Save the sheet of labels as “CSV "
                "UTF-8” and try that."
            ),
            file=name,
        )
    at = of_labels[0] if of_labels else 0
    header = heads[at]
    while header and not header[-1]:
        header = header[:-1]
    if not header:
        raise TableError(gettext_noop("“%(file)s” is empty."), file=name)
    read = (tuple(unsafe_cell(text_in(cell)) for cell in line[: len(header)]) for line in sheets[at])
    records = tuple(
        (number, cells + ("",) * (len(header) - len(cells))) for number, cells in enumerate(read, 2) if any(cells)
    )
    book.close()
    return WorkbookTable(stream, name, "utf-8", "", header, records)
