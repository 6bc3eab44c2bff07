"""A sheet as one rater sees it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BooleanField, Case, CharField, F, QuerySet, Value, When

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
from annotation.queries.schemes import whole_scheme
from annotation.scheme import OptionSpec, QuestionSpec, SectionSpec


@dataclass(frozen=True)
class Cell:
    """One cell as it is drawn. `asked` is False where a rule of the scheme switched it off."""

    assignment_id: int
    column_id: int
    question_id: int
    option: OptionSpec | None
    asked: bool
    preset: OptionSpec | None  # what the cell will say by itself once the column is answered
    locked: bool
    by_itself: bool = False  # the option is such a preset: nobody chose it
    skip: str = ""  # why the rater cannot tell; empty where they do not say so
    note: str = ""  # of what the rater asked about it: "open", "answered" (and not read yet), "read"

    @property
    def id(self) -> str:
        return f"c-{self.assignment_id}-{self.column_id}-{self.question_id}"

    @property
    def open(self) -> bool:
        return self.asked and self.option is None and not self.skip


@dataclass(frozen=True)
class Line:
    """One line of a section's table: one question of one assignment."""

    assignment: Assignment
    question: Question
    spec: QuestionSpec
    cells: tuple[Cell, ...]
    first: bool


@dataclass(frozen=True)
class Table:
    section: Section
    spec: SectionSpec
    columns: tuple[Column, ...]
    questions: tuple[Question, ...]
    lines: tuple[Line, ...]

    # Lines that a browser lays out together, or not at all while they are out of sight; whole rows of the sheet.
    LINES_A_CHUNK = 24

    @property
    def chunks(self) -> list[tuple[Line, ...]]:
        size = len(self.questions) * max(1, self.LINES_A_CHUNK // len(self.questions))
        return [self.lines[start : start + size] for start in range(0, len(self.lines), size)]


@dataclass(frozen=True)
class Grid:
    """A sheet as one rater sees it: a table a section, in it `len(questions)` lines an assignment."""

    sheet: Sheet
    assignments: tuple[Assignment, ...]
    tables: tuple[Table, ...]

    @property
    def cells(self) -> Iterable[Cell]:
        return (cell for table in self.tables for line in table.lines for cell in line.cells)


Standing = dict[tuple[int, int], tuple[str, bool]]  # (column, question) -> option key, and whether it is a preset
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


def skip_code(reason: str) -> str:
    """How the grid's script is told of a skipped cell; "" for no skip. An option is told by its key."""
    return f"!{reason}" if reason else ""


def cell_values(assignments: Iterable[int], columns: Iterable[int]) -> dict[tuple[int, int], dict[int, str]]:
    """{(assignment, column): {question: value}} of the cells that are answered, in the script's words. One query.

    A value is the key of an option, with "=" before it where it is a preset that nobody chose, or a skip's code.
    """
    within = {"assignment__in": assignments, "column__in": columns}
    cell = ("assignment_id", "column_id", "question_id")
    labels = Label.objects.filter(**within).order_by().values_list(*cell, "preset", "option__key")
    skips = Skip.objects.filter(**within).order_by().values_list(*cell, Value(None, BooleanField()), "reason")
    values: dict[tuple[int, int], dict[int, str]] = defaultdict(dict)
    for assignment_id, column_id, question_id, preset, word in labels.union(skips, all=True):
        values[assignment_id, column_id][question_id] = (
            skip_code(word) if preset is None else f"={word}" if preset else word
        )
    return values


def grid(sheet: Sheet, assignments: QuerySet[Assignment]) -> Grid:
    """All cells of some assignments of one sheet. Four queries, however many cells."""
    mine = tuple(
        assignments.filter(row__sheet=sheet)
        .select_related("row", "rater")
        .defer("row__evidence")
        .order_by(F("order").asc(nulls_first=True), "row__position", "repeat")
    )
    by_assignment: dict[int, Standing] = defaultdict(dict)
    labels = Label.objects.filter(assignment__in=[a.pk for a in mine]).order_by()  # its own order joins five tables
    for assignment_id, column_id, question_id, option_key, preset in labels.values_list(
        "assignment_id", "column_id", "question_id", "option__key", "preset"
    ):
        by_assignment[assignment_id][column_id, question_id] = option_key, preset
    marks = _marks([a.pk for a in mine])
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
        lines = [
            line
            for assignment in mine
            if assignment.asks(section)
            for line in _lines(
                assignment, of_section, questions, spec, by_assignment[assignment.pk], marks, closed=closed
            )
        ]
        if lines:
            tables.append(Table(section, spec, of_section, questions, tuple(lines)))
    return Grid(sheet, mine, tuple(tables))


def cells_of_columns(assignment: Assignment, columns: Sequence[Column]) -> list[Cell]:
    """All cells of one assignment in some columns. Four queries."""
    labels: dict[int, Standing] = defaultdict(dict)
    of_columns = Label.objects.filter(assignment=assignment, column__in=columns).order_by()
    for column_id, question_id, option_key, preset in of_columns.values_list(
        "column_id", "question_id", "option__key", "preset"
    ):
        labels[column_id][column_id, question_id] = option_key, preset
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
        for line in _lines(
            assignment,
            (column,),
            tuple(section.questions.all()),
            section.spec,
            labels[column.pk],
            marks,
            closed=closed,
        )
        for cell in line.cells
    ]


