"""A sheet as one rater sees it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Case, CharField, F, QuerySet, TextField, Value, When
from django.db.models.functions import Cast

from annotation.answers import kind_of, wire
from annotation.answers.codes import SKIP
from annotation.models import (
    Assignment,
    Column,
    Label,
    Note,
    Question,
    Section,
    Sheet,
    Skip,
)
from annotation.queries.codes import CODE, PREFIX
from annotation.queries.experiments import Shown, suggested
from annotation.queries.schemes import whole_scheme
from annotation.scheme import rules
from annotation.scheme.spec import OptionSpec, QuestionSpec, SectionSpec


class Cell(NamedTuple):
    """One cell as it is drawn. `asked` is False where a rule of the scheme switched it off.

    A tuple, because a page makes thousands of them.
    """

    assignment_id: int
    column_id: int
    question_id: int
    code: str  # of the answer, without prefix; empty where there is none
    option: OptionSpec | None  # the answer, where it is one of the options
    asked: bool
    preset: str  # the code of what the cell will say by itself once the column is answered
    locked: bool
    shown: str = ""  # the answer on one line, or what the preset will be
    sign: str = ""  # the same in three characters
    by_itself: bool = False  # the answer is such a preset: nobody chose it
    draft: bool = False  # another rater's answer that this one has not confirmed
    skip: str = ""  # why the rater cannot tell; empty where they do not say so
    suggested: str = ""  # what a judge answered, where an experiment shows it
    suggested_sign: str = ""
    note: str = ""  # of what the rater asked about it: "open", "answered" (and not read yet), "read"
    optional: bool = False  # it may stay open

    @property
    def id(self) -> str:
        return f"c-{self.assignment_id}-{self.column_id}-{self.question_id}"

    @property
    def open(self) -> bool:
        """It owes an answer."""
        return self.asked and not self.code and not self.skip and not self.optional


@dataclass(frozen=True)
class GridLine:
    """One line of a section's table: one question of one assignment."""

    assignment: Assignment
    question: Question
    spec: QuestionSpec
    cells: tuple[Cell, ...]
    first: bool


@dataclass(frozen=True)
class GridStep:
    """One line of a table that is read from top to bottom: one column of one assignment, question by question."""

    assignment: Assignment
    column: Column
    cells: tuple[Cell, ...]
    first: bool
    of: int  # how many lines the assignment has


