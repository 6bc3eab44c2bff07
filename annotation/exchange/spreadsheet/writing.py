"""A sheet of one rater as a workbook."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.cell import Cell as BookCell
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule, FormulaRule
from openpyxl.styles import Alignment, Border, Font, PatternFill, Protection, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from annotation.answers import kind_of
from annotation.exchange.spreadsheet.hints import hint
from annotation.exchange.spreadsheet.layout import (
    FIRST_COLUMN,
    MENUS,
    PLACES,
    VERSION,
    Place,
    code_of,
    remembered,
    said,
    worksheet_title,
)
from annotation.exchange.workbooks import escaped, fits, fitting, plain
from annotation.models import Row
from annotation.queries import Cell, Grid, GridLine, GridStep, GridTable
from annotation.scheme.spec import Colour, Kind, Layout, QuestionSpec, facet_word

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
_BOLD, _FAINT = Font(bold=True), Font(color="9AA0AA")
_WRAPPED = Alignment(wrap_text=True, vertical="top")
_TEXT = "@"  # what is typed stays as it is typed: no dates, no formulas


def workbook(grid: Grid) -> bytes:
    """The .xlsx file of what a rater sees of a sheet, with what they have answered."""
    book = Workbook()
    page = book.active
    assert isinstance(page, Worksheet)
    page.title = worksheet_title(grid.sheet.title)
    menus = _menus(book, grid)
    places: list[Place] = []
    at = 1
    width = max((_width(table) for table in grid.tables), default=0)
    texts = _texts(grid)
    for number, table in enumerate(grid.tables):
        if number:
            for column in range(1, FIRST_COLUMN + width):
                page.cell(at, column).fill = _BLACK
            at += 1
        is_down = table.spec.layout == Layout.DOWN
        begin, at = at, (_down if is_down else _across)(page, at, table, menus, places)
        if texts and not is_down:
            _beside(page, begin, FIRST_COLUMN + width, table, texts)
    page.column_dimensions["A"].width = 18
    page.column_dimensions["B"].width = 40 if any(table.spec.layout == Layout.DOWN for table in grid.tables) else 24
    for column in range(FIRST_COLUMN, FIRST_COLUMN + width):
        has_values = grid.has_values
        page.column_dimensions[get_column_letter(column)].width = 30 if has_values else 19
    if texts:
        page.column_dimensions[get_column_letter(FIRST_COLUMN + width)].width = 80
    page.freeze_panes = page.cell(1, FIRST_COLUMN)
    # Without a password: it keeps rows from being moved by mistake, and hides nothing.
    page.protection.sheet = True
    page.protection.formatColumns = page.protection.formatRows = False
    _remember(book, grid, places)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _texts(grid: Grid) -> dict[int, str]:
    """{row: what people are shown of it} of the rows that have no address where it stands. One query."""
    scheme = grid.sheet.study.scheme.parsed
    alone = {assignment.row_id for assignment in grid.assignments if not assignment.row.url}
    texts = {}
    for row in Row.objects.filter(pk__in=alone):
        title = [row.title] if row.title not in ("", row.name) else []
        facets = [f"{one.name}: {facet_word(said)}" for one in scheme.row.shown if (said := row.facets.get(one.key))]
        if text := "\n".join([*title, *facets, *(block.text for block in row.blocks)]):
            texts[row.pk] = fitting(plain(text))
    return texts


def _beside(page: Worksheet, at: int, number: int, table: GridTable, texts: Mapping[int, str]) -> None:
    """Write the texts of rows behind the cells of a section, each in the first line of its row."""
    _write(page.cell(at, number), capfirst(table.section.scheme.parsed.words.row), font=_BOLD)
    for place, line in enumerate(table.lines, at + len(table.spec.column.facets)):
        if not line.first or line.assignment.row_id not in texts:
            continue
        _write(page.cell(place, number), texts[line.assignment.row_id])
        for column in range(1, number + 1):
            page.cell(place, column).alignment = _WRAPPED


def _menus(book: Workbook, grid: Grid) -> dict[int, str]:
    """A column of words a question, on a hidden sheet; {question: the range of its words}."""
    page = book.create_sheet(MENUS)
    page.sheet_state = "hidden"
    ranges: dict[int, str] = {}
    for table in grid.tables:
        for question in table.questions:
            column = len(ranges) + 1
            options = table.spec.question(question.key).options
            if not options:
                continue
            for line, option in enumerate(options, 1):
                _write(page.cell(line, column), option.label)
            letter = get_column_letter(column)
            ranges[question.pk] = f"{MENUS}!${letter}$1:${letter}${len(options)}"
    return ranges


def _width(table: GridTable) -> int:
    return len(table.questions if table.spec.layout == Layout.DOWN else table.columns)


def _across(page: Worksheet, at: int, table: GridTable, menus: dict[int, str], places: list[Place]) -> int:
    """Write a section from line `at` on, a line a row and question; the first line after it."""
    for facet in table.spec.column.facets:
        if any(column.name for column in table.columns):  # else the rows are asked about as a whole
            _write(page.cell(at, 2), _("%(facet)s:") % {"facet": facet.capitalize()}, font=_BOLD)
        for number, column in enumerate(table.columns, FIRST_COLUMN):
            _write(page.cell(at, number), column.facets.get(facet, ""), font=_BOLD, alignment=_WRAPPED)
        at += 1
    begin = at
    for line in table.lines:
        _line(page, at, line, several=len(table.questions) > 1, places=places)
        at += 1
    last = get_column_letter(FIRST_COLUMN + len(table.columns) - 1)
    for number, question in enumerate(table.questions):
        spec = table.spec.question(question.key)
        numbers = range(begin + number, at, len(table.questions))
        _expect(page, spec, menus.get(question.pk), " ".join(f"C{n}:{last}{n}" for n in numbers))
        for other, words in _switches(table, spec):
            for n in numbers:
                _hatch(page, f"C{n}:{last}{n}", f"C{n - number + other}", words)
    return at


def _down(page: Worksheet, at: int, table: GridTable, menus: dict[int, str], places: list[Place]) -> int:
    """Write a section that is read downwards, a line a row and column of it; the first line after it."""
    _write(page.cell(at, 2), table.spec.column.title, font=_BOLD)
    for number, question in enumerate(table.questions, FIRST_COLUMN):
        _write(page.cell(at, number), question.title, font=_BOLD, alignment=_WRAPPED)
    begin = at + 1
    for at, step in enumerate(table.steps, begin):
        _step(page, at, step, table, places)
    if at < begin:  # it has no steps yet
        return begin
    letters = [get_column_letter(number) for number in range(FIRST_COLUMN, FIRST_COLUMN + len(table.questions))]
    for letter, question in zip(letters, table.questions, strict=True):
        spec, cells = table.spec.question(question.key), f"{letter}{begin}:{letter}{at}"
        _expect(page, spec, menus.get(question.pk), cells)
        for other, words in _switches(table, spec):
            _hatch(page, cells, f"{letters[other]}{begin}", words)
    return at + 1


def _expect(page: Worksheet, spec: QuestionSpec, menu: str | None, cells: str) -> None:
    """A menu and the colours of its options, or a hint."""
    page.add_data_validation(_hinted(spec, cells) if menu is None else _choice(spec, menu, cells))
    for option in spec.options:
        fill = PatternFill("solid", bgColor=_TINTS[option.colour])
        page.conditional_formatting.add(cells, CellIsRule("equal", [_quoted(option.label)], fill=fill))


def _switches(table: GridTable, spec: QuestionSpec) -> Iterator[tuple[int, list[str]]]:
    """(place of another question, its words that switch this one off)."""
    for other, keys in spec.ask_unless.items():
        place = next(place for place, of in enumerate(table.questions) if of.key == other)
        asked = table.spec.question(other)
        yield place, [option.label for option in asked.options if option.key in keys] or list(keys)


def _hatch(page: Worksheet, cells: str, other: str, words: Iterable[str]) -> None:
    """Hatch cells while another says one of some words; `other` is the one that belongs to the first of them."""
    unasked = ",".join(f"{other}={_quoted(word)}" for word in words)
    page.conditional_formatting.add(cells, FormulaRule([f"OR({unasked})"], fill=_NOT_ASKED))


def _line(page: Worksheet, at: int, line: GridLine, *, several: bool, places: list[Place]) -> None:
    row = line.assignment.row
    # On each line, so that one that was moved is known by itself.
    _write(page.cell(at, 1), row.name, font=None if line.first else _FAINT)
    _write(page.cell(at, 2), line.question.title if several else row.url)
    if row.url and line.first:
        link = page.cell(at, 1 if several else 2)
        link.hyperlink, link.font = row.url, _LINK
    beside = line.question.title if several else ""
    for number, cell in enumerate(line.cells, FIRST_COLUMN):
        places.append(_answer(page.cell(at, number), cell, line.spec, row_name=row.name, beside=beside))


def _step(page: Worksheet, at: int, step: GridStep, table: GridTable, places: list[Place]) -> None:
    row = step.assignment.row
    _write(page.cell(at, 1), row.name, font=None if step.first else _FAINT, alignment=_WRAPPED)
    _write(page.cell(at, 2), step.column.name, alignment=_WRAPPED)
    if row.url and step.first:
        page.cell(at, 1).hyperlink, page.cell(at, 1).font = row.url, _LINK
    for number, (question, cell) in enumerate(zip(table.questions, step.cells, strict=True), FIRST_COLUMN):
        spec = table.spec.question(question.key)
        places.append(_answer(page.cell(at, number), cell, spec, row_name=row.name, beside=step.column.name))


def _answer(made: BookCell, cell: Cell, spec: QuestionSpec, *, row_name: str, beside: str) -> Place:
    """Write what stands in a cell of the grid, and say where it went."""
    whole = said(spec, cell)
    text = fitting(whole)
    is_value = not spec.has_options
    if is_value:
        made.alignment = _WRAPPED
    if spec.kind == Kind.NUMBER and cell.code:
        made.value = kind_of(spec).value(spec, cell.code)
    else:
        _write(made, text)
        if is_value and spec.kind != Kind.NUMBER:
            made.number_format = _TEXT
    made.border = Border(_HAIRLINE, _HAIRLINE, _HAIRLINE, _HAIRLINE)
    made.protection = Protection(locked=cell.locked or not fits(whole))
    if cell.draft:
        made.font = Font(italic=True)
        made.comment = Comment(_("A draft: it counts once you change it here, or confirm it in the browser."), "Palate")
    return Place(
        cell=made.coordinate,
        assignment=cell.assignment_id,
        column=cell.column_id,
        question=cell.question_id,
        row_name=plain(row_name).strip(),
        beside=plain(beside).strip(),
        code=remembered(code_of(cell)),
        text=text.strip(),
    )


def _choice(spec: QuestionSpec, words: str, cells: str) -> DataValidation:
    choice = DataValidation(type="list", formula1=f"={words}", allow_blank=True, showErrorMessage=True, sqref=cells)
    choice.errorTitle = spec.title[:32]
    choice.error = (_("Choose one of: %(options)s") % {"options": ", ".join(o.label for o in spec.options)})[:225]
    return choice


def _hinted(spec: QuestionSpec, cells: str) -> DataValidation:
    """Anything can be written; what is expected shows beside the cell. What is wrong is said when it comes back."""
    hinted = DataValidation(showInputMessage=True, allow_blank=True, sqref=cells)
    hinted.promptTitle = plain(spec.title)[:32]
    hinted.prompt = plain(hint(spec))
    return hinted


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
        cell.value = escaped(plain(text))
        cell.data_type = "s"
    if font:
        cell.font = font
    if alignment:
        cell.alignment = alignment
