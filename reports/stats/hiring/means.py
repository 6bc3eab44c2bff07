"""Means and differences by clusters: Student's t on sums of residuals, for one way of clustering or for two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reports.stats import distributions as stats
from reports.stats.answers import IntArray
from reports.stats.hiring.clusters import cluster_sums
from reports.stats.pairs import FloatArray

CONFIDENCE = 0.95
NOTHING = "there is nothing to count"
ONE_CLUSTER = "of one document there is no interval"


@dataclass(frozen=True)
class Mean:
    """A mean with its 95 % interval by clusters, None twice with one cluster. n: values; n_clusters: documents."""

    value: float | None
    low: float | None
    high: float | None
    reason: str
    n: int
    n_clusters: int


def clustered_mean(values: npt.ArrayLike, cluster: npt.ArrayLike, *, share: bool = True) -> Mean:
    """The mean of values, NaN left out.

    The variance is that of a ratio of sums by clusters, G / (G - 1) sum (sum of residuals)^2 / n^2, read by t with
    G - 1 degrees of freedom. Where all values are 0, or all 1, Clopper and Pearson's interval of as many values as
    there are clusters.

    Args:
        share: the values lie between 0 and 1, and so do the bounds.
    """
    numbers, clusters = np.asarray(values, dtype=np.float64).ravel(), np.asarray(cluster, dtype=np.int64).ravel()
    if numbers.shape != clusters.shape:
        raise ValueError("every value needs a cluster")
    known = ~np.isnan(numbers)
    numbers, group = numbers[known], np.unique(clusters[known], return_inverse=True)[1]
    n, n_clusters = numbers.size, int(group.max(initial=-1)) + 1
    if not n:
        return Mean(None, None, None, NOTHING, 0, 0)
    value = float(numbers.mean())
    if n_clusters < 2:
        return Mean(value, None, None, ONE_CLUSTER, n, n_clusters)
    if share and value in (0.0, 1.0):
        reach = 1 - ((1 - CONFIDENCE) / 2) ** (1 / n_clusters)
        return Mean(value, max(value - reach, 0.0), min(value + reach, 1.0), "", n, n_clusters)
    sums = cluster_sums(group, numbers - value, n_clusters)
    error = float(np.sqrt((sums**2).sum() * n_clusters / (n_clusters - 1))) / n
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n_clusters - 1)) * error
    low, high = value - half, value + half
    return Mean(value, max(low, 0.0) if share else low, min(high, 1.0) if share else high, "", n, n_clusters)


def summed_squares(scores: FloatArray, *keys: IntArray) -> tuple[float, int]:
    """The sum over clusters of the squared sums of scores, times G / (G - 1), and G; a cluster is what agrees in all
    keys. Infinite with one cluster."""
    together = np.zeros(scores.size, dtype=np.int64)
    for key in keys:
        _, place = np.unique(key, return_inverse=True)
        _, together = np.unique(together * (int(place.max(initial=0)) + 1) + place, return_inverse=True)
    n_clusters = int(together.max(initial=-1)) + 1
    if n_clusters < 2:
        return float("inf"), n_clusters
    sums = cluster_sums(together, scores, n_clusters)
    return float((sums**2).sum()) * n_clusters / (n_clusters - 1), n_clusters
