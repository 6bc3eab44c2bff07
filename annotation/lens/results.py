"""What raters are told of their own work once a sheet is closed: where their answers are not the gold's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.answers import entries_of_code
from annotation.lens.lens import answered
from annotation.models import Assignment, Column, Label, Question, Rater, Sheet, Skip, User
from annotation.queries.codes import CODE
from annotation.scheme import rules
from annotation.scheme.spec import OptionSpec, QuestionSpec, SectionSpec


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
        return [OfQuestion(question.full_title, right[question], cells[question]) for question in ordered]

    @property
    def others(self) -> list[GoldCell]:
        """The cells in which the gold says something else, or nothing was answered."""
        return [cell for cell in self.cells if not cell.is_right]


def own_results(sheet: Sheet, user: User) -> OwnResults:
    """Of the rows that somebody has submitted, in the order of the sheet. What follows from a column by itself is left
    out, and what their own answers switch off. Nothing while the sheet does not tell its gold. Seven queries."""
    if not sheet.tells_gold:
        return OwnResults(())
    of_user = Assignment.objects.of_user(user).filter(row__sheet=sheet, state=Assignment.State.SUBMITTED)
    mine = list(of_user.select_related("row").defer("row__evidence").order_by("row__position"))
    scheme = sheet.study.scheme
    specs = {section.key: section for section in scheme.parsed.sections}
    questions: dict[int, Question] = {}
    for section in scheme.sections.prefetch_related("questions"):
        for question in section.questions.all():
            question.section = section
            questions[question.pk] = question
    columns = {column.pk: column for column in sheet.columns.all()}
    said: dict[tuple[int, int], dict[int, Answer]] = defaultdict(dict)  # assignment, column -> question
    for assignment_id, column_id, question_id, code, note in _labels(Label.objects.filter(assignment__in=mine)):
        question = questions[question_id]
        said[assignment_id, column_id][question_id] = Answer(_spec(specs, question), code, note)
    skips = {
        (assignment_id, column_id, question_id): reason
        for assignment_id, column_id, question_id, reason in Skip.objects.filter(assignment__in=mine).values_list(
            "assignment_id", "column_id", "question_id", "reason"
        )
    }
    golden = Label.objects.filter(
        assignment__rater__kind=Rater.Kind.GOLD, assignment__row__in={one.row_id for one in mine}, preset=False
    ).exclude(assignment__state=Assignment.State.WITHDRAWN)
    golds: dict[int, dict[tuple[int, int], dict[str, Answer]]] = defaultdict(lambda: defaultdict(dict))  # by row
    for row_id, column_id, question_id, code, note in _labels(golden.order_by("pk"), "assignment__row_id"):
        answer = Answer(_spec(specs, questions[question_id]), code, note)
        golds[row_id][column_id, question_id].setdefault(answer.key, answer)
    cells = []
    for assignment in mine:
        for (column_id, question_id), unlike in golds[assignment.row_id].items():
            column, question = columns[column_id], questions[question_id]
            own = said[assignment.pk, column_id]
            codes = {questions[pk].key: answer.code for pk, answer in own.items()}
            if assignment.asks(question.section) and question.key in rules.asked(specs[question.section.key], codes):
                skip = skips.get((assignment.pk, column_id, question_id), "")
                golden_answers = tuple(unlike.values())
                cells.append(GoldCell(assignment, column, question, own.get(question_id), skip, golden_answers))
    return OwnResults(tuple(sorted(cells, key=_place)))


def _labels(labels: QuerySet[Label], of: str = "assignment_id") -> QuerySet[Label, tuple[int, int, int, str, str]]:
    return labels.annotate(said=CODE).values_list(of, "column_id", "question_id", "said", "note")


def _spec(specs: Mapping[str, SectionSpec], question: Question) -> QuestionSpec:
    return specs[question.section.key].question(question.key)


def _place(cell: GoldCell) -> tuple[int, ...]:
    of = cell.question
    return cell.assignment.row.position, of.section.position, cell.column.position, of.position
