"""Every table of a report, and the labels behind it, in forms that spreadsheets and scripts read: CSV and XLSX."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ERROR_CODES
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.hyperlink import Hyperlink

from annotation.exchange.exports import safe_lines
from annotation.exchange.tables import safe_cell
from annotation.exchange.workbooks import escaped, plain
from reports.contents import Contents
from reports.tables import HeadKind, ReportTable, Value

MAX_LABELS = 50_000  # in a workbook: it is made while somebody waits, 7 s for so many
_LINES_AT_ONCE = 1000
_MARK = "\ufeff"  # the byte order mark: without it, Excel takes UTF-8 for another encoding
_NOT_IN_TITLES = re.compile(r"[\[\]:*?/\\']")
_TITLE_LENGTH = 31
_FORMATS: dict[HeadKind, str] = {"share": "0.00%", "number": "0.000", "count": "#,##0"}


def report_csv(contents: Contents) -> str:
    """`report_lines` in one text."""
    return "".join(report_lines(contents))


def report_lines(contents: Contents) -> Iterator[str]:
    """All tables in one tidy file: a line for each number, with the table, the row and the column it stands in.

    A number that is not defined is an empty value, and the note says why. What is no number is a note.
    """
    yield _MARK
    yield from safe_lines(("table", "row", "statistic", "value", "note"), _tidy(contents))


def _tidy(contents: Contents) -> Iterator[tuple[str, ...]]:
    for name, text in contents.about:
        yield "about", name, "", "", text
    for table in contents.tables:
        for line, row in zip(table.rows, table.row_names(), strict=True):
            cells = list(zip(table.heads, line, strict=True))
            note = "; ".join(str(text) for head, text in cells if head.kind == "note" and text)
            for head, number in cells:
                if head.kind not in ("text", "note"):
                    yield table.key, row, head.full_title, "" if number is None else repr(number), note


def report_xlsx(contents: Contents, header: Iterable[str] = (), labels: Iterable[Iterable[str]] = ()) -> bytes:
    """What `write_workbook` writes."""
    out = io.BytesIO()
    write_workbook(out, contents, header, labels)
    return out.getvalue()


def write_workbook(out: BinaryIO, contents: Contents, header: Iterable[str], labels: Iterable[Iterable[str]]) -> None:
    """Write a workbook: what it is about with its contents, a sheet a table, and the labels in long form, if there is a
    header for them."""
    header = tuple(header)
    book = Workbook(write_only=True)
    titles: set[str] = set()
    first = book.create_sheet(_sheet_title(_("Contents"), titles))
    for letter, width in (("A", 34), ("B", 60), ("C", 100)):
        first.column_dimensions[letter].width = width
    for name, value in contents.about:
        first.append([_cell(first, name), _cell(first, value)])
    first.append([])
    first.append(_heads(first, [_("sheet"), _("table"), _("how to read it")]))
    for table in contents.tables:
        title = _sheet_title(table.key, titles)
        first.append([_link(first, title), _cell(first, table.full_title), _cell(first, table.how)])
        _write(book.create_sheet(title), table)
    if contents.n_labels > MAX_LABELS:
        first.append(
            [None, _("Labels"), _("There are too many for a workbook; they are in the download “Labels (CSV)”.")]
        )
    elif header:
        sheet = book.create_sheet(_sheet_title(_("Labels"), titles))
        sheet.freeze_panes = "A2"
        sheet.append(_heads(sheet, header))
        for label in labels:
            sheet.append([_cell(sheet, value) for value in label])
    book.save(out)


def _link(sheet: Any, title: str) -> Any:
    """The title of another sheet of the book, which leads there."""
    cell = _text_cell(sheet, title)
    cell.hyperlink = Hyperlink(ref="", location=f"'{title}'!A1")
    cell.font = Font(color="2F5FD0", underline="single")
    return cell


def _write(sheet: Any, table: ReportTable) -> None:
    """The heads and the names of the lines stay while the rest is scrolled; columns are as wide as what is in them."""
    sheet.freeze_panes = "B2"
    for place, head in enumerate(table.heads):
        longest = max((len(str(row[place])) for row in table.rows if isinstance(row[place], str)), default=0)
        sheet.column_dimensions[get_column_letter(place + 1)].width = min(max(longest, len(head.full_title), 8) + 2, 60)
    sheet.append(_heads(sheet, [head.full_title for head in table.heads]))
    # One cell a column, filled anew for each line: a line is written as soon as it is appended.
    cells = [_number_cell(sheet, head.kind) for head in table.heads]
    for line in table.rows:
        sheet.append([_filled(cell, value) for cell, value in zip(cells, line, strict=True)])


def _number_cell(sheet: Any, kind: HeadKind) -> Any:
    cell = WriteOnlyCell(sheet)
    if kind in _FORMATS:
        cell.number_format = _FORMATS[kind]
    return cell


def _filled(cell: Any, value: Value) -> Any:
    """The cell with this number in it; a text goes without this cell."""
    if value is None or isinstance(value, str):
        return _cell(cell.parent, value or "")
    cell.value = value
    return cell


def _heads(sheet: Any, names: Iterable[str]) -> list[Any]:
    cells = [_text_cell(sheet, name) for name in names]
    for cell in cells:
        cell.font = Font(bold=True)
    return cells


def _text(value: str) -> str | None:
    """A text that no spreadsheet takes for a formula, without the characters that XLSX cannot hold."""
    return escaped(safe_cell(plain(value))) or None


def _cell(sheet: Any, value: str) -> Any:
    """What goes into a line for a text: the text, or a cell where it would not stay one."""
    text = _text(value)
    return _text_cell(sheet, value) if text in ERROR_CODES else text


def _text_cell(sheet: Any, value: str) -> Any:
    """A cell with a text, also with one such as “#N/A”, which else were an error."""
    cell = WriteOnlyCell(sheet, value=_text(value))
    if cell.data_type == "e":
        cell.data_type = "s"
    return cell


def _sheet_title(key: str, taken: set[str]) -> str:
    """A title as Excel allows it, each once. A key that is too long loses its beginning: its end says what it is."""
    base = _NOT_IN_TITLES.sub("", plain(key)) or "_"
    while len(base) > _TITLE_LENGTH and "." in base:
        base = base.partition(".")[2]
    for n in itertools.count(1):
        number = f" {n}" if n > 1 else ""
        title = base[-(_TITLE_LENGTH - len(number)) :] + number
        if title.lower() not in taken:
            break
    taken.add(title.lower())
    return title


def labels_csv(header: Iterable[str], labels: Iterable[Iterable[str]]) -> Iterator[str]:
    """The labels in long form, in blocks of lines, so that a large study streams."""
    lines = itertools.chain([_MARK], safe_lines(header, labels))
    while block := "".join(itertools.islice(lines, _LINES_AT_ONCE)):
        yield block
