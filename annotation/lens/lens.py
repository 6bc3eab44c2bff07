"""The lens: a sheet with every rater's label in each cell, and in what way they differ. Reads only."""

from __future__ import annotations

import hashlib
import json
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

from annotation.answers import AnswerRefused, Value, kind_of, value_code
from annotation.answers.base import cut
from annotation.answers.codes import VALUE
from annotation.answers.table import warnings
from annotation.models import Assignment, Column, Label, Note, Question, Rater, Row, Section, Sheet, Skip, Study
from annotation.scheme.spec import Kind as QuestionKind
from annotation.scheme.spec import QuestionSpec, SectionSpec, facet_word

# A judge that chose by less than this is unsure: 0.5 nat makes the winner 1.6 times as probable as the next option.
UNSURE_BELOW_NATS = 0.5
_MOST_SHOWN = 120  # characters of a text in a cell


class Kind(StrEnum):
    """In what way a cell is worth a look. A cell can be of several kinds."""

    PEOPLE = "people"
    JUDGE = "judge"
    UNSURE = "unsure"
    WARNED = "warned"
    DRAFT = "draft"
    NOTED = "noted"
    DECIDED = "decided"


TITLES: Mapping[Kind, Promise] = {
    Kind.PEOPLE: _("People differ"),
    Kind.JUDGE: _("Judge differs"),
    Kind.UNSURE: _("Judge unsure"),
    Kind.WARNED: _("With warnings"),
    Kind.DRAFT: _("Drafts"),
    Kind.NOTED: pgettext_lazy("cells", "Noted"),
    Kind.DECIDED: pgettext_lazy("cells", "Decided"),
}


class Answered(NamedTuple):
    """An answer as the lens draws and compares it: two are the same where their `key` is.

    `sign` has at most three characters; `word` is what the scheme's rules know it by; `text` is that of an answer which
    is a text, of which as much is shown as there is room for. Answers that are values are grey.
    """

    code: str
    key: str
    sign: str
    colour: str
    word: str
    text: str = ""


def answered(spec: QuestionSpec, code: str) -> Answered:
    """An answer out of the code that was stored; one that the scheme has no more is compared as it stands."""
    if spec.has_options:
        option = spec.option(code)
        return Answered(code, code, option.sign, option.colour, code)
    kind = kind_of(spec)
    try:
        value = kind.value(spec, code)
    except AnswerRefused:
        return Answered(code, code, "!", "grey", ":")
    text = cut(kind.shown(spec, value), _MOST_SHOWN) if spec.kind == QuestionKind.TEXT else ""
    return Answered(code, kind.key(spec, value), kind.sign(spec, value), "grey", spec.word(code), text)


class Said(NamedTuple):
    """What one rater says of a cell. `code` carries the repeat where that is not the first.

    `warned`: what the scheme warns of in the answer. `draft`: it is another rater's, and not confirmed.
    """

    code: str
    answer: Answered | None
    asked: bool
    unsure: bool
    skipped: bool
    warned: tuple[str, ...]
    draft: bool

    @property
    def own(self) -> Answered | None:
        """The answer that this rater stands by: none while it is another's, and not confirmed."""
        return None if self.draft else self.answer


@dataclass(frozen=True, slots=True)
class LensCell:
    row_id: int
    column_id: int
    question_id: int
    people: tuple[Said, ...]
    judges: tuple[Said, ...]
    gold: Answered | None
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
        """What people answered, as it is compared: an option by its key, a value by `AnswerKind.key`."""
        return {answer.key for said in self.people if (answer := said.own)}

    @property
    def differing_judges(self) -> tuple[str, ...]:
        """Codes of the judges that say something else than the people, who agree."""
        by_people = self.by_people
        if len(by_people) != 1:
            return ()
        return tuple(said.code for said in self.judges if said.answer and said.answer.key not in by_people)

    @property
    def warned(self) -> tuple[str, ...]:
        """Codes of those whose answer the scheme warns of."""
        return tuple(said.code for said in (*self.people, *self.judges) if said.warned)

    @property
    def drafts(self) -> tuple[str, ...]:
        """Codes of those whose answer is a draft that waits for them."""
        return tuple(said.code for said in self.people if said.draft)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(
            kind
            for kind, holds in (
                (Kind.PEOPLE, len(self.by_people) > 1),
                (Kind.JUDGE, bool(self.differing_judges)),
                (Kind.UNSURE, any(said.unsure for said in self.judges)),
                (Kind.WARNED, bool(self.warned)),
                (Kind.DRAFT, bool(self.drafts)),
                (Kind.NOTED, self.noted or any(said.skipped for said in self.people)),
                (Kind.DECIDED, self.gold is not None),
            )
            if holds
        )

    @property
    def labels(self) -> dict[str, str]:
        """Rater code -> code of the answer, of those who answered."""
        return {said.code: said.answer.code for said in (*self.people, *self.judges) if said.answer}


