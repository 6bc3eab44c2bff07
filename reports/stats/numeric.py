"""Agreement on numbers: how far apart two raters are, and how much of what differs lies between cells.

All statistics are functions of sums over cells, so that a draw of documents is a weighted sum of documents (see
`bootstrap`). Numbers are moved to have the mean 0 first, those of two raters to the mean of each: what is left then
does not drown in rounding. `own_means`: before methods 7 all were moved by one mean alone, so that raters whose numbers
lie far from those of others were called equal, or had no correlation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from reports.stats import distributions as stats
from reports.stats.agreement import NO_TWO_ANSWERS
from reports.stats.answers import MISSING, Answers, IntArray
from reports.stats.bootstrap import (
    MAXIMUM_COMPARISONS,
    N_DRAWS,
    TOO_MANY_COMPARISONS,
    By,
    Interval,
    Resampling,
    resampling,
)
from reports.stats.judge import judge_codes
from reports.stats.pairs import FloatArray
from reports.stats.ratios import LEAST, mean_of_defined, ratio

ALL_EQUAL = "all numbers are the same"
TOO_FEW_SHARED = "no two raters share three cells in which both give different numbers"
# Fewer shared cells than this make any two raters correlate.
_FEWEST_SHARED = 3
_LIMITS = 1.96


@dataclass(frozen=True)
class NumericAgreement:
    """How far people agree on numbers, of cells with two answers or more. None where not defined.

    alpha: Krippendorff's, at the interval level; icc: intraclass correlation, one-way random, single rater, for any
    number of raters a cell; difference: the mean absolute difference of two answers to a cell; limits: 95 % of the
    differences of two people lie within plus or minus it, 1.96 times their root mean square (Bland and Altman);
    pearson, spearman: the mean over pairs of raters with three shared cells or more.
    """

    alpha: float | None
    icc: float | None
    difference: float | None
    limits: float | None
    pearson: float | None
    spearman: float | None
    reason: str
    correlation_reason: str
    n_cells: int
    n_comparisons: int
    n_pairs: int


# Of each shared cell: 1, r, r^2, sum, sum of squares, squared sum by r, 2 (r squares - sum^2) / (r - 1), pairs, sum of
# absolute differences of pairs, sum of squared differences of pairs.
_ONE, _R, _R2, _SUM, _SQUARES, _MEANS, _WITHIN, _PAIRS, _APART, _APART2 = range(10)
_OF_CELLS = ("alpha", "icc", "difference", "limits")
_OF_PAIRS = ("pearson", "spearman")
# Comparisons whose features are made at a time.
_AT_ONCE = 500_000


def numeric_agreement(answers: Answers, values: FloatArray, *, own_means: bool = True) -> NumericAgreement:
    """
    Args:
        values: the number that each code stands for, shape (n_options,).
    """
    x = _centred(answers, values)
    sums = _cell_sums(answers, x, own_means=own_means)[0].sum(axis=0)
    shared = int(sums[_ONE])
    found = dict(zip(_OF_CELLS, _statistics(sums[np.newaxis])[0].tolist(), strict=True))
    correlations, n_pairs, reason = dict.fromkeys(_OF_PAIRS, np.nan), 0, TOO_MANY_COMPARISONS
    if sums[_PAIRS] <= MAXIMUM_COMPARISONS:
        pairs = _pairs(answers, x, own_means=own_means)
        n_pairs = pairs.n_groups
        correlations = dict(zip(_OF_PAIRS, pairs.correlations(pairs.totals()[np.newaxis])[0].tolist(), strict=True))
        reason = "" if not np.isnan(correlations["pearson"]) else (TOO_FEW_SHARED if shared else NO_TWO_ANSWERS)
    return NumericAgreement(
        **{name: _defined(value) for name, value in (found | correlations).items()},
        reason="" if not np.isnan(found["alpha"]) else (ALL_EQUAL if shared else NO_TWO_ANSWERS),
        correlation_reason=reason,
        n_cells=shared,
        n_comparisons=int(sums[_PAIRS]),
        n_pairs=n_pairs,
    )


def numeric_intervals(
    answers: Answers,
    values: FloatArray,
    *,
    by: By = "document",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
    paired: bool = True,
    own_means: bool = True,
) -> dict[str, Interval]:
    """Of all that `NumericAgreement` has, by their names, of the same draws; `paired` as in `reports.stats.intervals`.

    Ranks, for Spearman's correlation, are those of the whole sample in every draw.
    """
    draws = resampling(answers, by, n_draws=n_draws, seed=seed, expanded=expanded)
    if none := draws.refusal([answers], paired=paired):
        return dict.fromkeys((*_OF_CELLS, *_OF_PAIRS), none)
    x = _centred(answers, values)
    cells, first = _cell_sums(answers, x, own_means=own_means)
    cluster = draws.cluster_of(answers)
    per_cluster = np.zeros((draws.n_clusters, cells.shape[1]))
    np.add.at(per_cluster, cluster[first], cells)
    drawn = draws.draw(per_cluster, _statistics)
    found = {name: draws.interval(drawn[:, at]) for at, name in enumerate(_OF_CELLS)}
    if cells[:, _PAIRS].sum() > MAXIMUM_COMPARISONS:
        return found | {name: draws.without_draws(TOO_MANY_COMPARISONS) for name in _OF_PAIRS}
    return found | _pairs(answers, x, own_means=own_means).intervals(cluster, draws)


def _centred(answers: Answers, values: FloatArray) -> FloatArray:
    x: FloatArray = np.asarray(values, dtype=np.float64)[answers.code]
    return x - x.mean() if x.size else x


def _cell_sums(answers: Answers, x: FloatArray, *, own_means: bool) -> tuple[FloatArray, IntArray]:
    """The sums of each shared cell, shape (n_shared, 10), and the place of its first answer."""
    cells = answers.by_cell
    r = np.bincount(cells.index)
    shared = r >= 2
    size, start = r[shared], cells.first[shared]
    if own_means and shared.any():
        x = x - x[shared[cells.index]].mean()  # a number of a cell that nobody shares tells nothing here
    total = np.bincount(cells.index, x)[shared] if x.size else np.zeros(0)
    squares = np.bincount(cells.index, x**2)[shared] if x.size else np.zeros(0)
    # Sorted within cells, the j-th of r counts j times as the larger and r - 1 - j times as the smaller one.
    order = np.lexsort((x, cells.index))
    place = np.arange(x.size) - cells.first[cells.index] if x.size else np.zeros(0)
    weighted = (2 * place - r[cells.index] + 1) * x[order] if x.size else np.zeros(0)
    apart = np.bincount(cells.index, weighted)[shared] if x.size else np.zeros(0)
    apart2 = np.maximum(size * squares - total**2, 0)
    if own_means and x.size:
        # The same of what each number has over the first of its cell: equal ones are nothing apart, however large.
        over = x - x[cells.first][cells.index]
        of_cells, squared = (np.bincount(cells.index, of)[shared] for of in (over, over**2))
        apart2 = np.maximum(size * squared - of_cells**2, 0)
    columns = [
        np.ones(size.size), size, size**2, total, squares, total**2 / np.maximum(size, 1),
        2 * apart2 / np.maximum(size - 1, 1), size * (size - 1) / 2, apart, apart2,
    ]  # fmt: skip
    return np.stack(columns, axis=-1).astype(np.float64), start


def _statistics(sums: FloatArray) -> FloatArray:
    """alpha, icc, difference and limits of each draw, shape (n_draws, 4).

    alpha: 1 - observed / expected, both means of squared differences of pairable numbers (Krippendorff 2011). icc: from
    the one-way analysis of variance, Shrout and Fleiss (1979) ICC(1,1); for unequal numbers of raters: Donner (1986).
    """
    n, total, squares = sums[:, _R], sums[:, _SUM], sums[:, _SQUARES]
    observed = _ratio(sums[:, _WITHIN], n)
    expected = _ratio(2 * np.maximum(n * squares - total**2, 0), n * (n - 1))
    cells = sums[:, _ONE]
    between = _ratio(sums[:, _MEANS] - _ratio(total**2, n), cells - 1)
    within = _ratio(squares - sums[:, _MEANS], n - cells)
    k0 = _ratio(n - _ratio(sums[:, _R2], n), cells - 1)
    pairs = sums[:, _PAIRS]
    return np.stack(
        [
            1 - _ratio(observed, expected),
            _ratio(between - within, between + (k0 - 1) * within),
            _ratio(sums[:, _APART], pairs),
            _LIMITS * np.sqrt(_ratio(sums[:, _APART2], pairs)),
        ],
        axis=-1,
    )


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Comparisons of two raters, ordered by pair: a, b: numbers; rank_a, rank_b: their ranks among the pair's shared
    cells; first: the place of the first answer of each comparison's cell; group: the pair."""

    a: FloatArray
    b: FloatArray
    rank_a: FloatArray
    rank_b: FloatArray
    first: IntArray
    group: IntArray
    n_groups: int

    def features(self, some: slice) -> FloatArray:
        """Of some comparisons what correlations need, shape (n_comparisons, 11)."""
        columns = [np.ones(self.a[some].size)]
        for a, b in ((self.a[some], self.b[some]), (self.rank_a[some], self.rank_b[some])):
            columns += [a, b, a**2, b**2, a * b]
        return np.stack(columns, axis=-1)

    def blocks(self) -> Iterator[slice]:
        """All comparisons, a bounded number at a time: what is made of each takes a hundred times its place."""
        return (slice(at, at + _AT_ONCE) for at in range(0, self.a.size, _AT_ONCE))

    def totals(self) -> FloatArray:
        summed = np.zeros((self.n_groups, 11))
        for some in self.blocks():
            np.add.at(summed, self.group[some], self.features(some))
        return summed.ravel()

    def per_cluster(self, cluster: IntArray, n_clusters: int) -> sparse.csr_array:
        """The sums of each cluster's comparisons, shape (n_clusters, n_groups * 11). cluster: of each answer."""
        shape = (n_clusters, max(self.n_groups, 1) * 11)
        parts = []
        for some in self.blocks():
            rows = np.repeat(cluster[self.first[some]].astype(np.int32), 11)
            columns = (self.group[some][:, np.newaxis].astype(np.int32) * 11 + np.arange(11, dtype=np.int32)).ravel()
            parts.append(sparse.csr_array((self.features(some).ravel(), (rows, columns)), shape=shape))
        if len(parts) < 2:
            return parts[0] if parts else sparse.csr_array(shape)
        # Comparisons stand by pairs, so that blocks have few places in common, and the sum grows no faster than they.
        # Zeros stay, as in one block: how many draws are made hangs on the places.
        of_parts = [part.tocoo() for part in parts]
        places = tuple(np.concatenate([part.coords[axis] for part in of_parts]) for axis in (0, 1))
        return sparse.csr_array((np.concatenate([part.data for part in of_parts]), places), shape=shape)

    def correlations(self, sums: FloatArray) -> FloatArray:
        """The mean over pairs of Pearson's and of Spearman's correlation, shape (n_draws, 2)."""
        of_pairs = sums.reshape(sums.shape[0], self.n_groups, 11)
        n = of_pairs[:, :, 0]
        found = []
        for at in (1, 6):
            a, b, a2, b2, ab = (of_pairs[:, :, at + place] for place in range(5))
            spread = np.maximum(n * a2 - a**2, 0) * np.maximum(n * b2 - b**2, 0)
            usable = (n >= _FEWEST_SHARED) & (spread > 1e-9 * np.maximum(n * a2 * n * b2, 1e-300))
            r = np.divide(n * ab - a * b, np.sqrt(spread), out=np.full(n.shape, np.nan), where=usable)
            found.append(mean_of_defined(r))
        return np.stack(found, axis=-1)

    def intervals(self, cluster: IntArray, draws: Resampling) -> dict[str, Interval]:
        if not self.n_groups:
            return {name: draws.without_draws() for name in _OF_PAIRS}
        per_cluster = self.per_cluster(cluster, draws.n_clusters)
        made = draws.within(per_cluster.nnz)
        drawn = made.draw(per_cluster, self.correlations)
        return {name: made.interval(drawn[:, at]) for at, name in enumerate(_OF_PAIRS)}


