"""Calibrations, and stackers of several judges, fitted to people's labels on development documents. Pure, NumPy alone.

A calibration with a temperature, and a stacker, are one model, a multinomial logistic regression whose weights are
shared by the options:

    log P(option) = sum over judges of weight x score of the option + bias of the option - log of the sum of all

With one judge that is a temperature (1 / weight) and biases ("vector scaling" with one slope; Guo et al. 2017); with
several, a stacker (Wolpert 1992). Weights have the prior N(1 / judges, 1), biases N(0, 3 nats), so that few labels move
little; the posterior's mode is found by Newton's method, which the problem, being convex, allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from judges.methods.calibration import Calibration
from llm.engine.normalisation import NORMALISATIONS, Normalisation, normalised

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
How = Literal["as scored", "mean-centred", "bias and temperature", "thresholds"]
HOW: tuple[How, ...] = get_args(How)  # the simpler first

# Steeper or flatter than this no temperature makes sense; a judge whose scores say the contrary ends there.
_LEAST_WEIGHT, _MOST_WEIGHT = 0.02, 50.0
_PRIOR_BIAS = 3.0
FEWEST_DOCUMENTS = 2
# Documents are left out in at most so many groups; in fewer where there are many cells, so that it takes seconds.
MOST_FOLDS, FEWEST_FOLDS = 100, 10
_CELLS_IN_ALL = 2_000_000


class CannotFit(ValueError):
    """There is too little to fit to."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Scored cells of one question.

    Attributes:
        values: what was stored of each option, as `reports.data.label_table` has it: log-probability, tokens,
            characters, log-probability without evidence; shape (n_cells, n_options, 4), NaN where not scored.
        people: how many people chose each option, shape (n_cells, n_options); zeros where nobody answered, or the cell
            is in no development document.
        document: shape (n_cells,).
        chosen: the option that the judge's label has, shape (n_cells,); None where it is not asked for.
    """

    values: FloatArray
    people: IntArray
    document: IntArray
    chosen: IntArray | None = None

    def scores(self, normalisation: Normalisation) -> FloatArray:
        """Shape (n_cells, n_options), in nats; NaN where the normalisation is not defined."""
        logprob, tokens, characters, unconditional = np.moveaxis(self.values, -1, 0)
        return normalised(
            normalisation, logprob=logprob, tokens=tokens, characters=characters, unconditional=unconditional
        )


@dataclass(frozen=True)
class Weights:
    """`weight` of each judge, `bias` of each option, in nats."""

    weight: tuple[float, ...]
    bias: tuple[float, ...]

    def values(self, scores: FloatArray) -> FloatArray:
        """What is compared, shape (n_cells, n_options); `scores` as of `fit`."""
        values: FloatArray = np.einsum("njk,j->nk", scores, np.array(self.weight)) + np.array(self.bias)
        return values


@dataclass(frozen=True)
class Candidate:
    """A way to choose, and how it does on development documents.

    accuracy: the share of cells in which somebody chose the same; macro_f1: over the options that people chose, each
    answer of a person a comparison. Of what is fitted to labels, both are of cells whose document was left out of the
    fit, one document after the other.
    """

    how: How
    calibration: Calibration
    accuracy: float
    macro_f1: float


@dataclass(frozen=True)
class Fitted:
    """All candidates, the best first, and to how much they were fitted. `labelled`: accuracy and macro-F1 of the
    judge's labels in these cells, by whatever it chose."""

    candidates: tuple[Candidate, ...]
    n_cells: int
    n_documents: int
    labelled: tuple[float, float] | None = None

    @property
    def best(self) -> Candidate:
        return self.candidates[0]