def _lines(
    assignment: Assignment,
    columns: Sequence[Column],
    questions: Sequence[Question],
    spec: SectionSpec,
    labels: Standing,
    marks: dict[tuple[int, int, int], Mark],
    *,
    closed: bool,
) -> list[Line]:
    locked = closed or assignment.state == Assignment.State.SUBMITTED
    # A page has thousands of cells: what is the same for all of them is looked up before.
    specs = [(question.pk, question.key, spec.question(question.key)) for question in questions]
    by_question: dict[str, list[Cell]] = {question.key: [] for question in questions}
    assignment_id = assignment.pk
    for column in columns:
        column_id = column.pk
        standing = {key: labels[column_id, pk] for pk, key, _ in specs if (column_id, pk) in labels}
        answers = {key: option for key, (option, _) in standing.items()}
        asked = {question.key for question in spec.asked(answers)}
        presets = spec.presets(column.facets)
        for question_id, key, question_spec in specs:
            answer, by_itself = standing.get(key, (None, False))
            preset = presets.get(key)
            skip, note = marks.get((assignment_id, column_id, question_id), _UNMARKED)
            by_question[key].append(
                Cell(
                    assignment_id=assignment_id,
                    column_id=column_id,
                    question_id=question_id,
                    option=question_spec.option(answer) if answer else None,
                    asked=key in asked,
                    preset=question_spec.option(preset) if preset and not answer and not skip else None,
                    locked=locked,
                    by_itself=by_itself,
                    skip=skip,
                    note=note,
                )
            )
    return [
        Line(assignment, question, spec.question(question.key), tuple(by_question[question.key]), position == 0)
        for position, question in enumerate(questions)
    ]


@dataclass(frozen=True)
class OpenCell:
    """A cell that still owes an answer; `name` is for sentences, with the question where the section has several."""

    id: str
    name: str
    column: Column
    question: Question
    has_preset: bool


def open_cells(assignment: Assignment) -> list[OpenCell]:
    """The cells that this assignment still owes an answer, in the order of the sheet. Six queries."""
    whole = grid(assignment.row.sheet, Assignment.objects.filter(pk=assignment.pk))
    return [
        OpenCell(
            id=cell.id,
            name=f"{column.name} ({line.question.title})" if len(table.questions) > 1 else column.name,
            column=column,
            question=line.question,
            has_preset=cell.preset is not None,
        )
        for table in whole.tables
        for line in table.lines
        for column, cell in zip(table.columns, line.cells, strict=True)
        if cell.open
    ]
