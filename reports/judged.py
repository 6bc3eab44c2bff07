"""All that a report says about one judge on one question, and about two: arrays in, frozen results out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from annotation.scheme import Merge, QuestionSpec
from reports.arrays import Intervals, QuestionData
from reports.label_table import RaterEntry
from reports.stats.alternative import AlternativeTest, alternative_annotator_test
from reports.stats.among import RaterPair
from reports.stats.answers import Answers
from reports.stats.bootstrap import Interval
from reports.stats.calibration import (
    Calibration,
    Scored,
    calibration,
    merged_probabilities,
    option_probabilities,
    scored_cells,
)
from reports.stats.classification import (
    Ceiling,
    Classification,
    ClassificationIntervals,
    classification,
    classification_intervals,
    human_ceiling,
    kappas_with_people,
)
from reports.stats.comparison import JudgeComparison, compare_judges
from reports.stats.consensus import SelfConsistency, self_consistency
from reports.stats.estimates import PoweredMean, option_shares
from reports.stats.intervals import judge_accuracy_interval
from reports.stats.judge import Baseline, Confusion, JudgeAccuracy, confusion, judge_accuracy, majority_baseline
from reports.stats.thresholds import (
    CoverageAccuracy,
    ErrorByDoubt,
    PrecisionRecall,
    coverage_accuracy,
    error_by_doubt,
    option_precision_recall,
)


@dataclass(frozen=True)
class Sureness:
    """What the scores of a judge's options are worth. `curves`: of each option that people chose in scored cells."""

    calibration: Calibration
    doubt: ErrorByDoubt
    coverage: CoverageAccuracy
    curves: tuple[tuple[int, PrecisionRecall], ...]


@dataclass(frozen=True)
class JudgeResult:
    """How far one judge agrees with people, under `merge` (None: all options told apart). `options`: what is left.

    The intervals are None where none were asked for, `sureness` where the judge has no scores.
    """

    judge: RaterEntry
    merge: Merge | None
    options: tuple[int, ...]
    accuracy: JudgeAccuracy
    accuracy_interval: Interval | None
    baseline: Baseline
    confusion: Confusion
    classification: Classification
    classification_intervals: ClassificationIntervals | None
    with_people: tuple[RaterPair, ...]
    ceiling: Ceiling
    alternative: AlternativeTest
    sureness: Sureness | None
    shares: tuple[PoweredMean, ...]
    consistency: SelfConsistency | None


@dataclass(frozen=True)
class TwoJudges:
    """`drawn`: whether the interval of the difference was asked for."""

    first: RaterEntry
    second: RaterEntry
    result: JudgeComparison
    drawn: bool


def judge_result(
    judge: RaterEntry, data: QuestionData, people: Answers, answers: Answers, merge: Merge | None, how: Intervals
) -> JudgeResult:
    """
    Args:
        people: the cells in which people filled something in, under the merge. Whatever the judge says there is an
            answer, a blank option too.
        answers: the judge's, under the merge.
    """
    table = confusion(people, answers)
    merged_away = merge.options if merge else {}
    drawn = how.drawn
    return JudgeResult(
        judge=judge,
        merge=merge,
        options=tuple(
            code
            for code, option in enumerate(data.spec.options)
            if option.key not in merged_away and (not option.blank or table.table[:, code].any())
        ),
        accuracy=judge_accuracy(people, answers),
        accuracy_interval=judge_accuracy_interval(people, answers, **drawn) if drawn else None,
        baseline=majority_baseline(people, answers),
        confusion=table,
        classification=classification(table.table),
        classification_intervals=classification_intervals(people, answers, **drawn) if drawn else None,
        with_people=kappas_with_people(people, answers) if answers.cell.size else (),
        ceiling=human_ceiling(people, answers),
        alternative=alternative_annotator_test(people, answers),
        sureness=_sureness(judge.code, data, people, answers, merge),
        shares=option_shares(people, answers) if answers.cell.size else (),
        consistency=self_consistency(data.repeats[judge.code]) if judge.code in data.repeats else None,
    )


def _sureness(
    judge: str, data: QuestionData, people: Answers, answers: Answers, merge: Merge | None
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
    doubt = 1 - scored.confidence
    return Sureness(
        calibration=calibration(scored.confidence, scored.right),
        doubt=error_by_doubt(doubt, scored.right),
        coverage=coverage_accuracy(scored.confidence, scored.right),
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
    drawn = how.drawn or {"n_draws": 2}
    return tuple(
        TwoJudges(
            a.judge,
            b.judge,
            compare_judges(people, answers[a.judge.code], answers[b.judge.code], **drawn),
            bool(how.by),
        )
        for a, b in combinations(results, 2)
    )


def merge_codes(spec: QuestionSpec, merge: Merge) -> dict[int, int]:
    code = {option.key: number for number, option in enumerate(spec.options)}
    return {code[old]: code[new] for old, new in merge.options.items()}