def _pairs(answers: Answers, x: FloatArray, *, own_means: bool) -> _Pairs:
    first, second = comparisons(answers)
    raters, rater = np.unique(answers.rater, return_inverse=True)
    key = rater[first] * raters.size + rater[second]
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.diff(key, prepend=-1) != 0
    pairs, group = key[new], np.cumsum(new) - 1
    del key, new
    first, second = first[order], second[order]
    del order
    starts = answers.by_cell.first[answers.by_cell.index[first]]
    ranks = _ranks(x[first], group), _ranks(x[second], group)
    a, b = (_around_mean(x[of], group) if own_means else x[of] for of in (first, second))
    return _Pairs(a, b, *ranks, starts, group, pairs.size)


def _around_mean(x: FloatArray, group: IntArray) -> FloatArray:
    """Less the mean of each group."""
    n = np.maximum(np.bincount(group), 1)
    around: FloatArray = x - (np.bincount(group, x) / n)[group]
    return around


def comparisons(answers: Answers) -> tuple[IntArray, IntArray]:
    """The places of both answers of each pair of answers to one cell, the lower rater first, each shape (n_pairs,)."""
    r = np.bincount(answers.by_cell.index)
    first: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    second: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    for size in np.unique(r[r >= 2]).tolist():
        a, b = np.triu_indices(size, k=1)
        starts = answers.by_cell.first[r == size][:, np.newaxis]
        first.append((starts + a).ravel())
        second.append((starts + b).ravel())
    return np.concatenate(first), np.concatenate(second)


