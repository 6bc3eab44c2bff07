"""One answer from several: a judge's repeats, people's majority, and the Dawid-Skene model of who errs how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

from reports.stats import coefficients
from reports.stats.agreement import Statistic, alpha
from reports.stats.answers import Answers, IntArray
from reports.stats.cells import cell_sums
from reports.stats.coefficients import Level
from reports.stats.pairs import FloatArray

NO_REPEATS = "no cell has labels of two repeats"
NO_ANSWERS = "nobody has answered a cell"

# Of expectation-maximisation: with two answers a cell it creeps along a flat likelihood.
_ITERATIONS = 2_000
_STILL = 1e-7
_TINY = 1e-300


@dataclass(frozen=True)
class SelfConsistency:
    """A judge's repeats of the same cells, compared as if they were raters.

    all_equal: share of the cells with two labels or more in which all labels are the same; percent: the mean over these
    cells of the share of pairs of labels that are; alpha: Krippendorff's alpha over repeats; entropy: the mean over
    cells of the entropy of their labels, as a share of the greatest possible. At temperature 0 this is the engine's
    own unsteadiness, above it the judge's. n_cells: cells with two labels or more.
    """

    all_equal: float | None
    percent: float | None
    alpha: Statistic
    entropy: float | None
    reason: str
    n_repeats: int
    n_cells: int


def self_consistency(repeats: Answers, level: Level = "nominal") -> SelfConsistency:
    """How far a judge agrees with itself.

    Args:
        repeats: the judge's labels, with the number of the repeat in the place of the rater.
    """
    counts = repeats.value_counts()
    several = counts[counts.sum(axis=1) >= 2]
    n = several.shape[0]
    shares = several / np.maximum(several.sum(axis=1, keepdims=True), 1)
    greatest = np.log(repeats.n_options) if repeats.n_options > 1 else 1.0
    return SelfConsistency(
        all_equal=float((shares.max(axis=1) == 1).mean()) if n else None,
        percent=float(coefficients.percent(cell_sums(repeats))) if n else None,
        alpha=alpha(repeats, level),
        entropy=float(special.entr(shares).sum(axis=1).mean() / greatest) if n else None,
        reason="" if n else NO_REPEATS,
        n_repeats=np.unique(repeats.rater).size,
        n_cells=n,
    )


@dataclass(frozen=True, eq=False)
class MajorityVote:
    """The most frequent answer of each answered cell.

    cell and code: shape (n_cells,), cells ascending; share: of the cell's answers, shape (n_cells,); best: whether an
    option is as frequent as any, shape (n_cells, n_options).
    """

    cell: IntArray
    code: IntArray
    share: FloatArray
    best: npt.NDArray[np.bool_]

    @property
    def tied(self) -> npt.NDArray[np.bool_]:
        """Cells with several most frequent answers, shape (n_cells,)."""
        tied: npt.NDArray[np.bool_] = self.best.sum(axis=1) > 1
        return tied

    @property
    def n_ties(self) -> int:
        return int(self.tied.sum())


def majority_vote(answers: Answers, *, ties: Literal["first", "drawn"] = "first", seed: int = 0) -> MajorityVote:
    """
    Args:
        ties: which of equally frequent options is taken: the first of the question, or one drawn at random by `seed`.
    """
    counts = answers.value_counts()
    most = counts.max(axis=1, initial=0)
    best = counts == most[:, np.newaxis]
    if not counts.size:
        code = np.zeros(0, dtype=np.int64)
    elif ties == "first":
        code = counts.argmax(axis=1)
    else:
        code = np.where(best, np.random.default_rng(seed).random(best.shape), -1).argmax(axis=1)
    return MajorityVote(answers.by_cell.cell, code, most / np.maximum(counts.sum(axis=1), 1), best)


def tie_credit(vote: MajorityVote, right: Answers) -> FloatArray:
    """What a majority is worth in each cell, shape (n_cells,), NaN where `right` has no answer: one where it is right
    alone, 1/t where it is one of t equally frequent answers: what drawing among them gives in the mean.
    """
    at = np.minimum(np.searchsorted(right.cell, vote.cell), max(right.cell.size - 1, 0))
    if not right.cell.size:
        return np.full(vote.cell.size, np.nan)
    code = right.code[at]
    credit = vote.best[np.arange(vote.cell.size), code] / vote.best.sum(axis=1)
    credited: FloatArray = np.where(right.cell[at] == vote.cell, credit, np.nan)
    return credited


@dataclass(frozen=True, eq=False)
class RaterErrors:
    """One rater in the Dawid-Skene model. matrix[x, y]: the probability that they choose y where x is true, shape
    (n_options, n_options), rows sum to 1; accuracy: the probability that they choose what is true, over the options'
    shares; n: their answers.
    """

    rater: int
    matrix: FloatArray
    accuracy: float
    n: int


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """The consensus of all raters, each with errors of their own.

    cell and code: the most probable option of each answered cell, shape (n_cells,), cells ascending; probabilities:
    of all options, shape (n_cells, n_options); shares: of the options among the cells, shape (n_options,).
    converged: no probability moved by 1e-7 any more after `iterations` of at most 2,000.
    """

    cell: IntArray
    code: IntArray
    probabilities: FloatArray
    shares: FloatArray
    raters: tuple[RaterErrors, ...]
    log_likelihood: float | None
    iterations: int
    converged: bool
    reason: str


def dawid_skene(*, rater: npt.ArrayLike, cell: npt.ArrayLike, code: npt.ArrayLike, n_options: int) -> DawidSkene:
    """Who errs how, and what is true, estimated together by expectation-maximisation from the cells' shares of answers.

    Args:
        rater, cell, code: shape (n_answers,), codes 0..n_options-1; a rater may have answered a cell several times.

    Written here, although crowd-kit has it: crowd-kit 1.4 counts the options' shares once for each answer in the bound
    that tells it to stop, so it stops after a few iterations, far from the maximum. Without that stop its steps are
    these, and the tests hold ours against them.

    Source: Dawid and Skene (1979), Maximum likelihood estimation of observer error-rates using the EM algorithm.
    """
    columns = [np.asarray(column, dtype=np.int64) for column in (rater, cell, code)]
    raters, of_rater = np.unique(columns[0], return_inverse=True)
    cells, of_cell = np.unique(columns[1], return_inverse=True)
    codes, k = columns[2], n_options
    if not codes.size:
        return DawidSkene(cells, codes, np.zeros((0, k)), np.zeros(k), (), None, 0, False, NO_ANSWERS)
    signs = of_rater * k + codes
    pattern_of, first = _patterns(of_cell, signs, cells.size)
    weight = np.bincount(pattern_of).astype(np.float64)
    representative = np.isin(of_cell, first)
    place = np.zeros(cells.size, dtype=np.int64)
    place[first] = np.arange(first.size)
    # given[p, r * k + y]: how often rater r chose y in the cells of pattern p.
    entries = (place[of_cell[representative]], signs[representative])
    given = sparse.csr_array((np.ones(entries[0].size), entries), shape=(first.size, raters.size * k))
    given.sum_duplicates()
    back = given.T.tocsr()

    chosen = np.stack([given[:, option::k].sum(axis=1) for option in range(k)], axis=1)
    posterior = chosen / chosen.sum(axis=1, keepdims=True)
    moved, iterations, likelihood = np.inf, 0, 0.0
    while moved > _STILL and iterations < _ITERATIONS:
        weighted = posterior * weight[:, np.newaxis]
        shares = weighted.sum(axis=0) / weight.sum()
        matrices = (back @ weighted).reshape(raters.size, k, k).transpose(0, 2, 1)
        total = matrices.sum(axis=2, keepdims=True)
        matrices = np.divide(matrices, total, out=np.full(matrices.shape, 1 / k), where=total > 0)
        by_sign = np.log(np.maximum(matrices, _TINY)).transpose(0, 2, 1).reshape(raters.size * k, k)
        logs = given @ by_sign + np.log(np.maximum(shares, _TINY))
        of_patterns = special.logsumexp(logs, axis=1)
        likelihood = float(weight @ of_patterns)
        updated = np.exp(logs - of_patterns[:, np.newaxis])
        moved, posterior, iterations = float(np.abs(updated - posterior).max()), updated, iterations + 1
    answers = np.bincount(of_rater)
    right = np.diagonal(matrices, axis1=1, axis2=2) @ shares
    return DawidSkene(
        cell=cells,
        code=posterior.argmax(axis=1)[pattern_of],
        probabilities=posterior[pattern_of],
        shares=shares,
        raters=tuple(
            RaterErrors(rater=number, matrix=matrix, accuracy=accuracy, n=n)
            for number, matrix, accuracy, n in zip(
                raters.tolist(), matrices, right.tolist(), answers.tolist(), strict=True
            )
        ),
        log_likelihood=likelihood,
        iterations=iterations,
        converged=moved <= _STILL,
        reason="",
    )


def _patterns(cell: IntArray, sign: IntArray, n_cells: int) -> tuple[IntArray, IntArray]:
    """Cells with the same answers of the same raters are one pattern: its number for each cell, and its first cell.

    Told apart by the sum of a random 63-bit number of each (rater, option): two different patterns among a million
    have the same sum with a probability of one in ten million.
    """
    numbers = np.random.default_rng(0).integers(np.iinfo(np.int64).max, size=int(sign.max()) + 1)
    sums = np.zeros(n_cells, dtype=np.int64)
    np.add.at(sums, cell, numbers[sign])
    _, first, pattern = np.unique(sums, return_index=True, return_inverse=True)
    return pattern, first
