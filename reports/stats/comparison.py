"""Which of two judges is better, and whether a judge may stand in for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from reports.stats import distributions as stats
from reports.stats.answers import MISSING, Answers
from reports.stats.bootstrap import N_DRAWS, By, Interval, resampling
from reports.stats.intervals import mean_of_sheets_interval
from reports.stats.judge import JudgeAccuracy, judge_accuracy, judge_codes, judged_cells

# Below this many cells that only one judge gets right, chi-squared is not to be trusted: the exact test is used.
EXACT_BELOW = 25

NO_COMMON_CELL = "no cell has a label of both judges and a person's answer"
NEVER_APART = "the judges are right and wrong in the same cells"


@dataclass(frozen=True)
class McNemar:
    """Two judges on the n cells that both labelled: `only_first` are those that only the first got right.

    p_value: of the test named by `rule`: "exact" where only_first + only_second < 25, otherwise "chi-squared" (without
    continuity correction). exact: the binomial p, whatever the rule.
    None where the judges are right and wrong in the same cells.
    """

    both: int
    only_first: int
    only_second: int
    neither: int
    p_value: float | None
    rule: Literal["exact", "chi-squared"]
    exact: float | None
    reason: str
    n: int


def mcnemar(table: npt.ArrayLike) -> McNemar:
    """McNemar's test of a table of counts [[both right, only the first], [only the second, neither]], shape (2, 2).

    Source: McNemar (1947); which test when: Dietterich (1998), Fagerland, Lydersen and Laake (2013).
    """
    (both, first), (second, neither) = np.asarray(table, dtype=np.int64).tolist()
    apart, n = first + second, both + first + second + neither
    rule: Literal["exact", "chi-squared"] = "exact" if apart < EXACT_BELOW else "chi-squared"
    if not apart:
        reason = NEVER_APART if n else NO_COMMON_CELL
        return McNemar(both, first, second, neither, None, rule, None, reason, n)
    exact = min(1.0, 2 * float(stats.binom.cdf(min(first, second), apart, 0.5)))
    return McNemar(
        both=both,
        only_first=first,
        only_second=second,
        neither=neither,
        p_value=exact if rule == "exact" else float(stats.chi2.sf((first - second) ** 2 / apart, 1)),
        rule=rule,
        exact=exact,
        reason="",
        n=n,
    )


def one_sided_mcnemar(only_first: int, only_second: int) -> float | None:
    """The exact p of as many or more cells that only the second gets right, were the two equally good; None where they
    are right and wrong in the same cells. The alternative is that the second is better: after training, say.

    >>> one_sided_mcnemar(2, 8)
    0.0546875
    """
    n = only_first + only_second
    return float(stats.binom.sf(only_second - 1, n, 0.5)) if n else None


@dataclass(frozen=True)
class JudgeComparison:
    """Two judges on the cells that people and both of them answered, right where one of the people chose the same.

    difference: A_m of the first less A_m of the second, on these cells; its interval is of draws of documents (or
    sheets), the same for both. McNemar's test takes the cells as independent, which cells of one document are not;
    the interval does not.
    """

    first: JudgeAccuracy
    second: JudgeAccuracy
    difference: float | None
    interval: Interval
    mcnemar: McNemar


def compare_judges(
    people: Answers,
    first: Answers,
    second: Answers,
    *,
    by: By = "document",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
) -> JudgeComparison:
    """Two judges on the same cells: their accuracies, the difference with its interval, McNemar's test."""
    labelled_by_both = (judge_codes(people, first) != MISSING) & (judge_codes(people, second) != MISSING)
    shared = people.where(labelled_by_both)
    of_first, of_second = judged_cells(shared, first), judged_cells(shared, second)
    outcomes = 2 * (~of_first.right).astype(np.int64) + ~of_second.right

    draws = resampling(shared, by, n_draws=n_draws, seed=seed, expanded=expanded, group_many=by == "sheet")
    key = of_first.document if by == "document" else of_first.sheet
    gain = of_first.right.astype(np.float64) - of_second.right
    accuracies = judge_accuracy(shared, first), judge_accuracy(shared, second)
    values = [accuracy.value for accuracy in accuracies]
    return JudgeComparison(
        first=accuracies[0],
        second=accuracies[1],
        difference=None if values[0] is None or values[1] is None else values[0] - values[1],
        interval=mean_of_sheets_interval(draws, key, of_first.sheet, gain),
        mcnemar=mcnemar(np.bincount(outcomes, minlength=4).reshape(2, 2)),
    )