class LensLine(NamedTuple):
    """One question of one row; `people` has the row's slots, in the order of each cell's."""

    row: Row
    question: Question
    people: tuple[Assignment, ...]
    cells: tuple[LensCell, ...]
    first: bool


@dataclass(frozen=True)
class LensTable:
    section: Section
    spec: SectionSpec
    columns: tuple[Column, ...]
    questions: tuple[Question, ...]
    lines: tuple[LensLine, ...]

    @property
    def has_texts(self) -> bool:
        return any(question.kind == QuestionKind.TEXT for question in self.spec.questions)


@dataclass(frozen=True)
class Lens:
    """All that everybody says of a sheet. `judges` are codes, in the order of each cell's judges; `raters` those of
    people, then of judges, and `raters_of` says who has a row. `facets`: row -> facet -> what it says as one text,
    hidden facets too."""

    sheet: Sheet
    judges: tuple[str, ...]
    raters: tuple[str, ...]
    raters_of: Mapping[int, Collection[str]]
    facets: Mapping[int, Mapping[str, str]]
    tables: tuple[LensTable, ...]

    @property
    def cells(self) -> Iterator[LensCell]:
        return (cell for table in self.tables for line in table.lines for cell in line.cells)

    def counts(self) -> list[tuple[LensTable, Question, Counter[str]]]:
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

    Nine queries, however many cells and raters; ten of some rows.
    """
    of_rows = sheet.rows.defer("evidence").order_by("position")
    all_columns = list(sheet.columns.order_by("position"))
    cells = Q(assignment__row__sheet=sheet)
    if rows is not None:
        of_rows, cells = of_rows.filter(pk__in=rows), cells & Q(assignment__row__in=rows)
    scheme = sheet.study.scheme
    sections = list(scheme.sections.prefetch_related("questions"))
    specs = {section.pk: scheme.parsed.section(section.key) for section in sections}
    # A check looks at other columns, too.
    if columns is not None and not any(spec.checks for spec in specs.values()):
        cells &= Q(column__in=columns)
    work = _Work(sheet, list(of_rows), some=rows is not None)
    work.read(cells & ~Q(assignment__state=Assignment.State.WITHDRAWN))
    work.warn([(section, specs[section.pk]) for section in sections], all_columns)
    by_section: dict[int, list[Column]] = defaultdict(list)
    for column in all_columns:
        if columns is None or column.pk in columns:
            by_section[column.section_id].append(column)
    tables = [
        LensTable(
            section,
            spec := specs[section.pk],
            tuple(by_section[section.pk]),
            questions := tuple(section.questions.all()),
            tuple(line for row in work.rows for line in work.lines(row, section, spec, questions, by_section)),
        )
        for section in sections
        if by_section[section.pk]
    ]
    facets = {row.pk: {name: facet_word(said) for name, said in row.facets.items()} for row in work.rows}
    return Lens(
        sheet,
        work.judge_codes,
        raters=(*work.people_codes, *work.judge_codes),
        raters_of={row.pk: work.raters_of(row) for row in work.rows},
        facets=facets,
        tables=tuple(table for table in tables if table.lines),
    )


def code_of(rater: Rater, repeat: int) -> str:
    return rater.code if repeat == 1 else f"{rater.code} ({repeat})"


class _Given(NamedTuple):
    """What stands in a cell. `code`: of the answer, None for a skip."""

    code: str | None
    unsure: bool = False
    draft: bool = False
    warned: tuple[str, ...] = ()


class _Work:
    """The assignments and labels of some rows, in the shape that cells are made of."""

    def __init__(self, sheet: Sheet, rows: list[Row], *, some: bool) -> None:
        self.rows = rows
        self.gold = gold_rater(sheet.study)
        self.people: dict[int, list[Assignment]] = defaultdict(list)
        self.judges: dict[int, dict[str, Assignment]] = defaultdict(dict)
        self.golds: dict[int, Assignment] = {}
        codes: dict[str, None] = {}
        live = Assignment.objects.filter(row__sheet=sheet).exclude(state=Assignment.State.WITHDRAWN)
        if some:
            # A judge has its place in every cell, also where it has none of these rows.
            judges = live.filter(rater__kind=Rater.Kind.JUDGE).order_by("rater__code", "repeat")
            for named, repeat in judges.values_list("rater__code", "repeat").distinct():
                codes[code_of(Rater(code=named), repeat)] = None
            live = live.filter(row__in=rows)
        for assignment in live.select_related("rater").order_by("rater__code", "repeat"):
            rater = assignment.rater
            if rater.kind == Rater.Kind.PERSON:
                self.people[assignment.row_id].append(assignment)
            elif rater.kind == Rater.Kind.JUDGE:
                code = code_of(rater, assignment.repeat)
                self.judges[assignment.row_id][code] = assignment
                codes[code] = None
            elif self.gold and rater.pk == self.gold.pk:
                self.golds[assignment.row_id] = assignment
        self.judge_codes = tuple(codes)
        mine = [assignment for of_row in self.people.values() for assignment in of_row]
        self.people_codes = tuple(sorted({code_of(assignment.rater, assignment.repeat) for assignment in mine}))
        # assignment -> column -> question -> what stands there
        self.answers: dict[int, dict[int, dict[int, _Given]]] = {}
        self.noted: set[tuple[int, int, int]] = set()  # row, column, question
        self._seen: dict[tuple[object, ...], list[Said]] = {}

    def read(self, cells: Q) -> None:
        labels = Label.objects.filter(cells).annotate(
            margin=KT("scores__margin_nats"), rater=F("assignment__rater__kind")
        )
        place = ("assignment_id", "assignment__row_id", "column_id", "question_id")
        for (
            assignment,
            row,
            column,
            question,
            option,
            value,
            margin,
            note,
            kind,
            drafted,
            confirmed,
        ) in labels.values_list(
            *place, "option__key", "value", "margin", "note", "rater", "drafted_from_id", "confirmed_at"
        ).order_by():
            unsure = margin is not None and float(margin) < UNSURE_BELOW_NATS
            code = option if option is not None else value_code(value)
            given = _Given(code, unsure, drafted is not None and confirmed is None)
            self.answers.setdefault(assignment, {}).setdefault(column, {})[question] = given
            # A judge gives its grounds with every label; what stands out is that a person had something to say.
            if note and kind == Rater.Kind.PERSON:
                self.noted.add((row, column, question))
        notes = Note.objects.filter(cells).order_by()
        self.noted |= set(notes.values_list("assignment__row_id", "column_id", "question_id"))
        skips = Skip.objects.filter(cells).order_by()
        for assignment, column, question in skips.values_list("assignment_id", "column_id", "question_id"):
            self.answers.setdefault(assignment, {}).setdefault(column, {})[question] = _Given(None)

    def warn(self, sections: Iterable[tuple[Section, SectionSpec]], columns: Iterable[Column]) -> None:
        """Hold the answers against what the sections warn of. No query."""
        by_section: dict[int, dict[int, Column]] = defaultdict(dict)
        for one in columns:
            by_section[one.section_id][one.pk] = one
        assignments = [
            (row, assignment)
            for row in self.rows
            for assignment in (*self.people[row.pk], *self.judges[row.pk].values())
            if assignment.pk in self.answers
        ]
        for section, spec in sections:
            if spec.never_warns:
                continue
            of_section = by_section[section.pk]
            specs = {question.pk: spec.question(question.key) for question in section.questions.all()}
            facets = {one.position: one.facets for one in of_section.values()}
            for row, assignment in assignments:
                given = self.answers[assignment.pk]
                places = {
                    (of_section[column].position, specs[question].key): (column, question)
                    for column in given.keys() & of_section.keys()
                    for question, answer in given[column].items()
                    if answer.code is not None
                }
                table = {
                    place: _stored(specs[question], given[column][question].code or "")
                    for place, (column, question) in places.items()
                }
                for place, said in warnings(spec, table, row=row.facets, columns=facets).items():
                    column, question = places[place]
                    given[column][question] = given[column][question]._replace(warned=tuple(said))

    def raters_of(self, row: Row) -> list[str]:
        people = [code_of(assignment.rater, assignment.repeat) for assignment in self.people[row.pk]]
        return [*people, *self.judges[row.pk]]

    def lines(
        self,
        row: Row,
        section: Section,
        spec: SectionSpec,
        questions: tuple[Question, ...],
        columns: Mapping[int, list[Column]],
    ) -> Iterator[LensLine]:
        people = [assignment for assignment in self.people[row.pk] if assignment.asks(section)]
        codes = tuple(code_of(assignment.rater, assignment.repeat) for assignment in people)
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
                        gold=decided[place].answer,
                        noted=(row.pk, column_id, question_id) in self.noted,
                    )
                )
        for place, question in enumerate(questions):
            yield LensLine(row, question, tuple(people), tuple(of_question[place]), place == 0)

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


def _said(code: str, spec: SectionSpec, answers: Sequence[_Given | None], *, asked: bool) -> list[Said]:
    given = {
        question.key: answered(question, answer.code)
        for question, answer in zip(spec.questions, answers, strict=True)
        if answer and answer.code
    }
    words = {key: answer.word for key, answer in given.items()}
    of_rules = {question.key for question in spec.asked(words)} if asked else set()
    return [
        Said(
            code,
            given.get(question.key),
            asked=question.key in of_rules,
            unsure=answer is not None and answer.unsure,
            skipped=answer is not None and answer.code is None,
            warned=answer.warned if answer else (),
            draft=answer is not None and answer.draft,
        )
        for question, answer in zip(spec.questions, answers, strict=True)
    ]


def _stored(spec: QuestionSpec, code: str) -> Value:
    """The value behind a stored code, as it stands, whether or not the scheme would take it by now."""
    value: Value = code if spec.has_options else json.loads(code.removeprefix(VALUE))
    return value


# --- what everybody agrees on ---------------------------------------------------------------------------------------


class Agreed(NamedTuple):
    row_id: int
    column_id: int
    question_id: int
    code: str
    seen: Mapping[str, str]


def agreed(lens: Lens, *, judges: bool) -> list[Agreed]:
    """Cells without a decision in which at least two people answered, and all of them the same. A draft that waits is
    no answer yet, and who labels a row several times is one.

    A value is taken as most of them wrote it, else as the first of them did, in the order of their codes. With
    `judges`, those that answered say so too. What the gold's other answers of the column switch off is left out.
    """
    found = []
    for table in lens.tables:
        by_column: dict[tuple[int, int], list[LensCell]] = defaultdict(list)
        raters = {line.row.pk: [assignment.rater_id for assignment in line.people] for line in table.lines}
        for line in table.lines:
            for cell in line.cells:
                by_column[cell.row_id, cell.column_id].append(cell)
        keys = {question.pk: question.key for question in table.questions}
        for cells in by_column.values():
            gold = {keys[cell.question_id]: cell.gold.word for cell in cells if cell.gold}
            for cell in cells:
                if cell.gold is not None or not _is_agreed(cell, raters[cell.row_id], judges=judges):
                    continue
                [(answer, _n)] = Counter(answer for said in cell.people if (answer := said.own)).most_common(1)
                if keys[cell.question_id] in {question.key for question in table.spec.asked(gold)}:
                    gold[keys[cell.question_id]] = answer.word
                    found.append(Agreed(cell.row_id, cell.column_id, cell.question_id, answer.code, cell.labels))
    return found


def _is_agreed(cell: LensCell, raters: Sequence[int], *, judges: bool) -> bool:
    """`raters`: who has each of the cell's places."""
    answered_by = {rater for said, rater in zip(cell.people, raters, strict=True) if said.own}
    return len(answered_by) > 1 and len(cell.by_people) == 1 and not (judges and cell.differing_judges)


def digest(things: Iterable[object]) -> str:
    """A short name of what somebody was shown, to know later whether it is still the same."""
    return hashlib.sha256("\n".join(map(str, things)).encode()).hexdigest()[:32]
