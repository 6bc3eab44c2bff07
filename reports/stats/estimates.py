"""Shares of options in all cells, from a judge's many labels and people's few: prediction-powered inference."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from reports.stats import distributions as stats
from reports.stats.answers import Answers, IntArray
from reports.stats.bootstrap import CONFIDENCE, MINIMUM_CLUSTERS, TOO_FEW_CLUSTERS, By, cluster_keys
from reports.stats.hiring.means import ShareBounds, clusters_worth, degrees_of_freedom, pulled_sums, share_bounds
from reports.stats.pairs import FloatArray

NO_BOTH = "no cell has the judge's label and a person's answer"
NO_OTHER = "the judge has no label in a cell without a person's answer: people's own share is the estimate"


@dataclass(frozen=True)
class PoweredMean:
    """An estimate of a mean over all cells: mean of y - weight f where people answered, plus weight x mean f elsewhere.

    weight: lambda, how far the judge is trusted: 0 is people's own mean, 1 plain prediction-powered inference.
    low and high: 95 %, by the normal distribution with errors clustered by document (or sheet); None where there are
    fewer than 10 clusters with people's answers, and `reason` then says so. people: the mean of y; judge: the mean of f
    over all cells, what one would report without people.
    """

    value: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    weight: float | None
    people: float | None
    judge: float | None
    reason: str
    n_people: int
    n_judge_only: int
    n_clusters: int


def powered_mean(
    y: npt.ArrayLike,
    f: npt.ArrayLike,
    f_elsewhere: npt.ArrayLike,
    *,
    weight: float | None = None,
    cluster: npt.ArrayLike | None = None,
    cluster_elsewhere: npt.ArrayLike | None = None,
    even: bool = False,
) -> PoweredMean:
    """The prediction-powered mean, PPI++.

    Args:
        y, f: what people say and what the judge says in the same cells, shape (n,).
        f_elsewhere: what the judge says in the cells without people, shape (N,).
        weight: lambda; when left out the one with the smallest variance, cov(y, f) / ((1 + n / N) var(f)), 0 to 1.
        cluster, cluster_elsewhere: the document of each cell, of both kinds numbered alike; cells are independent
            where left out.
        even: the error is that of clusters of which all have as many cells, times G / (G - 1), as before methods 10.

    Sources: Angelopoulos et al. (2023), Prediction-powered inference, Science 382; Angelopoulos, Duchi and Zrnic
    (2023), PPI++. Clusters: the cells' influences are summed in each before they are squared, as in a clustered
    sandwich estimator, those with and without people each times `hiring.means.pull`.
    """
    truth, said, elsewhere = (np.asarray(part, dtype=np.float64) for part in (y, f, f_elsewhere))
    n, n_elsewhere = truth.size, elsewhere.size
    if not n:
        return PoweredMean(None, None, None, None, None, None, None, NO_BOTH, 0, n_elsewhere, 0)
    together = np.concatenate([said, elsewhere])
    if not n_elsewhere:
        trust = 0.0
    elif weight is not None:
        trust = weight
    else:
        spread = float(together.var(ddof=1)) * (1 + n / n_elsewhere)
        shared = float(((truth - truth.mean()) * (said - said.mean())).mean())
        trust = min(max(shared / spread, 0.0), 1.0) if spread > 0 else 0.0
    rest = truth - trust * said
    value = float(rest.mean() + (trust * elsewhere.mean() if n_elsewhere else 0.0))

    influence = np.concatenate(
        [(rest - rest.mean()) / n, trust * (elsewhere - elsewhere.mean()) / n_elsewhere if n_elsewhere else elsewhere]
    )
    if cluster is None or cluster_elsewhere is None:
        n_clusters, variance = n, float((influence**2).sum())
    else:
        keys = np.concatenate([np.asarray(cluster, np.int64), np.asarray(cluster_elsewhere, np.int64)])
        groups, group = np.unique(keys, return_inverse=True)
        n_clusters = np.unique(np.asarray(cluster)).size
        if even:
            correction = groups.size / (groups.size - 1) if groups.size > 1 else np.nan
            variance = float((np.bincount(group, influence) ** 2).sum() * correction)
        else:
            parts = [slice(None, n), slice(n, None)] if n_elsewhere else [slice(None)]
            pulled = [pulled_sums(influence[part], group[part], groups.size) for part in parts]
            variance = float((np.sum(pulled, axis=0) ** 2).sum())
    error = float(np.sqrt(variance))
    half = float(stats.norm.ppf((1 + CONFIDENCE) / 2)) * error
    enough = n_clusters >= MINIMUM_CLUSTERS
    return PoweredMean(
        value=value,
        low=value - half if enough else None,
        high=value + half if enough else None,
        standard_error=error if enough else None,
        weight=trust,
        people=float(truth.mean()),
        judge=float(together.mean()),
        reason="" if enough and n_elsewhere else (NO_OTHER if enough else TOO_FEW_CLUSTERS),
        n_people=n,
        n_judge_only=n_elsewhere,
        n_clusters=n_clusters,
    )


def option_shares(
    people: Answers,
    judge: Answers,
    *,
    by: By = "document",
    weight: float | None = None,
    bounded: bool = True,
    bounds: ShareBounds = ShareBounds.LATEST,
) -> tuple[PoweredMean, ...]:
    """The share of each option in all cells that the judge labelled, one estimate an option.

    In a cell that several people answered y is the share of them that chose the option. The cells with people's
    answers have to be drawn as the others are (the planner's random rows): PPI mends the judge's errors only where
    people's cells show them. Each option has a weight of its own, so the shares need not add up to 1 exactly.

    Args:
        bounded: intervals are `hiring.means.share_bounds`, within 0 and 1 as the shares are; before methods 7 they were
            the normal distribution's, nothing wide where nobody had chosen the option.
        bounds: all but the last are those of documents of which all have as many cells.
    """
    cells = people.by_cell.cell
    counts = people.value_counts()
    shares = counts / counts.sum(axis=1, keepdims=True)
    at = np.minimum(np.searchsorted(cells, judge.cell), max(cells.size - 1, 0))
    both = cells[at] == judge.cell if cells.size else np.zeros(judge.cell.size, dtype=bool)
    keys: IntArray = cluster_keys(judge, by)
    even = bounds is not ShareBounds.LATEST
    sizes = np.unique(keys[both], return_counts=True)[1].astype(np.float64)
    found = tuple(
        powered_mean(
            shares[at[both], option] if both.any() else np.zeros(0),
            _is(judge.code[both], option),
            _is(judge.code[~both], option),
            weight=weight,
            cluster=keys[both],
            cluster_elsewhere=keys[~both],
            even=even,
        )
        for option in range(people.n_options)
    )
    return tuple(_bounded(one, sizes, even=even) for one in found) if bounded else found


def _bounded(found: PoweredMean, sizes: FloatArray, *, even: bool) -> PoweredMean:
    if found.value is None:
        return found
    within = replace(found, value=min(max(found.value, 0.0), 1.0))
    if found.standard_error is None:
        return within
    low, high = share_bounds(
        found.value,
        found.standard_error,
        n=found.n_people,
        degrees=found.n_clusters - 1 if even else degrees_of_freedom(sizes),
        least=found.n_clusters if even else clusters_worth(sizes),
    )
    return replace(within, low=low, high=high)


def _is(codes: IntArray, option: int) -> FloatArray:
    same: FloatArray = (codes == option).astype(np.float64)
    return same