@dataclass(frozen=True)
class GridTable:
    section: Section
    spec: SectionSpec
    columns: tuple[Column, ...]
    questions: tuple[Question, ...]
    lines: tuple[GridLine, ...]

    @property
    def steps(self) -> Iterable[GridStep]:
        """The lines of a table with the layout `down`."""
        n = len(self.questions)
        for start in range(0, len(self.lines), n):
            lines = self.lines[start : start + n]
            for place, column in enumerate(self.columns):
                cells = tuple(line.cells[place] for line in lines)
                yield GridStep(lines[0].assignment, column, cells, first=place == 0, of=len(self.columns))

    @property
    def has_values(self) -> bool:
        """Some of its answers are no options."""
        return not all(question.has_options for question in self.spec.questions)

    # Lines that a browser lays out together, or not at all while they are out of sight; whole rows of the sheet.
    LINES_A_CHUNK = 24

    @property
    def chunks(self) -> list[tuple[GridLine, ...]]:
        size = len(self.questions) * max(1, self.LINES_A_CHUNK // len(self.questions))
        return [self.lines[start : start + size] for start in range(0, len(self.lines), size)]


@dataclass(frozen=True)
class Grid:
    """A sheet as one rater sees it: a table a section, in it `len(questions)` lines an assignment."""

    sheet: Sheet
    assignments: tuple[Assignment, ...]
    tables: tuple[GridTable, ...]

    @property
    def has_values(self) -> bool:
        return any(table.has_values for table in self.tables)

    @property
    def cells(self) -> Iterable[Cell]:
        return (cell for table in self.tables for line in table.lines for cell in line.cells)


Standing = dict[tuple[int, int], str]  # (column, question) -> the code with its prefix
Mark = tuple[str, str]  # the `skip` and the `note` of a cell
_UNMARKED: Mark = ("", "")
_NOTE_STATES = ("open", "answered", "read", "")  # of several notes on a cell the first of these is shown


def _marks(assignment_ids: Sequence[int], columns: Sequence[Column] | None = None) -> dict[tuple[int, int, int], Mark]:
    """{(assignment, column, question): mark} of the cells that are skipped or asked about. One query."""
    within: dict[str, Any] = {"assignment__in": assignment_ids}
    if columns is not None:
        within["column__in"] = columns
    cell = ("assignment_id", "column_id", "question_id")
    skips = Skip.objects.filter(**within).order_by().values_list(*cell, "reason", Value(""))
    state = Case(
        When(answered_at=None, then=Value("open")),
        When(read_at=None, then=Value("answered")),
        default=Value("read"),
        output_field=CharField(),
    )
    notes = Note.objects.filter(**within).order_by().values_list(*cell, Value("", CharField(max_length=500)), state)
    marks: dict[tuple[int, int, int], Mark] = {}
    for assignment_id, column_id, question_id, reason, note in skips.union(notes, all=True):
        place = (assignment_id, column_id, question_id)
        skip, noted = marks.get(place, _UNMARKED)
        marks[place] = (skip or reason, min(noted, note, key=_NOTE_STATES.index))
    return marks


def cell_values(assignments: Iterable[int], columns: Iterable[int]) -> dict[tuple[int, int], dict[int, str]]:
    """{(assignment, column): {question: value}} of the cells that are answered, in the script's words. One query.

    A value is a code with its prefix: see `annotation.answers.codes`.
    """
    within = {"assignment__in": assignments, "column__in": columns}
    cell = ("assignment_id", "column_id", "question_id")
    labels = Label.objects.filter(**within).order_by().values_list(*cell, PREFIX, CODE)
    reason = Cast("reason", TextField())
    skips = Skip.objects.filter(**within).order_by().values_list(*cell, Value(SKIP, CharField()), reason)
    values: dict[tuple[int, int], dict[int, str]] = defaultdict(dict)
    for assignment_id, column_id, question_id, prefix, word in labels.union(skips, all=True):
        values[assignment_id, column_id][question_id] = prefix + word
    return values


def grid(sheet: Sheet, assignments: QuerySet[Assignment]) -> Grid:
    """All cells of some assignments of one sheet. Four queries, however many cells."""
    mine = tuple(
        assignments.filter(row__sheet=sheet)
        .select_related("row", "rater", "experiment_seat__experiment")
        .defer("row__evidence")
        .order_by(F("order").asc(nulls_first=True), "row__position", "repeat")
    )
    by_assignment: dict[int, Standing] = defaultdict(dict)
    labels = Label.objects.filter(assignment__in=[a.pk for a in mine]).order_by()  # its own order joins five tables
    for assignment_id, column_id, question_id, prefix, code in labels.values_list(
        "assignment_id", "column_id", "question_id", PREFIX, CODE
    ):
        by_assignment[assignment_id][column_id, question_id] = prefix + code
    marks = _marks([a.pk for a in mine])
    shown = suggested(mine)
    columns: dict[int, list[Column]] = defaultdict(list)
    for column in sheet.columns.order_by("position"):
        columns[column.section_id].append(column)
    scheme = whole_scheme(sheet.study.scheme)
    closed = sheet.closed_at is not None
    tables = []
    for section in scheme.sections.all():
        spec = scheme.parsed.section(section.key)
        questions = tuple(section.questions.all())
        of_section = tuple(columns[section.pk])
        drawing = Drawing(of_section, questions, spec, marks, closed=closed, suggestions=shown)
        lines = [
            line
            for assignment in mine
            if assignment.asks(section)
            for line in drawing.lines(assignment, by_assignment[assignment.pk])
        ]
        if lines:
            tables.append(GridTable(section, spec, of_section, questions, tuple(lines)))
    return Grid(sheet, mine, tuple(tables))


def cells_of_columns(assignment: Assignment, columns: Sequence[Column]) -> list[Cell]:
    """All cells of one assignment in some columns. Four queries."""
    labels: dict[int, Standing] = defaultdict(dict)
    of_columns = Label.objects.filter(assignment=assignment, column__in=columns).order_by()
    for column_id, question_id, prefix, code in of_columns.values_list("column_id", "question_id", PREFIX, CODE):
        labels[column_id][column_id, question_id] = prefix + code
    marks = _marks([assignment.pk], columns)
    closed = assignment.row.sheet.closed_at is not None
    sections = (
        Section.objects.filter(pk__in={column.section_id for column in columns})
        .select_related("scheme")
        .prefetch_related("questions")
    )
    return [
        cell
        for section in sections
        for column in columns
        if column.section_id == section.pk
        for line in Drawing((column,), tuple(section.questions.all()), section.spec, marks, closed=closed).lines(
            assignment, labels[column.pk]
        )
        for cell in line.cells
    ]


class _Answer(NamedTuple):
    """What a code with its prefix comes to in one question: the fields of a `Cell` that follow from it alone."""

    code: str
    option: OptionSpec | None
    shown: str
    sign: str
    by_itself: bool
    draft: bool


class Drawing:
    """The lines of one section's table.

    A page has thousands of cells and few different answers, so what is the same for many cells is found out once.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        questions: Sequence[Question],
        spec: SectionSpec,
        marks: dict[tuple[int, int, int], Mark],
        *,
        closed: bool,
        suggestions: Shown | None = None,
    ) -> None:
        self._marks, self._closed, self._spec = marks, closed, spec
        self._suggestions = suggestions or {}
        self._questions = [(question, question.pk, spec.question(question.key)) for question in questions]
        self._columns = [(column.pk, spec.presets(column.facets)) for column in columns]
        self._asked: dict[tuple[str, ...], set[str]] = {}
        self._answers: dict[tuple[int, str], _Answer] = {}

    def lines(self, assignment: Assignment, labels: Standing) -> list[GridLine]:
        locked = self._closed or assignment.state == Assignment.State.SUBMITTED
        assignment_id, cells = assignment.pk, [list[Cell]() for _question in self._questions]
        for column_id, presets in self._columns:
            codes = tuple([labels.get((column_id, pk), "") for _question, pk, _spec in self._questions])
            asked = self._asked.get(codes)
            if asked is None:
                asked = self._asked[codes] = self._questions_asked(codes)
            for (question, pk, spec), code, line in zip(self._questions, codes, cells, strict=True):
                answer = self._answers.get((pk, code))
                if answer is None:
                    answer = self._answers[pk, code] = _answer(spec, code)
                skip, note = self._marks.get((assignment_id, column_id, pk), _UNMARKED)
                preset, shown, sign = "", answer.shown, answer.sign
                if presets and not (answer.code or skip) and (preset := presets.get(question.key, "")):
                    shown, sign = drawn(spec, preset)
                suggested = self._suggestions.get((assignment_id, column_id, pk), "")
                line.append(
                    Cell(
                        assignment_id,
                        column_id,
                        pk,
                        answer.code,
                        answer.option,
                        question.key in asked,
                        preset,
                        locked,
                        shown,
                        sign,
                        answer.by_itself,
                        answer.draft,
                        skip,
                        *(drawn(spec, wire(suggested).code) if suggested else ("", "")),
                        note,
                        spec.optional,
                    )
                )
        return [
            GridLine(assignment, question, spec, tuple(line), position == 0)
            for position, ((question, _pk, spec), line) in enumerate(zip(self._questions, cells, strict=True))
        ]

    def _questions_asked(self, codes: Sequence[str]) -> set[str]:
        standing = {question.key: code for (question, _pk, _spec), code in zip(self._questions, codes, strict=True)}
        return rules.asked(self._spec, {key: code for key, code in standing.items() if code})


def _answer(spec: QuestionSpec, code: str) -> _Answer:
    found = wire(code)
    option = spec.option(found.code) if found.code and spec.has_options else None
    return _Answer(found.code, option, *drawn(spec, found.code), found.preset, found.draft)


@dataclass(frozen=True)
class OpenCell:
    """A cell that still owes an answer; `name` is for sentences, with the question where the section has several."""

    id: str
    name: str
    column: Column
    question: Question


class Unfinished(NamedTuple):
    """What keeps a row from being submitted: cells that owe an answer, and drafts that nobody has confirmed."""

    open: list[OpenCell]
    drafts: list[OpenCell]


def unfinished_cells(assignment: Assignment) -> Unfinished:
    """In the order of the sheet. Six queries."""
    whole = grid(assignment.row.sheet, Assignment.objects.filter(pk=assignment.pk))
    left = Unfinished([], [])
    for table in whole.tables:
        for line in table.lines:
            for column, cell in zip(table.columns, line.cells, strict=True):
                if not cell.open and not cell.draft:
                    continue
                named = OpenCell(
                    id=cell.id,
                    name=_named(column, line.question, several=len(table.questions) > 1),
                    column=column,
                    question=line.question,
                )
                (left.open if cell.open else left.drafts).append(named)
    return left


def _named(column: Column, question: Question, *, several: bool) -> str:
    if not column.name:
        return question.title
    return f"{column.name} ({question.title})" if several else column.name


def drawn(spec: QuestionSpec, code: str) -> tuple[str, str]:
    """An answer as its cell shows it, and its sign, out of its code; "" for none. Of several parts a line an entry."""
    if not code:
        return "", ""
    if spec.has_options:
        option = spec.option(code)
        return option.label, option.sign
    kind = kind_of(spec)
    value = kind.value(spec, code)
    shown = value if isinstance(value, str) else "\n".join(kind.entries(spec, value))
    return shown, kind.sign(spec, value)
