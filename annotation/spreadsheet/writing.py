"""A sheet of one rater as a workbook."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import astuple

from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.cell import Cell as BookCell
from openpyxl.formatting.rule import CellIsRule, FormulaRule
from openpyxl.styles import Alignment, Border, Font, PatternFill, Protection, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from annotation import queries
from annotation.queries import Cell, Grid, Line, Table
from annotation.scheme import Colour, QuestionSpec
from annotation.spreadsheet.layout import FIRST_COLUMN, MENUS, PLACES, VERSION, Place, plain, skipped, worksheet_title

# The options' colours on white at 25 %: a workbook has no transparency.
_TINTS = {
    Colour.GREEN: "BFE7DC",
    Colour.ORANGE: "F9E7BF",
    Colour.RED: "F4D6BF",
    Colour.VIOLET: "DED9F1",
    Colour.BLUE: "BFDBEB",
    Colour.PINK: "F2DDE9",
    Colour.SKY: "D5ECF9",
    Colour.GREY: "DEE0E4",
}
_BLACK = PatternFill("solid", fgColor="000000")
_NOT_ASKED = PatternFill("lightUp", fgColor="A0A4AC", bgColor="FFFFFF")
_HAIRLINE = Side(style="hair", color="9AA0AA")
_LINK = Font(color="2F5FD0", underline="single")


def workbook(grid: Grid) -> bytes:
    """The .xlsx file of what a rater sees of a sheet, with what they have answered."""
    book = Workbook()
    page = book.active
    assert isinstance(page, Worksheet)
    page.title = worksheet_title(grid.sheet.title)
    menus = _menus(book, grid)
    places: list[Place] = []
    at = 1
    for number, table in enumerate(grid.tables):
        if number:
            for column in range(1, FIRST_COLUMN + max(len(table.columns) for table in grid.tables)):
                page.cell(at, column).fill = _BLACK
            at += 1
        at = _table(page, at, table, menus, places)
    page.column_dimensions["A"].width = 18
    page.column_dimensions["B"].width = 24
    for column in range(FIRST_COLUMN, FIRST_COLUMN + max((len(table.columns) for table in grid.tables), default=0)):
        page.column_dimensions[get_column_letter(column)].width = 19
    page.freeze_panes = page.cell(1, FIRST_COLUMN)
    # Without a password: it keeps rows from being moved by mistake, and hides nothing.
    page.protection.sheet = True
    page.protection.formatColumns = page.protection.formatRows = False
    _remember(book, grid, places)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _menus(book: Workbook, grid: Grid) -> dict[int, str]:
    """A column of words a question, on a hidden sheet; {question: the range of its words}."""
    page = book.create_sheet(MENUS)
    page.sheet_state = "hidden"
    ranges: dict[int, str] = {}
    for table in grid.tables:
        for question in table.questions:
            column = len(ranges) + 1
            options = table.spec.question(question.key).options
            for line, option in enumerate(options, 1):
                _write(page.cell(line, column), option.label)
            letter = get_column_letter(column)
            ranges[question.pk] = f"{MENUS}!${letter}$1:${letter}${len(options)}"
    return ranges


def _table(page: Worksheet, at: int, table: Table, menus: dict[int, str], places: list[Place]) -> int:
    """Write a section from line `at` on; the first line after it."""
    for facet in table.spec.column.facets:
        _write(page.cell(at, 2), _("%(facet)s:") % {"facet": facet.capitalize()}, font=Font(bold=True))
        for number, column in enumerate(table.columns, FIRST_COLUMN):
            wrapped = Alignment(wrap_text=True, vertical="top")
            _write(page.cell(at, number), column.facets.get(facet, ""), font=Font(bold=True), alignment=wrapped)
        at += 1
    begin = at
    for line in table.lines:
        _line(page, at, line, several=len(table.questions) > 1, places=places)
        at += 1
    last = get_column_letter(FIRST_COLUMN + len(table.columns) - 1)
    for number, question in enumerate(table.questions):
        spec = table.spec.question(question.key)
        numbers = range(begin + number, at, len(table.questions))
        cells = " ".join(f"C{n}:{last}{n}" for n in numbers)
        page.add_data_validation(_choice(spec, menus[question.pk], cells))
        for option in spec.options:
            fill = PatternFill("solid", bgColor=_TINTS[option.colour])
            page.conditional_formatting.add(cells, CellIsRule("equal", [_quoted(option.label)], fill=fill))
        for other, keys in spec.ask_unless.items():
            above = number - next(place for place, of in enumerate(table.questions) if of.key == other)
            words = [option.label for option in table.spec.question(other).options if option.key in keys]
            for n in numbers:
                unasked = ",".join(f"C{n - above}={_quoted(word)}" for word in words)
                rule = FormulaRule([f"OR({unasked})"], fill=_NOT_ASKED)
                page.conditional_formatting.add(f"C{n}:{last}{n}", rule)
    return at


def _line(page: Worksheet, at: int, line: Line, *, several: bool, places: list[Place]) -> None:
    row = line.assignment.row
    # On each line, so that one that was moved is known by itself.
    _write(page.cell(at, 1), row.name, font=None if line.first else Font(color="9AA0AA"))
    _write(page.cell(at, 2), line.question.title if several else row.url)
    if row.url and line.first:
        link = page.cell(at, 1 if several else 2)
        link.hyperlink, link.font = row.url, _LINK
    for number, cell in enumerate(line.cells, FIRST_COLUMN):
        made = page.cell(at, number)
        text = skipped(cell.skip) if cell.skip else plain(cell.option.label) if cell.option else ""
        _write(made, text)
        made.border = Border(_HAIRLINE, _HAIRLINE, _HAIRLINE, _HAIRLINE)
        made.protection = Protection(locked=cell.locked)
        places.append(
            Place(
                cell=made.coordinate,
                assignment=cell.assignment_id,
                column=cell.column_id,
                question=cell.question_id,
                row_name=plain(row.name).strip(),
                question_title=plain(line.question.title).strip() if several else "",
                code=code_of(cell),
                text=text.strip(),
            )
        )


def code_of(cell: Cell) -> str:
    return cell.option.key if cell.option else queries.skip_code(cell.skip)


def _choice(spec: QuestionSpec, words: str, cells: str) -> DataValidation:
    choice = DataValidation(type="list", formula1=f"={words}", allow_blank=True, showErrorMessage=True, sqref=cells)
    choice.errorTitle = spec.title[:32]
    choice.error = (_("Choose one of: %(options)s") % {"options": ", ".join(o.label for o in spec.options)})[:225]
    return choice


def _quoted(word: str) -> str:
    doubled = plain(word).replace('"', '""')
    return f'"{doubled}"'


def _remember(book: Workbook, grid: Grid, places: Iterable[Place]) -> None:
    page = book.create_sheet(PLACES)
    page.sheet_state = "veryHidden"
    rater = next(iter(grid.assignments)).rater
    for at, line in enumerate(_remembered(grid.sheet.pk, rater.pk, places), 1):
        for number, value in enumerate(line, 1):
            if isinstance(value, str):
                _write(page.cell(at, number), value)
            else:
                page.cell(at, number, value)


def _remembered(sheet: int, rater: int, places: Iterable[Place]) -> Iterator[tuple[str | int, ...]]:
    yield PLACES, VERSION, sheet, rater
    for place in places:
        yield astuple(place)


def _write(cell: BookCell, text: str, *, font: Font | None = None, alignment: Alignment | None = None) -> None:
    """A text stays a text, also one that looks like a formula."""
    if text:
        cell.value = plain(text)
        cell.data_type = "s"
    if font:
        cell.font = font
    if alignment:
        cell.alignment = alignment
