"""Which of two systems is preferred, by system-level probabilistic assessment (SPA).

A rater says with what probability they would prefer an output of the one system to an output of the other; the mean of
these probabilities says which system is preferred, and it is held against 0.5 (Ethayarajh and Jurafsky 2022, The
Authenticity Gap in Human Evaluation). Nothing is assumed about a scale: what one rater calls 7 need not be what another
calls 7, since probabilities of one rater alone are made of one rater's own comparisons.

Where raters did not state the probability, it is estimated from their preferences among outputs for one input: of all
pairs of outputs, one of each system, the share in which the first is preferred, a tie counting half. There is one such
assessment a rater and input, and all weigh alike.

The paper takes assessments for independent (Student's t). Assessments of the same input are not: `spa` gives the
interval of both kinds, and the one by inputs is what a report shows.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reports.stats import distributions as stats
from reports.stats.agreement import NO_TWO_ANSWERS, UndefinedStatistic, krippendorff_alpha
from reports.stats.answers import IntArray
from reports.stats.pairs import FloatArray

CONFIDENCE = 0.95
NO_ASSESSMENT = "nobody compared outputs of both for one input"
ONE_INPUT = "outputs of both are compared for one input alone"
ALL_THE_SAME = "all assessments are the same"
EVEN = 0.5


@dataclass(frozen=True)
class Bounds:
    """A confidence interval of a mean, the p-value of its being 0.5 (two-sided), and the degrees of freedom."""

    low: float
    high: float
    p_value: float
    freedom: int


@dataclass(frozen=True)
class Spa:
    """How far the first system is preferred to the second.

    probability: the mean of the assessments, None without any; clustered: its bounds where the assessments of one input
    belong together, None (and `reason`) with fewer than two inputs or where nothing differs; independent: the paper's,
    each assessment by itself; n: assessments; n_inputs, n_raters: whose they are.
    """

    probability: float | None
    clustered: Bounds | None
    independent: Bounds | None
    reason: str
    n: int
    n_inputs: int
    n_raters: int


@dataclass(frozen=True, eq=False)
class Assessments:
    """probability[i]: of `rater[i]`, for the outputs for `input[i]`, that the first system's is preferred to the
    second's; all of shape (n_assessments,)."""

    probability: FloatArray
    input: IntArray
    rater: IntArray


def from_preferences(
    *,
    value: npt.ArrayLike,
    system: npt.ArrayLike,
    input: npt.ArrayLike,
    rater: npt.ArrayLike,
    first: int,
    second: int,
) -> Assessments:
    """Count the probabilities out of preferences: one assessment a rater and input that has outputs of both systems.

    Args:
        value: how well a rater liked an output, in numbers of their own; only their order within one rater and input is
            looked at. Shape (n_answers,), as are the others.
        system, input, rater: of each output that was answered for.
        first, second: the systems that are compared.

    >>> found = from_preferences(value=[9, 4, 4], system=[0, 1, 0], input=[0, 0, 0], rater=[0, 0, 0], first=0, second=1)
    >>> found.probability.tolist()  # 9 before 4 counts 1, 4 and 4 count a half: (1 + 1/2) / 2
    [0.75]
    """
    values = np.asarray(value, dtype=np.float64)
    systems, inputs, raters = (np.asarray(of, dtype=np.int64) for of in (system, input, rater))
    probability: list[float] = []
    at: list[tuple[int, int]] = []
    for where in sorted({(int(of_input), int(of_rater)) for of_input, of_rater in zip(inputs, raters, strict=True)}):
        mine = (inputs == where[0]) & (raters == where[1])
        ours, theirs = values[mine & (systems == first)], values[mine & (systems == second)]
        if ours.size and theirs.size:
            difference = np.sign(ours[:, np.newaxis] - theirs[np.newaxis, :])
            probability.append(float((difference + 1).mean() / 2))
            at.append(where)
    places = np.array(at, dtype=np.int64).reshape(-1, 2)
    return Assessments(np.array(probability, dtype=np.float64), places[:, 0], places[:, 1])


