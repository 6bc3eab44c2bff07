"""Confidence intervals by drawing whole clusters, documents or sheets, again and again.

Labels of one document are alike: one person read it once. So a draw takes as many documents (or sheets) as there are,
with replacement, and every statistic is computed from the drawn ones (cluster bootstrap; Efron and Tibshirani 1993,
Field and Welsh 2007). A statistic that is a function of sums over clusters needs its sums for each cluster once:
the sums of all draws are then one matrix product, and the function takes all draws at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from scipy import sparse

from reports.stats import distributions as stats
from reports.stats.answers import Answers, IntArray
from reports.stats.distinct import distinct
from reports.stats.pairs import FloatArray

By = Literal["document", "sheet"]

N_DRAWS = 2_000
CONFIDENCE = 0.95
# With fewer clusters the percentiles are those of a handful of values: no interval is given.
MINIMUM_CLUSTERS = 10
# An interval of the draws that happen to have a value is not given when more than this share has none.
MAXIMUM_UNDEFINED = 0.05
# Values nearer to each other than this, of those around one, are the same number.
ROUNDING = 1e-12
# More clusters than this are put together at random before they are drawn: each group is then drawn as one. The
# interval's own error from that, 1/sqrt(2 x 10,000) = 0.7 %, is less than that of 2,000 draws.
MAXIMUM_GROUPS = 10_000
# Counts of drawn clusters made at a time: bounds memory.
_COUNTS_AT_ONCE = 4_000_000
# Multiplications that one sparse statistic may take; see `Resampling.within`.
_WORK = 2_000_000_000
_FEWEST_DRAWS = 200

# Pairs of answers to one cell beyond which nothing is drawn that takes two raters at a time: its sums for each document
# and pair of raters would take more than two gigabytes.
MAXIMUM_COMPARISONS = 10_000_000

TOO_FEW_CLUSTERS = "too little data: too few documents or sheets to draw from"
TOO_MANY_UNDEFINED = "too little data: the value is not defined in too many draws"
NOT_DEFINED = "the value itself is not defined"
EVERY_DRAW_THE_SAME = "too little data: every draw gives the same value"
TOO_MANY_COMPARISONS = "too many pairs of answers: not computed"


@dataclass(frozen=True)
class Interval:
    """A percentile interval, or None twice and the reason.

    confidence: 0.95; expanded: the percentiles are those of `percentiles`, else 2.5 and 97.5; by: what was drawn;
    n_clusters: how many of them there are (at least `minimum_clusters` are needed); n_undefined: draws
    in which the value is not defined, left out (at most 5 %); standard_error: the draws' standard deviation; bias:
    their mean less the value of all clusters.
    centred: low and high are moved by the bias. So it is done for means of kappas that rest on a few documents each:
    to draw some of these twice and others not at all lowers a kappa by itself, and that is no news about the raters.
    """

    low: float | None
    high: float | None
    standard_error: float | None
    bias: float | None
    reason: str
    by: By
    n_clusters: int
    n_draws: int
    n_undefined: int
    seed: int
    centred: bool = False
    expanded: bool = True
    confidence: float = CONFIDENCE
    minimum_clusters: int = MINIMUM_CLUSTERS


@dataclass(frozen=True, eq=False)
class Resampling:
    """Draws of clusters with replacement. Equal clusters, draws and seed give equal draws, whatever they are used for:
    the difference of two statistics, draw by draw, is that of statistics of the same documents.

    clusters: the number of each cluster, ascending, shape (n_clusters,); group: the group it is drawn in, shape
    (n_clusters,); usually each is its own. expanded: intervals of few clusters are made wider, see `percentiles`.
    """

    by: By
    clusters: IntArray
    group: IntArray
    n_draws: int
    seed: int
    expanded: bool = True

    @property
    def n_clusters(self) -> int:
        return self.clusters.size

    @property
    def n_groups(self) -> int:
        return int(self.group.max()) + 1 if self.group.size else 0

    def cluster_of(self, answers: Answers) -> IntArray:
        """The place in `clusters` of each answer, shape (n_answers,).

        Raises:
            ValueError: an answer lies in no cluster.
        """
        key = cluster_keys(answers, self.by)
        place = np.minimum(np.searchsorted(self.clusters, key), max(self.n_clusters - 1, 0))
        if key.size and (not self.n_clusters or np.any(self.clusters[place] != key)):
            raise ValueError(f"an answer lies in a {self.by} that is not among the clusters")
        return place

    def counts(self, n_features: int = 1) -> Iterator[FloatArray]:
        """How often each group is in each draw, in blocks of draws: arrays of shape (n_groups, n_draws_of_block).

        Blocks are small enough for n_features sums of each of their draws; the draws do not depend on it.
        """
        rng = np.random.default_rng(self.seed)
        n = self.n_groups
        step = max(1, _COUNTS_AT_ONCE // max(n, n_features, 1))
        for start in range(0, self.n_draws, step):
            draws = min(step, self.n_draws - start)
            chosen = rng.integers(n, size=(draws, n)) + n * np.arange(draws)[:, np.newaxis]
            counted = np.bincount(chosen.ravel(), minlength=draws * n).reshape(draws, n)
            yield np.ascontiguousarray(counted.T, dtype=np.float64)

    def draw(
        self,
        per_cluster: FloatArray | sparse.csr_array,
        statistic: Callable[[FloatArray], FloatArray],
    ) -> FloatArray:
        """The statistic of every draw.

        Args:
            per_cluster: sums of each cluster, shape (n_clusters, n_features), dense or sparse.
            statistic: from the summed features of some draws, shape (n_draws, n_features), to one value a draw, or to
                a row of values, shape (n_draws,) or (n_draws, n_values); NaN where it is not defined.
        Returns:
            shape (1 + n_draws,) or (1 + n_draws, n_values): first the value of all clusters, then the draws.
        """
        if self.n_groups < self.n_clusters:
            member = sparse.csr_array(
                (np.ones(self.n_clusters), (self.group, np.arange(self.n_clusters))),
                shape=(self.n_groups, self.n_clusters),
            )
            per_cluster = member @ per_cluster
        features = per_cluster.T if isinstance(per_cluster, np.ndarray) else per_cluster.T.tocsr()
        blocks = itertools.chain([np.ones((self.n_groups, 1))], self.counts(features.shape[0]))
        return np.concatenate([statistic((features @ counts).T) for counts in blocks])

    def within(self, n_entries: int) -> Resampling:
        """With fewer draws where these many sums would take minutes: at least 200; the interval states their number."""
        affordable = _WORK // max(n_entries + self.n_groups, 1)
        return replace(self, n_draws=min(self.n_draws, max(affordable, _FEWEST_DRAWS)))

    def interval(self, values: FloatArray, *, centred: bool = False, n_sheets: int = 1) -> Interval:
        """The percentile interval of what `draw` returned for one statistic, shape (1 + n_draws,).

        Args:
            n_sheets: where documents are drawn for a mean over sheets, how many sheets they lie in.
        """
        value, drawn = values[0], values[1:]
        defined = drawn[~np.isnan(drawn)]
        n_undefined = drawn.size - defined.size
        if self.too_few:
            return self.without_draws()
        if np.isnan(value):
            return self.without_draws(NOT_DEFINED)
        if n_undefined > MAXIMUM_UNDEFINED * drawn.size:
            return replace(self.without_draws(TOO_MANY_UNDEFINED), n_draws=self.n_draws, n_undefined=n_undefined)
        ends = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
        if self.expanded:
            ends = percentiles(self.n_groups, 0.0 if centred else _median_bias(value, defined), n_sheets)
        if not _as_before.get() and np.ptp(defined) <= ROUNDING * max(1.0, abs(value)):
            # Nothing varied, which is no sign that nothing can.
            return replace(self.without_draws(EVERY_DRAW_THE_SAME), n_draws=self.n_draws, n_undefined=n_undefined)
        bias = float(defined.mean() - value)
        low, high = np.quantile(defined, ends)
        if centred:
            # Only means of kappas are centred, and none is above 1.
            low, high = min(low - bias, 1.0), min(high - bias, 1.0)
        return Interval(
            low=float(low),
            high=float(high),
            standard_error=float(defined.std(ddof=1)),
            bias=bias,
            reason="",
            by=self.by,
            n_clusters=self.n_clusters,
            n_draws=self.n_draws,
            n_undefined=n_undefined,
            seed=self.seed,
            centred=centred,
            expanded=self.expanded,
        )

    @property
    def too_few(self) -> bool:
        return self.n_clusters < MINIMUM_CLUSTERS

    def bootstrap(
        self,
        per_cluster: FloatArray | sparse.csr_array,
        statistic: Callable[[FloatArray], FloatArray],
        *,
        n_sheets: int = 1,
    ) -> Interval:
        """`draw` and `interval` in one; no draw is made where there are too few clusters."""
        if self.too_few:
            return self.without_draws()
        return self.interval(self.draw(per_cluster, statistic), n_sheets=n_sheets)

    def refusal(self, questions: Sequence[Answers], *, paired: bool) -> Interval | None:
        """What agreement has in place of an interval where too few clusters tell of it; None where enough do.

        Args:
            paired: clusters with a cell that two have answered count alone. Where there is none, the value itself is
                not defined: that is another reason.
        """
        if self.too_few:
            return self.without_draws()
        n_paired = paired_clusters(questions, self.by).size if paired else 0
        return self.without_paired(n_paired) if 0 < n_paired < MINIMUM_CLUSTERS else None

    def without_paired(self, n_paired: int) -> Interval:
        """What there is of agreement where so few clusters have a cell that two have answered."""
        none = self.without_draws()
        return none if self.too_few or _as_before.get() else replace(none, n_clusters=n_paired)

    def without_draws(self, reason: str = TOO_FEW_CLUSTERS) -> Interval:
        return Interval(
            low=None,
            high=None,
            standard_error=None,
            bias=None,
            reason=reason,
            by=self.by,
            n_clusters=self.n_clusters,
            n_draws=0,
            n_undefined=0,
            seed=self.seed,
            expanded=self.expanded,
        )


def percentiles(n_clusters: int, median_bias: float = 0.0, n_sheets: int = 1) -> list[float]:
    """Which percentiles of the draws are the ends of a 95 % interval: Phi(2 z0 -+ t sqrt(G / (G - 1))).

    Draws of G clusters vary less than samples of them do, by (G - 1) / G, and their percentiles are those of a normal
    distribution where Student's t with G - 1 degrees of freedom is due. Percentiles further out mend both: 0.9 and 99.1
    instead of 2.5 and 97.5 for ten clusters, 2.3 and 97.7 for a hundred.

    Args:
        median_bias: z0, by how many standard deviations the value lies above the draws.
        n_sheets: of a mean over S sheets. What documents tell of their spread lies within sheets, which leaves t with
            G - S degrees of freedom; with about one document a sheet it is the sheets that tell, S - 1.

    Sources: Hesterberg (2015), What teachers should know about the bootstrap: expanded percentiles; Efron (1987),
    Better bootstrap confidence intervals: the correction for bias.
    """
    degrees = max(n_clusters - n_sheets, n_sheets - 1, 1)
    z = _deviations(degrees) * np.sqrt(n_clusters / max(n_clusters - 1, 1))
    return [float(stats.norm.cdf(2 * median_bias - z)), float(stats.norm.cdf(2 * median_bias + z))]


@cache
def _deviations(degrees: int) -> float:
    """Student's t; SciPy takes a millisecond for it."""
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, degrees))


