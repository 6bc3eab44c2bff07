"""Agreement coefficients as functions of `CellSums`, for one study or for all draws of a bootstrap at once.

Each takes sums with any leading shape `...` and returns an array of that shape, NaN where the coefficient is not
defined. `weights`: how far two options agree, 0 to 1, shape (n_options, n_options); left out, 1 for the same one alone.
All are chance-corrected as (pa - pe) / (1 - pe): pa what was observed, pe what chance would give; they differ in what
they call chance. Which answers count when some are missing is each one's own rule, in `MISSING_RULES`.
Source of the forms for any number of raters and missing answers: Gwet (2014), Handbook of Inter-Rater Reliability, 4th
ed.; of alpha: Krippendorff (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from reports.stats.cells import CellSums
from reports.stats.pairs import FloatArray, Weights, agreement_weights
from reports.stats.ratios import signed_ratio

Level = Literal["nominal", "ordinal", "interval"]

# What each coefficient does where answers are missing, shown to people as they are or translated.
_OF_TWO = "for each two raters the cells that both answered; with more raters, the mean over pairs of raters"
_OF_SHARES = "agreement from cells with two answers or more, options' shares from all answered cells"
MISSING_RULES = {
    "percent": "cells with two answers or more; each cell counts alike",
    "percent_of_comparisons": "every pair of answers to a cell; cells with more answers count more",
    "cohen": _OF_TWO,
    "cohen_linear": _OF_TWO,
    "cohen_quadratic": _OF_TWO,
    "scott": "every pair of answers to a cell, entered both ways round",
    "fleiss": _OF_SHARES,
    "ac1": _OF_SHARES,
    "ac2": _OF_SHARES,
    "pabak": "cells with two answers or more; each cell counts alike",
    "alpha": "every answer in a cell with two answers or more; each answer counts alike",
    "specific": "every pair of answers to a cell; cells with more answers count more",
}


def percent(sums: CellSums, weights: FloatArray | None = None) -> FloatArray:
    """pa: the mean over shared cells of the share of its pairs of answers that agree (weighted: by how much)."""
    agree = np.eye(sums.n_options) if weights is None else weights
    return signed_ratio((sums.agreements * agree).sum(axis=(-2, -1)), sums.shared)


def percent_of_comparisons(sums: CellSums) -> FloatArray:
    """The share of all comparisons that agree; equals `percent` where every cell has equally many answers."""
    return signed_ratio(np.trace(sums.comparisons, axis1=-2, axis2=-1), sums.comparisons.sum(axis=(-2, -1)))


def option_shares(sums: CellSums) -> FloatArray:
    """pi_q: the mean over answered cells of the share of its answers that are q, shape (..., n_options)."""
    return signed_ratio(sums.shares, sums.answered[..., np.newaxis])


def fleiss_kappa(sums: CellSums, weights: FloatArray | None = None) -> FloatArray:
    """Fleiss' kappa: pe = sum_ql w_ql pi_q pi_l. Fleiss (1971); missing answers and weights: Gwet (2014)."""
    agree = np.eye(sums.n_options) if weights is None else weights
    shares = option_shares(sums)
    expected = np.einsum("...q,ql,...l->...", shares, agree, shares)
    return corrected(percent(sums, weights), expected)


def gwet_ac(sums: CellSums, weights: FloatArray | None = None) -> FloatArray:
    """Gwet's AC1, with weights AC2: pe = (sum of weights) / (k (k - 1)) sum_q pi_q (1 - pi_q), k options.

    Source: Gwet (2008); AC2: Gwet (2014). It stays high where one option is frequent, and defined where only one was
    ever chosen; with a single option there is nothing to agree on, and it is not defined.
    """
    k = sums.n_options
    agree = np.eye(k) if weights is None else weights
    shares = option_shares(sums)
    total = float(agree.sum()) / (k * (k - 1)) if k > 1 else np.nan
    return corrected(percent(sums, weights), total * (shares * (1 - shares)).sum(axis=-1))


