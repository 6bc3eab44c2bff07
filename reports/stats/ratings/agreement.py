"""How far raters agree on ratings: coefficients for ordinal and interval scales, all from sums over instructions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reports.stats.answers import IntArray
from reports.stats.pairs import FloatArray
from reports.stats.ratings.arrays import Draws, Estimate, Ratings, mean, ratio

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
    """`scale`: the numbers that can be given, ascending."""
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
    """Krippendorff's α (2011) of the first ratings. Features are the coincidences of each text."""
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
        alphas: FloatArray = 1 - (n - 1) * ratio(observed, expected)
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
        return ratio(row - error, row + (k - 1) * error + k / n * (rater - error))

    def consistency(sums: FloatArray) -> FloatArray:
        row, _rater, error, _n = parts(sums)
        return ratio(row - error, row + (k - 1) * error)

    def of_mean(sums: FloatArray) -> FloatArray:
        row, rater, error, n = parts(sums)
        return ratio(row - error, row + (rater - error) / n)

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
        between = ratio(between_of - ratio(all_of**2, n), cells - 1)
        within = ratio(squares - between_of, n - cells)
        k0 = ratio(n - ratio(n2, n), cells - 1)
        return ratio(between - within, between + (k0 - 1) * within)

    return draws.estimate(features, cluster[shared], statistic, n=int(r.sum()))


# --- two raters -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairAgreement:
    """Two raters. kappa: Cohen's κ with quadratic weights, of their first ratings; pearson: of their means of repeats;
    exact: the share of texts to which both gave the same number first."""

    a: int
    b: int
    kappa: Estimate
    pearson: Estimate
    exact: Estimate


def pair_agreement(ratings: Ratings, draws: Draws) -> list[PairAgreement]:
    """All pairs at once: their sums are one product with the draws."""
    n_raters = len(ratings.raters)
    pairs = [(a, b) for a in range(n_raters) for b in range(a + 1, n_raters)]
    if not pairs:
        return []
    cluster = ratings.cluster
    found: list[list[Estimate]] = []
    for values, statistic in ((ratings.first, _concordance), (ratings.means, _correlation)):
        shared = [~np.isnan(values[a]) & ~np.isnan(values[b]) for a, b in pairs]
        features = np.concatenate(
            [
                np.where(both[:, np.newaxis], moments(np.nan_to_num(values[a]), np.nan_to_num(values[b])), 0.0)
                for (a, b), both in zip(pairs, shared, strict=True)
            ],
            axis=1,
        )
        sums = draws.sums(features, cluster)
        found.append(
            [
                draws.read(
                    statistic(sums[:, 6 * place : 6 * place + 6]),
                    n=int(both.sum()),
                    n_clusters=int(np.unique(cluster[both]).size),
                )
                for place, both in enumerate(shared)
            ]
        )
    return [
        PairAgreement(a, b, kappa, pearson, exact=_same(ratings.first[a], ratings.first[b], cluster))
        for (a, b), kappa, pearson in zip(pairs, *found, strict=True)
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
    weights (Krippendorff 1970)."""
    sums, n, clusters = _moments(x, y, cluster, draws)
    return draws.read(_concordance(sums), n=n, n_clusters=clusters)


def _concordance(sums: FloatArray) -> FloatArray:
    count, sx, sy, sxx, syy, sxy = sums.T
    over = ratio(sx * sy, count)
    return ratio(2 * (sxy - over), sxx + syy - 2 * over)


def correlation(x: FloatArray, y: FloatArray, cluster: IntArray, draws: Draws) -> Estimate:
    """Pearson's."""
    sums, n, clusters = _moments(x, y, cluster, draws)
    return draws.read(_correlation(sums), n=n, n_clusters=clusters)


def _correlation(sums: FloatArray) -> FloatArray:
    count, sx, sy, sxx, syy, sxy = sums.T
    spread = np.maximum(sxx - ratio(sx**2, count), 0) * np.maximum(syy - ratio(sy**2, count), 0)
    return np.where(count >= _FEWEST, ratio(sxy - ratio(sx * sy, count), np.sqrt(spread)), np.nan)


def _same(x: FloatArray, y: FloatArray, cluster: IntArray) -> Estimate:
    both = ~np.isnan(x) & ~np.isnan(y)
    return mean(np.where(both, (x == y).astype(np.float64), np.nan), cluster).within(0, 1)


def mean_of_pairs(of_criteria: list[list[PairAgreement]], n: int) -> FloatArray:
    """The matrix of κ of `n` raters, averaged over criteria in which it is defined; NaN on the diagonal."""
    stacked = np.full((len(of_criteria), n, n), np.nan)
    for place, pairs in enumerate(of_criteria):
        for pair in pairs:
            if pair.kappa.value is not None:
                stacked[place, pair.a, pair.b] = stacked[place, pair.b, pair.a] = pair.kappa.value
    known = ~np.isnan(stacked)
    count = known.sum(axis=0)
    total = np.where(known, stacked, 0).sum(axis=0)
    means: FloatArray = np.divide(total, count, out=np.full((n, n), np.nan), where=count > 0)
    return means