# Reports of methods before are computed as they were. Before the fourth a draw was a tie where it had the same bits;
# before the tenth what does not vary had an interval, those of mean ratings left the scale, and what was too few was
# all that could be drawn.
_exact_ties: ContextVar[bool] = ContextVar("exact_ties", default=False)
_as_before: ContextVar[bool] = ContextVar("as_before", default=False)


@contextmanager
def intervals_of(*, exact_ties: bool = False, as_before: bool = False) -> Iterator[None]:
    """Intervals of earlier methods.

    Args:
        exact_ties: draws that differ from the value by rounding only are no ties of it.
        as_before: what does not vary has an interval, which is nothing wide; others leave the scale.
    """
    tokens = _exact_ties.set(exact_ties), _as_before.set(as_before)
    try:
        yield
    finally:
        _exact_ties.reset(tokens[0])
        _as_before.reset(tokens[1])


def is_as_before() -> bool:
    return _as_before.get()


def _median_bias(value: float, drawn: FloatArray) -> float:
    """Draws that equal the value count half on each side; at most one standard deviation.

    Equal is what differs by rounding only: a sum in another order, as another processor makes it, must not turn a tie.
    """
    near = drawn == value if _exact_ties.get() else np.abs(drawn - value) <= ROUNDING * max(1.0, abs(value))
    below = float(((drawn < value) & ~near).mean() + near.mean() / 2)
    return float(np.clip(stats.norm.ppf(below), -1, 1))


