"""A large sheet comes in parts: so many of its rows on a page. Sheets of the usual size are whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Max

from annotation.models import Assignment, Column, Question, Row, Sheet, User

State = Assignment.State

# A sheet within these bounds is one page. 1,000 rows of one cell take 0.15 s, and so do 150 of 40.
WHOLE_ROWS, WHOLE_CELLS = 1000, 8000
PART_ROWS, PART_CELLS = 500, 4000


@dataclass(frozen=True)
class Part:
    """`ids`: of its rows or assignments, in their order; `first`, `last`: their places in the sheet, from 1 on."""

    number: int  # from 1 on
    count: int
    ids: tuple[int, ...]
    first: int
    last: int
    of: int
    submitted_elsewhere: int = 0

    @property
    def before(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def after(self) -> int | None:
        return self.number + 1 if self.number < self.count else None


def rows_a_part(sheet: Sheet) -> int | None:
    """How many rows of a sheet a page has; None where it has all of them. One query, for large sheets three."""
    rows = Row.objects.filter(sheet=sheet).count()
    if rows <= PART_ROWS // 10:
        return None
    columns = Column.objects.filter(sheet=sheet).count()
    # As if each column were of the section with the most questions; exact counts would cost more than they are worth.
    of_sections = Question.objects.filter(section__scheme=sheet.study.scheme_id).order_by().values("section")
    questions = of_sections.annotate(n=Count("pk")).aggregate(most=Max("n"))["most"] or 1
    cells = max(1, columns * questions)
    if rows <= WHOLE_ROWS and rows * cells <= WHOLE_CELLS:
        return None
    return max(1, min(PART_ROWS, PART_CELLS // cells))


def part_of_work(sheet: Sheet, user: User, *, number: int | None = None, assignment: int | None = None) -> Part | None:
    """The part of somebody's work on a large sheet that is asked for: by its number, or as that of an assignment.

    Without either, or where there is none such, the first one with work left. None where the sheet is no large one, or
    they have less than a part of it. At most four queries.
    """
    size = rows_a_part(sheet)
    if size is None:
        return None
    order = (F("order").asc(nulls_first=True), "row__position", "repeat")
    mine = Assignment.objects.of_user(user).filter(row__sheet=sheet).order_by(*order)
    work = list(mine.values_list("pk", "state"))
    if len(work) <= size:
        return None
    place = next((n for n, (pk, _state) in enumerate(work) if pk == assignment), None)
    if place is None and number is not None and 1 <= number <= -(-len(work) // size):
        place = (number - 1) * size
    if place is None:
        place = next((n for n, (_pk, state) in enumerate(work) if state != State.SUBMITTED), 0)
    begin = place // size * size
    here = work[begin : begin + size]
    elsewhere = [*work[:begin], *work[begin + size :]]
    return _part(
        [pk for pk, _state in here],
        begin,
        size,
        len(work),
        submitted_elsewhere=sum(state == State.SUBMITTED for _pk, state in elsewhere),
    )


def part_of_sheet(sheet: Sheet, *, number: int | None = None, row: int | None = None) -> Part | None:
    """Some rows of a large sheet: those around a row, or a part by its number; the first ones where there is none such.
    None where it is no large one. At most four queries."""
    size = rows_a_part(sheet)
    if size is None:
        return None
    rows = list(sheet.rows.order_by("position").values_list("pk", flat=True))
    count = -(-len(rows) // size)
    if row in rows:
        number = rows.index(row) // size + 1
    begin = (number - 1) * size if number is not None and 1 <= number <= count else 0
    return _part(rows[begin : begin + size], begin, size, len(rows))


def _part(ids: Sequence[int], begin: int, size: int, of: int, *, submitted_elsewhere: int = 0) -> Part:
    return Part(
        number=begin // size + 1,
        count=-(-of // size),
        ids=tuple(ids),
        first=begin + 1,
        last=begin + len(ids),
        of=of,
        submitted_elsewhere=submitted_elsewhere,
    )
