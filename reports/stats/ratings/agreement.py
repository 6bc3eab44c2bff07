"""How far raters agree on ratings: coefficients for ordinal and interval scales, all from sums over instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from reports.stats.answers import IntArray
from reports.stats.pairs import FloatArray
from reports.stats.ratings.arrays import Draws, Estimate, Ratings, mean_of_means
from reports.stats.ratios import signed_ratio

_FEWEST = 3  # texts of a correlation


@dataclass(frozen=True)
class Together:
    """All raters at once. alpha_ordinal, alpha_interval: Krippendorff's α, of single (first) ratings; icc_agreement,
    icc_consistency: of a single rater's mean of repeats, ICC(A,1) and ICC(C,1) of McGraw and Wong (1996), over texts
    that
    all rated; icc_mean: ICC(A,k) of the mean of all; icc_one_way: ICC(1,1) of Shrout and Fleiss (1979), whoever rated,
    over texts with two ratings or more."""

    alpha_ordinal: Estimate
    alpha_interval: Estimate
    icc_agreement: Estimate
    icc_consistency: Estimate
    icc_mean: Estimate
    icc_one_way: Estimate


def together(ratings: Ratings, scale: FloatArray, draws: Draws) -> Together:
    """How far raters agree, taken together. `scale`: the numbers that can be given, ascending, shape (n_numbers,)."""
    agreement, consistency, of_mean = _two_way(ratings, draws)
    return Together(
        alpha_ordinal=alpha(ratings, scale, draws, ordinal=True),
        alpha_interval=alpha(ratings, scale, draws, ordinal=False),
        icc_agreement=agreement,
        icc_consistency=consistency,
        icc_mean=of_mean,
        icc_one_way=one_way(ratings.means, ratings.cluster, draws),
    )


def alpha(ratings: Ratings, scale: FloatArray, draws: Draws, *, ordinal: bool) -> Estimate:
    """Krippendorff's α (2011) of the first ratings. Features are the coincidences of each text; `scale`: as of
    `together`."""
    k = scale.size
    first = ratings.first
    code = np.searchsorted(scale, np.where(np.isnan(first), scale[0], first))
    counts = np.zeros((first.shape[1], k))
    for value in range(k):
        counts[:, value] = ((code == value) & ~np.isnan(first)).sum(axis=0)
    m = counts.sum(axis=1)
    shared = m >= 2
    counts, m = counts[shared], m[shared]
    if not m.size:
        return Estimate(None, None, None, 0, 0)
    pairs = counts[:, :, np.newaxis] * counts[:, np.newaxis, :]
    pairs[:, np.arange(k), np.arange(k)] -= counts
    features = (pairs / (m - 1)[:, np.newaxis, np.newaxis]).reshape(-1, k * k)
    cluster = ratings.cluster[shared]

    def statistic(sums: FloatArray) -> FloatArray:
        o = sums.reshape(-1, k, k)
        n_of = o.sum(axis=2)
        n = n_of.sum(axis=1)
        if ordinal:
            middle = np.cumsum(n_of, axis=1) - n_of / 2
            apart = (middle[:, :, np.newaxis] - middle[:, np.newaxis, :]) ** 2
        else:
            apart = np.broadcast_to((scale[:, np.newaxis] - scale) ** 2, o.shape)
        observed = (o * apart).sum(axis=(1, 2))
        expected = (n_of[:, :, np.newaxis] * n_of[:, np.newaxis, :] * apart).sum(axis=(1, 2))
        alphas: FloatArray = 1 - (n - 1) * signed_ratio(observed, expected)
        return alphas

    return draws.estimate(features, cluster, statistic, n=int(m.sum()))


def _two_way(ratings: Ratings, draws: Draws) -> tuple[Estimate, Estimate, Estimate]:
    x = ratings.means
    whole = ~np.isnan(x).any(axis=0)
    k = x.shape[0]
    if k < 2 or whole.sum() < 2:
        nothing = Estimate(None, None, None, 0, 0)
        return nothing, nothing, nothing
    x = x[:, whole]
    features = np.column_stack([np.ones(x.shape[1]), (x**2).sum(axis=0), x.sum(axis=0) ** 2 / k, x.T])

    def parts(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        n, squares, of_rows, of_raters = sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3:]
        correction = of_raters.sum(axis=1) ** 2 / (n * k)
        raters = (of_raters**2).sum(axis=1) / n - correction
        rows = of_rows - correction
        error = np.maximum(squares - correction - rows - raters, 0)
        return rows / (n - 1), raters / (k - 1), error / ((n - 1) * (k - 1)), n

    def agreement(sums: FloatArray) -> FloatArray:
        row, rater, error, n = parts(sums)
        return signed_ratio(row - error, row + (k - 1) * error + k / n * (rater - error))

    def consistency(sums: FloatArray) -> FloatArray:
        row, _rater, error, _n = parts(sums)
        return signed_ratio(row - error, row + (k - 1) * error)

    def of_mean(sums: FloatArray) -> FloatArray:
        row, rater, error, n = parts(sums)
        return signed_ratio(row - error, row + (rater - error) / n)

    cluster, n = ratings.cluster[whole], int(x.size)
    sums, clusters = draws.sums(features, cluster), int(np.unique(cluster).size)
    found = [draws.read(of(sums), n=n, n_clusters=clusters) for of in (agreement, consistency, of_mean)]
    return found[0], found[1], found[2]


def one_way(x: FloatArray, cluster: IntArray, draws: Draws) -> Estimate:
    """ICC(1,1) of the values of a text, shape (n, n_items), NaN where there is none; for unequal numbers Donner
    (1986).
    """
    known = ~np.isnan(x)
    r = known.sum(axis=0)
    shared = r >= 2
    if shared.sum() < 2:
        return Estimate(None, None, None, 0, 0)
    r, filled = r[shared].astype(np.float64), np.where(known, x, 0.0)[:, shared]
    total = filled.sum(axis=0)
    features = np.column_stack([np.ones(r.size), r, r**2, total, (filled**2).sum(axis=0), total**2 / r])

    def statistic(sums: FloatArray) -> FloatArray:
        cells, n, n2, all_of, squares, between_of = sums.T
        between = signed_ratio(between_of - signed_ratio(all_of**2, n), cells - 1)
        within = signed_ratio(squares - between_of, n - cells)
        k0 = signed_ratio(n - signed_ratio(n2, n), cells - 1)
        return signed_ratio(between - within, between + (k0 - 1) * within)

    return draws.estimate(features, cluster[shared], statistic, n=int(r.sum()))


# --- two raters -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairAgreement:
    """Two raters. kappa: Cohen's κ with quadratic weights, of their first ratings; unweighted: the same without
    weights, any two different numbers as far apart as others; pearson: of their means of repeats; exact: the share of
    texts to which both gave the same number first."""

    a: int
    b: int
    kappa: Estimate
    unweighted: Estimate
    pearson: Estimate
    exact: Estimate


@dataclass(frozen=True, eq=False)
class Drawn:
    """A coefficient of each pair, of all texts and then of each draw, shape (n_pairs, 1 + n_draws). n: texts,
    n_clusters: instructions that both have, shape (n_pairs,)."""

    values: FloatArray
    n: IntArray
    n_clusters: IntArray


@dataclass(frozen=True, eq=False)
class DrawnPairs:
    """Each two raters of a criterion, and what `PairAgreement` has of them in each draw. same: whether both gave a text
    the same number first, NaN where not both rated it, shape (n_pairs, n_items)."""

    places: tuple[tuple[int, int], ...]
    kappa: Drawn
    unweighted: Drawn
    pearson: Drawn
    same: FloatArray
    cluster: IntArray


def drawn_pairs(ratings: Ratings, draws: Draws) -> DrawnPairs:
    n_raters = len(ratings.raters)
    places = tuple((a, b) for a in range(n_raters) for b in range(a + 1, n_raters))
    a, b = np.array(places, dtype=np.int64).reshape(-1, 2).T
    first = ratings.first
    numbers = np.unique(first[~np.isnan(first)])
    return DrawnPairs(
        places=places,
        kappa=_drawn(first[a], first[b], moments, _concordance, ratings.cluster, draws),
        unweighted=_drawn(
            first[a], first[b], lambda x, y: _margins(x, y, numbers), _unweighted, ratings.cluster, draws
        ),
        pearson=_drawn(ratings.means[a], ratings.means[b], moments, _correlation, ratings.cluster, draws),
        same=np.where(np.isnan(first[a]) | np.isnan(first[b]), np.nan, first[a] == first[b]),
        cluster=ratings.cluster,
    )


def _drawn(
    x: FloatArray,
    y: FloatArray,
    features: Callable[[FloatArray, FloatArray], FloatArray],
    statistic: Callable[[FloatArray], FloatArray],
    cluster: IntArray,
    draws: Draws,
) -> Drawn:
    """All pairs at once, `x` and `y` of shape (n_pairs, n_items): their sums are one product with the draws."""
    both = ~np.isnan(x) & ~np.isnan(y)
    of_pairs = [draws.per_cluster(features(x[n, known], y[n, known]), cluster[known]) for n, known in enumerate(both)]
    values = np.zeros((len(of_pairs), draws.weights.shape[1]))
    if of_pairs:
        sums = draws.drawn(np.concatenate(of_pairs, axis=1))
        values[:] = [statistic(of) for of in np.split(sums, len(of_pairs), axis=1)]
    n_clusters = [np.unique(cluster[known]).size for known in both]
    return Drawn(values, both.sum(axis=1), np.array(n_clusters, dtype=np.int64))


def pair_agreement(of_criteria: Sequence[DrawnPairs], draws: Draws) -> list[PairAgreement]:
    """Each two raters, averaged over the criteria in which a figure is defined, in each draw alike. The texts are those
    of the criterion with the fewest."""

    def of(place: int, found: Sequence[Drawn]) -> Estimate:
        known = [one for one in found if not np.isnan(one.values[place, 0])] or found
        return draws.read(
            np.mean([one.values[place] for one in known], axis=0),
            n=min(int(one.n[place]) for one in known),
            n_clusters=min(int(one.n_clusters[place]) for one in known),
        )

    return [
        PairAgreement(
            *pair,
            kappa=of(place, [one.kappa for one in of_criteria]),
            unweighted=of(place, [one.unweighted for one in of_criteria]),
            pearson=of(place, [one.pearson for one in of_criteria]),
            exact=mean_of_means([(one.same[place], one.cluster) for one in of_criteria]).within(0, 1),
        )
        for place, pair in enumerate(of_criteria[0].places)
    ]


def moments(x: FloatArray, y: FloatArray) -> FloatArray:
    """Features of pairs of numbers, shape (n, 6)."""
    return np.column_stack([np.ones(x.size), x, y, x**2, y**2, x * y])


def _moments(x: FloatArray, y: FloatArray, cluster: IntArray, draws: Draws) -> tuple[FloatArray, int, int]:
    both = ~np.isnan(x) & ~np.isnan(y)
    sums = draws.sums(moments(x[both], y[both]), cluster[both])
    return sums, int(both.sum()), int(np.unique(cluster[both]).size)


def concordance(x: FloatArray, y: FloatArray, cluster: IntArray, draws: Draws) -> Estimate:
    """2 s_xy / (s_x² + s_y² + (m_x - m_y)²): Lin's concordance (1989); of whole numbers it is Cohen's κ with quadratic
    weights (Krippendorff 1970). x, y and the text of each, shape (n,); NaN is left out."""
    sums, n, clusters = _moments(x, y, cluster, draws)
    return draws.read(_concordance(sums), n=n, n_clusters=clusters)


def _concordance(sums: FloatArray) -> FloatArray:
    count, sx, sy, sxx, syy, sxy = sums.T
    over = signed_ratio(sx * sy, count)
    return signed_ratio(2 * (sxy - over), sxx + syy - 2 * over)


def correlation(x: FloatArray, y: FloatArray, cluster: IntArray, draws: Draws) -> Estimate:
    """Pearson's correlation; arguments as of `concordance`."""
    sums, n, clusters = _moments(x, y, cluster, draws)
    return draws.read(_correlation(sums), n=n, n_clusters=clusters)


def _correlation(sums: FloatArray) -> FloatArray:
    count, sx, sy, sxx, syy, sxy = sums.T
    spread = np.maximum(sxx - signed_ratio(sx**2, count), 0) * np.maximum(syy - signed_ratio(sy**2, count), 0)
    return np.where(count >= _FEWEST, signed_ratio(sxy - signed_ratio(sx * sy, count), np.sqrt(spread)), np.nan)


def _margins(x: FloatArray, y: FloatArray, numbers: FloatArray) -> FloatArray:
    """Features of pairs of numbers: one, whether they are the same, and which each is, shape (n, 2 + 2 × numbers)."""
    which = [of[:, np.newaxis] == numbers for of in (x, y)]
    return np.column_stack([np.ones(x.size), x == y, *which])


def _unweighted(sums: FloatArray) -> FloatArray:
    """Cohen's κ (1960)."""
    count, same = sums[:, 0], sums[:, 1]
    of_x, of_y = np.split(sums[:, 2:], 2, axis=1)
    by_chance = signed_ratio((of_x * of_y).sum(axis=1), count)
    return signed_ratio(same - by_chance, count - by_chance)
