"""The same cells judged in several arms: options in another order, candidates swapped, the question in other words.

A judge whose label depends on the arm has said something about the arm. What is left when labels are averaged over arms
does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from reports.stats.answers import MISSING, IntArray
from reports.stats.hiring.means import Mean, ShareBounds, clustered_mean
from reports.stats.pairs import FloatArray
from reports.stats.ratios import ratio


@dataclass(frozen=True)
class Flips:
    """How often the label changes with the arm, each with its interval by documents.

    against_first: of each other arm, the share of cells with another label than in the first arm; pairwise: of two arms
    drawn at random, over cells with two labels or more; any: share of cells with two labels or more that are not all
    equal.
    """

    against_first: tuple[Mean, ...]
    pairwise: Mean
    any: Mean


def flips(codes: npt.ArrayLike, cluster: npt.ArrayLike, *, bounds: ShareBounds = ShareBounds.LATEST) -> Flips:
    """
    Args:
        codes: the option (what it means, not its place), -1 for no label, shape (n_arms, n_cells); the first arm is the
            one that is used elsewhere. cluster: the document of each cell. bounds: see `clustered_mean`.

    Raises:
        ValueError: fewer than two arms.
    """
    labels = _labels(codes)
    other = [_differ(labels[0], arm) for arm in labels[1:]]
    n, differing = (np.zeros(labels.shape[1], dtype=np.int64) for _of_both in range(2))
    for a, b in combinations(labels, 2):
        known = (a != MISSING) & (b != MISSING)
        n += known
        differing += known & (a != b)
    pairwise = ratio(differing, n)
    changed = np.where(n > 0, (differing > 0) * 1.0, np.nan)
    return Flips(
        tuple(clustered_mean(arm, cluster, bounds=bounds) for arm in other),
        clustered_mean(pairwise, cluster, bounds=bounds),
        clustered_mean(changed, cluster, bounds=bounds),
    )


def place_shares(
    places: npt.ArrayLike, cluster: npt.ArrayLike, *, n_places: int, bounds: ShareBounds = ShareBounds.LATEST
) -> tuple[Mean, ...]:
    """How often what stood at each place was chosen, over arms and cells.

    Where every option stood at every place equally often (rotations, all permutations) each share is 1 / n_places for a
    judge who does not look at places, whatever the right labels are.

    Args:
        places: the place, from 0, of the chosen option in the order that this arm showed, -1 for no label, shape
            (n_arms, n_cells). bounds: see `clustered_mean`.
    """
    chosen = np.asarray(places, dtype=np.int64)
    clusters = np.broadcast_to(np.asarray(cluster, dtype=np.int64), chosen.shape)
    return tuple(
        clustered_mean(np.where(chosen == MISSING, np.nan, (chosen == place) * 1.0), clusters, bounds=bounds)
        for place in range(n_places)
    )


@dataclass(frozen=True)
class Swapped:
    """Two candidates shown in both orders.

    consistent: share of pairs in which the same candidate (or a tie) won both times; first: share of the two verdicts
    that went to whoever stood first, ties half: 0.5 without a preference; first_if_not: of the pairs in which the
    place won both times, the share that went to the first place.
    """

    consistent: Mean
    first: Mean
    first_if_not: Mean


def swapped(
    as_given: npt.ArrayLike, turned: npt.ArrayLike, cluster: npt.ArrayLike, *, bounds: ShareBounds = ShareBounds.LATEST
) -> Swapped:
    """
    Args:
        as_given, turned: who won, by place: 0 whoever stood first, 1 second, 2 a tie, -1 no verdict, shape (n_pairs,);
            in `turned` the candidates have changed places. bounds: see `clustered_mean`.
    """
    one, two = np.asarray(as_given, dtype=np.int64), np.asarray(turned, dtype=np.int64)
    known = (one != MISSING) & (two != MISSING)
    # By candidate the second verdict is the other way round.
    same = np.where(two == 2, one == 2, (one != 2) & (one == 1 - two))
    worth = np.array([1.0, 0.0, 0.5])
    first = (worth[np.where(known, one, 0)] + worth[np.where(known, two, 0)]) / 2
    by_place = known & (one == two) & (one != 2)
    return Swapped(
        clustered_mean(np.where(known, same * 1.0, np.nan), cluster, bounds=bounds),
        clustered_mean(np.where(known, first, np.nan), cluster, bounds=bounds),
        clustered_mean(np.where(by_place, (one == 0) * 1.0, np.nan), cluster, bounds=bounds),
    )


def _labels(codes: npt.ArrayLike) -> IntArray:
    labels = np.asarray(codes, dtype=np.int64)
    if labels.ndim != 2 or labels.shape[0] < 2:
        raise ValueError("labels of two arms or more are needed, shape (n_arms, n_cells)")
    return labels


def _differ(a: IntArray, b: IntArray) -> FloatArray:
    differ: FloatArray = np.where((a == MISSING) | (b == MISSING), np.nan, (a != b) * 1.0)
    return differ
