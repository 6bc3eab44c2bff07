"""What somebody changed in a workbook, or everything that keeps it from being taken in, each by its cell."""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from openpyxl.utils import coordinate_to_tuple, get_column_letter
from openpyxl.workbook import Workbook

from annotation.actions import Answer, Refused
from annotation.answers import AnswerRefused, kind_of
from annotation.answers.codes import SKIP
from annotation.exchange import workbooks
from annotation.exchange.spreadsheet.layout import (
    PLACES,
    VERSION,
    Place,
    code_of,
    remembered,
    said,
)
from annotation.exchange.workbooks import NOTHING, Found, fits, lines_in, plain, text_in
from annotation.models import Assignment, Column, Option, Question
from annotation.queries import Cell, Grid, GridTable
from annotation.scheme import rules
from annotation.scheme.spec import Layout, QuestionSpec, SchemeSpec

MAX_BYTES = 20_000_000
# Room for a million cells; each answer takes nine of them.
_MOST_TAGS = 4_000_000

Key = tuple[int, int, int]  # assignment, column, question
Page = Mapping[tuple[int, int], Found]  # by line and column


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

    table: GridTable
    assignment: Assignment
    column: Column
    question: Question
    cell: Cell

    @property
    def spec(self) -> QuestionSpec:
        return self.table.spec.question(self.question.key)


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
    reading.problems += moved
    lines = {coordinate_to_tuple(problem.cell)[0] for problem in moved}
    elsewhere: set[str] = set()
    earlier = _Earlier(grid)
    for problem, cells in _moved_columns(page, places, grid, earlier):
        reading.problems.append(problem)
        elsewhere |= cells
    skips = {place.text for place in places if place.code.startswith(SKIP)}
    changed: dict[Key, tuple[str, str]] = {}  # -> its cell and its code, "" for nothing
    for place in places:
        found = page.get(coordinate_to_tuple(place.cell), NOTHING)
        text = text_in(found.value)
        if text == place.text or place.cell in elsewhere or coordinate_to_tuple(place.cell)[0] in lines:
            continue
        key = (place.assignment, place.column, place.question)
        try:
            code = _code(found, text, place, spots.get(key), skips, earlier)
        except _Wrong as wrong:
            reading.problems.append(Problem(place.cell, str(wrong)))
            continue
        if code != code_of(spots[key].cell):
            changed[key] = place.cell, code
    reading.problems += _not_asked(changed, spots)
    if reading.problems:
        # Each line once: what is wrong with its place is wrong with all its cells.
        reading.problems.sort(key=lambda problem: coordinate_to_tuple(problem.cell))
        return reading
    of_questions = Option.objects.filter(question__in={key[2] for key in changed})
    options = {(option.question_id, option.key): option for option in of_questions}
    answers: dict[int, list[Answer]] = defaultdict(list)
    for key, (_cell, code) in changed.items():
        spot = spots[key]
        is_value = bool(code) and not spot.spec.has_options
        answers[key[0]].append(
            Answer(
                spot.column,
                spot.question,
                options[key[2], code] if code and not is_value else None,
                value=kind_of(spot.spec).value(spot.spec, code) if is_value else None,
                seen=code_of(spot.cell),
            )
        )
    for assignment in grid.assignments:
        if of_row := answers.get(assignment.pk):
            reading.answers[assignment] = sorted(of_row, key=lambda answer: answer.question.position)
    return reading


def _opened(data: bytes) -> Workbook:
    try:
        return workbooks.opened(data, most_tags=_MOST_TAGS)
    except workbooks.TooLarge as error:
        raise Refused(_("This workbook is too large to be one of Palate's.")) from error
    except ValueError as error:
        raise Refused(_no_workbook()) from error


def _no_workbook() -> str:
    return _("This is no workbook (.xlsx). Save it as one in your program, and give that.")


