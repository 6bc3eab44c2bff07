"""Scores of judges: calibration, thresholds, prediction-powered shares; published numbers and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special
from sklearn.calibration import calibration_curve
from sklearn.metrics import average_precision_score, brier_score_loss, precision_recall_curve, roc_auc_score
from statsmodels.stats.proportion import proportion_confint

from base.proportions import wilson_interval
from reports.stats.answers import MISSING, Answers
from reports.stats.calibration import (
    ReliabilityBin,
    calibration,
    entropy,
    margin,
    merged_probabilities,
    option_probabilities,
    scored_cells,
)
from reports.stats.estimates import option_shares, powered_mean
from reports.stats.hiring.means import ShareBounds
from reports.stats.judge import judge_accuracy
from reports.stats.thresholds import (
    error_by_doubt,
    option_precision_recall,
    precision_recall,
    recall_at_precision,
    selective_accuracy,
)
from tests.reports.matrices import answers_of

_ = MISSING


# --- probabilities --------------------------------------------------------------------------------------------------


def test_option_probabilities_are_the_softmax_of_what_was_scored() -> None:
    found = option_probabilities([[np.log(3.0), 0.0, np.nan], [-700.0, -701.0, -np.inf], [np.nan] * 3])

    assert found[0] == pytest.approx([0.75, 0.25, 0.0])
    assert found[1] == pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.e), 0])
    assert np.isnan(found[2]).all()


def test_merged_options_share_their_probability() -> None:
    found = merged_probabilities(np.array([[0.5, 0.2, 0.2, 0.1]]), {3: 2, 1: 1})

    assert found[0] == pytest.approx([0.5, 0.2, 0.3, 0.0])


def scored_example() -> tuple[Answers, Answers, np.ndarray, np.ndarray]:
    people = answers_of([[0, 1, 1, _, 0], [0, 0, _, _, 1]], n_options=2)
    judge = answers_of([[0, 1, 0, 1, _]], n_options=2)
    probabilities = np.array([[0.1, 0.9], [0.6, 0.4], [0.8, 0.2], [np.nan, np.nan], [0.5, 0.5]])
    return people, judge, np.array([3, 2, 0, 1, 4]), probabilities


def test_scored_cells_are_those_of_people_and_judge() -> None:
    found = scored_cells(*scored_example())

    # Cell 3 has no person, cell 1 no scores, cell 4 no label.
    assert found.cell.tolist() == [0, 2]
    assert found.people.tolist() == [[2, 0], [0, 1]]
    assert found.right.tolist() == [True, False]
    assert found.confidence.tolist() == [0.8, 0.6]
    assert found.n_without_people == 1


def test_share_of_right_cells_is_the_accuracy_of_the_judge() -> None:
    rng = np.random.default_rng(0)
    people, codes = rng.integers(-1, 3, (2, 50)), rng.integers(0, 3, (1, 50))
    answers, judge = answers_of(people, n_options=3), answers_of(codes, n_options=3)

    found = scored_cells(answers, judge, np.arange(50), special.softmax(rng.normal(size=(50, 3)), axis=1))

    assert found.right.mean() == pytest.approx(judge_accuracy(answers, judge).value)


# --- calibration ----------------------------------------------------------------------------------------------------


def test_calibration_equals_the_example_of_torchmetrics() -> None:
    found = calibration([0.25, 0.25, 0.55, 0.75, 0.75], [0, 0, 1, 1, 1], n_bins=2)

    # Bins of equal number are those of equal width here: 0.25, 0.25 and the rest.
    assert found.expected_error == pytest.approx(0.2900, abs=5e-5)
    assert found.brier == pytest.approx(0.0905, abs=5e-5)


def test_reliability_curve_equals_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    confidence = rng.random(400)
    right = rng.random(400) < confidence**2

    found = calibration(confidence, right, n_bins=5)

    accuracy, mean = calibration_curve(right, confidence, n_bins=5, strategy="quantile")
    # Quantiles cut between the cells a little elsewhere: one cell more or less in a bin of 80.
    assert [part.accuracy for part in found.bins] == pytest.approx(accuracy.tolist(), abs=0.02)
    assert [part.confidence for part in found.bins] == pytest.approx(mean.tolist(), abs=0.02)
    assert found.brier == pytest.approx(brier_score_loss(right, confidence))


def test_cells_of_equal_confidence_stay_in_one_bin() -> None:
    found = calibration([0.9] * 6 + [0.5] * 4, [1] * 10, n_bins=5)

    assert [(part.n, part.low, part.high) for part in found.bins] == [(4, 0.5, 0.5), (6, 0.9, 0.9)]


def test_calibration_of_nothing_says_so() -> None:
    found = calibration([], [])

    assert (found.expected_error, found.bins, found.n) == (None, (), 0)
    assert found.reason == "the judge has no scores in a cell that a person answered"


def test_entropy_and_margin_of_sure_and_unsure_cells() -> None:
    probabilities = np.array([[1.0, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0]])

    assert entropy(probabilities) == pytest.approx([0, 1, 0.5])
    assert margin(probabilities) == pytest.approx([1, 0, 0])


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (3, 7), (10, 10)])
def test_wilson_interval_equals_statsmodels(hits: int, n: int) -> None:
    assert wilson_interval(hits, n) == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-9)


def test_bins_are_held_as_often_as_said_where_the_cells_of_a_document_are_alike() -> None:
    rng, documents = np.random.default_rng(3), np.repeat(np.arange(40), 8)
    held, times = {"documents": 0, "cells": 0}, 0
    for _study in range(60):
        knows = rng.beta(7.2, 1.8, 40)[documents]  # right in 80 % of the cells, which differ by document
        right, confidence = rng.random(320) < knows, rng.random(320)
        for name, by in (("documents", documents), ("cells", None)):
            for found in (calibration(confidence, right, by), error_by_doubt(confidence, right, by)):
                ends = [
                    (one.accuracy_low, one.accuracy_high)
                    if isinstance(one, ReliabilityBin)
                    else (1 - one.error_high, 1 - one.error_low)
                    for one in found.bins
                ]
                held[name] += sum(low <= 0.8 <= high for low, high in ends)
                times += len(ends) * (name == "cells")
    assert held["documents"] / times > 0.94
    assert held["cells"] < held["documents"]


def test_a_bin_of_one_document_says_little() -> None:
    (one,) = calibration([0.9] * 6, [1] * 6, [4] * 6).bins
    assert (one.accuracy, one.accuracy_low, one.accuracy_high) == (1, pytest.approx(0.025), 1)


# --- thresholds -----------------------------------------------------------------------------------------------------

scores = hnp.arrays(np.float64, 20, elements=st.sampled_from([0.1, 0.2, 0.35, 0.6, 0.8, 0.99]))


@settings(max_examples=60, deadline=None)
@given(
    scores, hnp.arrays(np.int64, 20, elements=st.integers(0, 2)), hnp.arrays(np.int64, 20, elements=st.integers(0, 2))
)
def test_precision_recall_equals_scikit_learn(score: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> None:
    found = precision_recall(score, positive, negative)
    if not positive.sum():
        assert found.average_precision is None
        return

    # One row for each answer of a person.
    rows = np.concatenate([np.repeat(score, positive), np.repeat(score, negative)])
    truth = np.repeat([1, 0], [positive.sum(), negative.sum()])
    precision, recall, thresholds = precision_recall_curve(truth, rows)
    ours = {t: (p, r) for t, p, r in zip(found.thresholds.tolist(), found.precision, found.recall, strict=True)}
    for threshold, p, r in zip(thresholds.tolist(), precision, recall, strict=False):
        assert ours[threshold] == (pytest.approx(p), pytest.approx(r))
    assert found.average_precision == pytest.approx(average_precision_score(truth, rows), abs=1e-9)
    assert (found.n_positive, found.n) == (positive.sum(), rows.size)


def test_recall_is_reported_for_a_set_precision() -> None:
    # From the highest score: found 1 of 1, 1 of 2, 2 of 3, 3 of 4, 3 of 5.
    curve = precision_recall([0.9, 0.8, 0.7, 0.6, 0.5], [1, 0, 1, 1, 0], [0, 1, 0, 0, 1])

    assert curve.precision == pytest.approx([1, 1 / 2, 2 / 3, 3 / 4, 3 / 5])
    at = recall_at_precision(curve, 0.75)
    assert (at.threshold, at.precision, at.recall) == (0.6, 0.75, 1.0)
    assert recall_at_precision(precision_recall([0.9, 0.8], [0, 1], [1, 0]), 0.9).reason == "no threshold reaches it"
    assert recall_at_precision(precision_recall([0.9], [0], [1]), 0.5).reason == (
        "nobody chose this option in a scored cell"
    )


def test_option_precision_recall_counts_each_person() -> None:
    found = option_precision_recall(scored_cells(*scored_example()), 0)

    # Cell 0: .8, both people chose it; cell 2: .6, one person chose the other.
    assert (found.thresholds.tolist(), found.precision.tolist(), found.n_positive) == ([0.8, 0.6], [1.0, 2 / 3], 2)


def test_unsure_cells_go_to_people() -> None:
    found = selective_accuracy([0.9, 0.8, 0.8, 0.5], [1, 1, 0, 0])

    # Kept: 1, then 3 (two are equally sure), then all 4.
    assert found.kept.tolist() == [0.25, 0.75, 1.0]
    assert found.accuracy == pytest.approx([1, 2 / 3, 1 / 2])
    # Errors up to each cell: 0, then 1/3 for the two of the tie, then 1/2: (0 + 2/3 + 1/2) / 4
    assert found.risk_area == pytest.approx((2 / 3 + 1 / 2) / 4)
    assert selective_accuracy([], []).reason == "there is no scored cell that a person answered"


@settings(max_examples=40, deadline=None)
@given(scores, hnp.arrays(np.bool_, 20))
def test_error_by_doubt_equals_scikit_learn(doubt: np.ndarray, right: np.ndarray) -> None:
    found = error_by_doubt(doubt, right, n_bins=4)

    assert found.area == (None if right.all() or not right.any() else pytest.approx(roc_auc_score(~right, doubt)))
    assert sum(part.n for part in found.bins) == 20
    assert sum(part.n * part.error for part in found.bins) == pytest.approx((~right).sum())


# --- prediction-powered shares --------------------------------------------------------------------------------------

Y = [1, 0, 1, 1, 0, 1, 0, 1, 1, 0]
F = [1, 0, 1, 1, 1, 1, 0, 1, 0, 0]
ELSEWHERE = [1] * 63 + [0] * 37


@pytest.mark.parametrize(
    ("weight", "value", "low", "high"),
    [
        (0.0, 0.6, 0.29636, 0.90364),
        (1.0, 0.63, 0.33711, 0.92289),
        (None, 0.6161824, 0.36398, 0.86839),
    ],
    ids=["people only", "plain", "tuned"],
)
def test_powered_mean_equals_ppi_python(weight: float | None, value: float, low: float, high: float) -> None:
    found = powered_mean(Y, F, ELSEWHERE, weight=weight)

    assert found.value == pytest.approx(value, abs=1e-7)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-6), pytest.approx(high, abs=5e-6))
    if weight is None:
        assert found.weight == pytest.approx(0.539412, abs=2e-6)


def test_a_judge_that_says_nothing_is_not_trusted() -> None:
    rng = np.random.default_rng(3)
    y, f = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    found = powered_mean(y, f, rng.integers(0, 2, 4_000))

    assert found.weight == pytest.approx(0, abs=0.1)
    assert found.value == pytest.approx(y.mean(), abs=0.01)


def test_powered_mean_needs_ten_clusters() -> None:
    found = powered_mean(Y, F, ELSEWHERE, cluster=[0, 0, 0, 1, 1, 1, 2, 2, 2, 2], cluster_elsewhere=[3] * 100)

    assert (found.low, found.high, found.n_clusters) == (None, None, 3)
    assert found.reason == "too little data: too few documents or sheets to draw from"
    assert found.value is not None


def test_powered_mean_without_a_common_cell_says_so() -> None:
    assert powered_mean([], [], ELSEWHERE).reason == "no cell has the judge's label and a person's answer"


def test_clustered_errors_are_wider_where_documents_differ() -> None:
    rng = np.random.default_rng(4)
    document = np.repeat(np.arange(40), 10)
    y = (rng.random(40)[document] > 0.5).astype(int)
    f = np.where(rng.random(400) < 0.7, y, 1 - y)

    alone = powered_mean(y, f, np.zeros(0))
    clustered = powered_mean(y, f, np.zeros(0), cluster=document, cluster_elsewhere=np.zeros(0))

    # All ten cells of a document are alike: the error is that of 40 cells, not of 400, sqrt(10) times as large.
    assert clustered.standard_error == pytest.approx(alone.standard_error * np.sqrt(10 * 40 / 39))


def test_option_shares_use_the_cells_of_both_and_of_the_judge() -> None:
    people = answers_of([[0, 1, 1, *[_] * 7], [0, 0, *[_] * 8]], n_options=2)
    judge = answers_of([[0, 1, 0, 1, 1, 0, 1, 1, 1, 1]], n_options=2)

    first, second = option_shares(people, judge, weight=1.0, bounded=False)

    # Option 0: people 1, 1/2, 0; the judge there 1, 0, 1, elsewhere 1 of 7. 1.5/3 - 2/3 + 1/7
    assert first.value == pytest.approx(1.5 / 3 - 2 / 3 + 1 / 7)
    assert second.value == pytest.approx(1 - first.value)
    assert (first.n_people, first.n_judge_only, first.people, first.judge) == (3, 7, 0.5, pytest.approx(0.3))
    assert option_shares(answers_of([[_]], n_options=2), judge)[0].value is None
    # A share is none below 0.
    assert [of.value for of in option_shares(people, judge, weight=1.0)] == [0, 1]


def test_the_interval_of_a_share_lies_within_0_and_1_and_has_a_width() -> None:
    # Of 20 documents with people's answers one has the last option, and none the middle one, as the judge says.
    people = answers_of([[*[0] * 19, 2, *[_] * 60]], n_options=3)
    judge = answers_of([[*[0] * 19, 2, *[0] * 57, 2, 2, 2]], n_options=3)
    _first, middle, last = option_shares(people, judge)

    assert (middle.value, middle.low, middle.high) == (0, 0, pytest.approx(1 - 0.025 ** (1 / 20)))
    assert 0 < last.low < last.value < last.high < 0.25
    before = option_shares(people, judge, bounded=False)  # as before methods 7
    assert (before[1].low, before[1].high) == (0, 0)


def test_estimated_shares_are_held_where_one_document_has_most_of_the_labels() -> None:
    rng = np.random.default_rng(3)
    document = np.repeat(np.arange(80), [150] + [5] * 79)
    by_people = document < 20
    held = {ShareBounds.UNEQUAL: 0, ShareBounds.LATEST: 0}
    for _study in range(200):
        truth = (rng.random(document.size) < rng.beta(2, 3, 80)[document]).astype(int)
        said = np.where(rng.random(document.size) < 0.8, truth, 1)
        cells, nobody = np.arange(document.size), np.zeros(document.size)
        people, judge = (
            Answers.from_long(rater=nobody, cell=cells, sheet=nobody, code=codes, n_options=2, document=document)
            for codes in (np.where(by_people, truth, MISSING), said)
        )
        for bounds in held:
            found = option_shares(people, judge, bounds=bounds)[1]
            held[bounds] += found.low <= 0.4 <= found.high
    assert held[ShareBounds.LATEST] / 200 > 0.92
    assert held[ShareBounds.UNEQUAL] / 200 < 0.8


@pytest.mark.slow
def test_powered_intervals_hold_the_true_share_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    held = []
    for _repeat in range(400):
        document = np.repeat(np.arange(400), 5)
        rate = rng.beta(2, 3, 400)[document]
        y = (rng.random(2_000) < rate).astype(int)
        f = np.where(rng.random(2_000) < 0.8, y, 1)
        mine = document < 60
        found = powered_mean(y[mine], f[mine], f[~mine], cluster=document[mine], cluster_elsewhere=document[~mine])
        assert found.low is not None
        assert found.high is not None
        held.append(found.low <= 0.4 <= found.high)

    assert 0.91 < np.mean(held) < 0.985
