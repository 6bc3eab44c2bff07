"""Shares of options in a study that a judge labelled and people partly checked: prediction-powered, by clusters.

`reports.stats.estimates` takes people's cells as drawn at random from all. Where a judge works under a certificate they
are not: people label every cell that it does not accept, and a drawn part of those that it does. Such strata are
estimated apart and put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reports.stats.answers import IntArray
from reports.stats.hiring.clusters import BoolArray
from reports.stats.hiring.means import clusters_worth, degrees_of_freedom, pulled_sums, share_bounds
from reports.stats.pairs import FloatArray

MINIMUM_CLUSTERS = 5

NO_LABEL = "a stratum has no cell that people labelled: its share cannot be estimated"
TOO_FEW_CLUSTERS = "too few documents with people's labels for an interval"
NO_CELLS = "there is no cell"


@dataclass(frozen=True)
class Estimate:
    """A share with its 95 % interval by clusters (Korn and Graubard), None twice where there are too few of them."""

    value: float | None
    low: float | None
    high: float | None
    standard_error: float | None


@dataclass(frozen=True)
class Share:
    """One option's share of all cells. powered: with the judge's labels; classical: from people's labels alone, the
    strata put together alike; judge: what the judge alone says (no interval: its errors are not sampling errors).

    weights: lambda of each stratum, how far the judge is trusted there. worth: how many times as many labels people
    would have to give for the classical estimate to be as sure: the ratio of variances.
    """

    powered: Estimate
    classical: Estimate
    judge: float | None
    weights: tuple[float, ...]
    worth: float | None
    reason: str
    n_cells: int
    n_labelled: int
    n_clusters: int


def powered_share(
    truth: npt.ArrayLike,
    judge: npt.ArrayLike,
    labelled: npt.ArrayLike,
    cluster: npt.ArrayLike,
    *,
    stratum: npt.ArrayLike | None = None,
) -> Share:
    """A mean over all cells.

    Within a stratum s of N_s cells, n_s of them labelled: lambda mean(f over all) + mean(y - lambda f over labelled),
    f the judge's and y people's; over strata with weights N_s / N. lambda is the one with the least estimated variance
    by clusters, between 0 and 1. In a stratum that people labelled wholly the judge drops out. The variance sums each
    cluster's influences, those of different strata and of cells with and without a label together, each times
    `means.pull`. Bounds are those of `means.share_bounds` for the clusters that the sampled strata are worth; a sampled
    stratum in which people always said the same may have other cells for all that (`_unseen`).

    Args:
        truth: what people say, 0 to 1, of any value where they said nothing; judge: 0 to 1 likewise; labelled: whether
            people said something. All of shape (n_cells,).
        stratum: cells within which people's were drawn at random, for example 1 where the judge accepts, 0 elsewhere.

    Sources: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Science 382; Angelopoulos, Duchi and Zrnic (2023),
    PPI++; Fisch et al. (2024), Stratified prediction-powered inference.

    Raises:
        ValueError: arrays that differ in shape.
    """
    f, y, known = _arrays(truth, judge, labelled)
    clusters = np.asarray(cluster, dtype=np.int64).ravel()
    strata = np.zeros(f.size, dtype=np.int64) if stratum is None else np.asarray(stratum, dtype=np.int64).ravel()
    if not clusters.shape == strata.shape == f.shape:
        raise ValueError("every cell needs a cluster and a stratum")
    n_labelled_clusters = int(np.unique(clusters[known]).size)
    _, group = np.unique(clusters, return_inverse=True)
    n_groups = int(group.max(initial=-1)) + 1
    numbers = np.unique(strata)
    none = Estimate(None, None, None, None)
    reason = "" if f.size else NO_CELLS
    if any(not known[strata == number].any() for number in numbers):
        reason = NO_LABEL
    said = float(f.mean()) if f.size else None
    if reason:
        return Share(none, none, said, (), None, reason, f.size, int(known.sum()), n_labelled_clusters)

    values, plain, weights = np.zeros(numbers.size), np.zeros(numbers.size), np.zeros(numbers.size)
    fixed, moving = np.zeros((numbers.size, n_groups)), np.zeros((numbers.size, n_groups))
    sizes = np.zeros(numbers.size)
    for place, number in enumerate(numbers):
        inside = strata == number
        both = inside & known
        sizes[place] = inside.sum() / f.size
        plain[place] = y[both].mean()
        # The influence of a cluster is fixed + lambda moving.
        fixed[place] = _influence(group, both, y, n_groups) * sizes[place]
        if not known[inside].all():
            of_judge = _influence(group, inside, f, n_groups) - _influence(group, both, f, n_groups)
            moving[place] = of_judge * sizes[place]
        spread = float((moving[place] ** 2).sum())
        best = -float((fixed[place] * moving[place]).sum()) / spread if spread > 1e-15 else 0.0
        weights[place] = min(max(best, 0.0), 1.0)
        values[place] = plain[place] + weights[place] * (f[inside].mean() - f[both].mean())

    sampled = np.array([not known[strata == number].all() for number in numbers])
    labelled_in = np.array([np.unique(clusters[known & (strata == number)]).size for number in numbers])
    n_sampled = int(_put_together(sizes[sampled], labelled_in[sampled])) if sampled.any() else n_labelled_clusters
    few = n_sampled < MINIMUM_CLUSTERS
    # The labelled cells of each cluster, in each of the strata that people labelled in part; of all cells otherwise.
    of_strata = [known & (strata == number) for number in numbers[sampled]] if sampled.any() else [known]
    labels_of = [np.unique(clusters[labels], return_counts=True)[1].astype(np.float64) for labels in of_strata]
    large = sizes[sampled] if sampled.any() else np.ones(1)
    least = _put_together(large, np.array([clusters_worth(labels) for labels in labels_of]))
    degrees = _degrees(large, labels_of)
    unseen = _unseen(sizes, labelled_in, sampled & ~fixed.any(axis=1))

    def estimate(by_stratum: FloatArray, trust: FloatArray) -> Estimate:
        whole = float(sizes @ by_stratum)
        value = min(max(whole, 0.0), 1.0)
        influence = (fixed + trust[:, np.newaxis] * moving).sum(axis=0)
        # Which strata a document's cells are in is chance too.
        influence += _influence(
            group, np.ones(f.size, dtype=bool), by_stratum[np.searchsorted(numbers, strata)], n_groups
        )
        if few:
            return Estimate(value, None, None, None)
        variance = float((influence**2).sum())
        error = float(np.sqrt(variance + unseen))
        low, high = share_bounds(value, error, n=int(known.sum()), degrees=degrees, least=least)
        return Estimate(value, low, high, float(np.sqrt(variance)))

    powered, classical = estimate(values, weights), estimate(plain, np.zeros(numbers.size))
    worth = None
    if powered.standard_error and classical.standard_error is not None:
        worth = (classical.standard_error / powered.standard_error) ** 2
    return Share(
        powered=powered,
        classical=classical,
        judge=said,
        weights=tuple(weights.tolist()),
        worth=worth,
        reason=TOO_FEW_CLUSTERS if few else "",
        n_cells=f.size,
        n_labelled=int(known.sum()),
        n_clusters=n_labelled_clusters,
    )


def _put_together(sizes: FloatArray, worth: npt.NDArray[np.number[Any]]) -> float:
    """What strata of these sizes are worth in clusters together: as many as there are where there is one, and few where
    a large one has few."""
    size = sizes / sizes.sum()
    return float(1 / (size**2 / worth).sum() + 1e-9)


def _degrees(sizes: FloatArray, labels_of: Sequence[FloatArray]) -> float:
    """The degrees of freedom of a sum of strata, by what each adds to the variance (Welch and Satterthwaite).

    Args:
        sizes: of the strata; labels_of: of each the labelled cells in each of its clusters.
    """
    variance = sizes**2 / np.array([labels.sum() for labels in labels_of])
    degrees = np.array([degrees_of_freedom(labels) for labels in labels_of])
    return float(variance.sum() ** 2 / (variance**2 / degrees).sum())


def _unseen(sizes: FloatArray, labelled_in: IntArray, still: BoolArray) -> float:
    """The variance of strata in which nothing varied among the labelled cells: of one hit among G + 2 clusters."""
    n = labelled_in[still]
    rate = 1 / (n + 2)
    return float((sizes[still] ** 2 * rate * (1 - rate) / n).sum())


def _arrays(
    truth: npt.ArrayLike, judge: npt.ArrayLike, labelled: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, BoolArray]:
    f = np.asarray(judge, dtype=np.float64).ravel()
    y, known = np.asarray(truth, dtype=np.float64).ravel(), np.asarray(labelled, dtype=bool).ravel()
    if not f.shape == y.shape == known.shape:
        raise ValueError("truth, judge and labelled need one entry for each cell")
    return f, np.where(known, y, 0.0), known


def _influence(group: IntArray, inside: BoolArray, values: FloatArray, n_groups: int) -> FloatArray:
    """What each cluster adds to the error of the mean of some cells."""
    rest = values[inside] - values[inside].mean()
    influence: FloatArray = pulled_sums(rest, group[inside], n_groups) / inside.sum()
    return influence