def _pages(book: Workbook, grid: Grid) -> tuple[Page, list[Place]]:
    spoilt = Refused(_("What this workbook keeps for Palate was changed. Download the sheet anew."))
    if PLACES not in book.sheetnames:
        raise Refused(
            _("This workbook did not come from Palate, or lost what it needs to be read. Download the sheet anew.")
        )
    try:
        head, *lines = (
            tuple(cells.get(column, NOTHING).value for column in range(1, 9))
            for _number, cells in lines_in(book[PLACES])
        )
        _name, version, sheet, rater = head[:4]
        places = [_place(line) for line in lines]
    except (ValueError, TypeError) as error:
        raise spoilt from error
    if version != VERSION:
        raise Refused(_("Another version of Palate made this workbook. Download the sheet anew."))
    if sheet != grid.sheet.pk:
        raise Refused(_("This workbook is of another sheet than “%(sheet)s”.") % {"sheet": grid.sheet.title})
    if rater != grid.assignments[0].rater_id:
        raise Refused(_("This workbook is somebody else's. Download your own."))
    page = next((page for page in book.worksheets if page.sheet_state == "visible"), None)
    if page is None:
        raise spoilt
    try:
        return {(number, column): found for number, cells in lines_in(page) for column, found in cells.items()}, places
    except ValueError as error:
        raise Refused(_no_workbook()) from error


def _place(line: tuple[Any, ...]) -> Place:
    texts = [text_in(value) for value in (*line[4:8], "", "", "", "")[:4]]
    if not re.fullmatch(r"[A-Z]{1,3}[1-9]\d{0,6}", str(line[0])):
        raise ValueError(line[0])
    return Place(str(line[0]), int(line[1]), int(line[2]), int(line[3]), *texts)


def _spots(grid: Grid) -> Iterator[tuple[Key, _Spot]]:
    for table in grid.tables:
        for line in table.lines:
            for column, cell in zip(table.columns, line.cells, strict=True):
                key = (cell.assignment_id, cell.column_id, cell.question_id)
                yield key, _Spot(table, line.assignment, column, line.question, cell)


def _moved(page: Page, places: list[Place]) -> Iterator[Problem]:
    """Lines beside which something else stands than when the workbook was made."""
    seen = set()
    for place in places:
        line = coordinate_to_tuple(place.cell)[0]
        if line in seen:
            continue
        seen.add(line)
        for column, (letter, expected) in enumerate((("A", place.row_name), ("B", place.beside)), 1):
            found = text_in(page.get((line, column), NOTHING).value)
            if expected and found != expected:
                yield Problem(
                    f"{letter}{line}",
                    _("“%(expected)s” stood here, and now “%(found)s”: was the line moved?")
                    % {"expected": expected, "found": found},
                )
                break


class _Earlier:
    """How parts of the scheme were called before its wording was changed, as a workbook from then has them. One query,
    the first time that somebody asks."""

    def __init__(self, grid: Grid) -> None:
        self._scheme = grid.sheet.study.scheme

    @cached_property
    def _specs(self) -> list[SchemeSpec]:
        """The one that stands last."""
        return [*(revision.parsed for revision in self._scheme.revisions.order_by("until", "pk")), self._scheme.parsed]

    def titles(self, section: str, question: str) -> set[str]:
        """Titles of a question, without those that another one of its section has, or had."""
        mine: set[str] = set()
        others: set[str] = set()
        for spec in self._specs:
            for of in spec.section(section).questions:
                (mine if of.key == question else others).add(plain(of.title).strip())
        return mine - others

    def option(self, section: str, question: str, label: str) -> str:
        """Key of the option of a question that alone was called so; "" where none was, or several."""
        asked = [spec.section(section).question(question) for spec in self._specs]
        called = {of.key for spec in asked for of in spec.options if of.label.casefold() == label.casefold()}
        return called.pop() if len(called) == 1 else ""


