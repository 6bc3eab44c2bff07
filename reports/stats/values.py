"""Agreement on answers that are values: texts, lists, numbers. Equal or not, however many different ones there are.

Nothing here has a table of answers by answers: a question may have as many different answers as cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from reports.stats.agreement import ALWAYS_THE_SAME, NO_TWO_ANSWERS
from reports.stats.answers import Answers, IntArray
from reports.stats.bootstrap import N_DRAWS, By, Interval, resampling
from reports.stats.pairs import FloatArray
from reports.stats.ratios import ratio


@dataclass(frozen=True)
class ExactAgreement:
    """How often two raters gave the same answer. percent: the mean over cells of the share of its pairs of answers that
    agree; percent_of_comparisons: each pair alike; alpha: Krippendorff's, nominal. None where not defined.

    n_different: different answers that occur; overlap: cells with two answers or more as a share of answered ones.
    """

    percent: float | None
    percent_of_comparisons: float | None
    alpha: float | None
    reason: str
    alpha_reason: str
    n_answers: int
    n_answered: int
    n_shared: int
    n_comparisons: int
    n_different: int

    @property
    def overlap(self) -> float | None:
        return self.n_shared / self.n_answered if self.n_answered else None


# Of each cell with two answers or more: the share of its pairs that agree, 1, its agreeing pairs, its pairs, its
# answers, its agreeing ordered pairs by (answers - 1).
_SHARE, _ONE, _AGREED, _PAIRS, _ANSWERS, _COINCIDE = range(6)


def exact_agreement(answers: Answers) -> ExactAgreement:
    """
    >>> from reports.stats.answers import Answers
    >>> found = exact_agreement(Answers.from_long(rater=[1, 2, 1, 2], cell=[0, 0, 1, 1], sheet=[0] * 4,
    ...                                           code=[0, 0, 1, 2], n_options=3))
    >>> found.percent, found.n_comparisons
    (0.5, 2)
    """
    cells, _document, chosen = _cell_sums(answers)
    sums = cells.sum(axis=0)
    percent, of_comparisons, alpha = _statistics(sums[np.newaxis], (chosen**2).sum()[np.newaxis])[0].tolist()
    shared = int(sums[_ONE])
    return ExactAgreement(
        percent=_defined(percent),
        percent_of_comparisons=_defined(of_comparisons),
        alpha=_defined(alpha),
        reason="" if shared else NO_TWO_ANSWERS,
        alpha_reason="" if not np.isnan(alpha) else (ALWAYS_THE_SAME if shared else NO_TWO_ANSWERS),
        n_answers=answers.cell.size,
        n_answered=answers.by_cell.size,
        n_shared=shared,
        n_comparisons=int(sums[_PAIRS]),
        n_different=np.unique(answers.code).size,
    )


def exact_intervals(
    answers: Answers,
    *,
    by: By = "document",
    n_draws: int = N_DRAWS,
    seed: int = 0,
    expanded: bool = True,
    paired: bool = True,
) -> dict[str, Interval]:
    """Of percent, percent_of_comparisons and alpha, all of the same draws; `paired` as in `reports.stats.intervals`."""
    names = ("percent", "percent_of_comparisons", "alpha")
    draws = resampling(answers, by, n_draws=n_draws, seed=seed, expanded=expanded)
    if none := draws.refusal([answers], paired=paired):
        return dict.fromkeys(names, none)
    cells, first, _chosen = _cell_sums(answers)
    cluster = draws.cluster_of(answers)
    per_cluster = np.zeros((draws.n_clusters, cells.shape[1]))
    np.add.at(per_cluster, cluster[first], cells)
    # How often each answer occurs in shared cells of each cluster: as many columns as there are different answers.
    shared = np.isin(answers.by_cell.index, np.flatnonzero(np.bincount(answers.by_cell.index) >= 2))
    codes, code = np.unique(answers.code[shared], return_inverse=True)
    times = sparse.csr_array(
        (np.ones(code.size), (cluster[shared], code)), shape=(draws.n_clusters, max(codes.size, 1))
    )
    features = sparse.hstack([sparse.csr_array(per_cluster), times]).tocsr()
    n = cells.shape[1]
    drawn = draws.within(features.nnz).draw(
        features, lambda sums: _statistics(sums[:, :n], (sums[:, n:] ** 2).sum(axis=1))
    )
    made = draws.within(features.nnz)
    return {name: made.interval(drawn[:, column]) for column, name in enumerate(names)}


def _statistics(sums: FloatArray, squares: FloatArray) -> FloatArray:
    """percent, percent_of_comparisons and alpha of each draw, shape (n_draws, 3).

    alpha = 1 - (n - 1) (n - agreeing) / (n^2 - sum of squared frequencies), n the answers in shared cells.
    """
    n = sums[:, _ANSWERS]
    observed = (n - 1) * (n - sums[:, _COINCIDE])
    expected = n**2 - squares
    return np.stack(
        [
            ratio(sums[:, _SHARE], sums[:, _ONE]),
            ratio(sums[:, _AGREED], sums[:, _PAIRS]),
            1 - ratio(observed, expected),
        ],
        axis=-1,
    )


def _cell_sums(answers: Answers) -> tuple[FloatArray, IntArray, IntArray]:
    """The sums of each shared cell, shape (n_shared, 6), the place of its first answer, and how often each answer
    occurs in shared cells."""
    cells = answers.by_cell
    r = np.bincount(cells.index)
    k = max(answers.n_options, 1)
    keys, times = np.unique(cells.index * k + answers.code, return_counts=True)
    agreed = np.bincount(keys // k, times * (times - 1) // 2, minlength=r.size)
    shared = r >= 2
    pairs = (r * (r - 1) // 2)[shared]
    alike, answered = agreed[shared], r[shared]
    sums = np.stack(
        [alike / pairs, np.ones(pairs.size), alike, pairs, answered, 2 * alike / (answered - 1)], axis=-1
    ).astype(np.float64)
    return sums, cells.first[shared], np.bincount(answers.code[shared[cells.index]])


@dataclass(frozen=True)
class ValueCount:
    """One answer: its code, how often it was given, its share of all answers."""

    code: int
    n: int
    share: float


def most_frequent(answers: IntArray, *, at_most: int) -> tuple[ValueCount, ...]:
    """The answers that occur most often, of equally frequent ones the first; `answers` are codes, shape (n,)."""
    codes, times = np.unique(answers, return_counts=True)
    order = np.argsort(-times, kind="stable")[:at_most]
    return tuple(ValueCount(int(codes[at]), int(times[at]), float(times[at] / times.sum())) for at in order)


def one_voice(answers: Answers) -> tuple[Answers, int]:
    """The most frequent answer of each cell, of equally frequent ones the one with the lowest code, as if one rater had
    given it; and in how many cells there were several."""
    cells, k = answers.by_cell, max(answers.n_options, 1)
    keys, times = np.unique(cells.index * k + answers.code, return_counts=True)
    cell, code = keys // k, keys % k
    order = np.lexsort((code, -times, cell))
    first = np.searchsorted(cell, np.arange(cells.size))
    best = order[first]
    ties = int((np.bincount(cell[times == times[best][cell]], minlength=cells.size) > 1).sum())
    voice = Answers.from_long(
        rater=np.zeros(cells.size),
        cell=cells.cell,
        sheet=answers.sheet[cells.first],
        document=answers.document[cells.first],
        code=code[best],
        n_options=answers.n_options,
    )
    return voice, ties


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