def resampling(
    answers: Answers,
    by: By = "document",
    *,
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
    group_many: bool = True,
) -> Resampling:
    """Draws of the documents, or sheets, in which these answers lie.

    Args:
        group_many: put more than `MAXIMUM_GROUPS` clusters together at random, in groups of equal size, one cluster
            more or less; not for statistics that are computed for each sheet.
    """
    clusters = distinct(cluster_keys(answers, by))
    return resampling_of(clusters, by, n_draws=n_draws, seed=seed, expanded=expanded, group_many=group_many)


def resampling_of(
    clusters: IntArray, by: By, *, n_draws: int, seed: int, expanded: bool = True, group_many: bool
) -> Resampling:
    """Draws of these clusters: numbers of documents or sheets, ascending, shape (n_clusters,). `group_many`: more than
    `MAXIMUM_GROUPS` are drawn in so many groups."""
    group = np.arange(clusters.size)
    if group_many and clusters.size > MAXIMUM_GROUPS:
        group = np.random.default_rng([seed, clusters.size]).permutation(clusters.size) % MAXIMUM_GROUPS
    return Resampling(by=by, clusters=clusters, group=group, n_draws=n_draws, seed=seed, expanded=expanded)


def paired_clusters(questions: Sequence[Answers], by: By) -> IntArray:
    """The documents, or sheets, with a cell that two have answered, as `cluster_keys`, ascending."""
    keys = [np.zeros(0, dtype=np.int64)]
    for answers in questions:
        of_cell = answers.by_cell.index
        keys.append(cluster_keys(answers, by)[np.bincount(of_cell)[of_cell] > 1])
    return distinct(np.concatenate(keys))


def cluster_keys(answers: Answers, by: By) -> IntArray:
    """The number of the document, or sheet, of each answer, shape (n_answers,)."""
    return answers.document if by == "document" else answers.sheet