def calibrate(cells: Cells, keys: Sequence[str], its_own: Normalisation) -> Fitted:
    """The ways to choose anew from the stored scores of one question, by their development accuracy; of equal ones the
    simpler, and the judge's own normalisation first.

    Args:
        keys: of the options, in the order of the arrays; an option that no cell has a score of is left out.

    Raises:
        CannotFit: fewer than two development documents have labels of people, or fewer than two options have scores.
    """
    offered = np.flatnonzero(np.isfinite(cells.values[..., 0]).any(axis=0))
    named = [keys[at] for at in offered.tolist()]
    labelled = cells.people[:, offered].sum(axis=1) > 0
    whole = np.asarray(np.isfinite(cells.values[:, offered, 0]).all(axis=1), dtype=np.bool_)
    documents = np.unique(cells.document[labelled & whole])
    if documents.size < FEWEST_DOCUMENTS or offered.size < 2:
        raise CannotFit(f"{documents.size} documents, {offered.size} options")
    people = cells.people[:, offered][labelled & whole]
    document = cells.document[labelled & whole]
    candidates: list[Candidate] = []
    for normalisation in sorted(NORMALISATIONS, key=lambda each: each != its_own):
        every = cells.scores(normalisation)[:, offered][whole]
        if not np.isfinite(every).all() or _told_already(candidates, every, cells, offered, whole):
            continue
        scores = every[(labelled)[whole]]
        centred = -every.mean(axis=0)
        candidates += [
            _candidate("as scored", normalisation, scores, people, named, np.zeros(offered.size), 1.0),
            _candidate("mean-centred", normalisation, scores, people, named, centred - centred.mean(), 1.0),
            _fitted(normalisation, scores, people, document, named),
            _by_thresholds(normalisation, scores, people, document, named),
        ]
    candidates.sort(key=lambda each: (-round(each.accuracy, 9), -round(each.macro_f1, 9), HOW.index(each.how)))
    labels = None
    if cells.chosen is not None:
        labels = scored_by(np.searchsorted(offered, cells.chosen[labelled & whole]), people)
    return Fitted(tuple(candidates), int(people.shape[0]), int(documents.size), labels)


def _told_already(
    candidates: Sequence[Candidate], every: FloatArray, cells: Cells, offered: IntArray, whole: npt.NDArray[np.bool_]
) -> bool:
    """Whether another normalisation gave the same scores: options of one token each, say."""
    seen = {each.calibration.normalisation for each in candidates}
    return any(np.array_equal(every, cells.scores(other)[:, offered][whole]) for other in seen)


def _candidate(
    how: How,
    normalisation: Normalisation,
    scores: FloatArray,
    people: IntArray,
    keys: Sequence[str],
    bias: FloatArray,
    temperature: float,
    chosen: IntArray | None = None,
) -> Candidate:
    accuracy, f1 = scored_by(np.argmax(scores + bias, axis=1) if chosen is None else chosen, people)
    of_options = dict(zip(keys, np.round(bias, 6).tolist(), strict=True)) if bias.any() else {}
    calibration = Calibration(normalisation=normalisation, temperature=round(temperature, 6), bias=of_options)
    return Candidate(how, calibration, accuracy, f1)


def _fitted(
    normalisation: Normalisation, scores: FloatArray, people: IntArray, document: IntArray, keys: Sequence[str]
) -> Candidate:
    put = scores[:, None, :]
    chosen = np.zeros(len(scores), dtype=np.int64)
    for inside, outside in left_out(document):
        chosen[outside] = np.argmax(fit(put[inside], people[inside]).values(put[outside]), axis=1)
    of_all = fit(put, people)
    temperature = 1 / of_all.weight[0]
    bias = np.array(of_all.bias) * temperature
    return _candidate("bias and temperature", normalisation, scores, people, keys, bias, temperature, chosen)


def _by_thresholds(
    normalisation: Normalisation, scores: FloatArray, people: IntArray, document: IntArray, keys: Sequence[str]
) -> Candidate:
    chosen = np.zeros(len(scores), dtype=np.int64)
    for inside, outside in left_out(document):
        chosen[outside] = np.argmax(scores[outside] + most_right(scores[inside], people[inside]), axis=1)
    bias = most_right(scores, people)
    temperature = temperature_of(scores + bias, people)
    return _candidate("thresholds", normalisation, scores, people, keys, bias, temperature, chosen)


def most_right(scores: FloatArray, people: IntArray) -> FloatArray:
    """Biases under which the most cells are right, sought one option after the other from none; shape (n_options,).

    Where an option begins and ceases to win, its bias has a step; of the best stretches between steps the one nearest
    to the bias so far is taken, in its middle, so that what does not help changes nothing.
    """
    n_cells, n_options = scores.shape
    cells = np.arange(n_cells)
    bias = np.zeros(n_options)
    for _round in range(3):
        before = bias.copy()
        for option in range(n_options):
            values = scores + bias
            values[:, option] = -np.inf
            other = values.argmax(axis=1)
            steps = values[cells, other] - scores[:, option]  # above this bias the option wins the cell
            gain = (people[:, option] > 0).astype(np.int64) - (people[cells, other] > 0)
            order = np.argsort(steps, kind="stable")
            right = np.concatenate([[0], np.cumsum(gain[order])])  # with the first n cells won
            edges = np.concatenate([[steps[order[0]] - 1], steps[order], [steps[order[-1]] + 1]])
            low, high = edges[:-1], edges[1:]
            best = np.flatnonzero((right == right[high > low].max()) & (high > low))
            inside = (low[best] < bias[option]) & (bias[option] < high[best])
            if not inside.any():
                middle = (low[best] + high[best]) / 2
                bias[option] = middle[np.abs(middle - bias[option]).argmin()]
        if np.array_equal(bias, before):
            break
    centred: FloatArray = bias - bias.mean()
    return centred


