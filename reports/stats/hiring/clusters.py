"""Counts of wrong and of accepted cells by cluster, and how much the cells of one cluster are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reports.stats.answers import IntArray
from reports.stats.pairs import FloatArray

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Judged:
    """One judge's cells that have a label to be held against, all arrays of shape (n_cells,).

    wrong: 1 where the judge's label is not the one that counts, 0 where it is; a share in between where people are
    divided. score: larger is surer (a margin in nats, a probability, the agreement of judges). cluster: the number of
    the document, or sheet.
    """

    wrong: FloatArray
    score: FloatArray
    cluster: IntArray

    @classmethod
    def of(cls, wrong: npt.ArrayLike, score: npt.ArrayLike, cluster: npt.ArrayLike) -> Judged:
        """Raises:
        ValueError: the arrays differ in shape, a `wrong` lies outside 0 to 1, or a number is not finite.
        """
        errors = np.asarray(wrong, dtype=np.float64).ravel()
        scores = np.asarray(score, dtype=np.float64).ravel()
        clusters = np.asarray(cluster, dtype=np.int64).ravel()
        if not errors.shape == scores.shape == clusters.shape:
            raise ValueError("wrong, score and cluster need one entry for each cell")
        if not (np.isfinite(errors).all() and np.isfinite(scores).all()):
            raise ValueError("a cell without a label or without a score cannot be counted: leave it out")
        if errors.size and (errors.min() < 0 or errors.max() > 1):
            raise ValueError("wrong lies between 0 and 1")
        return cls(errors, scores, clusters)

    def only(self, cells: npt.ArrayLike) -> Judged:
        """The cells of a mask, or of places."""
        chosen = np.asarray(cells)
        return Judged(self.wrong[chosen], self.score[chosen], self.cluster[chosen])

    @property
    def n_clusters(self) -> int:
        return int(np.unique(self.cluster).size)

    @property
    def most(self) -> int:
        """Cells in the largest cluster."""
        return int(np.unique(self.cluster, return_counts=True)[1].max(initial=0))


@dataclass(frozen=True, eq=False)
class Totals:
    """wrong and accepted: of the accepted cells of each cluster, shape (n_clusters,), clusters ascending.

    A cluster without an accepted cell is there, with zeros: it was drawn like the others.
    """

    wrong: FloatArray
    accepted: FloatArray

    @property
    def error(self) -> float | None:
        """The share of the accepted cells that is wrong."""
        n = float(self.accepted.sum())
        return float(self.wrong.sum()) / n if n else None


def cluster_sums(cluster: IntArray, values: npt.NDArray[np.generic], n_clusters: int) -> FloatArray:
    """The sum of the values of each cluster, shape (n_clusters,). `cluster`: of each value, 0 to n_clusters - 1."""
    return np.bincount(cluster, values.astype(np.float64), minlength=n_clusters).astype(np.float64)


def totals(judged: Judged, threshold: float = -np.inf) -> Totals:
    """Accepted are the cells whose score is at least the threshold."""
    _, cluster = np.unique(judged.cluster, return_inverse=True)
    n = int(cluster.max(initial=-1)) + 1
    accepted = judged.score >= threshold
    return Totals(cluster_sums(cluster, judged.wrong * accepted, n), cluster_sums(cluster, accepted, n))


def intraclass_correlation(counts: Totals) -> float | None:
    """How much alike the cells of one cluster are: the ANOVA estimate for binary data, between 0 and 1.

    (MSB - MSW) / (MSB + (m0 - 1) MSW) with m0 the mean size corrected for unequal sizes (Donner 1986; Ridout,
    Demetrio and Firth 1999). None where there is nothing to tell it by: one cluster, one cell a cluster, or all cells
    right (or wrong).
    """
    inside = counts.accepted > 0
    size, wrong = counts.accepted[inside], counts.wrong[inside]
    n_clusters, n = size.size, float(size.sum())
    if n_clusters < 2 or n <= n_clusters:
        return None
    error = wrong.sum() / n
    share = wrong / size
    between = float((size * (share - error) ** 2).sum()) / (n_clusters - 1)
    within = float((size * share * (1 - share)).sum()) / (n - n_clusters)
    usual = (n - float((size**2).sum()) / n) / (n_clusters - 1)
    spread = between + (usual - 1) * within
    if spread <= 0:
        return None
    return float(np.clip((between - within) / spread, 0.0, 1.0))


def design_effect(counts: Totals) -> float | None:
    """By how much correlation within clusters multiplies the variance of the error rate.

    The variance of the ratio of sums by clusters, G / (G - 1) sum (W - p A)^2 / n^2, over p (1 - p) / n. None where the
    rate is 0 or 1, or there is one cluster: nothing varies.
    """
    n, n_clusters = float(counts.accepted.sum()), int((counts.accepted > 0).sum())
    rate = counts.error
    if rate is None or not 0 < rate < 1 or n_clusters < 2:
        return None
    residuals = counts.wrong - rate * counts.accepted
    variance = float((residuals**2).sum()) * n_clusters / (n_clusters - 1) / n**2
    return variance * n / (rate * (1 - rate))
