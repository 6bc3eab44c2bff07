"""Tables as CSV and as workbooks: a line an instruction, recipes one after the other. Pure.

    recipe,id,line,instruction,input,action,output,ingredients

The ingredients stand in the first line of a recipe, with “ | ” between them.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence

from annotation.exchange import workbooks
from annotation.exchange.tables import safe_cell, unsafe_cell
from base.sentences import gettext as _
from recipes.pizza_commonsense.records import CELLS, Table, TablesRefused, plain

COLUMNS = ("recipe", "id", "line", "instruction", *CELLS, "ingredients")
_NEEDED = ("recipe", "instruction")
_BETWEEN = " | "
ALSO = {"title": "recipe", "instructions": "instruction", "actions": "action", "step": "line"}
MOST_CELLS = 400_000
_LOOKED_AT = 20  # lines, to tell CSV from what is typed


def lines(tables: Iterable[Table]) -> Iterator[tuple[str, ...]]:
    yield COLUMNS
    for table in tables:
        for line, instruction in enumerate(table.instructions):
            ingredients = "" if line else _BETWEEN.join(table.ingredients)
            said = [table.said(line, cell) for cell in CELLS]
            yield (table.title, table.id, str(line + 1), instruction, *said, ingredients)


def csv_text(tables: Iterable[Table]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([[safe_cell(cell) for cell in line] for line in lines(tables)])
    return out.getvalue()


def workbook(tables: Iterable[Table]) -> bytes:
    """All tables on one sheet, whose first line stays in sight."""
    from openpyxl import Workbook
    from openpyxl.styles import Font

    book = Workbook()
    sheet = book.active
    sheet.title = "tables"
    for line in lines(tables):
        sheet.append([safe_cell(cell) for cell in line])
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    for letter, width in zip("ABCDEFGH", (24, 12, 6, 60, 40, 12, 40, 40), strict=True):
        sheet.column_dimensions[letter].width = width
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def read(data: bytes) -> list[Table]:
    """The tables of a CSV file or a workbook.

    Raises:
        TablesRefused: it is neither, or lacks a heading or an instruction.
    """
    records = _of_workbook(data) if data.startswith(b"PK\x03\x04") else _of_csv(data)
    head = next(records, None)
    if head is None:
        raise TablesRefused(_("The file is empty."))
    folded = [cell.strip().casefold() for cell in head[1]]
    columns = [ALSO.get(name, name) for name in folded]
    for needed in _NEEDED:
        if needed not in columns:
            raise TablesRefused(_("The file has no column “%(column)s”.") % {"column": needed})
    if len(set(columns) & set(COLUMNS)) < sum(name in COLUMNS for name in columns):
        raise TablesRefused(_("Two columns of the file mean the same."))
    recipes: dict[tuple[str, str], list[dict[str, str]]] = {}
    for number, cells in records:
        said = {name: unsafe_cell(cell).strip() for name, cell in zip(columns, cells, strict=False)}
        if not any(said.values()):
            continue
        if not said.get("recipe") or not said.get("instruction"):
            raise TablesRefused(_("Line %(line)s has no recipe or no instruction.") % {"line": number})
        recipes.setdefault((said["recipe"], said.get("id", "")), []).append(said)
    if not recipes:
        raise TablesRefused(_("The file has no table in it."))
    return [_table(title, id_, said) for (title, id_), said in recipes.items()]


def looks_like_one(text: str) -> bool:
    """Whether a text is CSV or TSV, whatever its headings: its lines have as many cells as the first one, in which no
    blank follows a separator, as one does behind a comma in a title."""
    delimiter = _delimiter(text)
    try:
        records = list(itertools.islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), _LOOKED_AT))
    except csv.Error:
        return False
    records = [record for record in records if record]
    return (
        len(records) > 1
        and len(records[0]) > 1
        and all(cell and not cell[0].isspace() for cell in records[0])
        and {len(record) for record in records} == {len(records[0])}
    )


def _delimiter(text: str) -> str:
    return max("\t;,", key=text.split("\n", 1)[0].count)


def _table(title: str, id_: str, said: Sequence[dict[str, str]]) -> Table:
    cells = {
        (line, cell): answer for line, one in enumerate(said) for cell in CELLS if (answer := plain(one.get(cell, "")))
    }
    ingredients = next((one["ingredients"] for one in said if one.get("ingredients")), "")
    instructions = tuple(" ".join(one["instruction"].split()) for one in said)
    return Table(title, id_, instructions, cells, tuple(part for part in ingredients.split(_BETWEEN) if part))


def _of_csv(data: bytes) -> Iterator[tuple[int, list[str]]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TablesRefused(_("The file is no UTF-8 text. Save it as “CSV UTF-8”.")) from error
    try:
        records = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
        yield from enumerate(records, start=1)
    except csv.Error as error:
        raise TablesRefused(_("The file is not readable as CSV: %(error)s") % {"error": error}) from error


def _of_workbook(data: bytes) -> Iterator[tuple[int, list[str]]]:
    n = 0
    try:
        sheets = workbooks.opened(data, data_only=True).worksheets
        for number, cells in workbooks.lines_in(sheets[0]) if sheets else ():
            width = max(cells, default=0)
            n += width
            if n > MOST_CELLS:
                raise workbooks.TooLarge
            said = (cells.get(place, workbooks.NOTHING).value for place in range(1, width + 1))
            yield number, ["" if one is None else str(one) for one in said]
    except workbooks.TooLarge as error:
        raise TablesRefused(_("The workbook has more than %(most)s cells.") % {"most": MOST_CELLS}) from error
    except ValueError as error:
        raise TablesRefused(_("The workbook cannot be read.")) from error
