"""The ratings of one criterion as arrays, and what is computed of sums over instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from reports.stats import distributions as stats
from reports.stats.answers import IntArray
from reports.stats.bootstrap import N_DRAWS, ROUNDING, Interval, Resampling, is_as_before, resampling_of
from reports.stats.pairs import FloatArray
from reports.stats.ratios import ratio

BoolArray = npt.NDArray[np.bool_]
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval. None where it is not defined; the ends are None with fewer than two instructions,
    and where nothing varies.

    n: ratings or texts that it rests on; n_clusters: instructions.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    n_clusters: int

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def within(self, least: float, most: float) -> Estimate:
        """Cut at what the figure can be at least and at most, which no true value is lost by; the value stays inside.
        Student's t does not know of a scale, and of few instructions it reaches beyond."""
        if self.value is None or self.low is None or self.high is None or is_as_before():
            return self
        low, high = max(self.low, min(least, self.value)), min(self.high, max(most, self.value))
        return replace(self, low=low, high=high)


NOTHING = Estimate(None, None, None, 0, 0)


@dataclass(frozen=True, eq=False)
class Ratings:
    """values: shape (n_raters, n_items, n_repeats), NaN where there is none; an item is a text. cluster, generator,
    position: of each item the number of its instruction, who wrote it (-1 for nobody), and its place among the texts of
    its instruction, shape (n_items,); words: how long it is, NaN where that is not known. raters: their names. ends:
    the lowest and the highest number that can be given.
    """

    raters: tuple[str, ...]
    values: FloatArray
    cluster: IntArray
    generator: IntArray
    position: FloatArray
    words: FloatArray
    ends: tuple[float, float] = (-np.inf, np.inf)

    @property
    def width(self) -> float:
        """By how much two ratings can differ at most."""
        return self.ends[1] - self.ends[0]

    @cached_property
    def means(self) -> FloatArray:
        """Over the repeats, shape (n_raters, n_items); NaN where nothing was rated."""
        n = self.counts
        total = np.nansum(self.values, axis=2)
        return ratio(total, n)

    @cached_property
    def counts(self) -> IntArray:
        counts: IntArray = (~np.isnan(self.values)).sum(axis=2)
        return counts

    @property
    def first(self) -> FloatArray:
        """The first repeats."""
        return self.values[:, :, 0]

    @property
    def n_clusters(self) -> int:
        return int(self.cluster.max()) + 1 if self.cluster.size else 0

    @cached_property
    def item_means(self) -> FloatArray:
        """Over the raters, each alike, shape (n_items,)."""
        return column_means(self.means)


def column_means(values: FloatArray) -> FloatArray:
    """Means over the first axis, NaN left out: shape (n, ...) to (...)."""
    known = ~np.isnan(values)
    n = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return ratio(total, n)


# --- means ------------------------------------------------------------------------------------------------------------


def mean(values: FloatArray, cluster: IntArray) -> Estimate:
    """The mean of what is known, each value alike. Both of shape (n,)."""
    known = ~np.isnan(values)
    x, g = values[known], cluster[known]
    if not x.size:
        return NOTHING
    value = float(x.mean())
    return _estimate(value, (x - value) / x.size, g, x.size)


def mean_of_means(of: Sequence[tuple[FloatArray, IntArray]]) -> Estimate:
    """The mean of the means of what is known of several, as of `mean`, each mean alike; they may share instructions. It
    rests on as many values as the fewest of them."""
    known = [(x[~np.isnan(x)], g[~np.isnan(x)]) for x, g in of]
    known = [(x, g) for x, g in known if x.size]
    if not known:
        return NOTHING
    influence = np.concatenate([(x - x.mean()) / (x.size * len(known)) for x, _g in known])
    return _estimate(
        float(np.mean([x.mean() for x, _g in known])),
        influence,
        np.concatenate([g for _x, g in known]),
        min(x.size for x, _g in known),
    )