def pabak(sums: CellSums, weights: FloatArray | None = None) -> FloatArray:
    """Prevalence- and bias-adjusted kappa of Brennan and Prediger (1981): pe = (sum of weights) / k^2, k options.

    With two options it is 2 pa - 1 (Byrt et al. 1993).
    """
    k = sums.n_options
    agree = np.eye(k) if weights is None else weights
    return corrected(percent(sums, weights), np.full(sums.answered.shape, agree.sum() / k**2))


def scott_pi(sums: CellSums, weights: FloatArray | None = None) -> FloatArray:
    """Scott's pi (1955) of all comparisons in one table, each both ways round; for two raters Scott's own pi."""
    agree = np.eye(sums.n_options) if weights is None else weights
    n = sums.comparisons.sum(axis=(-2, -1))
    shares = signed_ratio(sums.comparisons.sum(axis=-1), n[..., np.newaxis])
    observed = signed_ratio((sums.comparisons * agree).sum(axis=(-2, -1)), n)
    return corrected(observed, np.einsum("...q,ql,...l->...", shares, agree, shares))


def krippendorff_alpha(sums: CellSums, level: Level = "nominal", values: Sequence[float] | None = None) -> FloatArray:
    """Krippendorff's alpha, 1 - observed / expected disagreement of the coincidence matrix.

    `values`: what the options stand for at the interval level, shape (n_options,); 0, 1, 2, ... when left out.

    The reported alpha is the krippendorff package's (`agreement.krippendorff_alpha`); this one takes all draws of a
    bootstrap at once.
    """
    totals = sums.coincidences.sum(axis=-1)
    n = totals.sum(axis=-1)
    if level == "nominal":
        metric = 1 - np.eye(sums.n_options)
    else:
        if level == "ordinal":
            # (sum of n_g from c to k, less half of n_c and n_k)^2: the distance of the options' middle ranks.
            place = np.cumsum(totals, axis=-1) - totals / 2
        else:
            place = np.arange(sums.n_options) if values is None else np.asarray(values, dtype=np.float64)
        metric = (place[..., :, np.newaxis] - place[..., np.newaxis, :]) ** 2
    observed = (sums.coincidences * metric).sum(axis=(-2, -1))
    expected = (totals[..., :, np.newaxis] * totals[..., np.newaxis, :] * metric).sum(axis=(-2, -1))
    return 1 - signed_ratio(observed * (n - 1), expected)


def specific_agreement(sums: CellSums) -> FloatArray:
    """For each option the share of agreement among the comparisons in which somebody chose it, shape (..., n_options).

    sum_i n_iq (n_iq - 1) / sum_i n_iq (r_i - 1); for two raters 2a / (2a + b + c). Source: Cicchetti and Feinstein
    (1990); any number of raters: Uebersax.
    """
    return signed_ratio(np.diagonal(sums.comparisons, axis1=-2, axis2=-1), sums.comparisons.sum(axis=-1))


def category_kappas(sums: CellSums) -> FloatArray:
    """Fleiss' kappa of each option against all others, shape (..., n_options).

    Source: Fleiss (1971): each option as a question with two options.
    """
    agree = np.diagonal(sums.agreements, axis1=-2, axis2=-1)
    chosen = sums.agreements.sum(axis=-1)
    # Pairs of "this" and "this", and pairs of "another" and "another".
    observed = signed_ratio(sums.shared[..., np.newaxis] - 2 * (chosen - agree), sums.shared[..., np.newaxis])
    shares = option_shares(sums)
    return corrected(observed, shares**2 + (1 - shares) ** 2)


def weights_of(sums: CellSums, weights: Weights | None, values: Sequence[float] | None = None) -> FloatArray:
    """The agreement weights for these sums' options, shape (n_options, n_options)."""
    return agreement_weights(sums.n_options, weights, values)


def corrected(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """(observed - expected) / (1 - expected), NaN where chance alone gives full agreement."""
    return signed_ratio(observed - expected, 1 - expected)
