"""One answer from several by an item-response model: raters differ in ability, cells in difficulty.

Dawid and Skene's model (`consensus`) gives each rater a table of errors and takes all cells as equally hard. Here each
rater has one number and each cell, or document, another: P(right) = 1 / (1 + exp(-ability x ease)), and what is wrong
is any other option alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import optimize, special

from reports.stats.answers import Answers, IntArray
from reports.stats.consensus import NO_ANSWERS
from reports.stats.hiring.means import Mean, ShareBounds, clustered_mean
from reports.stats.pairs import FloatArray

_ITERATIONS = 200
_STEPS = 25
_STILL = 1e-5


@dataclass(frozen=True)
class RaterAbility:
    """ability: 0 for whoever guesses, below for whoever is wrong more often than right; 1 is expected beforehand.
    right: the mean probability that the rater's answers are right, with its interval by documents; n: answers."""

    rater: int
    ability: float
    right: Mean
    n: int


@dataclass(frozen=True, eq=False)
class Abilities:
    """The consensus.

    cell, code, probabilities: as of `DawidSkene`, shapes (n_cells,), (n_cells,), (n_cells, n_options); ease: of each
    cell, 1 in the middle, shape (n_cells,); shares: of the options, shape (n_options,). log_posterior is the larger the
    better the model fits; converged: the probabilities came to rest.
    """

    cell: IntArray
    code: IntArray
    probabilities: FloatArray
    ease: FloatArray
    shares: FloatArray
    raters: tuple[RaterAbility, ...]
    log_posterior: float | None
    iterations: int
    converged: bool
    reason: str


def abilities(
    answers: Answers,
    *,
    by: Literal["cell", "document"] = "cell",
    bounds: ShareBounds = ShareBounds.LATEST,
) -> Abilities:
    """The most probable abilities and eases, by expectation-maximisation.

    Beforehand abilities are normal around 1 and the logarithm of the ease around 0, both with a standard deviation of
    1, which keeps those finite who were always right; shares of the options get one answer each besides.

    Args:
        by: what has an ease of its own: a cell, or all cells of a document together, which needs fewer answers.
        bounds: of the share of a rater's answers that are right.

    Source: Whitehill, Ruvolo, Wu, Bergsma and Movellan (2009), Whose vote should count more (GLAD), NIPS 22; for more
    than two options as there, section 3. It is a two-parameter logistic model without a guessing parameter.
    """
    cells, first, of_cell = np.unique(answers.cell, return_index=True, return_inverse=True)
    raters, of_rater = np.unique(answers.rater, return_inverse=True)
    k, codes = answers.n_options, answers.code
    if not codes.size:
        empty = np.zeros(0)
        return Abilities(cells, codes, np.zeros((0, k)), empty, np.zeros(k), (), None, 0, False, NO_ANSWERS)
    hardness = np.arange(cells.size) if by == "cell" else np.unique(answers.document[first], return_inverse=True)[1]
    of_hardness = hardness[of_cell]
    n_raters, n_eases = raters.size, int(hardness.max()) + 1
    others = np.log(max(k - 1, 1))

    counts = np.zeros((cells.size, k))
    np.add.at(counts, (of_cell, codes), 1.0)
    posterior = (counts + 1 / k) / (counts + 1 / k).sum(axis=1, keepdims=True)
    at = np.concatenate([np.ones(n_raters), np.zeros(n_eases)])
    moved, iterations, fit = np.inf, 0, 0.0
    shares = np.full(k, 1 / k)

    def less_expected(parameters: FloatArray, right: FloatArray) -> tuple[float, FloatArray]:
        """Minus the expected log posterior, and its gradient."""
        ability, log_ease = parameters[:n_raters], parameters[n_raters:]
        ease = np.exp(log_ease)
        x = ability[of_rater] * ease[of_hardness]
        value = right @ special.log_expit(x) + (1 - right) @ (special.log_expit(-x) - others)
        value -= (((ability - 1) ** 2).sum() + (log_ease**2).sum()) / 2
        slope = right - special.expit(x)
        by_rater = np.bincount(of_rater, slope * ease[of_hardness], minlength=n_raters) - (ability - 1)
        by_ease = np.bincount(of_hardness, slope * x, minlength=n_eases) - log_ease
        return -float(value), -np.concatenate([by_rater, by_ease])

    while moved > _STILL and iterations < _ITERATIONS:
        right = posterior[of_cell, codes]
        shares = (posterior.sum(axis=0) + 1) / (cells.size + k)
        at = optimize.minimize(
            less_expected, at, args=(right,), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}
        ).x
        x = at[:n_raters][of_rater] * np.exp(at[n_raters:])[of_hardness]
        logs = np.tile(np.log(shares), (cells.size, 1))
        wrong = special.log_expit(-x) - others
        logs += np.bincount(of_cell, wrong, minlength=cells.size)[:, np.newaxis]
        np.add.at(logs, (of_cell, codes), special.log_expit(x) - wrong)
        of_cells = special.logsumexp(logs, axis=1)
        fit = float(of_cells.sum()) - float(((at[:n_raters] - 1) ** 2).sum() + (at[n_raters:] ** 2).sum()) / 2
        updated = np.exp(logs - of_cells[:, np.newaxis])
        moved, posterior, iterations = float(np.abs(updated - posterior).max()), updated, iterations + 1
    right = posterior[of_cell, codes]
    n = np.bincount(of_rater)
    return Abilities(
        cell=cells,
        code=posterior.argmax(axis=1),
        probabilities=posterior,
        ease=np.exp(at[n_raters:])[hardness],
        shares=shares,
        raters=tuple(
            RaterAbility(
                rater=int(number),
                ability=float(at[place]),
                right=clustered_mean(right[of_rater == place], answers.document[of_rater == place], bounds=bounds),
                n=int(n[place]),
            )
            for place, number in enumerate(raters)
        ),
        log_posterior=fit,
        iterations=iterations,
        converged=moved <= _STILL,
        reason="",
    )
