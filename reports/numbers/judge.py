"""All that a report says about one judge on one question, and about two: arrays in, frozen results out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annotation.scheme.spec import Kind, Merge, QuestionSpec
from reports.data.arrays import Filters, Intervals, NoLabel, QuestionData
from reports.data.label_table import RaterEntry
from reports.stats.agreeing import Agreeing, agreeing
from reports.stats.agreement import MacroAccuracy
from reports.stats.alternative import MINIMUM_PEOPLE, AlternativeTest, alternative_annotator_test
from reports.stats.among import RaterPair
from reports.stats.answers import Answers
from reports.stats.bootstrap import Interval
from reports.stats.by_sheet import OfSheet, judge_by_sheet
from reports.stats.calibration import (
    Calibration,
    Scored,
    calibration,
    entropy,
    margin,
    merged_probabilities,
    option_probabilities,
    scored_cells,
)
from reports.stats.classification import (
    MOST_OTHERS,
    Ceiling,
    CeilingIntervals,
    Classification,
    ClassificationIntervals,
    ceiling_baseline,
    ceiling_intervals,
    classification,
    classification_intervals,
    human_ceiling,
    kappas_with_people,
    left_out,
)
from reports.stats.comparison import JudgeComparison, compare_judges
from reports.stats.consensus import SelfConsistency, self_consistency
from reports.stats.distinct import among
from reports.stats.estimates import PoweredMean, option_shares
from reports.stats.hiring.means import ShareBounds
from reports.stats.intervals import judge_accuracy_interval
from reports.stats.judge import (
    Baseline,
    Confusion,
    JudgeAccuracy,
    confusion,
    judge_accuracy,
    judge_pair_accuracy,
    majority_baseline,
)
from reports.stats.pairs import Weights
from reports.stats.thresholds import (
    ErrorByDoubt,
    PrecisionRecall,
    SelectiveAccuracy,
    error_by_doubt,
    option_precision_recall,
    selective_accuracy,
)

# Of more sheets nobody reads a panel each.
MOST_SHEETS = 60


@dataclass(frozen=True)
class Sureness:
    """What the scores of a judge's options are worth. `by_entropy`, `by_margin`: whether doubt as the entropy of the
    options' probabilities, or as 1 - margin, tells where it is wrong. `curves`: of each option that people chose in
    scored cells.
    """

    calibration: Calibration
    by_entropy: ErrorByDoubt
    by_margin: ErrorByDoubt
    selective: SelectiveAccuracy
    curves: tuple[tuple[int, PrecisionRecall], ...]


@dataclass(frozen=True)
class Missing:
    unreadable: int
    failed: int
    others: int


@dataclass(frozen=True)
class JudgeResult:
    """How far one judge agrees with people, under `merge` (None: all options told apart). `options`: what is left.

    `missing`: of the cells that people answered and the judge has no label for, how many it answered without a verdict,
    in how many it failed, and how many others there are.
    `pairwise`: A_m as A_h is counted, None by the first methods, which had none. `ceiling_of_each`: the ceiling with
    each of the others counted by themselves. `ceiling_intervals`, `ceiling_baseline`: of that of the two which a
    report's first page tells (`crowded`). `weighted`: κ has quadratic weights.
    The intervals are None where none were asked for, `sureness` where the judge has no scores. `by_sheet`: agreement
    with people in each sheet, empty where there is one sheet, or more than `MOST_SHEETS`.
    """

    judge: RaterEntry
    merge: Merge | None
    options: tuple[int, ...]
    accuracy: JudgeAccuracy
    pairwise: MacroAccuracy | None
    missing: Missing
    accuracy_interval: Interval | None
    baseline: Baseline
    confusion: Confusion
    classification: Classification
    classification_intervals: ClassificationIntervals | None
    with_people: tuple[RaterPair, ...]
    ceiling: Ceiling
    ceiling_of_each: Ceiling
    ceiling_intervals: CeilingIntervals | None
    ceiling_baseline: float | None
    alternative: AlternativeTest
    sureness: Sureness | None
    shares: tuple[PoweredMean, ...]
    consistency: SelfConsistency | None
    by_sheet: Mapping[int, OfSheet]
    crowded: bool = False
    weighted: bool = False


@dataclass(frozen=True)
class TwoJudges:
    """`has_interval`: whether that of the difference was asked for."""

    first: RaterEntry
    second: RaterEntry
    result: JudgeComparison
    has_interval: bool
    agreeing: Agreeing


def judge_result(
    judge: RaterEntry, data: QuestionData, people: Answers, answers: Answers, merge: Merge | None, filters: Filters
) -> JudgeResult:
    """
    Args:
        people: the cells in which people filled something in, under the merge. Whatever the judge says there is an
            answer, a blank option too.
        answers: the judge's, under the merge.
    """
    table = confusion(people, answers)
    merged_away = merge.options if merge else {}
    arguments = filters.intervals.arguments
    ordered = data.spec.kind == Kind.SCALE
    weighted = ordered and not filters.before_weighted_judges
    weights: Weights | None = "quadratic" if weighted else None
    left, left_of_each = left_out(people, answers), left_out(people, answers, each=True)
    ceiling = human_ceiling(people, left)
    crowded = not filters.before_each and ceiling.others > MOST_OTHERS
    shown = left_of_each if crowded else left
    return JudgeResult(
        judge=judge,
        merge=merge,
        options=tuple(
            code
            for code, option in enumerate(data.spec.options)
            if option.key not in merged_away and (not option.blank or table.table[:, code].any())
        ),
        accuracy=judge_accuracy(people, answers),
        pairwise=None if filters.first_methods else judge_pair_accuracy(people, answers),
        missing=_missing(people, answers, data.no_label[judge.code]),
        accuracy_interval=judge_accuracy_interval(people, answers, **arguments) if arguments else None,
        baseline=majority_baseline(people, answers),
        confusion=table,
        classification=classification(table.table, weights),
        classification_intervals=classification_intervals(people, answers, weights, **arguments) if arguments else None,
        with_people=kappas_with_people(people, answers) if answers.cell.size else (),
        ceiling=ceiling,
        ceiling_of_each=human_ceiling(people, left_of_each),
        ceiling_intervals=ceiling_intervals(people, shown, **arguments) if arguments else None,
        ceiling_baseline=ceiling_baseline(people, shown),
        alternative=alternative_annotator_test(
            people,
            answers,
            scoring="rmse" if ordered else "accuracy",
            values=[option.value or 0 for option in data.spec.options] if ordered else None,
            minimum_people=1 if filters.first_methods else MINIMUM_PEOPLE,
            by=None if filters.independent_cells else "document",
        ),
        sureness=_sureness(judge.code, data, people, answers, merge, bounds=filters.share_bounds),
        shares=option_shares(people, answers, bounded=not filters.before_bounded, bounds=filters.share_bounds)
        if answers.cell.size
        else (),
        consistency=self_consistency(data.repeats[judge.code], "ordinal" if ordered else "nominal")
        if judge.code in data.repeats
        else None,
        by_sheet={}
        if filters.before_each or not 1 < np.unique(people.sheet).size <= MOST_SHEETS
        else judge_by_sheet(
            people,
            answers,
            "quadratic" if ordered else None,
            n_draws=filters.n_draws if filters.by == "document" else 0,
            seed=filters.seed,
            paired=filters.intervals.paired,
            bounds=filters.share_bounds,
        ),
        crowded=crowded,
        weighted=weighted,
    )


def _missing(people: Answers, answers: Answers, why: NoLabel) -> Missing:
    without = people.by_cell.cell[~among(people.by_cell.cell, answers.cell)]
    without = without[~np.isin(without, why.of_other_wordings)]
    unreadable = np.isin(without, why.unreadable)
    failed = np.isin(without, why.failed) & ~unreadable
    n_unreadable, n_failed = int(unreadable.sum()), int(failed.sum())
    return Missing(unreadable=n_unreadable, failed=n_failed, others=without.size - n_unreadable - n_failed)


def _sureness(
    judge: str, data: QuestionData, people: Answers, answers: Answers, merge: Merge | None, *, bounds: ShareBounds
) -> Sureness | None:
    if judge not in data.scores:
        return None
    cells, values = data.scores[judge]
    probabilities = option_probabilities(values)
    if merge:
        probabilities = merged_probabilities(probabilities, merge_codes(data.spec, merge))
    scored: Scored = scored_cells(people, answers, cells, probabilities)
    if not scored.cell.size:
        return None
    return Sureness(
        calibration=calibration(scored.confidence, scored.right, scored.document, bounds=bounds),
        by_entropy=error_by_doubt(entropy(scored.probabilities), scored.right, scored.document, bounds=bounds),
        by_margin=error_by_doubt(1 - margin(scored.probabilities), scored.right, scored.document, bounds=bounds),
        selective=selective_accuracy(scored.confidence, scored.right),
        curves=tuple(
            (option, option_precision_recall(scored, option))
            for option in range(people.n_options)
            if scored.people[:, option].any()
        ),
    )


def two_judges(
    results: tuple[JudgeResult, ...], people: Answers, answers: dict[str, Answers], how: Intervals
) -> tuple[TwoJudges, ...]:
    """Each two judges on the cells that both labelled; `answers` under the merge."""
    # The interval of the difference is always drawn; where none was asked for, the least is drawn and not shown.
    arguments = how.arguments or {"n_draws": 2, "expanded": how.expanded}
    return tuple(
        TwoJudges(
            a.judge,
            b.judge,
            compare_judges(people, answers[a.judge.code], answers[b.judge.code], **arguments),
            bool(how.by),
            agreeing(people, answers[a.judge.code], answers[b.judge.code], bounds=how.shares),
        )
        for a, b in combinations(results, 2)
    )


def merge_codes(spec: QuestionSpec, merge: Merge) -> dict[int, int]:
    code = {option.key: number for number, option in enumerate(spec.options)}
    return {code[old]: code[new] for old, new in merge.options.items()}
