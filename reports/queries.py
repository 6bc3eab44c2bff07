"""Labels as arrays: the only place where statistics meet the database."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from annotation import exports
from annotation.models import Assignment, Column, Label, Option, Question, Rater, Row, Sheet, Study
from annotation.scheme import QuestionSpec, SectionSpec
from reports.stats.answers import Answers, IntArray
from reports.stats.summary import Empty

TOLD_APART = "told_apart"  # no merge; keys of merges hold no underscore


@dataclass(frozen=True)
class Filters:
    """What goes into a report; empty means all. Raters by code, sheets by their primary key.

    `merges`: "section.question" -> key of the merge, or `TOLD_APART`, under which people and judges are compared. A
    question that is not in it goes as the scheme says: people told apart, judges under its judge merge.
    """

    people: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    sheets: tuple[int, ...] = ()
    merges: Mapping[str, str] = field(default_factory=dict)
    submitted_only: bool = False


@dataclass(frozen=True, eq=False)
class QuestionData:
    """One question's answers. People are numbered by their place in `StudyData.people`, sheets by theirs in `.sheets`.

    `selections`: one code a cell that a person was to fill, an option or the reason why it is empty, shape (n_cells,).
    `judges` and `golds`: by code, those that were to answer this question, whether they did or not.
    """

    section: SectionSpec
    spec: QuestionSpec
    people: Answers
    selections: IntArray
    judges: Mapping[str, Answers]
    golds: Mapping[str, Answers]

    @property
    def name(self) -> str:
        return f"{self.section.key}.{self.spec.key}"

    @property
    def blanks(self) -> list[int]:
        """Codes of the options that count as "Not filled in"."""
        return [code for code, option in enumerate(self.spec.options) if option.blank]


@dataclass(frozen=True)
class Work:
    """What a rater was given, as far as the filters let it through, and what came of it."""

    rater: Rater
    rows: int
    submitted: int
    failed: int
    labels: int


@dataclass(frozen=True, eq=False)
class StudyData:
    study: Study
    sheets: tuple[Sheet, ...]
    people: tuple[Rater, ...]
    judges: tuple[Rater, ...]
    golds: tuple[Rater, ...]
    work: tuple[Work, ...]
    questions: tuple[QuestionData, ...]

    @property
    def n_labels(self) -> int:
        return sum(work.labels for work in self.work)

    @property
    def simulated(self) -> tuple[Rater, ...]:
        return tuple(work.rater for work in self.work if work.rater.simulated)


def load(study: Study, filters: Filters) -> StudyData:
    """All labels of a study as arrays. Eight queries, however many labels.

    Left out: withdrawn assignments, and repeats after the first.
    """
    sheets = [sheet for sheet in study.sheets.order_by("position") if not filters.sheets or sheet.pk in filters.sheets]
    raters = sorted(study.raters.all(), key=lambda rater: natural(rater.code))

    def of_kind(kind: Rater.Kind, codes: Sequence[str]) -> tuple[Rater, ...]:
        return tuple(rater for rater in raters if rater.kind == kind and (not codes or rater.code in codes))

    people = of_kind(Rater.Kind.PERSON, filters.people)
    judges = of_kind(Rater.Kind.JUDGE, filters.judges)
    golds = of_kind(Rater.Kind.GOLD, ())
    cells = _Cells(study, sheets, (*people, *judges, *golds), filters)
    return StudyData(
        study=study,
        sheets=tuple(sheets),
        people=people,
        judges=judges,
        golds=golds,
        work=cells.work(),
        questions=tuple(_questions(cells, people, judges, golds)),
    )


class _Cells:
    """The cells that some raters were to fill, and what stands in them.

    A cell is numbered place-of-its-row × number-of-columns + place-of-its-column, so that all raters of one row and
    column meet in one number.
    """

    def __init__(self, study: Study, sheets: Sequence[Sheet], raters: Sequence[Rater], filters: Filters) -> None:
        self.study = study
        self.raters = raters
        sheet_place = {sheet.pk: place for place, sheet in enumerate(sheets)}
        rows = list(Row.objects.filter(sheet__in=[*sheet_place]).order_by("pk").values_list("pk", "sheet_id"))
        row_place = {pk: place for place, (pk, _sheet) in enumerate(rows)}
        self.sheet_of_row = _ints(sheet_place[sheet] for _pk, sheet in rows)

        columns = (
            Column.objects.filter(sheet__in=[*sheet_place]).order_by("pk").values_list("pk", "sheet_id", "section_id")
        )
        column_place: dict[int, int] = {}
        self.columns_of: dict[tuple[int, int], list[int]] = defaultdict(list)  # (sheet place, section) -> places
        for place, (pk, sheet, section) in enumerate(columns):
            column_place[pk] = place
            self.columns_of[sheet_place[sheet], section].append(place)
        self.n_columns = max(len(column_place), 1)

        self.rater_place = {rater.pk: place for place, rater in enumerate(raters)}
        assignments = Assignment.objects.filter(rater__in=[*self.rater_place], row__sheet__in=[*sheet_place], repeat=1)
        assignments = assignments.exclude(state=Assignment.State.WITHDRAWN)
        if filters.submitted_only:
            assignments = assignments.filter(state=Assignment.State.SUBMITTED)
        given = assignments.values_list("pk", "rater_id", "row_id", "sections", "state")
        # What came into the study since the query before is left for the next report.
        entries = [entry for entry in given if entry[2] in row_place]
        assignment_place = {entry[0]: place for place, entry in enumerate(entries)}
        self.rater = _ints(self.rater_place[entry[1]] for entry in entries)
        self.row = _ints(row_place[entry[2]] for entry in entries)
        self.sections = [entry[3] for entry in entries]
        self.states = [entry[4] for entry in entries]

        code_of = dict(Option.objects.filter(question__section__scheme=study.scheme_id).values_list("pk", "position"))
        found: dict[int, list[int]] = defaultdict(list)  # flat: it takes a third of the memory of tuples
        labels = Label.objects.filter(assignment__in=assignments).order_by()
        for assignment, column, question, option in labels.values_list(
            "assignment_id", "column_id", "question_id", "option_id"
        ).iterator(chunk_size=20_000):
            if assignment in assignment_place and column in column_place:
                found[question] += (assignment_place[assignment], column_place[column], code_of[option])
        self._labels = {question: _ints(places).reshape(-1, 3) for question, places in found.items()}

    def labels(self, question: Question) -> IntArray:
        """Shape (n_labels, 3): places of assignment and column, code of the option."""
        return self._labels.get(question.pk, np.zeros((0, 3), dtype=np.int64))

    def asked(self, section: SectionSpec) -> IntArray:
        """Places of the assignments that ask this section."""
        return _ints(place for place, sections in enumerate(self.sections) if not sections or section.key in sections)

    def work(self) -> tuple[Work, ...]:
        n_raters = len(self.raters)
        labels = np.zeros(n_raters, dtype=np.int64)
        for of_question in self._labels.values():
            labels += np.bincount(self.rater[of_question[:, 0]], minlength=n_raters)
        rows = np.bincount(self.rater, minlength=n_raters)
        in_state = Counter(zip(self.rater.tolist(), self.states, strict=True))
        return tuple(
            Work(
                rater=rater,
                rows=int(rows[place]),
                submitted=in_state[place, Assignment.State.SUBMITTED],
                failed=in_state[place, Assignment.State.FAILED],
                labels=int(labels[place]),
            )
            for place, rater in enumerate(self.raters)
        )


def _questions(
    cells: _Cells, people: Sequence[Rater], judges: Sequence[Rater], golds: Sequence[Rater]
) -> Iterator[QuestionData]:
    scheme = cells.study.scheme.parsed
    selections: dict[tuple[str, str], IntArray] = {}
    for question in Question.objects.filter(section__scheme=cells.study.scheme_id).select_related("section"):
        section = scheme.section(question.section.key)
        spec = section.question(question.key)
        asked = cells.asked(section)
        at_work = set(cells.rater[asked].tolist())
        answers = partial(_answers, cells, question, n_options=len(spec.options))
        codes = _selections(cells, question, asked[cells.rater[asked] < len(people)])
        for other, options in spec.ask_unless.items():
            # What was not asked itself switches off what depends on it. All questions of a section have the same cells.
            off = [code for code, option in enumerate(section.question(other).options) if option.key in options]
            off_here = np.isin(selections[section.key, other], [*off, Empty.NOT_ASKED])
            codes[off_here & (codes == Empty.NOT_REACHED)] = Empty.NOT_ASKED
        selections[section.key, spec.key] = codes
        yield QuestionData(
            section=section,
            spec=spec,
            people=answers(people),
            selections=codes,
            judges={judge.code: answers([judge]) for judge in judges if cells.rater_place[judge.pk] in at_work},
            golds={gold.code: answers([gold]) for gold in golds if cells.rater_place[gold.pk] in at_work},
        )


def _answers(cells: _Cells, question: Question, raters: Sequence[Rater], *, n_options: int) -> Answers:
    labels = cells.labels(question)
    rater = cells.rater[labels[:, 0]]
    mine = np.isin(rater, [cells.rater_place[of.pk] for of in raters])
    row = cells.row[labels[mine, 0]]
    return Answers.from_long(
        rater=rater[mine],
        cell=row * cells.n_columns + labels[mine, 1],
        sheet=cells.sheet_of_row[row],
        code=labels[mine, 2],
        n_options=n_options,
    )


def _selections(cells: _Cells, question: Question, assignments: IntArray) -> IntArray:
    """One code for each cell of the assignments: the option, or `NOT_REACHED`."""
    sheet = cells.sheet_of_row[cells.row[assignments]]
    owned = np.sort(
        _ints(
            place * cells.n_columns + column
            for place, of_sheet in zip(assignments.tolist(), sheet.tolist(), strict=True)
            for column in cells.columns_of[of_sheet, question.section_id]
        )
    )
    codes = np.full(owned.size, Empty.NOT_REACHED, dtype=np.int64)
    labels = cells.labels(question)
    labelled = labels[:, 0] * cells.n_columns + labels[:, 1]
    inside = np.isin(labelled, owned)
    codes[np.searchsorted(owned, labelled[inside])] = labels[inside, 2]
    return codes


def _ints(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)


def natural(code: str) -> tuple[tuple[int, int | str], ...]:
    """A2 before A10."""
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", code) if part)


def labels(study: Study, filters: Filters) -> Iterator[tuple[str, ...]]:
    """The labels that the filters let through, one by one, all repeats, as `annotation.exports` writes them.

    Two queries, read in parts.
    """
    titles = set(study.sheets.filter(pk__in=filters.sheets).values_list("title", flat=True))
    sheet, rater, kind, state = (exports.COLUMNS.index(name) for name in ("sheet", "rater", "rater_kind", "state"))
    wanted = {Rater.Kind.PERSON.value: filters.people, Rater.Kind.JUDGE.value: filters.judges}
    for record in exports.exported_labels(study):
        codes = wanted.get(record[kind])
        if (
            (not codes or record[rater] in codes)
            and (not filters.sheets or record[sheet] in titles)
            and (not filters.submitted_only or record[state] == Assignment.State.SUBMITTED)
        ):
            yield record
