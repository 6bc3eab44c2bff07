"""The report's numbers: arrays in, frozen results out. What the page, the downloads and the API all show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from annotation.scheme.spec import Kind, Merge, QuestionSpec
from reports.data.arrays import TOLD_APART, Filters, Intervals, QuestionData, StudyData, Voice
from reports.data.label_table import RaterEntry
from reports.numbers.arms import ArmsResult, arms_results
from reports.numbers.comparison import ComparisonReport, comparison_report
from reports.numbers.drafts import EditRate, edit_rates
from reports.numbers.groups import Group, groups
from reports.numbers.judge import MOST_SHEETS, JudgeResult, TwoJudges, judge_result, merge_codes, two_judges
from reports.numbers.ratings import RatingsReport, ratings_report
from reports.numbers.values import ValueReport, value_report
from reports.stats.agreement import (
    NO_PAIR_DEFINED,
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
from reports.stats.by_sheet import OfSheet, people_by_sheet
from reports.stats.coefficients import Level
from reports.stats.consensus import dawid_skene, majority_vote, tie_credit
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
from reports.stats.small_sheets import ONE_DOCUMENT, CorrectedKappa, corrected_macro_kappa
from reports.stats.summary import SelectionSummary, selection_summary


@dataclass(frozen=True)
class PeopleAgreement:
    """How far people agree on one question, under `merge` (None: all options told apart).

    `among`: all coefficients, of the options `options` alone; those merged away, and those that mean that there was
    nothing to decide, are not counted. `intervals` of its coefficients by their keys, `macro` of κ and A_h, `of_sheets`
    of the κ of each sheet by its place: empty or None where none were asked for.
    `corrected`: κ without the bias of small sheets, None by the first methods, which had none.
    `both_chose`: for each row of `kappa.rows` an option that both raters chose in some cell; where kappa is
    not defined, it is the one that both chose everywhere. `by_sheet`: see `JudgeResult`.
    """

    merge: Merge | None
    kappa: MacroKappa
    corrected: CorrectedKappa | None
    accuracy: MacroAccuracy
    percent: Statistic
    alpha: Statistic
    both_chose: tuple[int, ...]
    options: tuple[int, ...]
    among: AgreementAmong
    intervals: Mapping[str, Interval]
    macro: MacroIntervals | None
    of_sheets: Mapping[int, Interval]
    by_sheet: Mapping[int, OfSheet]


@dataclass(frozen=True)
class Ties:
    """What people's most frequent answers are worth, of several one drawn, or each counting for its share. `n`: cells
    with a gold label in which several were equally frequent; `n_cells`: cells with a gold label.
    """

    drawn: JudgeAccuracy
    seed: int
    shared: float | None
    n: int
    n_cells: int


@dataclass(frozen=True)
class GoldResult:
    """Shares equal to the gold labels of one gold rater: of people's most frequent answers, of what Dawid and Skene's
    model makes of people's answers (None where nobody answered), and of each judge's.

    All under `merge` (None: all options told apart). Where several options are equally frequent, `people` takes the
    first; `ties` says what other rules give, None by the first methods, which had none.
    """

    gold: RaterEntry
    merge: Merge | None
    people: JudgeAccuracy
    ties: Ties | None
    consensus: JudgeAccuracy | None
    judges: tuple[tuple[RaterEntry, JudgeAccuracy], ...]


@dataclass(frozen=True)
class CoverageResult:
    """Which items are found in how many documents, by one voice. `exact` and `inexact`: the options that mean found;
    `covers`: those of them that the curve counts. `n_not_asked`: cells in which the question was not asked, which
    count as documents without the item."""

    exact: tuple[int, ...]
    inexact: tuple[int, ...]
    covers: tuple[int, ...]
    curve: CoverageCurve
    verdicts: Verdicts
    n_not_asked: int = 0


@dataclass(frozen=True)
class VoiceReport:
    """What one voice said: how often each option, and which items it found in how many documents; `coverage` is None
    where nothing says which options mean that something was found."""

    voice: Voice
    summary: SelectionSummary
    coverage: CoverageResult | None


@dataclass(frozen=True)
class QuestionReport:
    data: QuestionData
    summary: SelectionSummary
    agreement: PeopleAgreement
    # People under the merge of the judges: what a judge's accuracy is read beside.
    ceiling: PeopleAgreement
    judges: tuple[JudgeResult, ...]
    two_judges: tuple[TwoJudges, ...]
    golds: tuple[GoldResult, ...]
    # By the facet that the filters name; none without one.
    groups: tuple[Group, ...]
    voices: tuple[VoiceReport, ...]
    # Of each judge with other arms, how its label changes with them.
    arms: tuple[ArmsResult, ...] = ()

    @property
    def spec(self) -> QuestionSpec:
        return self.data.spec


@dataclass(frozen=True)
class SectionReport:
    """A section's questions, those with options and those with values.

    Of several with options the averages, each question counting alike (the paper's footnote 9).
    """

    key: str
    title: str
    questions: tuple[QuestionReport, ...]
    value_questions: tuple[ValueReport, ...]
    kappa: Average | None
    accuracy: Average | None
    # Of both; None where no intervals were asked for.
    macro: MacroIntervals | None

    @property
    def in_order(self) -> tuple[QuestionReport | ValueReport, ...]:
        """All questions as the scheme has them."""
        of_both: list[QuestionReport | ValueReport] = [*self.questions, *self.value_questions]
        order = [spec.key for spec in of_both[0].data.section.questions]
        return tuple(sorted(of_both, key=lambda question: order.index(question.spec.key)))


@dataclass(frozen=True)
class StudyReport:
    data: StudyData
    filters: Filters
    sections: tuple[SectionReport, ...]
    edit_rates: tuple[EditRate, ...]
    # Of each section of a benchmark's scheme in which texts were rated.
    ratings: tuple[RatingsReport, ...] = ()
    # Of a scheme whose rows are pairs of texts, once two systems were compared.
    comparison: ComparisonReport | None = None
    # Metrics that a table asked for and that could not be computed: tables add them as they are made.
    missed: set[str] = field(default_factory=set, compare=False)
    # What packs have computed of it for their tables and sentences, by names of theirs.
    of_packs: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def n_cells(self) -> int:
        """Cells that people were to fill, each counted once for each person."""
        return sum(
            sum(question.summary.n for question in section.questions)
            + sum(question.summary.n for question in section.value_questions)
            for section in self.sections
        )

    def by_single_rows(self, question: QuestionReport) -> bool:
        """Whether most sheets in which two people have answered a cell have a single row: κ within a sheet takes chance
        from that row, and of one cell is 0 or not defined, so that a mean over sheets says nothing."""
        data, rows = question.data, self.data.table.rows
        people = data.people.where(~np.isin(data.people.code, data.blanks))
        shared = np.unique(people.sheet[people.by_cell.first[np.bincount(people.by_cell.index) > 1]])
        n_rows = np.bincount([row.sheet for row in rows], minlength=len(self.data.sheets))[shared]
        return shared.size > 1 and bool((n_rows == 1).mean() > 0.5)

    @property
    def lacks(self) -> bool:
        """Whether something was not computed, for lack of an encoder or of a metric's data."""
        return bool(self.missed) or any(
            bool(question.texts and question.texts.missing) or bool(question.graphs and question.graphs.passing)
            for section in self.sections
            for question in section.value_questions
        )


def compute(data: StudyData, filters: Filters) -> StudyReport:
    with filters.as_then():
        return _computed(data, filters)


def _computed(data: StudyData, filters: Filters) -> StudyReport:
    sections = []
    for spec in data.scheme.sections:
        questions = tuple(
            _question(question, data, filters) for question in data.questions if question.section.key == spec.key
        )
        values = tuple(
            value_report(question, data, filters)
            for question in data.value_questions
            if question.section.key == spec.key
        )
        if not questions and not values:
            continue
        several = len(questions) > 1
        sections.append(
            SectionReport(
                key=spec.key,
                title=spec.title,
                questions=questions,
                value_questions=values,
                kappa=average([q.agreement.kappa for q in questions]) if several else None,
                accuracy=average([q.agreement.accuracy for q in questions]) if several else None,
                macro=_macro(questions, filters.intervals) if several else None,
            )
        )
    rated = (ratings_report(data, section, filters) for section in data.scheme.sections)
    return StudyReport(
        data=data,
        filters=filters,
        sections=tuple(sections),
        edit_rates=edit_rates(data, filters),
        ratings=tuple(of for of in rated if of is not None),
        comparison=comparison_report(data, filters),
    )


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
    return average_macro_intervals(answers, **how.of_agreement)


def _weights(spec: QuestionSpec) -> Weights | None:
    return "quadratic" if spec.kind == Kind.SCALE else None


def _question(data: QuestionData, of: StudyData, filters: Filters) -> QuestionReport:
    merge, judge_merge = _merges(data, filters)
    people = _filled(data.people, data)
    how = filters.intervals
    agreement = _agreement(people, data.spec, merge, filters)
    held = _merged(people, data.spec, judge_merge)
    answers = {code: _merged(of_judge, data.spec, judge_merge) for code, of_judge in data.judges.items()}
    judges = tuple(
        judge_result(judge, data, held, answers[judge.code], judge_merge, filters)
        for judge in of.judges
        if judge.code in data.judges
    )
    summary = partial(selection_summary, n_options=len(data.spec.options), not_filled_options=data.blanks)
    return QuestionReport(
        data=data,
        summary=summary(data.selections),
        agreement=agreement,
        ceiling=agreement if judge_merge == merge else _agreement(people, data.spec, judge_merge, filters),
        judges=judges,
        two_judges=two_judges(judges, held, answers, how),
        groups=_groups(data, of, held, answers, filters),
        voices=tuple(
            VoiceReport(voice, summary(voice.selections), _coverage(people, voice, data, of.n_columns, filters))
            for voice in data.voices
        ),
        golds=tuple(
            _gold(gold, data, people, of.judges, merge, filters) for gold in of.golds if gold.code in data.golds
        ),
        arms=arms_results(data, of.table, judges, how),
    )


def _groups(
    data: QuestionData, of: StudyData, people: Answers, answers: Mapping[str, Answers], filters: Filters
) -> tuple[Group, ...]:
    if not filters.group:
        return ()
    judges = [(judge, answers[judge.code]) for judge in of.judges if judge.code in answers]
    return groups(of, people, judges, filters, level="ordinal" if data.spec.kind == Kind.SCALE else "nominal")


def _merges(data: QuestionData, filters: Filters) -> tuple[Merge | None, Merge | None]:
    """Under what people are compared with each other, and judges with people: as chosen, or as the scheme says."""
    merges = {merge.key: merge for merge in data.spec.merges}
    chosen = filters.merges.get(data.name)
    if chosen is None:
        return None, merges.get(data.spec.judge_merge or "")
    merge = None if chosen == TOLD_APART else merges[chosen]
    return merge, merge


def _agreement(people: Answers, spec: QuestionSpec, merge: Merge | None, filters: Filters) -> PeopleAgreement:
    how = filters.intervals
    answers = _merged(people, spec, merge)
    gone = merge.options if merge else {}
    options = tuple(n for n, option in enumerate(spec.options) if option.key not in gone and not option.blank)
    weights = _weights(spec)
    level: Level = "ordinal" if spec.kind == Kind.SCALE else "nominal"
    kept = answers.only(options)
    arguments = how.of_agreement
    # What takes most room goes first, while there are no rows of pairs beside it.
    of_all = alpha(answers, level)
    among = agreement_among(kept, level=level)
    tables = pair_tables(answers)
    first_of_pair = np.searchsorted(tables.pair, np.arange(len(tables)))
    corrected = None if filters.first_methods else corrected_macro_kappa(answers, tables, weights)
    if corrected and corrected.reason == ONE_DOCUMENT and filters.before_one_document:
        corrected = replace(corrected, reason=NO_PAIR_DEFINED)
    of_sheets = (
        sheet_kappa_intervals(
            answers, weights, n_draws=how.n_draws, seed=how.seed, expanded=how.expanded, paired=how.paired
        )
        if how.by == "document"
        else {}
    )
    kappa, accuracy, percent = macro_kappa(tables, weights), macro_accuracy(tables), percent_agreement(tables)
    both_chose = tuple(tables.option_a[first_of_pair].tolist())
    del tables  # as large as the answers, and others are made below
    return PeopleAgreement(
        merge=merge,
        kappa=kappa,
        corrected=corrected,
        accuracy=accuracy,
        percent=percent,
        alpha=of_all,
        both_chose=both_chose,
        options=options,
        among=among,
        intervals=agreement_intervals(kept, level=level, **arguments) if arguments else {},
        macro=macro_intervals(answers, weights, **arguments) if arguments else None,
        of_sheets=of_sheets,
        by_sheet={}
        if filters.before_each or not 1 < np.unique(answers.sheet).size <= MOST_SHEETS
        else people_by_sheet(answers, of_sheets, weights, bounds=filters.share_bounds),
    )


def _coverage(
    people: Answers, voice: Voice, data: QuestionData, n_columns: int, filters: Filters
) -> CoverageResult | None:
    """Found exactly: the options that the filters name, else the first one alone, as the paper has it; inexactly: the
    others that a merge into two classes leaves in the class of the first."""
    spec = data.spec
    real = [option.key for option in spec.options if not option.blank]
    merge = found_or_not(spec)
    wanted = () if filters.first_coverage else filters.found.get(data.name, ())
    named = [key for key in real if key in wanted]
    answers = people if filters.first_coverage else voice.answers
    if (merge is None and not named) or not answers.cell.size:
        return None
    code = {option.key: number for number, option in enumerate(spec.options)}
    exact = tuple(code[key] for key in named or real[:1])
    near = [key for key in real if merge is not None and merge.options.get(key, key) == real[0]]
    inexact = tuple(code[key] for key in near if code[key] not in exact)
    covers = (*exact, *inexact) if filters.first_coverage else exact
    item = answers.cell % n_columns
    return CoverageResult(
        exact=exact,
        inexact=inexact,
        covers=covers,
        curve=coverage_curve(item_documents(answers, item, covers)),
        verdicts=item_verdicts(answers, item, exact=exact, inexact=inexact),
        n_not_asked=int((answers.code >= len(spec.options)).sum()),
    )


def found_or_not(spec: QuestionSpec) -> Merge | None:
    """The merge that leaves two classes, of which that of the first option is "found"."""
    real = [option.key for option in spec.options if not option.blank]
    return next((merge for merge in spec.merges if len({merge.options.get(key, key) for key in real}) == 2), None)


def compared(data: QuestionData, merge: Merge | None, judge: str) -> tuple[Answers, Answers]:
    """People's answers and a judge's, as they are held against each other under a merge."""
    return _merged(_filled(data.people, data), data.spec, merge), _merged(data.judges[judge], data.spec, merge)


def _gold(
    gold: RaterEntry,
    data: QuestionData,
    people: Answers,
    judges: Sequence[RaterEntry],
    merge: Merge | None,
    filters: Filters,
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
        ties=None if filters.first_methods else _ties(merged, right, filters.seed),
        consensus=consensus,
        judges=tuple(
            (judge, judge_accuracy(right, _merged(data.judges[judge.code], data.spec, merge)))
            for judge in judges
            if judge.code in data.judges
        ),
    )


def _ties(people: Answers, right: Answers, seed: int) -> Ties:
    vote = majority_vote(people, ties="drawn", seed=seed)
    credit = tie_credit(vote, right)
    golden = ~np.isnan(credit)
    sheet = people.sheet[people.by_cell.first][golden]
    of_sheets = np.bincount(sheet, credit[golden]), np.bincount(sheet)
    shares = of_sheets[0][of_sheets[1] > 0] / of_sheets[1][of_sheets[1] > 0]
    return Ties(
        drawn=judge_accuracy(right, _one_voice(people, vote.code)),
        seed=seed,
        shared=float(shares.mean()) if shares.size else None,
        n=int((vote.tied & golden).sum()),
        n_cells=int(golden.sum()),
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