def _moved_columns(
    page: Page, places: list[Place], grid: Grid, earlier: _Earlier
) -> Iterator[tuple[Problem, set[str]]]:
    """Headings that say something else by now, with the cells below them; they stand above a section's first line."""
    for table in grid.tables:
        columns = {column.pk: column for column in table.columns}
        questions = {question.pk: question for question in table.questions}
        below: dict[int, list[Place]] = defaultdict(list)
        first = 0
        for place in places:
            if place.column in columns:
                line, number = coordinate_to_tuple(place.cell)
                first = min(first or line, line)
                below[number].append(place)
        for number, of_column in below.items():
            place = of_column[0]
            asked = questions.get(place.question) if table.spec.layout == Layout.DOWN else None
            if table.spec.layout == Layout.DOWN:
                headings = [asked.title if asked else ""]
            else:
                headings = [columns[place.column].facets.get(facet, "") for facet in table.spec.column.facets]
            for line, heading in enumerate(headings, first - len(headings)):
                expected = plain(heading).strip()
                found = text_in(page.get((line, number), NOTHING).value)
                if found != expected and not (asked and found in earlier.titles(table.spec.key, asked.key)):
                    sentence = _("“%(expected)s” stood here, and now “%(found)s”: was the column moved?")
                    said = sentence % {"expected": expected, "found": found}
                    problem = Problem(f"{get_column_letter(number)}{line}", said)
                    yield problem, {place.cell for place in of_column}
                    break


class _Wrong(Exception):
    pass


def _code(cell: Found, text: str, place: Place, spot: _Spot | None, skips: Collection[str], earlier: _Earlier) -> str:
    """The code of what was written into a cell of the workbook; "" for nothing.

    `skips`: how the skipped cells of the workbook read. A copy of one is no answer.

    Raises:
        _Wrong: it cannot be taken in.
    """
    if spot is None:
        raise _Wrong(_("This cell is not assigned to you any more."))
    if spot.cell.locked:
        raise _Wrong(
            _("“%(row)s” is submitted or closed: nothing in it is changed.") % {"row": spot.assignment.row.name}
        )
    stands = said(spot.spec, spot.cell)
    if not fits(stands):
        raise _Wrong(_("What stands here is too long for a workbook's cell. Change it in the browser."))
    code = _written(cell, text, spot, skips, earlier) if text else ""
    if remembered(code_of(spot.cell)) not in (place.code, remembered(code)):
        raise _Wrong(
            _("You chose “%(said)s” here; “%(now)s” was chosen in the browser since. Make the two alike first.")
            % {"said": text[:80] or _("nothing"), "now": stands[:80] or _("nothing")}
        )
    return code


def _written(cell: Found, text: str, spot: _Spot, skips: Collection[str], earlier: _Earlier) -> str:
    spec = spot.spec
    if cell.data_type in ("f", "e"):
        raise _Wrong(_("A formula stands here, or what became of one. Write the answer itself."))
    if spec.has_options:
        found = next((option.key for option in spec.options if text.casefold() == option.label.casefold()), "")
        found = found or earlier.option(spot.table.spec.key, spec.key, text)
        if not found:
            words = ", ".join(option.label for option in spec.options)
            raise _Wrong(_("“%(said)s” is none of: %(words)s.") % {"said": text[:80], "words": words})
        return found
    if isinstance(cell.value, datetime.date | datetime.time | datetime.timedelta):
        raise _Wrong(_("Your program made a date of this. Format the cell as text, and write the answer again."))
    if text in skips:
        raise _Wrong(_("This was copied from a skipped cell, and is no answer. Skip the cell in the browser."))
    kind = kind_of(spec)
    try:
        value = kind.read(spec, text)
    except AnswerRefused as refused:
        raise _Wrong(str(refused)) from refused
    return "" if value is None else kind.code(spec, value)


def _not_asked(changed: Mapping[Key, tuple[str, str]], spots: Mapping[Key, _Spot]) -> Iterator[Problem]:
    """Answers to what the answers beside or above them switch off."""
    for key, (cell, code) in changed.items():
        if not code:
            continue
        spot = spots[key]
        codes: dict[str, str] = {}
        for question in spot.table.questions:
            other = (key[0], key[1], question.pk)
            stands = changed[other][1] if other in changed else code_of(spots[other].cell)
            if stands:
                codes[question.key] = stands
        if spot.question.key not in rules.asked(spot.table.spec, codes):
            yield Problem(cell, _("This is not asked: the answer above switches it off. Clear one of the two."))
