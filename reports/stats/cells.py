"""What the raters of each cell chose, as sums that add up over the study, over documents, over bootstrap draws.

Every agreement coefficient of more than two raters is a function of a few sums over cells. Kept for each document, a
bootstrap draw is a weighted sum of documents, and 2,000 draws are one matrix product (see `bootstrap`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reports.stats.answers import Answers, IntArray
from reports.stats.pairs import FloatArray


@dataclass(frozen=True, eq=False)
class CellSums:
    """Sums over cells; n_iq raters gave cell i the option q, r_i raters answered it. `...` is (), or (n_clusters,), or
    (n_draws,).

    answered: cells with an answer, shape (...); shared: cells with two answers or more, shape (...).
    shares[q] = sum_i n_iq / r_i over answered cells, shape (..., n_options).
    Over shared cells, all of shape (..., n_options, n_options) and symmetric, with m_i[q, l] = n_iq (n_il - [q = l]),
    the ordered pairs of answers that are (q, l):
    comparisons = sum_i m_i; coincidences = sum_i m_i / (r_i - 1), as Krippendorff's alpha weighs cells;
    agreements = sum_i m_i / (r_i (r_i - 1)), each cell counting alike, as Fleiss and Gwet weigh them.
    """

    answered: FloatArray
    shared: FloatArray
    shares: FloatArray
    comparisons: FloatArray
    coincidences: FloatArray
    agreements: FloatArray

    @property
    def n_options(self) -> int:
        return int(self.shares.shape[-1])

    def packed(self) -> FloatArray:
        """All sums side by side, shape (..., n_features): what a bootstrap multiplies."""
        lead = self.answered.shape
        matrices = (self.comparisons, self.coincidences, self.agreements)
        return np.concatenate(
            [
                self.answered[..., np.newaxis],
                self.shared[..., np.newaxis],
                self.shares,
                *(matrix.reshape(*lead, self.n_options**2) for matrix in matrices),
            ],
            axis=-1,
        )

    @classmethod
    def unpacked(cls, features: FloatArray, n_options: int) -> CellSums:
        """The reverse of `packed`."""
        k = n_options
        starts = 2 + k + k * k * np.arange(3)
        square = (*features.shape[:-1], k, k)
        comparisons, coincidences, agreements = (
            features[..., start : start + k * k].reshape(square) for start in starts.tolist()
        )
        return cls(features[..., 0], features[..., 1], features[..., 2 : 2 + k], comparisons, coincidences, agreements)


def cell_sums(answers: Answers) -> CellSums:
    """The sums over all cells."""
    return cluster_sums(answers, np.zeros(answers.cell.size, dtype=np.int64), 1, squeeze=True)


def cluster_sums(answers: Answers, cluster: IntArray, n_clusters: int, *, squeeze: bool = False) -> CellSums:
    """The sums over the cells of each cluster.

    Args:
        cluster: the cluster 0..n_clusters-1 of each answer, shape (n_answers,); a cell lies in one cluster.
        squeeze: with one cluster, leave out the first axis of the sums.
    """
    k = answers.n_options
    counts = answers.value_counts()
    of_cell = cluster[answers.by_cell.first]
    answered = np.bincount(of_cell, minlength=n_clusters).astype(np.float64)
    per_cell = counts.sum(axis=1)
    # Column by column: a cell x option x option array of a million labels would not fit beside them.
    shares: FloatArray = np.stack(
        [np.bincount(of_cell, counts[:, q] / per_cell, minlength=n_clusters) for q in range(k)], axis=-1
    )

    many = per_cell >= 2
    counts, of_cell, r = counts[many], of_cell[many], per_cell[many].astype(np.float64)
    shared = np.bincount(of_cell, minlength=n_clusters).astype(np.float64)
    comparisons, coincidences, agreements = (np.zeros((n_clusters, k, k)) for _ in range(3))
    for q in range(k):
        for other in range(q, k):
            pairs = counts[:, q] * (counts[:, other] - (q == other))
            some = np.flatnonzero(pairs)
            if not some.size:
                continue
            where, amount, raters = of_cell[some], pairs[some], r[some]
            for target, weighted in (
                (comparisons, amount),
                (coincidences, amount / (raters - 1)),
                (agreements, amount / (raters * (raters - 1))),
            ):
                target[:, q, other] = target[:, other, q] = np.bincount(where, weighted, minlength=n_clusters)
    of_clusters = CellSums(answered, shared, shares, comparisons, coincidences, agreements)
    return CellSums.unpacked(of_clusters.packed()[0], k) if squeeze else of_clusters
