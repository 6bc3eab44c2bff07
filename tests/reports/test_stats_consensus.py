"""Repeats of a judge, majority, and Dawid-Skene on its authors' patients and against EM written out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.stats.answers import MISSING
from reports.stats.consensus import dawid_skene, majority_vote, self_consistency
from tests.reports.matrices import answers_of

_ = MISSING

# Dawid and Skene (1979), Table 1: 45 patients; three readings of observer 1, one of each of the other four.
PATIENTS = """
    1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212
    1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111
    1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111
    2322222 1211111 2222222
"""
LABELS = "142222132243121111222222112111131224233111212"


def patients() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    codes = np.array([[int(sign) - 1 for sign in patient] for patient in PATIENTS.split()])
    cell, reading = np.indices(codes.shape)
    rater = np.array([1, 1, 1, 2, 3, 4, 5])[reading]
    return rater.ravel(), cell.ravel(), codes.ravel()


def simulated(seed: int, *, n_raters: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, 150, p=[0.5, 0.3, 0.2])
    rater, cell = np.repeat(np.arange(n_raters), 150), np.tile(np.arange(150), n_raters)
    skill = np.linspace(0.4, 0.95, n_raters)
    code = np.where(rng.random(rater.size) < skill[rater], truth[cell], rng.integers(0, 3, rater.size))
    given = (rng.random(rater.size) < 0.7) | (rater == 0)
    return rater[given], cell[given], code[given], truth


def em(rater: np.ndarray, cell: np.ndarray, code: np.ndarray, k: int, iterations: int) -> tuple[np.ndarray, float]:
    """The algorithm of the paper, cell by cell; the posterior and its log-likelihood."""
    posterior = np.zeros((cell.max() + 1, k))
    np.add.at(posterior, (cell, code), 1)
    posterior /= posterior.sum(axis=1, keepdims=True)
    for _iteration in range(iterations):
        shares = posterior.mean(axis=0)
        errors = np.zeros((rater.max() + 1, k, k))
        for r, c, y in zip(rater, cell, code, strict=True):
            errors[r, :, y] += posterior[c]
        errors /= np.maximum(errors.sum(axis=2, keepdims=True), 1e-300)
        joint = np.tile(shares, (posterior.shape[0], 1))
        for r, c, y in zip(rater, cell, code, strict=True):
            joint[c] *= errors[r, :, y]
        posterior = joint / joint.sum(axis=1, keepdims=True)
    return posterior, float(np.log(joint.sum(axis=1)).sum())


def test_dawid_skene_of_the_1979_patients() -> None:
    rater, cell, code = patients()
    found = dawid_skene(rater=rater, cell=cell, code=code, n_options=4)

    assert "".join(str(label + 1) for label in found.code) == LABELS
    assert found.shares == pytest.approx([0.3996, 0.4220, 0.1118, 0.0667], abs=6e-5)
    assert found.log_likelihood == pytest.approx(-192.8909, abs=6e-5)
    assert found.converged
    first, second = found.raters[:2]
    assert (first.rater, first.n, second.n) == (1, 135, 45)
    assert first.matrix == pytest.approx(
        np.array([[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]), abs=0.005
    )
    assert second.matrix == pytest.approx(
        np.array([[0.83, 0.17, 0, 0], [0.05, 0.63, 0.31, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), abs=0.0051
    )
    # Patients 7, 35 and 38 are the only ones in doubt.
    doubt = np.flatnonzero(found.probabilities.max(axis=1) < 0.999)
    assert (doubt + 1).tolist() == [7, 35, 38]
    assert found.probabilities[doubt].max(axis=1) == pytest.approx([0.981, 0.948, 0.979], abs=5e-4)


@pytest.mark.parametrize("seed", range(3))
def test_dawid_skene_equals_the_algorithm_written_as_loops(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rater, cell, code, _truth = simulated(seed)
    monkeypatch.setattr("reports.stats.consensus._ITERATIONS", 25)

    found = dawid_skene(rater=rater, cell=cell, code=code, n_options=3)
    posterior, likelihood = em(rater, cell, code, 3, iterations=found.iterations)

    assert found.probabilities == pytest.approx(posterior, abs=1e-9)
    assert found.log_likelihood == pytest.approx(likelihood, abs=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_dawid_skene_equals_crowd_kit_when_it_does_not_stop(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    model = pytest.importorskip("crowdkit.aggregation.classification.dawid_skene")
    rater, cell, code, _truth = simulated(seed)
    monkeypatch.setattr("reports.stats.consensus._ITERATIONS", 12)

    found = dawid_skene(rater=rater, cell=cell, code=code, n_options=3)
    with warnings.catch_warnings():
        # crowd-kit 1.4 calls pandas in ways that pandas 4 will refuse.
        warnings.simplefilter("ignore")
        theirs = model.DawidSkene(n_iter=found.iterations, tol=-np.inf).fit(
            pandas.DataFrame({"task": cell, "worker": rater, "label": code})
        )

    # It clips error probabilities at 1e-10.
    assert found.probabilities == pytest.approx(theirs.probas_.sort_index()[[0, 1, 2]].to_numpy(), abs=1e-7)


def test_consensus_beats_the_majority_of_raters_of_unequal_skill() -> None:
    right = np.zeros(2)
    for seed in range(10):
        rater, cell, code, truth = simulated(seed)
        votes = np.full((6, 150), _)
        votes[rater, cell] = code
        found = dawid_skene(rater=rater, cell=cell, code=code, n_options=3)
        right += (found.code == truth).sum(), (majority_vote(answers_of(votes, n_options=3)).code == truth).sum()
        # Raters are numbered from the worst to the best.
        assert np.corrcoef([row.accuracy for row in found.raters], np.arange(6))[0, 1] > 0.85

    assert right[0] > right[1]


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(6)), st.permutations(range(3)))
def test_dawid_skene_does_not_depend_on_names(seed: int, raters: list[int], options: list[int]) -> None:
    rater, cell, code, _truth = simulated(seed)
    plain = dawid_skene(rater=rater, cell=cell, code=code, n_options=3)
    renamed = dawid_skene(rater=np.array(raters)[rater], cell=cell, code=np.array(options)[code], n_options=3)

    assert renamed.probabilities[:, options] == pytest.approx(plain.probabilities, abs=1e-4)


def test_options_that_nobody_chose_have_no_share() -> None:
    found = dawid_skene(rater=[0, 1, 0, 1], cell=[0, 0, 1, 1], code=[0, 0, 2, 2], n_options=4)

    assert found.shares == pytest.approx([0.5, 0, 0.5, 0])
    assert found.code.tolist() == [0, 2]
    assert found.raters[0].matrix.shape == (4, 4)


def test_dawid_skene_of_nothing_says_so() -> None:
    assert dawid_skene(rater=[], cell=[], code=[], n_options=2).reason == "nobody has answered a cell"


def test_self_consistency_of_three_repeats() -> None:
    found = self_consistency(answers_of([[0, 1, 0, 0], [0, 1, 1, _], [0, 0, _, _]], n_options=2))

    # Cells: 000, 110, 01, and one with a single label. All equal in 1 of 3; pairs: 1, 1/3, 0.
    assert (found.all_equal, found.percent) == (pytest.approx(1 / 3), pytest.approx(4 / 9))
    # Entropies in bits: 0, that of (2/3, 1/3), 1
    assert found.entropy == pytest.approx((0.9182958340544896 + 1) / 3)
    assert (found.n_repeats, found.n_cells) == (3, 3)
    assert found.alpha.value is not None


def test_one_repeat_is_not_compared() -> None:
    found = self_consistency(answers_of([[0, 1]], n_options=2))

    assert (found.all_equal, found.reason) == (None, "no cell has labels of two repeats")


def test_majority_vote_counts_its_ties() -> None:
    found = majority_vote(answers_of([[0, 1, 1], [1, 1, _], [_, 0, _]], n_options=2))

    assert (found.code.tolist(), found.n_ties) == ([0, 1, 1], 1)
    assert found.share == pytest.approx([1 / 2, 2 / 3, 1])