def _ranks(x: FloatArray, group: IntArray) -> FloatArray:
    """Middle ranks within groups, less their mean; groups ascending."""
    bounds = np.flatnonzero(np.diff(group, prepend=-1, append=group[-1] + 1 if group.size else 0))
    ranks = np.zeros(x.size)
    for start, end in itertools.pairwise(bounds.tolist()):
        ranks[start:end] = stats.rankdata(x[start:end]) - (end - start + 1) / 2
    return ranks


# --- one rater against others ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NumericDifference:
    """A judge's numbers less people's, over all pairs of answers to one cell.

    difference: mean absolute; bias: mean; low, high: Bland and Altman's 95 % limits of agreement, the bias plus and
    minus 1.96 standard deviations; pearson, spearman: over the same pairs. None where not defined.
    """

    difference: float | None
    bias: float | None
    low: float | None
    high: float | None
    pearson: float | None
    spearman: float | None
    n: int


def numeric_difference(pairs: NumberPairs) -> NumericDifference:
    """
    Sources: Bland and Altman (1986).
    """
    theirs, its = pairs.people, pairs.judge
    apart = pairs.apart
    n = apart.size
    if not n:
        return NumericDifference(None, None, None, None, None, None, 0)
    bias = float(apart.mean())
    spread = float(apart.std(ddof=1)) if n > 1 else None
    vary = n >= _FEWEST_SHARED and np.ptp(theirs) > 0 and np.ptp(its) > 0
    return NumericDifference(
        difference=float(np.abs(apart).mean()),
        bias=bias,
        low=None if spread is None else bias - _LIMITS * spread,
        high=None if spread is None else bias + _LIMITS * spread,
        pearson=float(np.corrcoef(theirs, its)[0, 1]) if vary else None,
        spearman=float(np.corrcoef(stats.rankdata(theirs), stats.rankdata(its))[0, 1]) if vary else None,
        n=n,
    )


