"""The lens: a sheet with every rater's label in each cell, and in what way they differ. Reads only."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from django.db.models import F, Q
from django.db.models.fields.json import KT
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.models import Assignment, Column, Label, Note, Question, Rater, Row, Section, Sheet, Skip, Study
from annotation.scheme import OptionSpec, SectionSpec

# A judge that chose by less than this is unsure: 0.5 nat makes the winner 1.6 times as probable as the next option.
UNSURE_BELOW_NATS = 0.5


class Kind(StrEnum):
    """In what way a cell is worth a look. A cell can be of several kinds."""

    PEOPLE = "people"
    JUDGE = "judge"
    UNSURE = "unsure"
    NOTED = "noted"
    DECIDED = "decided"


TITLES: Mapping[Kind, Promise] = {
    Kind.PEOPLE: _("People differ"),
    Kind.JUDGE: _("Judge differs"),
    Kind.UNSURE: _("Judge unsure"),
    Kind.NOTED: pgettext_lazy("cells", "Noted"),
    Kind.DECIDED: pgettext_lazy("cells", "Decided"),
}


class Said(NamedTuple):
    """What one rater says of a cell. `code` carries the repeat where that is not the first."""

    code: str
    option: OptionSpec | None
    asked: bool
    unsure: bool
    skipped: bool


@dataclass(frozen=True, slots=True)
class LensCell:
    row_id: int
    column_id: int
    question_id: int
    people: tuple[Said, ...]
    judges: tuple[Said, ...]
    gold: OptionSpec | None
    noted: bool

    @property
    def id(self) -> str:
        return f"c-{self.row_id}-{self.column_id}-{self.question_id}"

    @property
    def asked(self) -> bool:
        """Whether anybody is asked; a rule may have switched the question off for all."""
        return any(said.asked for said in (*self.people, *self.judges)) or not (self.people or self.judges)

    @property
    def by_people(self) -> set[str]:
        """Keys of the options that people chose."""
        return {said.option.key for said in self.people if said.option}

    @property
    def differing_judges(self) -> tuple[str, ...]:
        """Codes of the judges that say something else than the people, who agree."""
        by_people = self.by_people
        if len(by_people) != 1:
            return ()
        return tuple(said.code for said in self.judges if said.option and said.option.key not in by_people)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(
            kind
            for kind, holds in (
                (Kind.PEOPLE, len(self.by_people) > 1),
                (Kind.JUDGE, bool(self.differing_judges)),
                (Kind.UNSURE, any(said.unsure for said in self.judges)),
                (Kind.NOTED, self.noted or any(said.skipped for said in self.people)),
                (Kind.DECIDED, self.gold is not None),
            )
            if holds
        )

    @property
    def labels(self) -> dict[str, str]:
        """Rater code -> option key, of those who answered."""
        return {said.code: said.option.key for said in (*self.people, *self.judges) if said.option}


class Line(NamedTuple):
    """One question of one row; `people` has the row's slots, in the order of each cell's."""

    row: Row
    question: Question
    people: tuple[Assignment, ...]
    cells: tuple[LensCell, ...]
    first: bool


@dataclass(frozen=True)
class Table:
    section: Section
    spec: SectionSpec
    columns: tuple[Column, ...]
    questions: tuple[Question, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Lens:
    """All that everybody says of a sheet. `judges` are codes, in the order of each cell's judges."""

    sheet: Sheet
    judges: tuple[str, ...]
    tables: tuple[Table, ...]

    @property
    def cells(self) -> Iterator[LensCell]:
        return (cell for table in self.tables for line in table.lines for cell in line.cells)

    def counts(self) -> list[tuple[Table, Question, Counter[str]]]:
        """How many cells of each kind a question has; `judge:<code>` counts those of one judge, `cells` all."""
        counted = []
        for table in self.tables:
            for question in table.questions:
                counts = Counter[str]()
                for line in table.lines:
                    if line.question.pk == question.pk:
                        for cell in line.cells:
                            counts["cells"] += cell.asked
                            counts.update(str(kind) for kind in cell.kinds)
                            counts.update(f"judge:{code}" for code in cell.differing_judges)
                counted.append((table, question, counts))
        return counted


def gold_rater(study: Study) -> Rater | None:
    """Whose labels the gold of a study are: its first rater of that kind. One query."""
    return study.raters.filter(kind=Rater.Kind.GOLD).order_by("pk").first()


