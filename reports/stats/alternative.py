"""The Alternative Annotator Test: may a judge stand in for one more person? (Calderon, Reichart and Dror, ACL 2025.)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from reports.stats import distributions as stats
from reports.stats.answers import MISSING, Answers, IntArray
from reports.stats.bootstrap import MINIMUM_CLUSTERS, By, cluster_keys
from reports.stats.judge import judge_codes
from reports.stats.pairs import FloatArray

Scoring = Literal["accuracy", "rmse"]

# The paper asks for 30 cells or more from each person, and for three people.
MINIMUM_CELLS = 30
MINIMUM_PEOPLE = 3
FALSE_DISCOVERY_RATE = 0.05
# What a judge may be worse by: 0.2 beside experts, 0.15 beside skilled people, 0.1 beside crowd workers.
EPSILON = 0.2

TOO_FEW_PEOPLE = "not enough annotators: the test needs three with enough cells"
TOO_FEW_CELLS = "no person has enough cells that the judge and another person answered"
TOO_FEW_DOCUMENTS = "not enough annotators: the test needs three with enough cells in ten documents or more"


@dataclass(frozen=True)
class LeftOutPerson:
    """One person j left out: the judge and the person are compared by how well each agrees with the others.

    judge_advantage: share of the n cells in which the judge agrees at least as well (rho_j); person_advantage: in which
    the person does; p_value: of "the judge is worse by epsilon or more"; rejected: whether that is rejected, after the
    correction for several people. p_value is None, and rejected False, where n, or n_clusters, is below the minimum.
    n_clusters: documents (or sheets) in which the n cells lie.
    """

    rater: int
    judge_advantage: float
    person_advantage: float
    p_value: float | None
    rejected: bool
    n: int
    n_clusters: int


@dataclass(frozen=True)
class AlternativeTest:
    """winning_rate (omega): share of the people whose hypothesis is rejected; passed: it is 0.5 or more. Both are None
    where there are fewer people than the test asks for: of one or two, one alone would decide.
    advantage_probability (rho): mean over people of the share of cells in which the judge agrees at least as well with
    the others as the person left out.

    n_people: people with at least `minimum_cells` cells, who make both figures; n_left_out: the others. by: what the
    cells were taken to belong together in, None where they were taken as independent.
    """

    winning_rate: float | None
    advantage_probability: float | None
    passed: bool | None
    epsilon: float
    scoring: Scoring
    reason: str
    n_people: int
    n_left_out: int
    minimum_cells: int
    by: By | None
    rows: tuple[LeftOutPerson, ...]


def alternative_annotator_test(
    people: Answers,
    judge: Answers,
    *,
    epsilon: float = EPSILON,
    scoring: Scoring = "accuracy",
    values: Sequence[float] | None = None,
    minimum_cells: int = MINIMUM_CELLS,
    minimum_people: int = MINIMUM_PEOPLE,
    by: By | None = None,
) -> AlternativeTest:
    """The test, leaving each person out in turn.

    In a cell that person j, the judge and at least one other answered, S is how well an answer agrees with the others:
    the share that chose the same ("accuracy", nominal), or minus the root mean squared distance to their answers
    ("rmse", ordered). W_f = [S(judge) >= S(j)], W_h = [S(j) >= S(judge)]. For each person a one-sided t-test of
    mean(W_h - W_f) < epsilon; p-values are corrected together by Benjamini and Yekutieli at 0.05. Differences that are
    all equal leave nothing to test: p is then 0 where they are below epsilon and 1 otherwise.

    Args:
        values: what the options stand for, shape (n_options,), for "rmse"; 0, 1, 2, ... when left out.
        by: None for the paper's t-test, which takes cells as independent; "document" (or "sheet") for residuals summed
            within documents before they are squared, times G / (G - 1), and t with G - 1 degrees of freedom (Liang and
            Zeger 1986). People with cells in fewer than ten documents are then left out.
    """
    chosen = judge_codes(people, judge)
    counts = people.value_counts()
    cell = people.by_cell.index
    usable = np.flatnonzero((chosen != MISSING) & (counts.sum(axis=1)[cell] > 1))
    code, of_judge = people.code[usable], chosen[usable]
    others = counts[cell[usable]]
    others[np.arange(usable.size), code] -= 1

    if scoring == "accuracy":
        entry = np.arange(usable.size)
        person_score, judge_score = others[entry, code], others[entry, of_judge]
    else:
        # The number of others is the same for both, so the sums order as the roots of the means do.
        at = np.arange(people.n_options) if values is None else np.asarray(values, dtype=np.float64)
        person_score, judge_score = (
            -(others * (at[np.newaxis, :] - at[mine, np.newaxis]) ** 2).sum(axis=1) for mine in (code, of_judge)
        )
    judge_wins = (judge_score >= person_score).astype(np.int64)
    person_wins = (person_score >= judge_score).astype(np.int64)

    raters, rater = np.unique(people.rater[usable], return_inverse=True)
    n = np.bincount(rater)
    judge_advantage = np.bincount(rater, judge_wins) / n
    person_advantage = np.bincount(rater, person_wins) / n
    difference = (person_wins - judge_wins).astype(np.float64)
    mean = np.bincount(rater, difference) / n
    # Differences are -1, 0 or 1: squares are exact.
    squares = np.bincount(rater, difference**2)
    residuals = difference - mean[rater]
    n_clusters, summed = _by_cluster(rater, cluster_keys(people, by or "document")[usable], residuals, n.size)
    enough = n >= minimum_cells
    if by:
        enough &= n_clusters >= MINIMUM_CLUSTERS
    p_values = np.full(n.size, np.nan)
    for person in np.flatnonzero(enough):
        spread = (squares[person] - n[person] * mean[person] ** 2) / max(int(n[person]) - 1, 1)
        groups = int(n_clusters[person])
        if spread <= 1e-12 or (by and summed[person] <= 1e-12):
            p_values[person] = float(mean[person] >= epsilon)
        elif by:
            error = np.sqrt(summed[person] * groups / (groups - 1)) / n[person]
            p_values[person] = stats.t.cdf((mean[person] - epsilon) / error, groups - 1)
        else:
            t = (mean[person] - epsilon) / np.sqrt(spread / n[person])
            p_values[person] = stats.t.cdf(t, n[person] - 1)
    rejected = np.zeros(n.size, dtype=bool)
    if enough.any():
        rejected[enough] = stats.false_discovery_control(p_values[enough], method="by") <= FALSE_DISCOVERY_RATE
    rows = tuple(
        LeftOutPerson(number, of_judge_, of_person, None if np.isnan(p) else p, won, size, groups)
        for number, of_judge_, of_person, p, won, size, groups in zip(
            raters.tolist(),
            judge_advantage.tolist(),
            person_advantage.tolist(),
            p_values.tolist(),
            rejected.tolist(),
            n.tolist(),
            n_clusters.tolist(),
            strict=True,
        )
    )
    n_people = int(enough.sum())
    tested = n_people >= max(minimum_people, 1)
    winning_rate = float(rejected[enough].mean()) if tested else None
    return AlternativeTest(
        winning_rate=winning_rate,
        advantage_probability=float(judge_advantage[enough].mean()) if n_people else None,
        passed=None if winning_rate is None else winning_rate >= 0.5,
        epsilon=epsilon,
        scoring=scoring,
        reason="" if tested else _too_few(n, minimum_cells, n_people, by),
        n_people=n_people,
        n_left_out=n.size - n_people,
        minimum_cells=minimum_cells,
        by=by,
        rows=rows,
    )


def _too_few(n: IntArray, minimum_cells: int, n_people: int, by: By | None) -> str:
    with_cells = int((n >= minimum_cells).sum())
    if by and with_cells > n_people:
        return TOO_FEW_DOCUMENTS
    return TOO_FEW_PEOPLE if n_people else TOO_FEW_CELLS


def _by_cluster(
    rater: IntArray, cluster: IntArray, residuals: FloatArray, n_raters: int
) -> tuple[IntArray, FloatArray]:
    """Of each rater the number of clusters, and the sum over clusters of the squared sums of residuals."""
    keys, place = np.unique(rater * (int(cluster.max(initial=0)) + 1) + cluster, return_inverse=True)
    sums = np.bincount(place, residuals, minlength=keys.size).astype(np.float64)
    of_rater = keys // (int(cluster.max(initial=0)) + 1)
    squares = np.bincount(of_rater, sums**2, minlength=n_raters).astype(np.float64)
    return np.bincount(of_rater, minlength=n_raters).astype(np.int64), squares