class NumberPairs(NamedTuple):
    """People's numbers in cells that the judge answered too, and beside each the judge's; both of shape (n_pairs,).
    both: of each of people's answers, whether it is one of these."""

    people: FloatArray
    judge: FloatArray
    both: npt.NDArray[np.bool_]

    @property
    def apart(self) -> FloatArray:
        return self.judge - self.people


def number_pairs(people: Answers, judge: Answers, values: FloatArray) -> NumberPairs:
    """
    Args:
        values: the number that each code stands for, shape (n_options,).
    """
    chosen = judge_codes(people, judge)
    both = chosen != MISSING
    numbers = np.asarray(values, dtype=np.float64)
    return NumberPairs(numbers[people.code[both]], numbers[chosen[both]], both)


def numeric_difference_intervals(
    people: Answers,
    pairs: NumberPairs,
    *,
    by: By = "document",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
) -> dict[str, Interval]:
    """Of the mean absolute difference and of the bias; `pairs` are of these people's answers."""
    draws = resampling(people, by, n_draws=n_draws, seed=seed, expanded=expanded)
    if draws.too_few:
        return {name: draws.without_draws() for name in ("difference", "bias")}
    apart = pairs.apart
    per_cluster = np.zeros((draws.n_clusters, 3))
    np.add.at(
        per_cluster, draws.cluster_of(people)[pairs.both], np.stack([np.ones(apart.size), np.abs(apart), apart], -1)
    )
    drawn = draws.draw(
        per_cluster, lambda sums: np.stack([_ratio(sums[:, 1], sums[:, 0]), _ratio(sums[:, 2], sums[:, 0])], axis=-1)
    )
    return {name: draws.interval(drawn[:, at]) for at, name in enumerate(("difference", "bias"))}


