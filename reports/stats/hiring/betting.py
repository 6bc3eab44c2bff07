"""Bets against a statement on an error rate: whoever gets rich has shown it wrong.

A wealth of 1 is staked, cluster by cluster, against "at least a share r of the accepted cells is wrong" (or "at
most"). Where the statement is true the wealth has an expectation of at most 1, whatever the cells of one cluster have
to do with each other; so it reaches 1 / delta with a probability of at most delta. No normal distribution and no number
of clusters is asked for.

Sources: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, JRSS B 86; Shafer
(2021), Testing by betting, JRSS A 184; Ville (1939).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from reports.stats.hiring.clusters import Totals
from reports.stats.pairs import FloatArray

# Shares of the greatest stake that cannot lose everything; each gets its part of the wealth.
STAKES = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
# The part of the wealth that follows the stake which other clusters have shown to be best; the rest is for their having
# misled.
_BELIEF = 0.9
_CHOICES = np.linspace(0.02, 0.95, 94)
# A rate is given to this.
_EXACTNESS = 1e-7


def log_wealth_below(counts: Totals, rate: float, *, most: float, stakes: npt.ArrayLike = STAKES) -> FloatArray:
    """The logarithm of the wealth won against "the error rate is `rate` or more", for each stake, shape (n_stakes,).

    The product over clusters of 1 - c (W - r A) / ((1 - r) M), with W wrong of A accepted cells and M = `most`.
    """
    won: FloatArray = np.log1p(-np.multiply.outer(stakes, _excess(counts, rate) / ((1 - rate) * most))).sum(axis=-1)
    return won


def mixed(log_wealth: FloatArray) -> float:
    """The logarithm of the mean: the wealth was divided equally among the stakes beforehand."""
    return float(special.logsumexp(log_wealth) - np.log(log_wealth.size))


def chosen_stake(counts: Totals, rate: float, *, most: float) -> float:
    """The stake with the fastest growth on other clusters: where the development documents say to put the money."""
    return float(_CHOICES[np.argmax(log_wealth_below(counts, rate, most=most, stakes=_CHOICES))])


def evidence_below(counts: Totals, rate: float, *, most: float, stake: float | None = None) -> float:
    """The logarithm of the wealth against "the error rate is `rate` or more".

    Args:
        most: the most cells of a cluster that could have been accepted, known without the labels.
        stake: where nine tenths of the money go, chosen on other clusters; the rest, or all, goes to `STAKES`.
    """
    spread = mixed(log_wealth_below(counts, rate, most=most))
    if stake is None:
        return spread
    single = float(log_wealth_below(counts, rate, most=most, stakes=[stake])[0])
    return float(np.logaddexp(single + np.log(_BELIEF), spread + np.log1p(-_BELIEF)))


def mixed_path(counts: Totals, rate: float, *, most: float, stake: float) -> FloatArray:
    """`evidence_below` of the first g clusters, for every g.

    Args:
        counts: shape (..., n_clusters).
    """
    stakes = np.concatenate([[stake], STAKES])
    shares = np.concatenate([[_BELIEF], np.full(STAKES.size, (1 - _BELIEF) / STAKES.size)])
    factors = np.log1p(-np.multiply.outer(stakes, _excess(counts, rate) / ((1 - rate) * most)))
    weights = np.log(shares).reshape(-1, *[1] * counts.wrong.ndim)
    path: FloatArray = np.logaddexp.reduce(np.cumsum(factors, axis=-1) + weights, axis=0)
    return path


def upper_bound(counts: Totals, *, delta: float, most: float, stake: float | None = None) -> float:
    """The least rate that is refuted with every greater one: the error rate lies below with confidence 1 - delta.

    The wealth grows with the rate that is bet against, so halving the interval finds it.
    """
    low, high = 0.0, 1.0
    while high - low > _EXACTNESS:
        middle = (low + high) / 2
        if evidence_below(counts, middle, most=most, stake=stake) >= -np.log(delta):
            high = middle
        else:
            low = middle
    return high


def _excess(counts: Totals, rate: float) -> FloatArray:
    excess: FloatArray = counts.wrong - rate * counts.accepted
    return excess
