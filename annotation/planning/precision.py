"""How well kappa will be known: the expected width of its interval, before anything is labelled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_TWO_SIDED_95 = 1.959964


@dataclass(frozen=True)
class Assumptions:
    """What the width of the interval follows from, besides the number of labels.

    kappa: the agreement that is expected, above 0 and below 1. shares: how often each option is chosen, adding up to 1.
    clustering: how alike the agreements in the cells of one document are (an intraclass correlation): 0 is not at all.
    """

    kappa: float
    shares: tuple[float, ...]
    clustering: float = 0.05


def even_shares(n_options: int) -> tuple[float, ...]:
    return (1 / n_options,) * n_options


def half_width(assumed: Assumptions, *, cells_a_document: int, documents: Sequence[int]) -> float | None:
    """Half the width of the 95 % interval of kappa over all pairs of raters together; None where nothing is shared.

    Args:
        documents: how many documents are labelled by two raters, how many by three, and so on.
        cells_a_document: cells of the question in each of them.

    The model: each cell has a right answer, drawn from `shares`; each rater knows it with probability √kappa and
    otherwise draws an answer from `shares`. Then every pair of raters has this kappa and these margins. The variance
    of kappa is that of its influence function, for two raters Fleiss, Cohen and Everitt's large-sample variance. The
    pairs of a document labelled by more raters count for less than as many documents, by the correlations that the
    model gives. The cells of one document count for less than so many documents by Kish's design effect,
    1 + (cells - 1) × clustering.

    The normal approximation is good from about 50 cells on; below that the interval will be wider than this says.

    Sources: Fleiss, Cohen and Everitt (1969), Large sample standard errors of kappa and weighted kappa, Psychological
    Bulletin 72; Kish (1965), Survey Sampling, chapter 5.
    """
    moments = _moments(assumed)
    effect = 1 + (cells_a_document - 1) * assumed.clustering
    # Each pair of raters at each cell weighs the same: a cell of a document labelled three times counts three times.
    pairs = sum(n * math.comb(raters, 2) for raters, n in enumerate(documents, start=2)) * cells_a_document
    if not pairs:
        return None
    summed = 0.0
    for raters, n in enumerate(documents, start=2):
        # Two pairs of a cell, in order: the same one, two that share a rater, two that share none.
        same, touching = math.comb(raters, 2), raters * (raters - 1) * (raters - 2)
        ways = same, touching, same**2 - same - touching
        summed += n * sum(way * moment for way, moment in zip(ways, moments, strict=True))
    return _TWO_SIDED_95 * math.sqrt(summed * cells_a_document * effect) / pairs


def _moments(assumed: Assumptions) -> tuple[float, float, float]:
    """The variance of the influence of one pair of answers on kappa, and the covariances of two pairs of one cell: of
    those that have a rater in common, and of those that have none.

    The influence of a pair of answers (a, b) is, with p_o and p_e the observed and expected agreement,
        ([a = b] - p_o) / (1 - p_e)  -  (1 - p_o) (share_a + share_b - 2 p_e) / (1 - p_e)²
    """
    shares, kappa = assumed.shares, assumed.kappa
    p_e = sum(share**2 for share in shares)
    p_o = kappa + (1 - kappa) * p_e
    options = range(len(shares))
    knows = math.sqrt(kappa)

    def influence(a: int, b: int) -> float:
        chance = (1 - p_o) * (shares[a] + shares[b] - 2 * p_e) / (1 - p_e) ** 2
        return ((a == b) - p_o) / (1 - p_e) - chance

    table = [[influence(a, b) for b in options] for a in options]
    # answer[t][a]: the probability of the answer a where t is right.
    answer = [[knows * (a == t) + (1 - knows) * shares[a] for a in options] for t in options]
    variance = covariance = apart = 0.0
    for t in options:
        given = answer[t]
        expected = 0.0
        for a in options:
            mean = sum(given[b] * table[a][b] for b in options)
            variance += shares[t] * given[a] * sum(given[b] * table[a][b] ** 2 for b in options)
            # The rater whom two pairs have in common answered a.
            covariance += shares[t] * given[a] * mean**2
            expected += given[a] * mean
        apart += shares[t] * expected**2
    return variance, covariance, apart