@dataclass(frozen=True)
class Agreed:
    """How far raters assess alike, over the assessments that two or more of them made (`n`).

    same: of each two raters' assessments of one thing the share on the same side of 0.5, both being 0.5 counting as
    such; difference: their mean distance; alpha: Krippendorff's, interval; `reason` why alpha is not defined.
    """

    same: float | None
    difference: float | None
    alpha: float | None
    reason: str
    n: int


def agreement(said: Sequence[Mapping[Hashable, float]]) -> Agreed:
    """Agreement of raters on what is preferred: `said` has what each of them assessed, and with what probability.

    >>> found = agreement([{"a": 1.0, "b": 0.5, "c": 0.0}, {"a": 0.75, "b": 0.0, "d": 1.0}])
    >>> found.n, found.same, found.difference  # c and d were assessed by one rater alone
    (2, 0.5, 0.375)
    """
    both: list[tuple[float, float]] = []
    for one, other in itertools.combinations(said, 2):
        both += [(value, other[of]) for of, value in one.items() if of in other]
    shared = Counter(of for one in said for of in one)
    units = sorted((of for of, times in shared.items() if times > 1), key=repr)
    levels = sorted({value for one in said for value in one.values()})
    counts = np.zeros((len(units), len(levels)), dtype=np.int64)
    for row, of in enumerate(units):
        for one in said:
            if of in one:
                counts[row, levels.index(one[of])] += 1
    value, reason = None, ""
    try:
        value = krippendorff_alpha(counts, "interval", levels)
    except UndefinedStatistic:
        reason = ALL_THE_SAME if units else NO_TWO_ANSWERS
    if not both:
        return Agreed(None, None, value, reason, 0)
    pairs = np.array(both)
    sides = np.sign(pairs - EVEN)
    return Agreed(
        float((sides[:, 0] == sides[:, 1]).mean()),
        float(np.abs(pairs[:, 0] - pairs[:, 1]).mean()),
        value,
        reason,
        len(units),
    )


def spa(assessments: Assessments) -> Spa:
    """The mean assessment and its bounds.

    `clustered`: the variance of the mean is estimated by summing residuals within inputs, times G / (G - 1) for G
    inputs, and read by Student's t with G - 1 degrees of freedom (cluster-robust; Cameron and Miller 2015). With one
    assessment an input it is the paper's t-test.

    >>> found = spa(Assessments(np.array([1.0, 0.5, 0.75]), np.array([0, 1, 2]), np.array([0, 0, 0])))
    >>> found.probability, found.n_inputs, found.clustered == found.independent
    (0.75, 3, True)
    """
    n, inputs = assessments.probability.size, np.unique(assessments.input)
    counted = {"n": n, "n_inputs": int(inputs.size), "n_raters": int(np.unique(assessments.rater).size)}
    if not n:
        return Spa(None, None, None, NO_ASSESSMENT, **counted)
    mean = float(assessments.probability.mean())
    residual = assessments.probability - mean
    place = np.searchsorted(inputs, assessments.input)
    by_input = np.bincount(place, weights=residual, minlength=inputs.size).astype(np.float64)
    clustered = _bounds(mean, by_input, n)
    reason = "" if clustered else ONE_INPUT if inputs.size < 2 else ALL_THE_SAME
    return Spa(mean, clustered, _bounds(mean, residual, n), reason, **counted)


def _bounds(mean: float, residuals: FloatArray, n: int) -> Bounds | None:
    """`residuals`: summed within each cluster, shape (n_clusters,); `n`: assessments in all."""
    clusters = residuals.size
    if clusters < 2:
        return None
    error = float(np.sqrt((residuals**2).sum() * clusters / (clusters - 1)) / n)
    if error < 1e-12:
        return None
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, clusters - 1)) * error
    p_value = float(2 * stats.t.sf(abs(mean - EVEN) / error, clusters - 1))
    return Bounds(max(mean - reach, 0.0), min(mean + reach, 1.0), p_value, clusters - 1)