def of_sheet(sheet: Sheet, *, rows: Collection[int] | None = None, columns: Collection[int] | None = None) -> Lens:
    """What everybody says of a sheet, or of some rows and columns of it. Withdrawn work is left out.

    Nine queries, however many cells and raters.
    """
    of_rows = sheet.rows.defer("evidence").order_by("position")
    of_columns = sheet.columns.order_by("position")
    cells = Q(assignment__row__sheet=sheet)
    if rows is not None:
        of_rows, cells = of_rows.filter(pk__in=rows), cells & Q(assignment__row__in=rows)
    if columns is not None:
        of_columns, cells = of_columns.filter(pk__in=columns), cells & Q(column__in=columns)
    work = _Work(sheet, list(of_rows))
    work.read(cells & ~Q(assignment__state=Assignment.State.WITHDRAWN))
    by_section: dict[int, list[Column]] = defaultdict(list)
    for column in of_columns:
        by_section[column.section_id].append(column)
    scheme = sheet.study.scheme
    tables = [
        Table(
            section,
            spec := scheme.parsed.section(section.key),
            tuple(by_section[section.pk]),
            questions := tuple(section.questions.all()),
            tuple(line for row in work.rows for line in work.lines(row, section, spec, questions, by_section)),
        )
        for section in scheme.sections.prefetch_related("questions")
        if by_section[section.pk]
    ]
    return Lens(sheet, work.judge_codes, tuple(table for table in tables if table.lines))


def _code(rater: Rater, repeat: int) -> str:
    return rater.code if repeat == 1 else f"{rater.code} ({repeat})"


class _Work:
    """The assignments and labels of some rows, in the shape that cells are made of."""

    def __init__(self, sheet: Sheet, rows: list[Row]) -> None:
        self.rows = rows
        self.gold = gold_rater(sheet.study)
        self.people: dict[int, list[Assignment]] = defaultdict(list)
        self.judges: dict[int, dict[str, Assignment]] = defaultdict(dict)
        self.golds: dict[int, Assignment] = {}
        codes: dict[str, None] = {}
        assignments = (
            Assignment.objects.filter(row__sheet=sheet)
            .exclude(state=Assignment.State.WITHDRAWN)
            .select_related("rater")
            .order_by("rater__code", "repeat")
        )
        for assignment in assignments:
            rater = assignment.rater
            if rater.kind == Rater.Kind.PERSON:
                self.people[assignment.row_id].append(assignment)
            elif rater.kind == Rater.Kind.JUDGE:
                code = _code(rater, assignment.repeat)
                self.judges[assignment.row_id][code] = assignment
                codes[code] = None
            elif self.gold and rater.pk == self.gold.pk:
                self.golds[assignment.row_id] = assignment
        self.judge_codes = tuple(codes)
        # assignment -> column -> question -> option key, or None for a skip; and whether a judge was unsure
        self.answers: dict[int, dict[int, dict[int, tuple[str | None, bool]]]] = {}
        self.noted: set[tuple[int, int, int]] = set()  # row, column, question
        self._seen: dict[tuple[object, ...], list[Said]] = {}

    def read(self, cells: Q) -> None:
        labels = Label.objects.filter(cells).annotate(
            margin=KT("scores__margin_nats"), rater=F("assignment__rater__kind")
        )
        for assignment, row, column, question, option, margin, note, kind in labels.values_list(
            "assignment_id", "assignment__row_id", "column_id", "question_id", "option__key", "margin", "note", "rater"
        ).order_by():
            unsure = margin is not None and float(margin) < UNSURE_BELOW_NATS
            self.answers.setdefault(assignment, {}).setdefault(column, {})[question] = (option, unsure)
            # A judge gives its grounds with every label; what stands out is that a person had something to say.
            if note and kind == Rater.Kind.PERSON:
                self.noted.add((row, column, question))
        notes = Note.objects.filter(cells).order_by()
        self.noted |= set(notes.values_list("assignment__row_id", "column_id", "question_id"))
        skips = Skip.objects.filter(cells).order_by()
        for assignment, column, question in skips.values_list("assignment_id", "column_id", "question_id"):
            self.answers.setdefault(assignment, {}).setdefault(column, {})[question] = (None, False)

    def lines(
        self,
        row: Row,
        section: Section,
        spec: SectionSpec,
        questions: tuple[Question, ...],
        columns: Mapping[int, list[Column]],
    ) -> Iterator[Line]:
        people = [assignment for assignment in self.people[row.pk] if assignment.asks(section)]
        codes = tuple(_code(assignment.rater, assignment.repeat) for assignment in people)
        judges = [
            (code, assignment if assignment and assignment.asks(section) else None)
            for code in self.judge_codes
            for assignment in [self.judges[row.pk].get(code)]
        ]
        ids = [question.pk for question in questions]
        of_question: list[list[LensCell]] = [[] for _question in questions]
        gold = self.golds.get(row.pk)
        for column in columns[section.pk]:
            column_id = column.pk
            of_people = [self._said(c, a, column_id, spec, ids) for c, a in zip(codes, people, strict=True)]
            of_judges = [self._said(c, a, column_id, spec, ids) for c, a in judges]
            decided = self._said("", gold, column_id, spec, ids)
            for place, question_id in enumerate(ids):
                of_question[place].append(
                    LensCell(
                        row_id=row.pk,
                        column_id=column_id,
                        question_id=question_id,
                        people=tuple([said[place] for said in of_people]),
                        judges=tuple([said[place] for said in of_judges]),
                        gold=decided[place].option,
                        noted=(row.pk, column_id, question_id) in self.noted,
                    )
                )
        for place, question in enumerate(questions):
            yield Line(row, question, tuple(people), tuple(of_question[place]), place == 0)

    def _said(
        self, code: str, assignment: Assignment | None, column_id: int, spec: SectionSpec, ids: Sequence[int]
    ) -> list[Said]:
        """What an assignment says of a column, a `Said` a question; `ids` are of the questions."""
        answers = self.answers.get(assignment.pk, {}).get(column_id, {}) if assignment else {}
        # The same few combinations of answers come thousands of times.
        key = (code, spec.key, assignment is None, *map(answers.get, ids))
        if key not in self._seen:
            self._seen[key] = _said(code, spec, [answers.get(pk) for pk in ids], asked=assignment is not None)
        return self._seen[key]


