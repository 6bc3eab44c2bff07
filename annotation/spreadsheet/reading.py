"""What somebody changed in a workbook, or everything that keeps it from being taken in, each by its cell."""

from __future__ import annotations

import io
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from openpyxl import load_workbook
from openpyxl.utils import coordinate_to_tuple
from openpyxl.workbook import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from annotation.actions import Answer, Refused
from annotation.models import Assignment, Column, Option, Question
from annotation.queries import Cell, Grid, Table
from annotation.scheme import OptionSpec
from annotation.spreadsheet.layout import PLACES, VERSION, Place, plain
from annotation.spreadsheet.writing import code_of

MAX_BYTES = 20_000_000
_MAX_UNPACKED = 200_000_000

Key = tuple[int, int, int]  # assignment, column, question


@dataclass(frozen=True)
class Problem:
    """Why a cell of the workbook cannot be taken in."""

    cell: str
    sentence: str


@dataclass
class Reading:
    """The answers that differ from what the workbook held when it was made; none if there is a problem."""

    answers: dict[Assignment, list[Answer]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @property
    def n_cells(self) -> int:
        return sum(map(len, self.answers.values()))


@dataclass(frozen=True)
class _Spot:
    """A cell of the grid as it stands now."""

    table: Table
    assignment: Assignment
    column: Column
    question: Question
    cell: Cell


def read(data: bytes, grid: Grid) -> Reading:
    """What the rater of `grid` changed in a workbook that was made of it.

    Raises:
        Refused: the file is no workbook of this sheet and rater.
    """
    book = _opened(data)
    page, places = _pages(book, grid)
    spots = dict(_spots(grid))
    reading = Reading()
    moved = list(_moved(page, places))
    elsewhere = dict(_moved_columns(page, places, grid))
    reading.problems += [*moved, *elsewhere.values()]
    lines = {coordinate_to_tuple(problem.cell)[0] for problem in moved}
    changed: dict[Key, tuple[str, OptionSpec | None]] = {}
    for place in places:
        said = _text(page[place.cell].value)
        if said == place.text or place.column in elsewhere or coordinate_to_tuple(place.cell)[0] in lines:
            continue
        key = (place.assignment, place.column, place.question)
        try:
            option = _option(said, place, spots.get(key))
        except _Wrong as wrong:
            reading.problems.append(Problem(place.cell, str(wrong)))
            continue
        if (option.key if option else "") != code_of(spots[key].cell):
            changed[key] = place.cell, option
    reading.problems += _not_asked(changed, spots)
    if reading.problems:
        # Each line once: what is wrong with its place is wrong with all its cells.
        reading.problems.sort(key=lambda problem: coordinate_to_tuple(problem.cell))
        return reading
    of_questions = Option.objects.filter(question__in={key[2] for key in changed})
    options = {(option.question_id, option.key): option for option in of_questions}
    answers: dict[int, list[Answer]] = defaultdict(list)
    for key, (_cell, option) in changed.items():
        spot, chosen = spots[key], options[key[2], option.key] if option else None
        answers[key[0]].append(Answer(spot.column, spot.question, chosen, seen=code_of(spot.cell)))
    for assignment in grid.assignments:
        if of_row := answers.get(assignment.pk):
            reading.answers[assignment] = sorted(of_row, key=lambda answer: answer.question.position)
    return reading


def _opened(data: bytes) -> Workbook:
    no_workbook = _("This is no workbook (.xlsx). Save it as one in your program, and give that.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MAX_UNPACKED:
                raise Refused(_("This workbook is too large to be one of Palate's."))
        return load_workbook(io.BytesIO(data))
    except Refused:
        raise
    except Exception as error:  # openpyxl lets through whatever went wrong inside
        raise Refused(no_workbook) from error


def _pages(book: Workbook, grid: Grid) -> tuple[Worksheet, list[Place]]:
    if PLACES not in book.sheetnames:
        raise Refused(
            _("This workbook did not come from Palate, or lost what it needs to be read. Download the sheet anew.")
        )
    try:
        head, *lines = book[PLACES].iter_rows(values_only=True)
        _name, version, sheet, rater = head[:4]
        places = [_place(line) for line in lines]
    except (ValueError, TypeError) as error:
        raise Refused(_("What this workbook keeps for Palate was changed. Download the sheet anew.")) from error
    if version != VERSION:
        raise Refused(_("Another version of Palate made this workbook. Download the sheet anew."))
    if sheet != grid.sheet.pk:
        raise Refused(_("This workbook is of another sheet than “%(sheet)s”.") % {"sheet": grid.sheet.title})
    if rater != grid.assignments[0].rater_id:
        raise Refused(_("This workbook is somebody else's. Download your own."))
    page = next(page for page in book.worksheets if page.sheet_state == "visible")
    return page, places


def _place(line: tuple[Any, ...]) -> Place:
    texts = [_text(value) for value in (*line[4:8], "", "", "", "")[:4]]
    return Place(str(line[0]), int(line[1]), int(line[2]), int(line[3]), *texts)


def _spots(grid: Grid) -> Iterator[tuple[Key, _Spot]]:
    for table in grid.tables:
        for line in table.lines:
            for column, cell in zip(table.columns, line.cells, strict=True):
                key = (cell.assignment_id, cell.column_id, cell.question_id)
                yield key, _Spot(table, line.assignment, column, line.question, cell)


def _moved(page: Worksheet, places: list[Place]) -> Iterator[Problem]:
    """Lines beside which something else stands than when the workbook was made."""
    seen = set()
    for place in places:
        line = coordinate_to_tuple(place.cell)[0]
        if line in seen:
            continue
        seen.add(line)
        for letter, expected in (("A", place.row_name), ("B", place.question_title)):
            found = _text(page[f"{letter}{line}"].value)
            if expected and found != expected:
                yield Problem(
                    f"{letter}{line}",
                    _("“%(expected)s” stood here, and now “%(found)s”: was the line moved?")
                    % {"expected": expected, "found": found},
                )
                break


def _moved_columns(page: Worksheet, places: list[Place], grid: Grid) -> Iterator[tuple[int, Problem]]:
    """Columns that have another heading by now; the headings stand above a section's first line."""
    for table in grid.tables:
        columns = {column.pk: column for column in table.columns}
        at = [(coordinate_to_tuple(place.cell), place.column) for place in places if place.column in columns]
        facets = table.spec.column.facets
        top = min((line for (line, _number), _pk in at), default=0) - len(facets)
        for number, pk in {number: pk for (_line, number), pk in at}.items():
            for line, facet in enumerate(facets, top):
                expected = plain(columns[pk].facets.get(facet, "")).strip()
                heading = page.cell(line, number)
                found = _text(heading.value)
                if found != expected:
                    sentence = _("“%(expected)s” stood here, and now “%(found)s”: was the column moved?")
                    yield pk, Problem(heading.coordinate, sentence % {"expected": expected, "found": found})
                    break


class _Wrong(Exception):
    pass


def _option(said: str, place: Place, spot: _Spot | None) -> OptionSpec | None:
    if spot is None:
        raise _Wrong(_("This cell is not assigned to you any more."))
    if spot.cell.locked:
        raise _Wrong(
            _("“%(row)s” is submitted or closed: nothing in it is changed.") % {"row": spot.assignment.row.name}
        )
    options = spot.table.spec.question(spot.question.key).options
    option = None
    if said:
        option = next((option for option in options if said.casefold() == option.label.casefold()), None)
        if option is None:
            words = ", ".join(option.label for option in options)
            raise _Wrong(_("“%(said)s” is none of: %(words)s.") % {"said": said[:80], "words": words})
    now = code_of(spot.cell)
    if now not in (place.code, option.key if option else ""):
        stands = spot.cell.option.label if spot.cell.option else _("nothing")
        raise _Wrong(
            _("You chose “%(said)s” here; “%(now)s” was chosen in the browser since. Make the two alike first.")
            % {"said": said or _("nothing"), "now": stands}
        )
    return option


def _not_asked(changed: Mapping[Key, tuple[str, OptionSpec | None]], spots: Mapping[Key, _Spot]) -> Iterator[Problem]:
    """Answers to what the answers above them switch off."""
    for key, (cell, option) in changed.items():
        if option is None:
            continue
        spot = spots[key]
        answers: dict[str, str] = {}
        for question in spot.table.questions:
            other = (key[0], key[1], question.pk)
            chosen = changed[other][1] if other in changed else spots[other].cell.option
            if chosen is not None:
                answers[question.key] = chosen.key
        if spot.question.key not in {asked.key for asked in spot.table.spec.asked(answers)}:
            yield Problem(cell, _("This is not asked: the answer above switches it off. Clear one of the two."))


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():  # a scale's number, as Excel writes it
        value = int(value)
    return str(value).strip()
