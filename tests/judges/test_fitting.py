"""Calibrations and stackers, fitted to people's labels; held against SciPy and answers that a known rule made."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from judges.methods import fitting
from judges.methods.calibration import Calibration, calibrated
from judges.methods.fitting import CannotFit, Cells
from llm.engine.prompt import OptionScore

KEYS = ["a", "b", "c"]
pytestmark = pytest.mark.once


def made(n: int = 240, *, bias: tuple[float, ...] = (0.0, -4.0, 0.0), seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores that prefer the right option by 2 nats, and each option by its bias; and the right options."""
    rng = np.random.default_rng(seed)
    right = rng.integers(0, 3, n)
    scores = rng.normal(size=(n, 3)) + np.array(bias)
    scores[np.arange(n), right] += 2
    return scores, np.eye(3, dtype=np.int64)[right]


def cells(scores: np.ndarray, people: np.ndarray, per_document: int = 20) -> Cells:
    values = np.full((*scores.shape, 4), np.nan)
    values[..., 0], values[..., 1], values[..., 2] = scores, 1, 1
    return Cells(values, people, np.arange(len(scores)) // per_document)


def test_the_fit_is_the_minimum_that_scipy_finds() -> None:
    scores, people = made()
    other, _people = made(seed=1, bias=(1, 0, 0))
    both = np.stack([scores, other], axis=1)

    def loss(at: np.ndarray) -> float:
        values = both[:, 0] * at[0] + both[:, 1] * at[1] + at[2:]
        logs = values - np.logaddexp.reduce(values, axis=1, keepdims=True)
        return -(people * logs).sum() + ((at[:2] - 0.5) ** 2).sum() / 2 + (at[2:] ** 2).sum() / 18

    found = minimize(loss, np.zeros(5), tol=1e-10)
    weights = fitting.fit(both, people)
    assert weights.weight == pytest.approx(found.x[:2], abs=1e-4)
    assert weights.bias == pytest.approx(found.x[2:] - found.x[2:].mean(), abs=1e-4)
    assert abs(weights.weight[1]) < weights.weight[0] / 3  # the other judge's scores are of other cells


def test_a_bias_against_an_option_is_found_and_undone_in_cells_that_it_was_not_fitted_to() -> None:
    scores, people = made()
    fitted = fitting.calibrate(cells(scores, people), KEYS, "none")
    new_scores, new_people = made(seed=5)
    before, _f1 = fitting.scored_by(new_scores.argmax(axis=1), new_people)
    bias = np.array([fitted.best.calibration.bias[key] for key in KEYS])
    after, _f1 = fitting.scored_by((new_scores + bias).argmax(axis=1), new_people)
    assert fitted.n_documents == 12
    assert fitted.best.how != "as scored"
    assert after > before + 0.1
    assert next(each for each in fitted.candidates if each.how == "as scored").accuracy == pytest.approx(
        fitting.scored_by(scores.argmax(axis=1), people)[0]
    )


def test_what_is_fitted_is_judged_by_documents_that_were_left_out() -> None:
    rng = np.random.default_rng(3)
    scores, people = rng.normal(size=(60, 3)), np.eye(3, dtype=np.int64)[rng.integers(0, 3, 60)]
    fitted = fitting.calibrate(cells(scores, people), KEYS, "none")
    by_thresholds = next(each for each in fitted.candidates if each.how == "thresholds")
    bias = np.array([by_thresholds.calibration.bias[key] for key in KEYS])
    to_itself, _f1 = fitting.scored_by((scores + bias).argmax(axis=1), people)
    assert by_thresholds.accuracy < to_itself  # noise is learnt, and does not carry over


def test_thresholds_are_those_with_the_most_cells_right() -> None:
    scores, people = made(60)
    bias = fitting.most_right(scores, people)
    best, _f1 = fitting.scored_by((scores + bias).argmax(axis=1), people)
    rng = np.random.default_rng(0)
    tried = max(
        fitting.scored_by((scores + np.array([0, *rng.uniform(-6, 6, 2)])).argmax(axis=1), people)[0]
        for _try in range(3000)
    )
    assert best >= tried - 0.02
    assert not fitting.most_right(people * 3.0, people).any()  # where all is right nothing moves


def test_a_temperature_makes_the_probabilities_what_they_say() -> None:
    rng = np.random.default_rng(1)
    true = rng.normal(size=(4000, 3)) * 2
    chosen = (true + rng.gumbel(size=true.shape)).argmax(axis=1)
    people = np.eye(3, dtype=np.int64)[chosen]
    assert fitting.temperature_of(true * 5, people) == pytest.approx(5, rel=0.1)
    assert 1 / fitting.fit((true * 5)[:, None, :], people).weight[0] == pytest.approx(5, rel=0.1)


@pytest.mark.parametrize("people", [np.zeros((40, 3), dtype=np.int64), np.eye(3, dtype=np.int64)[[0] * 20 + [1] * 20]])
def test_too_little_is_said_to_be_too_little(people: np.ndarray) -> None:
    scores, _people = made(40)
    one_document = cells(scores, people, per_document=100)
    with pytest.raises(CannotFit):
        fitting.calibrate(one_document, KEYS, "none")


def test_what_is_calibrated_is_compared_as_it_is() -> None:
    scores = [OptionScore(-4.0, 2, 4, None), OptionScore(-3.0, 1, 2, None)]
    by = Calibration(normalisation="token", temperature=2.0, bias={"b": 0.5})
    assert [each.logprob for each in calibrated(["a", "b"], scores, by)] == [-1.0, -1.25]