def _said(
    code: str, spec: SectionSpec, answers: Sequence[tuple[str | None, bool] | None], *, asked: bool
) -> list[Said]:
    chosen = {
        question.key: answer[0]
        for question, answer in zip(spec.questions, answers, strict=True)
        if answer and answer[0]
    }
    of_rules = {question.key for question in spec.asked(chosen)} if asked else set()
    return [
        Said(
            code,
            question.option(chosen[question.key]) if question.key in chosen else None,
            asked=question.key in of_rules,
            unsure=answer is not None and answer[1],
            skipped=answer is not None and answer[0] is None,
        )
        for question, answer in zip(spec.questions, answers, strict=True)
    ]


# --- what everybody agrees on ---------------------------------------------------------------------------------------


class Agreed(NamedTuple):
    row_id: int
    column_id: int
    question_id: int
    option: str
    seen: Mapping[str, str]


def agreed(lens: Lens, *, judges: bool) -> list[Agreed]:
    """Cells without a decision in which at least two people answered, and all of them the same.

    With `judges`, those that answered say so too. What the gold's other answers of the column switch off is left out.
    """
    found = []
    for table in lens.tables:
        by_column: dict[tuple[int, int], list[LensCell]] = defaultdict(list)
        for line in table.lines:
            for cell in line.cells:
                by_column[cell.row_id, cell.column_id].append(cell)
        keys = {question.pk: question.key for question in table.questions}
        for cells in by_column.values():
            gold = {keys[cell.question_id]: cell.gold.key for cell in cells if cell.gold}
            for cell in cells:
                if cell.gold is not None or not _is_agreed(cell, judges=judges):
                    continue
                [option] = cell.by_people
                if keys[cell.question_id] in {question.key for question in table.spec.asked(gold)}:
                    gold[keys[cell.question_id]] = option
                    found.append(Agreed(cell.row_id, cell.column_id, cell.question_id, option, cell.labels))
    return found


def _is_agreed(cell: LensCell, *, judges: bool) -> bool:
    answers = [said.option.key for said in cell.people if said.option]
    return len(answers) > 1 and len(set(answers)) == 1 and not (judges and cell.differing_judges)


def digest(things: Iterable[object]) -> str:
    """A short name of what somebody was shown, to know later whether it is still the same."""
    return hashlib.sha256("\n".join(map(str, things)).encode()).hexdigest()[:32]