def difference(a: FloatArray, b: FloatArray, cluster_a: IntArray, cluster_b: IntArray) -> Estimate:
    """The mean of a less that of b; they may share instructions. Values and the instruction of each, shape (n,)."""
    known_a, known_b = ~np.isnan(a), ~np.isnan(b)
    x, y = a[known_a], b[known_b]
    if not x.size or not y.size:
        return NOTHING
    influence = np.concatenate([(x - x.mean()) / x.size, -(y - y.mean()) / y.size])
    clusters = np.concatenate([cluster_a[known_a], cluster_b[known_b]])
    return _estimate(float(x.mean() - y.mean()), influence, clusters, x.size + y.size)


def slope(x: FloatArray, y: FloatArray, cluster: IntArray) -> Estimate:
    """Of y on x, both already without the means of their groups; shape (n,)."""
    squares = float((x**2).sum())
    if squares < 1e-9:
        return NOTHING
    value = float((x * y).sum() / squares)
    return _estimate(value, x * (y - value * x) / squares, cluster, x.size)


def _estimate(value: float, influence: FloatArray, cluster: IntArray, n: int) -> Estimate:
    """`influence` of each value on the estimate, which sums to nothing."""
    clusters, place = np.unique(cluster, return_inverse=True)
    groups = clusters.size
    if groups < 2:
        return Estimate(value, None, None, n, groups)
    of_cluster = np.bincount(place, weights=influence)
    error = float(np.sqrt(groups / (groups - 1) * (of_cluster**2).sum()))
    if error <= ROUNDING * max(1.0, abs(value)) and not is_as_before():
        return Estimate(value, None, None, n, groups)
    reach = _deviations(groups - 1) * error
    return Estimate(value, value - reach, value + reach, n, groups)


@cache
def _deviations(degrees: int) -> float:
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, degrees))


# --- draws ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Draws:
    """Bootstrap draws of instructions, made once for all statistics of a study, so that they are of the same draws."""

    resampling: Resampling
    weights: FloatArray  # (n_clusters, 1 + n_draws): all of them once, then how often each is in each draw

    @classmethod
    def of(cls, n_clusters: int, *, n_draws: int = N_DRAWS, seed: int = 0) -> Draws:
        made = resampling_of(np.arange(n_clusters), "document", n_draws=n_draws, seed=seed, group_many=False)
        blocks = [np.ones((n_clusters, 1))]
        if n_clusters and not made.too_few:
            blocks += made.counts()
        return cls(made, np.concatenate(blocks, axis=1))

    def sums(self, features: FloatArray, cluster: IntArray) -> FloatArray:
        """Sums of each draw, shape (1 + n_draws, n_features), of features of shape (n, n_features)."""
        return self.drawn(self.per_cluster(features, cluster))

    def per_cluster(self, features: FloatArray, cluster: IntArray) -> FloatArray:
        """Sums of each cluster, shape (n_clusters, n_features)."""
        n_clusters = self.weights.shape[0]
        return np.stack([np.bincount(cluster, weights=column, minlength=n_clusters) for column in features.T], axis=1)

    def drawn(self, per_cluster: FloatArray) -> FloatArray:
        found: FloatArray = self.weights.T @ per_cluster
        return found

    def estimate(
        self, features: FloatArray, cluster: IntArray, statistic: Callable[[FloatArray], FloatArray], *, n: int
    ) -> Estimate:
        """`statistic`: from sums (n_draws, n_features) to a value a draw, NaN where it is not defined."""
        return self.read(statistic(self.sums(features, cluster)), n=n, n_clusters=np.unique(cluster).size)

    def read(self, values: FloatArray, *, n: int, n_clusters: int) -> Estimate:
        """What was computed of each draw, the whole first."""
        if np.isnan(values[0]):
            return Estimate(None, None, None, n, n_clusters)
        found: Interval | None = self.resampling.interval(values) if values.size > 1 else None
        low, high = (found.low, found.high) if found is not None else (None, None)
        return Estimate(float(values[0]), low, high, n, n_clusters)
