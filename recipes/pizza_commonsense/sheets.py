"""Tables as CSV and as workbooks: a line an instruction, recipes one after the other. Pure.

    recipe,id,line,instruction,input,action,output,ingredients

The ingredients stand in the first line of a recipe, with “ | ” between them.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from annotation.exchange.tables import DELIMITERS, FileTable, Problems, TableError, open_table, safe_cell
from annotation.exchange.workbooks import is_xlsx, open_sheet
from base.sentences import Sentence
from base.sentences import gettext as _
from base.text import whole_number
from recipes.pizza_commonsense.records import CELLS, Table, TablesRefused, at_line, plain, without_underscores

COLUMNS = ("recipe", "id", "line", "instruction", *CELLS, "ingredients")
_NEEDED = ("recipe", "instruction")
_BETWEEN = " | "
ALSO = {"title": "recipe", "instructions": "instruction", "actions": "action", "step": "line"}
_MAX_BYTES = 1 << 30  # whoever takes a file in has limits of their own
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


def read(data: bytes, name: str = "") -> list[Table]:
    """The tables of a CSV file or a workbook. Where it has a column “line”, the instructions of a recipe are in its
    order, whatever the order of the file.

    Args:
        name: what sentences call the file, if it has one.
    Raises:
        TablesRefused: it is neither, or lacks a heading or an instruction; or a line has more cells than there are
            headings, or the numbers of a recipe's lines are not those from 1 on.
    """
    name = name or _("the tables")
    try:
        table = _opened(data, name)
        columns = _columns(table)
        problems = Problems(name)
        lines = list(table.lines(problems))
    except TableError as error:
        raise TablesRefused(_told(error.sentence)) from error
    for sentence, at in problems.shown.items():
        raise TablesRefused(_("Line %(line)s: %(sentence)s") % {"line": at.first[0], "sentence": _told(sentence)})
    recipes: dict[tuple[str, str], list[_Step]] = {}
    for line in lines:
        said = dict(zip(columns, line.cells, strict=True))
        title = without_underscores(said["recipe"])
        if not title or not without_underscores(said["instruction"]):
            raise TablesRefused(_("Line %(line)s has no recipe or no instruction.") % {"line": line.number})
        recipes.setdefault((title, said.get("id", "")), []).append(_Step(line.number, said))
    if not recipes:
        raise TablesRefused(_("The file has no table in it."))
    return [_table(title, id_, _in_order(title, steps)) for (title, id_), steps in recipes.items()]


@dataclass(frozen=True)
class _Step:
    """A line of the file: its number there, and its cells by their headings."""

    number: int
    said: dict[str, str]


def _told(sentence: Sentence) -> str:
    return _(sentence.template) % dict(sentence.numbers)


def _opened(data: bytes, name: str) -> FileTable:
    stream = io.BytesIO(data)
    if is_xlsx(stream):
        return open_sheet(stream, name=name, max_bytes=_MAX_BYTES, headings=_NEEDED, also=ALSO)
    return open_table(stream, name=name, max_bytes=_MAX_BYTES)


def _columns(table: FileTable) -> list[str]:
    """What the headings of a file mean.

    Raises:
        TablesRefused: one is missing, or there twice.
    """
    folded = [cell.casefold() for cell in table.header]
    columns = [ALSO.get(heading, heading) for heading in folded]
    for needed in _NEEDED:
        if needed not in columns and any("|" in heading for heading in folded):
            raise TablesRefused(_("The columns are separated by “|”. Use commas, semicolons or tabs."))
        if needed not in columns:
            raise TablesRefused(_("The file has no column “%(column)s”.") % {"column": needed})
    if len(set(columns) & set(COLUMNS)) < sum(heading in COLUMNS for heading in columns):
        raise TablesRefused(_("Two columns of the file mean the same."))
    return columns


def _in_order(title: str, steps: Sequence[_Step]) -> Sequence[_Step]:
    """The lines of a recipe by their numbers; as they stand where none has one.

    Raises:
        TablesRefused: one has none, or one that another has, or one is missing between them.
    """
    if not any(step.said.get("line") for step in steps):
        return steps
    at: dict[int, _Step] = {}
    for step in steps:
        number = whole_number(step.said["line"])
        if number is None:
            raise TablesRefused(
                _("Line %(line)s: “%(said)s” in the column “line” is no number of an instruction.")
                % {"line": step.number, "said": step.said["line"][:60]}
            )
        if number in at:
            raise TablesRefused(
                _("Line %(line)s: “%(recipe)s” has an instruction %(n)s on line %(first)s already.")
                % {"line": step.number, "recipe": title, "n": number, "first": at[number].number}
            )
        at[number] = step
    first = 0 if 0 in at else 1
    for place, number in enumerate(sorted(at), start=first):
        if place != number:
            raise TablesRefused(
                _(
                    "Line %(line)s: “%(recipe)s” has an instruction %(n)s and none %(missing)s. Number them from 1 on "
                    "in each recipe, or leave out the column “line”."
                )
                % {"line": at[number].number, "recipe": title, "n": number, "missing": place}
            )
    return [at[number] for number in sorted(at)]


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
    return max(DELIMITERS, key=text.split("\n", 1)[0].count)


def _table(title: str, id_: str, steps: Sequence[_Step]) -> Table:
    said = [step.said for step in steps]
    cells = {
        (line, cell): answer for line, one in enumerate(said) for cell in CELLS if (answer := plain(one.get(cell, "")))
    }
    ingredients = next((one["ingredients"] for one in said if one.get("ingredients")), "")
    instructions = tuple(without_underscores(one["instruction"]) for one in said)
    listed = tuple(part for part in ingredients.split(_BETWEEN) if part)
    return Table(title, id_, instructions, cells, listed, where=at_line(min(step.number for step in steps)))