def temperature_of(scores: FloatArray, people: IntArray) -> float:
    """The temperature under which people's answers are the most probable, of 81 from 0.02 to 50."""
    answered = people / np.maximum(people.sum(axis=1, keepdims=True), 1)
    tried = np.geomspace(1 / _MOST_WEIGHT, 1 / _LEAST_WEIGHT, 81)
    return float(max(tried, key=lambda temperature: float((answered * as_scores(scores / temperature)).sum())))


def left_out(document: IntArray) -> Iterator[tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]:
    """The cells to fit to, and those to choose in: each document left out once, by itself; of more than 100 documents,
    or 20,000 cells, several together, in 100 to 10 groups."""
    n_folds = max(FEWEST_FOLDS, min(MOST_FOLDS, _CELLS_IN_ALL // max(document.size, 1)))
    group = np.unique(document, return_inverse=True)[1] % n_folds
    for number in np.unique(group).tolist():
        yield group != number, group == number


def fit(scores: FloatArray, people: IntArray, *, begin: Weights | None = None) -> Weights:
    """The weights under which people's answers are the most probable, with the prior above.

    Args:
        scores: shape (n_cells, n_judges, n_options), in nats; finite.
        people: how many people chose each option, shape (n_cells, n_options); a cell counts once, however many.
        begin: where to look first, such as what was found in almost the same cells. There is one mode, so that it
            moves the result by rounding only.
    """
    n_cells, n_judges, n_options = scores.shape
    answered = people / np.maximum(people.sum(axis=1, keepdims=True), 1)
    design = np.concatenate(  # (n_cells, n_options, n_judges + n_options)
        [np.moveaxis(scores, 1, 2), np.broadcast_to(np.eye(n_options), (n_cells, n_options, n_options))], axis=2
    )
    mean = np.concatenate([np.full(n_judges, 1 / n_judges), np.zeros(n_options)])
    precision = np.concatenate([np.ones(n_judges), np.full(n_options, _PRIOR_BIAS**-2)])
    at = mean.copy() if begin is None else np.array([*begin.weight, *begin.bias])
    flat = design.reshape(n_cells * n_options, -1)
    loss, step = np.inf, np.zeros_like(mean)
    for _step in range(100):
        values = design @ at
        top = values.max(axis=1, keepdims=True)
        logs = values - top - np.log(np.exp(values - top).sum(axis=1, keepdims=True))
        now = -float((answered * logs).sum()) + float(precision @ (at - mean) ** 2) / 2
        if now > loss + 1e-12:  # a step too far
            at, step = at + step / 2, step / 2
            continue
        probabilities = np.exp(logs) * answered.sum(axis=1, keepdims=True)
        gradient = np.einsum("nkp,nk->p", design, probabilities - answered) + precision * (at - mean)
        expected = np.einsum("nkp,nk->np", design, probabilities)
        second = (flat * probabilities.reshape(-1, 1)).T @ flat - expected.T @ expected
        step = np.linalg.solve(second + np.diag(precision), gradient)
        if loss - now < 1e-10 and np.abs(step).max() < 1e-8:
            break
        loss, at = now, at - step
    weight, bias = at[:n_judges], at[n_judges:]
    if n_judges == 1:
        weight = np.clip(weight, _LEAST_WEIGHT, _MOST_WEIGHT)
    return Weights(tuple(weight.tolist()), tuple((bias - bias.mean()).tolist()))


def scored_by(chosen: IntArray, people: IntArray) -> tuple[float, float]:
    """Accuracy and macro-F1 of what was chosen, as `Candidate` counts them.

    Args:
        chosen: shape (n_cells,).
        people: shape (n_cells, n_options).
    """
    right = people[np.arange(chosen.size), chosen] > 0
    table = np.zeros((people.shape[1], people.shape[1]))
    np.add.at(table.T, chosen, people)
    used = table.sum(axis=1) > 0
    both = np.diag(table)
    total = table.sum(axis=0) + table.sum(axis=1)
    f1 = np.divide(2 * both, total, out=np.zeros_like(both), where=total > 0)
    return float(right.mean()), float(f1[used].mean())


def as_scores(values: FloatArray) -> FloatArray:
    """Log-probabilities of the options among themselves, so that judges can be added; shape (n_cells, n_options)."""
    top = values.max(axis=1, keepdims=True)
    result: FloatArray = values - top - np.log(np.exp(values - top).sum(axis=1, keepdims=True))
    return result
