"""The report's numbers: arrays in, frozen results out. What the page, the downloads and the API all show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.scheme import Kind, Merge, QuestionSpec
from reports.arrays import TOLD_APART, Filters, Intervals, QuestionData, StudyData
from reports.judged import JudgeResult, TwoJudges, judge_result, merge_codes, two_judges
from reports.label_table import RaterEntry
from reports.stats.agreement import (
    Average,
    MacroAccuracy,
    MacroKappa,
    Statistic,
    alpha,
    average,
    macro_accuracy,
    macro_kappa,
    percent_agreement,
)
from reports.stats.among import AgreementAmong, agreement_among
from reports.stats.answers import Answers, IntArray
from reports.stats.bootstrap import Interval
from reports.stats.coefficients import Level
from reports.stats.consensus import dawid_skene
from reports.stats.coverage import CoverageCurve, Verdicts, coverage_curve, item_documents, item_verdicts
from reports.stats.intervals import (
    MacroIntervals,
    agreement_intervals,
    average_macro_intervals,
    macro_intervals,
    sheet_kappa_intervals,
)
from reports.stats.judge import JudgeAccuracy, judge_accuracy
from reports.stats.pairs import Weights, pair_tables
from reports.stats.summary import SelectionSummary, selection_summary


@dataclass(frozen=True)
class Agreement:
    """How far people agree on one question, under `merge` (None: all options told apart).

    `among`: all coefficients, of the options `options` alone; those merged away, and those that mean that there was
    nothing to decide, are not counted. `intervals` of its coefficients by their keys, `macro` of κ and A_h, `of_sheets`
    of the κ of each sheet by its place: empty or None where none were asked for.
    `both_chose`: for each row of `kappa.rows` an option that both raters chose in some cell; where kappa is
    not defined, it is the one that both chose everywhere.
    """

    merge: Merge | None
    kappa: MacroKappa
    accuracy: MacroAccuracy
    percent: Statistic
    alpha: Statistic
    both_chose: tuple[int, ...]
    options: tuple[int, ...]
    among: AgreementAmong
    intervals: Mapping[str, Interval]
    macro: MacroIntervals | None
    of_sheets: Mapping[int, Interval]


@dataclass(frozen=True)
class GoldResult:
    """Shares equal to the gold labels of one gold rater: of people's most frequent answers, of what Dawid and Skene's
    model makes of people's answers (None where nobody answered), and of each judge's.

    All under `merge` (None: all options told apart).
    """

    gold: RaterEntry
    merge: Merge | None
    people: JudgeAccuracy
    consensus: JudgeAccuracy | None
    judges: tuple[tuple[RaterEntry, JudgeAccuracy], ...]


@dataclass(frozen=True)
class CoverageResult:
    """Which items are found in how many documents, by people. `exact` and `inexact`: the options that mean found."""

    exact: tuple[int, ...]
    inexact: tuple[int, ...]
    curve: CoverageCurve
    verdicts: Verdicts


@dataclass(frozen=True)
class QuestionReport:
    data: QuestionData
    summary: SelectionSummary
    agreement: Agreement
    # People under the merge of the judges: what a judge's accuracy is read beside.
    ceiling: Agreement
    judges: tuple[JudgeResult, ...]
    two_judges: tuple[TwoJudges, ...]
    golds: tuple[GoldResult, ...]
    # None where no merge says which options mean that something was found.
    coverage: CoverageResult | None

    @property
    def spec(self) -> QuestionSpec:
        return self.data.spec


@dataclass(frozen=True)
class SectionReport:
    """A section's questions; with several, their averages, each question counting alike (the paper's footnote 9)."""

    key: str
    title: str
    questions: tuple[QuestionReport, ...]
    kappa: Average | None
    accuracy: Average | None
    # Of both; None where no intervals were asked for.
    macro: MacroIntervals | None


@dataclass(frozen=True)
class StudyReport:
    data: StudyData
    filters: Filters
    sections: tuple[SectionReport, ...]

    @property
    def n_cells(self) -> int:
        """Cells that people were to fill, each counted once for each person."""
        return sum(question.summary.n for section in self.sections for question in section.questions)


def compute(data: StudyData, filters: Filters) -> StudyReport:
    sections = []
    for spec in data.scheme.sections:
        questions = tuple(
            _question(question, data, filters) for question in data.questions if question.section.key == spec.key
        )
        if not questions:
            continue
        several = len(questions) > 1
        sections.append(
            SectionReport(
                key=spec.key,
                title=spec.title,
                questions=questions,
                kappa=average([q.agreement.kappa for q in questions]) if several else None,
                accuracy=average([q.agreement.accuracy for q in questions]) if several else None,
                macro=_macro(questions, filters.intervals) if several else None,
            )
        )
    return StudyReport(data=data, filters=filters, sections=tuple(sections))


def _macro(questions: Sequence[QuestionReport], how: Intervals) -> MacroIntervals | None:
    if not how.by:
        return None
    answers = [
        (
            _merged(_filled(question.data.people, question.data), question.spec, question.agreement.merge),
            _weights(question.spec),
        )
        for question in questions
    ]
    return average_macro_intervals(answers, **how.drawn)


def _weights(spec: QuestionSpec) -> Weights | None:
    return "quadratic" if spec.kind == Kind.SCALE else None


def _question(data: QuestionData, of: StudyData, filters: Filters) -> QuestionReport:
    merge, judge_merge = _merges(data, filters)
    people = _filled(data.people, data)
    how = filters.intervals
    agreement = _agreement(people, data.spec, merge, how)
    held = _merged(people, data.spec, judge_merge)
    answers = {code: _merged(of_judge, data.spec, judge_merge) for code, of_judge in data.judges.items()}
    judges = tuple(
        judge_result(judge, data, held, answers[judge.code], judge_merge, how)
        for judge in of.judges
        if judge.code in data.judges
    )
    return QuestionReport(
        data=data,
        summary=selection_summary(data.selections, n_options=len(data.spec.options), not_filled_options=data.blanks),
        agreement=agreement,
        ceiling=agreement if judge_merge == merge else _agreement(people, data.spec, judge_merge, how),
        judges=judges,
        two_judges=two_judges(judges, held, answers, how),
        coverage=_coverage(people, data.spec, of.n_columns),
        golds=tuple(_gold(gold, data, people, of.judges, merge) for gold in of.golds if gold.code in data.golds),
    )


def _merges(data: QuestionData, filters: Filters) -> tuple[Merge | None, Merge | None]:
    """Under what people are compared with each other, and judges with people: as chosen, or as the scheme says."""
    merges = {merge.key: merge for merge in data.spec.merges}
    chosen = filters.merges.get(data.name)
    if chosen is None:
        return None, merges.get(data.spec.judge_merge or "")
    merge = None if chosen == TOLD_APART else merges[chosen]
    return merge, merge


def _agreement(people: Answers, spec: QuestionSpec, merge: Merge | None, how: Intervals) -> Agreement:
    answers = _merged(people, spec, merge)
    gone = merge.options if merge else {}
    options = tuple(n for n, option in enumerate(spec.options) if option.key not in gone and not option.blank)
    weights = _weights(spec)
    level: Level = "ordinal" if spec.kind == Kind.SCALE else "nominal"
    kept = answers.only(options)
    drawn = how.drawn
    tables = pair_tables(answers)
    first_of_pair = np.searchsorted(tables.pair, np.arange(len(tables)))
    return Agreement(
        merge=merge,
        kappa=macro_kappa(tables, weights),
        accuracy=macro_accuracy(tables),
        percent=percent_agreement(tables),
        alpha=alpha(answers, level),
        both_chose=tuple(tables.option_a[first_of_pair].tolist()),
        options=options,
        among=agreement_among(kept, level=level),
        intervals=agreement_intervals(kept, level=level, **drawn) if drawn else {},
        macro=macro_intervals(answers, weights, **drawn) if drawn else None,
        of_sheets=sheet_kappa_intervals(answers, weights, n_draws=how.n_draws, seed=how.seed)
        if how.by == "document"
        else {},
    )


def _coverage(people: Answers, spec: QuestionSpec, n_columns: int) -> CoverageResult | None:
    """Where a merge leaves two classes, that of the first option is "found": exactly by it, inexactly by the others."""
    real = [option.key for option in spec.options if not option.blank]
    halves = (merge for merge in spec.merges if len({merge.options.get(key, key) for key in real}) == 2)
    merge = next(halves, None)
    if merge is None or not people.cell.size:
        return None
    code = {option.key: number for number, option in enumerate(spec.options)}
    exact = (code[real[0]],)
    inexact = tuple(code[key] for key in real[1:] if merge.options.get(key, key) == real[0])
    item = people.cell % n_columns
    return CoverageResult(
        exact=exact,
        inexact=inexact,
        curve=coverage_curve(item_documents(people, item, (*exact, *inexact))),
        verdicts=item_verdicts(people, item, exact=exact, inexact=inexact),
    )


def compared(data: QuestionData, merge: Merge | None, judge: str) -> tuple[Answers, Answers]:
    """People's answers and a judge's, as they are held against each other under a merge."""
    return _merged(_filled(data.people, data), data.spec, merge), _merged(data.judges[judge], data.spec, merge)


def _gold(
    gold: RaterEntry, data: QuestionData, people: Answers, judges: Sequence[RaterEntry], merge: Merge | None
) -> GoldResult:
    right = _merged(_filled(data.golds[gold.code], data), data.spec, merge)
    merged = _merged(people, data.spec, merge)
    consensus = None
    if merged.cell.size:
        model = dawid_skene(rater=merged.rater, cell=merged.cell, code=merged.code, n_options=merged.n_options)
        consensus = judge_accuracy(right, _one_voice(merged, model.code))
    return GoldResult(
        gold=gold,
        merge=merge,
        people=judge_accuracy(right, _one_voice(merged, merged.value_counts().argmax(axis=1))),
        consensus=consensus,
        judges=tuple(
            (judge, judge_accuracy(right, _merged(data.judges[judge.code], data.spec, merge)))
            for judge in judges
            if judge.code in data.judges
        ),
    )


def _filled(answers: Answers, data: QuestionData) -> Answers:
    """Without the options that count as "Not filled in": nobody had to decide anything there."""
    if not data.blanks:
        return answers
    return answers.where(~np.isin(answers.code, data.blanks))


def _one_voice(people: Answers, code: IntArray) -> Answers:
    """One answer for each cell that people answered, cells ascending."""
    cells, first = np.unique(people.cell, return_index=True)
    return Answers.from_long(
        rater=np.zeros(cells.size),
        cell=cells,
        sheet=people.sheet[first],
        document=people.document[first],
        code=code,
        n_options=people.n_options,
    )


def _merged(answers: Answers, spec: QuestionSpec, merge: Merge | None) -> Answers:
    if merge is None:
        return answers
    return answers.merged(merge_codes(spec, merge))
