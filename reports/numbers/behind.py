"""The cells behind one number of a confusion table: which person said what, where, and how sure the judge was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from llm.engine.normalisation import Normalisation, choose
from llm.engine.prompt import OptionScore
from reports.data.arrays import StudyData
from reports.data.label_table import LabelTable, RaterEntry
from reports.numbers.report import StudyReport, compared


@dataclass(frozen=True)
class Behind:
    """One comparison. Answers as they were given, before any merge; `margin` in nats, None where nothing was scored."""

    sheet: str
    row: str
    column: str
    rater: RaterEntry
    answer: str
    judge_answer: str
    note: str
    judge_note: str
    margin: float | None


@dataclass(frozen=True)
class Where:
    """A cell of the confusion table: `person` chose this option and `judge` that one; keys of options as merged."""

    question: str
    judge: str
    person: str
    chosen: str  # "" where the judge has no label


def cells_behind(report: StudyReport, where: Where) -> list[Behind]:
    """The comparisons that the table counts, those of which the judge was surest first, then in the order of the study.

    Raises:
        LookupError: no such question, judge or option.
    """
    question = next(
        (q for section in report.sections for q in section.questions if q.data.name == where.question), None
    )
    if question is None or where.judge not in question.data.judges:
        raise LookupError(where.question if question is None else where.judge)
    codes = {option.key: code for code, option in enumerate(question.spec.options)}
    if where.person not in codes or (where.chosen and where.chosen not in codes):
        raise LookupError(where.person if where.person not in codes else where.chosen)
    people, judge = compared(question.data, question.ceiling.merge, where.judge)
    place = np.minimum(np.searchsorted(judge.cell, people.cell), max(judge.cell.size - 1, 0))
    has = judge.cell[place] == people.cell if judge.cell.size else np.zeros(people.cell.size, dtype=bool)
    chosen = np.where(has, judge.code[place] if judge.cell.size else -1, -1)
    wanted = (people.code == codes[where.person]) & (chosen == codes.get(where.chosen, -1))
    finder = _Finder(report.data)
    number = finder.question_number(where.question)
    found = []
    for cell, rater in zip(people.cell[wanted].tolist(), people.rater[wanted].tolist(), strict=True):
        row, column = divmod(cell, report.data.n_columns)
        found.append(finder.behind(row, column, number, report.data.people[rater], where.judge))
    return sorted(found, key=lambda each: -math.inf if each.margin is None else -each.margin)


class _Finder:
    """From a rater, row, column and question to a label."""

    def __init__(self, data: StudyData) -> None:
        self.table: LabelTable = data.table
        first = [(a.rater, a.row) if a.repeat == 1 else (-1, -1) for a in self.table.assignments]
        self.assignment = {key: place for place, key in enumerate(first) if key[0] >= 0}
        self.rater = {rater.code: place for place, rater in enumerate(self.table.raters)}
        labels = self.table.labels
        self.keys = (labels[:, 0].astype(np.int64) * data.n_columns + labels[:, 1]) * len(
            self.table.questions
        ) + labels[:, 2]
        self.n_columns, self.n_questions = data.n_columns, len(self.table.questions)

    def question_number(self, name: str) -> int:
        return next(n for n, (s, q) in enumerate(self.table.questions) if f"{s.key}.{q.key}" == name)

    def place(self, rater: str, row: int, column: int, question: int) -> int | None:
        assignment = self.assignment.get((self.rater[rater], row))
        if assignment is None:
            return None
        key = (assignment * self.n_columns + column) * self.n_questions + question
        at = int(np.searchsorted(self.keys, key))
        return at if at < self.keys.size and self.keys[at] == key else None

    def behind(self, row: int, column: int, question: int, rater: RaterEntry, judge: str) -> Behind:
        of_person = self.place(rater.code, row, column, question)
        of_judge = self.place(judge, row, column, question)
        return Behind(
            sheet=self.table.sheets[self.table.rows[row].sheet],
            row=self.table.rows[row].name,
            column=self.table.columns[column].name,
            rater=rater,
            answer=self._answer(of_person),
            judge_answer=self._answer(of_judge),
            note=self._note(of_person),
            judge_note=self._note(of_judge),
            margin=margin_of(self.table, of_judge),
        )

    def _answer(self, place: int | None) -> str:
        if place is None:
            return ""
        _assignment, _column, question, option, *_flags = self.table.labels[place].tolist()
        label: str = self.table.questions[question][1].options[option].label
        return label

    def _note(self, place: int | None) -> str:
        return "" if place is None else self.table.notes.get(place, "")


def margin_of(table: LabelTable, place: int | None) -> float | None:
    """By how much, in nats, the judge preferred what it chose, under its normalisation."""
    if place is None:
        return None
    at = int(np.searchsorted(table.scored, place))
    if at == table.scored.size or table.scored[at] != place:
        return None
    rater = table.raters[table.assignments[int(table.labels[place, 0])].rater]
    scores = [_score(values) for values in table.scores[at].tolist() if not math.isnan(values[0])]
    return choose(scores, cast(Normalisation, rater.normalisation or "none")).margin_nats


def _score(values: Sequence[float]) -> OptionScore:
    logprob, tokens, characters, unconditional = values
    return OptionScore(logprob, int(tokens), int(characters), None if math.isnan(unconditional) else unconditional)