_ratio = partial(ratio, above=LEAST)


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


# --- what was answered ------------------------------------------------------------------------------------------------

MOST_BINS = 30
_WHOLE = 2.0**50  # beyond, halves between whole numbers are lost


def bin_edges(numbers: FloatArray) -> FloatArray:
    """The ends of bins of equal width that hold all of these, shape (n_bins + 1,); none where there is no number, or
    no difference of the largest and the smallest. Where all are whole, each bin holds equally many whole numbers, a
    single one where so many bins are enough.

    Source: Freedman and Diaconis (1981); where half of the numbers are one, Sturges (1926).
    """
    if not numbers.size:
        return np.zeros(0)
    low, high = float(numbers.min()), float(numbers.max())
    spread = high - low
    if not np.isfinite(spread):
        return np.zeros(0)
    width = 2 * float(np.subtract(*np.quantile(numbers, [0.75, 0.25]))) / np.cbrt(numbers.size)
    if width <= 0:
        width = spread / (np.log2(numbers.size) + 1)
    if max(-low, high) < _WHOLE and not (numbers % 1).any():
        whole = float(np.ceil(max(width, (spread + 1) / MOST_BINS))) if spread >= MOST_BINS else 1.0
        n_bins = int(np.ceil((spread + 1) / whole))
        return low - 0.5 + whole * np.arange(n_bins + 1, dtype=np.float64)
    if not spread:
        return np.array([low - 0.5, low + 0.5])
    return np.linspace(low, high, int(np.clip(np.ceil(spread / width), 1, MOST_BINS)) + 1, dtype=np.float64)


def shares_in(numbers: FloatArray, edges: FloatArray) -> FloatArray:
    """The share of the numbers in each bin, shape (n_bins,)."""
    shares: FloatArray = np.histogram(numbers, edges)[0] / max(numbers.size, 1)
    return shares
