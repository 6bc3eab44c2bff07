"""People judge systems: rates of what is right, who is preferred, and which metric goes with people's judgement.

Judgements of one document are alike, so every interval takes documents (clusters) for what varies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reports.stats import distributions as stats
from reports.stats.answers import IntArray
from reports.stats.hiring.means import ShareBounds, clustered_mean
from reports.stats.pairs import FloatArray
from reports.stats.spa import CONFIDENCE, Assessments, spa

# Groups of clusters that are left out in turn; with more clusters than this several make one.
MOST_GROUPS = 60
FEWEST_GROUPS = 5
FEWEST_CELLS = 10
TOO_FEW = "too few judged outputs, or too few sheets they come from"
NEVER_APART = "the metric, or what people said, is the same everywhere"


@dataclass(frozen=True)
class Rate:
    """A share of judgements, 0 to 1, None without any; n of them in n_clusters. low and high: 95 %, None with one
    cluster."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    n_clusters: int


def rate(said: FloatArray, cluster: IntArray, *, bounds: ShareBounds = ShareBounds.LATEST) -> Rate:
    """The mean of judgements that are 0 or 1, with an interval by clusters (`hiring.means.clustered_mean`).

    Args:
        said, cluster: shape (n,).
        bounds: the first are Student's, as in `spa`, and Wilson's with each cluster counting once where all judgements
            are the same.

    >>> found = rate(np.array([1.0, 1.0, 0.0, 1.0]), np.array([0, 0, 1, 2]))
    >>> found.value, found.n_clusters
    (0.75, 3)
    """
    if bounds is not ShareBounds.FIRST:
        of = clustered_mean(said, cluster, bounds=bounds)
        return Rate(of.value, of.low, of.high, of.n, of.n_clusters)
    found = spa(Assessments(said, cluster, np.zeros(said.size, dtype=np.int64)))
    if found.probability is None:
        return Rate(None, None, None, 0, 0)
    if found.clustered is not None:
        low, high = found.clustered.low, found.clustered.high
        return Rate(found.probability, low, high, found.n, found.n_inputs)
    if found.n_inputs < 2 or np.ptp(said) > 0:
        return Rate(found.probability, None, None, found.n, found.n_inputs)
    low, high = wilson(found.probability, found.n_inputs)
    return Rate(found.probability, low, high, found.n, found.n_inputs)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval of a share of n independent cases (1927).

    >>> [round(end, 3) for end in wilson(1.0, 10)]
    [0.722, 1.0]
    """
    z = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    centre, spread = share + z**2 / (2 * n), z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    below = 1 + z**2 / n
    return max(float((centre - spread) / below), 0.0), min(float((centre + spread) / below), 1.0)


@dataclass(frozen=True)
class Correlation:
    """Kendall's τ_b and Spearman's ρ of a metric and people's score over outputs, each with a 95 % interval."""

    kendall: float | None
    kendall_low: float | None
    kendall_high: float | None
    spearman: float | None
    spearman_low: float | None
    spearman_high: float | None
    reason: str
    n: int
    n_clusters: int


def correlation(metric: FloatArray, human: FloatArray, cluster: IntArray) -> Correlation:
    """How far a metric orders outputs as people do: what it and they say of each, and its cluster, shape (n,).

    The intervals leave out each cluster in turn (jackknife; Efron and Tibshirani 1993, chapter 11) on Fisher's scale,
    with t of as many degrees of freedom as there are clusters less one. Over 60 clusters are put together in 60 groups.

    >>> found = correlation(np.arange(20.0), np.arange(20.0) // 2, np.arange(20) // 2)
    >>> found.spearman is not None and found.spearman > 0.98
    True
    """
    clusters, group = np.unique(cluster, return_inverse=True)
    if clusters.size > MOST_GROUPS:
        group = group % MOST_GROUPS
    n = int(metric.size)
    if n < FEWEST_CELLS or clusters.size < FEWEST_GROUPS:
        return Correlation(None, None, None, None, None, None, TOO_FEW, n, clusters.size)
    both = _both(metric, human)
    if both is None:
        return Correlation(None, None, None, None, None, None, NEVER_APART, n, clusters.size)
    left = [_both(metric[group != one], human[group != one]) for one in range(int(group.max()) + 1)]
    ends = [_jackknife(value, [of[at] for of in left if of is not None], len(left)) for at, value in enumerate(both)]
    return Correlation(both[0], *ends[0], both[1], *ends[1], "", n, clusters.size)


def _both(metric: FloatArray, human: FloatArray) -> tuple[float, float] | None:
    if np.ptp(metric) == 0 or np.ptp(human) == 0:
        return None
    return float(stats.kendalltau(metric, human).statistic), float(stats.spearmanr(metric, human).statistic)


def _jackknife(value: float, left: list[float], n: int) -> tuple[float | None, float | None]:
    if len(left) < n or abs(value) >= 1:
        return None, None  # without some cluster there is no value: one cluster is all there is to tell
    fisher = np.arctanh(np.clip(left, -1 + 1e-12, 1 - 1e-12))
    error = float(np.sqrt((n - 1) / n * ((fisher - fisher.mean()) ** 2).sum()))
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * error
    at = float(np.arctanh(value))
    return float(np.tanh(at - reach)), float(np.tanh(at + reach))
