"""Reads across tables. Each says how many queries it costs."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import (
    Assignment,
    Column,
    Label,
    Membership,
    Question,
    Rater,
    Role,
    Row,
    Section,
    Sheet,
    Study,
    User,
)
from annotation.scheme import OptionSpec, QuestionSpec, SectionSpec


def roles(user: User, study: Study) -> set[Role]:
    """The roles of `user` in `study`; a superuser has them all. One query."""
    if user.is_superuser:
        return set(Role)
    return {
        Role(role) for role in Membership.objects.filter(study=study, user_id=user.pk).values_list("role", flat=True)
    }


def free_code(study: Study, *, prefix: str) -> str:
    """The next rater code that the study does not use: A1, A2, … One query."""
    taken = set(study.raters.filter(code__startswith=prefix).values_list("code", flat=True))
    return next(code for n in itertools.count(1) if (code := f"{prefix}{n}") not in taken)


# --- the grid -------------------------------------------------------------------------------------------------------


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

    @property
    def id(self) -> str:
        return f"c-{self.assignment_id}-{self.column_id}-{self.question_id}"

    @property
    def open(self) -> bool:
        return self.asked and self.option is None


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


@dataclass(frozen=True)
class Grid:
    """A sheet as one rater sees it: a table a section, in it `len(questions)` lines an assignment."""

    sheet: Sheet
    assignments: tuple[Assignment, ...]
    tables: tuple[Table, ...]

    @property
    def cells(self) -> Iterable[Cell]:
        return (cell for table in self.tables for line in table.lines for cell in line.cells)


def grid(sheet: Sheet, assignments: QuerySet[Assignment]) -> Grid:
    """All cells of some assignments of one sheet. Five queries, however many cells."""
    mine = tuple(
        assignments.filter(row__sheet=sheet).select_related("row", "rater").order_by("row__position", "repeat")
    )
    by_assignment: dict[int, dict[tuple[int, int], str]] = defaultdict(dict)
    labels = Label.objects.filter(assignment__in=[a.pk for a in mine])
    for assignment_id, column_id, question_id, option_key in labels.values_list(
        "assignment_id", "column_id", "question_id", "option__key"
    ):
        by_assignment[assignment_id][column_id, question_id] = option_key
    columns: dict[int, list[Column]] = defaultdict(list)
    for column in sheet.columns.order_by("position"):
        columns[column.section_id].append(column)
    scheme = sheet.study.scheme
    tables = []
    for section in scheme.sections.prefetch_related("questions"):
        spec = scheme.parsed.section(section.key)
        questions = tuple(section.questions.all())
        of_section = tuple(columns[section.pk])
        lines = [
            line
            for assignment in mine
            if assignment.asks(section)
            for line in _lines(assignment, of_section, questions, spec, by_assignment[assignment.pk])
        ]
        if lines:
            tables.append(Table(section, spec, of_section, questions, tuple(lines)))
    return Grid(sheet, mine, tuple(tables))


def cells_of_columns(assignment: Assignment, columns: Sequence[Column]) -> list[Cell]:
    """All cells of one assignment in some columns. Three queries."""
    labels: dict[int, dict[tuple[int, int], str]] = defaultdict(dict)
    for column_id, question_id, option_key in Label.objects.filter(
        assignment=assignment, column__in=columns
    ).values_list("column_id", "question_id", "option__key"):
        labels[column_id][column_id, question_id] = option_key
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
        for line in _lines(assignment, (column,), tuple(section.questions.all()), section.spec, labels[column.pk])
        for cell in line.cells
    ]


def _lines(
    assignment: Assignment,
    columns: Sequence[Column],
    questions: Sequence[Question],
    spec: SectionSpec,
    labels: dict[tuple[int, int], str],
) -> list[Line]:
    locked = assignment.state == Assignment.State.SUBMITTED
    by_question: dict[str, list[Cell]] = {question.key: [] for question in questions}
    for column in columns:
        answers = {q.key: labels[column.pk, q.pk] for q in questions if (column.pk, q.pk) in labels}
        asked = {question.key for question in spec.asked(answers)}
        presets = spec.presets(column.facets)
        for question in questions:
            question_spec = spec.question(question.key)
            answer, preset = answers.get(question.key), presets.get(question.key)
            by_question[question.key].append(
                Cell(
                    assignment_id=assignment.pk,
                    column_id=column.pk,
                    question_id=question.pk,
                    option=question_spec.option(answer) if answer else None,
                    asked=question.key in asked,
                    preset=question_spec.option(preset) if preset and not answer else None,
                    locked=locked,
                )
            )
    return [
        Line(assignment, question, spec.question(question.key), tuple(by_question[question.key]), position == 0)
        for position, question in enumerate(questions)
    ]


def open_cells(assignment: Assignment) -> list[str]:
    """The cells that this assignment still owes an answer, as "column (question)". Five queries."""
    whole = grid(assignment.row.sheet, Assignment.objects.filter(pk=assignment.pk))
    return [
        f"{column.name} ({line.question.title})" if len(table.questions) > 1 else column.name
        for table in whole.tables
        for line in table.lines
        for column, cell in zip(table.columns, line.cells, strict=True)
        if cell.open
    ]


# --- progress -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SheetProgress:
    sheet: Sheet
    rows: int
    submitted: int
    started: int
    labels: int


def my_sheets(user: User) -> list[SheetProgress]:
    """The sheets on which `user` has work, by study and position. Four queries."""
    return _progress(Assignment.objects.of_user(user))


def _progress(assignments: QuerySet[Assignment]) -> list[SheetProgress]:
    counts = {
        item["row__sheet"]: item
        for item in assignments.values("row__sheet")
        .annotate(
            rows=Count("pk"),
            submitted=Count("pk", filter=Q(state=Assignment.State.SUBMITTED)),
            started=Count("pk", filter=Q(state=Assignment.State.STARTED)),
        )
        .order_by()
    }
    labels = dict(
        Label.objects.filter(assignment__in=assignments)
        .values_list("assignment__row__sheet")
        .annotate(n=Count("pk"))
        .order_by()
    )
    sheets = list(Sheet.objects.filter(pk__in=counts).order_by("study__title", "position"))
    # One object a study, so that its scheme is read and checked once, however many sheets it has.
    studies = Study.objects.select_related("scheme").in_bulk({sheet.study_id for sheet in sheets})
    for sheet in sheets:
        sheet.study = studies[sheet.study_id]
    return [
        SheetProgress(
            sheet=sheet,
            rows=counts[sheet.pk]["rows"],
            submitted=counts[sheet.pk]["submitted"],
            started=counts[sheet.pk]["started"],
            labels=labels.get(sheet.pk, 0),
        )
        for sheet in sheets
    ]


@dataclass(frozen=True)
class RaterProgress:
    rater: Rater
    rows: int
    submitted: int
    failed: int
    labels: int


def rater_progress(study: Study) -> list[RaterProgress]:
    """How far each rater is, people first. Three queries."""
    labels = dict(
        Label.objects.filter(assignment__rater__study=study)
        .values_list("assignment__rater")
        .annotate(n=Count("pk"))
        .order_by()
    )
    states: dict[int, Counter[str]] = defaultdict(Counter)
    given = Assignment.objects.filter(rater__study=study).exclude(state=Assignment.State.WITHDRAWN)
    counted = given.values_list("rater", "state").annotate(n=Count("pk"))
    for rater_id, state, n in counted.order_by():
        states[rater_id][state] = n
    return [
        RaterProgress(
            rater=rater,
            rows=states[rater.pk].total(),
            submitted=states[rater.pk][Assignment.State.SUBMITTED],
            failed=states[rater.pk][Assignment.State.FAILED],
            labels=labels.get(rater.pk, 0),
        )
        for rater in study.raters.order_by("-kind", "code")
    ]


def sheets_with_counts(study: Study) -> QuerySet[Sheet]:
    """Sheets with `n_rows`, `n_columns` and `n_people` (raters assigned). One query."""

    def counted(queryset: QuerySet[Row] | QuerySet[Column]) -> Coalesce:
        of_sheet = queryset.filter(sheet=OuterRef("pk")).order_by().values("sheet").annotate(n=Count("pk"))
        return Coalesce(Subquery(of_sheet.values("n")), 0)

    people = Count(
        "rows__assignments__rater",
        distinct=True,
        filter=Q(rows__assignments__rater__kind=Rater.Kind.PERSON)
        & ~Q(rows__assignments__state=Assignment.State.WITHDRAWN),
    )
    return (
        study.sheets.annotate(n_people=people)
        .annotate(n_rows=counted(Row.objects.all()), n_columns=counted(Column.objects.all()))
        .order_by("position")
    )


def _free() -> QuerySet[Row]:
    """Rows that nobody works on who is active and has a login."""
    at_work = Assignment.objects.filter(
        row=OuterRef("pk"), rater__kind=Rater.Kind.PERSON, rater__active=True, rater__user__isnull=False
    ).exclude(state=Assignment.State.WITHDRAWN)
    return Row.objects.filter(~Exists(at_work))


def sheets_to_plan(study: Study) -> QuerySet[Sheet]:
    """Sheets with free rows, with `n_rows` and `n_free`. One query."""

    def counted(rows: QuerySet[Row]) -> Coalesce:
        of_sheet = rows.filter(sheet=OuterRef("pk")).order_by().values("sheet").annotate(n=Count("pk"))
        return Coalesce(Subquery(of_sheet.values("n")), 0)

    return (
        study.sheets.annotate(n_rows=counted(Row.objects.all()), n_free=counted(_free()))
        .filter(n_free__gt=0)
        .order_by("position")
    )


def free_rows(sheets: Iterable[Sheet]) -> dict[int, list[int]]:
    """Sheet -> its free rows in their order, for sheets that have any. One query."""
    rows: dict[int, list[int]] = defaultdict(list)
    of_sheets = _free().filter(sheet__in=[sheet.pk for sheet in sheets]).order_by("sheet_id", "position")
    for sheet_id, pk in of_sheets.values_list("sheet_id", "pk"):
        rows[sheet_id].append(pk)
    return dict(rows)


def unfinished(study: Study) -> dict[int, int]:
    """User -> how many assignments removing them from the study withdraws. One query."""
    states = [Assignment.State.OPEN, Assignment.State.STARTED]
    counts = Assignment.objects.filter(rater__study=study, rater__user__isnull=False, state__in=states)
    return dict(counts.values_list("rater__user").annotate(n=Count("pk")).order_by())


def labels_a_row(sheets: Iterable[Sheet]) -> dict[int, int]:
    """Sheet -> how many cells one rater meets in one row of it. One query."""
    counts = (
        Column.objects.filter(sheet__in=[sheet.pk for sheet in sheets])
        .values_list("sheet")
        .annotate(n=Count("section__questions"))
        .order_by()
    )
    return dict(counts)
