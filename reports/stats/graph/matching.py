"""Which node of one graph is which of the other: a maximum matching of those that are alike enough."""

from __future__ import annotations

import numpy as np

from reports.stats.answers import IntArray
from reports.stats.pairs import FloatArray

DIGITS = 6  # of a similarity: the order of a sum on another machine decides nothing
# One more match outweighs all that similarities can gain, for as many nodes as a step may have.
_A_MATCH = 1000.0
# Of equally good matchings the one that keeps the order of the names.
_OUT_OF_ORDER = 1e-9


def maximum_matching(similarity: FloatArray, threshold: float) -> IntArray:
    """Pairs (row, column), each row and column at most once, of at least `threshold` alike: as many as there can be,
    and of these matchings the one whose similarities have the largest sum.

    Args:
        similarity: shape (n_rows, n_columns), cosines.
    Returns:
        shape (n_matched, 2), rows ascending.

    To assign by similarity first and drop what lies below the threshold afterwards would lose matches.

    >>> maximum_matching(np.array([[0.95, 0.9], [0.9, 0.1]]), 0.85).tolist()
    [[0, 1], [1, 0]]
    """
    if not similarity.size:
        return np.zeros((0, 2), dtype=np.int64)
    similarity = np.round(similarity, DIGITS)
    alike = similarity >= threshold
    if not alike.any():
        return np.zeros((0, 2), dtype=np.int64)
    n_rows, n_columns = similarity.shape
    apart = np.abs(np.arange(n_rows)[:, np.newaxis] - np.arange(n_columns))
    worth = np.where(alike, _A_MATCH + similarity - _OUT_OF_ORDER * apart, 0.0)
    from scipy.optimize import linear_sum_assignment  # 20 MiB that most reports do without

    rows, columns = linear_sum_assignment(worth, maximize=True)
    matched = alike[rows, columns]
    return np.stack([rows[matched], columns[matched]], axis=-1).astype(np.int64)
