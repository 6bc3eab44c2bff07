"""What raters are told of their own work once a sheet is closed: where their answers are not the gold's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.answers import entries_of_code, value_code
from annotation.lens.lens import answered
from annotation.models import Assignment, Column, Label, Question, Rater, Sheet, Skip, User
from annotation.scheme import rules
from annotation.scheme.spec import OptionSpec, QuestionSpec, SchemeSpec


@dataclass(frozen=True)
class Answer:
    """One answer in words: an option, or a value as a list of what it holds."""

    spec: QuestionSpec
    code: str
    note: str = ""

    @property
    def option(self) -> OptionSpec | None:
        return self.spec.option(self.code) if self.spec.has_options else None

    @property
    def entries(self) -> list[str]:
        return [] if self.spec.has_options else entries_of_code(self.spec, self.code)

    @property
    def key(self) -> str:
        """Two answers are the same where this is."""
        return answered(self.spec, self.code).key


@dataclass(frozen=True)
class GoldCell:
    """A cell that has gold, and what its rater answered: None where nothing, with the reason of a skip. Several golds
    may say different things, and any will do."""

    assignment: Assignment
    column: Column
    question: Question
    mine: Answer | None
    skip: str
    golds: tuple[Answer, ...]

    @property
    def is_right(self) -> bool:
        return self.mine is not None and self.mine.key in {gold.key for gold in self.golds}


@dataclass(frozen=True)
class OfQuestion:
    """How many of the answers to the cells of a question that have gold are the gold's."""

    title: str
    right: int
    cells: int

    @property
    def percent(self) -> int:
        return round(100 * self.right / self.cells)


@dataclass(frozen=True)
class OwnResults:
    cells: tuple[GoldCell, ...]

    @property
    def questions(self) -> list[OfQuestion]:
        """Those with a cell that was answered, in the scheme's order."""
        right, cells = Counter[Question](), Counter[Question]()
        for cell in self.cells:
            if cell.mine is not None:
                cells[cell.question] += 1
                right[cell.question] += cell.is_right
        ordered = sorted(cells, key=lambda question: (question.section.position, question.position))
        return [OfQuestion(_title(question), right[question], cells[question]) for question in ordered]

    @property
    def others(self) -> list[GoldCell]:
        """The cells in which the gold says something else, or nothing was answered."""
        return [cell for cell in self.cells if not cell.is_right]


def _title(question: Question) -> str:
    section = question.section.title
    return section if question.title == section else f"{section} · {question.title}"


def own_results(sheet: Sheet, user: User) -> OwnResults:
    """Of the rows that somebody has submitted, in the order of the sheet. What follows from a column by itself is left
    out, and what their own answers switch off. Seven queries."""
    of_user = Assignment.objects.of_user(user).filter(row__sheet=sheet, state=Assignment.State.SUBMITTED)
    mine = list(of_user.select_related("row").defer("row__evidence").order_by("row__position"))
    scheme = sheet.study.scheme
    sections = {section.pk: section for section in scheme.sections.prefetch_related("questions")}
    questions: dict[int, tuple[Question, QuestionSpec]] = {}
    for section in sections.values():
        spec = scheme.parsed.section(section.key)
        for question in section.questions.all():
            question.section = section
            questions[question.pk] = question, spec.question(question.key)
    columns = {column.pk: column for column in sheet.columns.all()}
    place = ("column_id", "question_id")
    said: dict[tuple[int, int, int], Answer] = {}
    found = ("option__key", "value", "note")
    for assignment, column, question, option, value, note in Label.objects.filter(assignment__in=mine).values_list(
        "assignment_id", *place, *found
    ):
        said[assignment, column, question] = _answer(questions[question][1], option, value, note)
    skips = {
        (assignment, column, question): reason
        for assignment, column, question, reason in Skip.objects.filter(assignment__in=mine).values_list(
            "assignment_id", *place, "reason"
        )
    }
    golds: dict[tuple[int, int, int], list[Answer]] = defaultdict(list)
    golden = Label.objects.filter(
        assignment__rater__kind=Rater.Kind.GOLD, assignment__row__in={one.row_id for one in mine}, preset=False
    ).exclude(assignment__state=Assignment.State.WITHDRAWN)
    for row, column, question, option, value, note in golden.order_by("pk").values_list(
        "assignment__row_id", *place, *found
    ):
        golds[row, column, question].append(_answer(questions[question][1], option, value, note))
    return OwnResults(tuple(_cells(scheme.parsed, mine, columns, questions, said, skips, golds)))


def _answer(spec: QuestionSpec, option: str | None, value: object, note: str) -> Answer:
    return Answer(spec, option if option is not None else value_code(value), note)  # type: ignore[arg-type]


def _cells(
    scheme: SchemeSpec,
    mine: Sequence[Assignment],
    columns: dict[int, Column],
    questions: dict[int, tuple[Question, QuestionSpec]],
    said: dict[tuple[int, int, int], Answer],
    skips: dict[tuple[int, int, int], str],
    golds: dict[tuple[int, int, int], list[Answer]],
) -> list[GoldCell]:
    of_row: dict[int, list[tuple[Column, Question, list[Answer]]]] = defaultdict(list)
    for (row, column, question), answers in golds.items():
        of_row[row].append((columns[column], questions[question][0], answers))
    codes: dict[tuple[int, int], dict[str, str]] = defaultdict(dict)  # own answers of a column, by question
    for (assignment_id, column_id, question_id), answer in said.items():
        codes[assignment_id, column_id][questions[question_id][0].key] = answer.code
    cells = []
    for assignment in mine:
        ordered = sorted(
            of_row[assignment.row_id],
            key=lambda one: (one[1].section.position, one[0].position, one[1].position),
        )
        for column_, question_, answers in ordered:
            asked = rules.asked(scheme.section(question_.section.key), codes[assignment.pk, column_.pk])
            if assignment.asks_key(question_.section.key) and question_.key in asked:
                at = (assignment.pk, column_.pk, question_.pk)
                unlike = tuple({answer.key: answer for answer in reversed(answers)}.values())
                cells.append(
                    GoldCell(assignment, column_, question_, said.get(at), skips.get(at, ""), tuple(reversed(unlike)))
                )
    return cells
