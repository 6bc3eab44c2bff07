"""Exposure, arms, means by clusters and the item-response model, on made data and against other code."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from reports.stats.abilities import abilities
from reports.stats.answers import MISSING, Answers
from reports.stats.consensus import NO_ANSWERS, majority_vote
from reports.stats.hiring.arms import flips, place_shares, swapped
from reports.stats.hiring.exposure import (
    NO_TIMES,
    NOT_BOTH,
    RATERS_DIFFER,
    TOO_MANY,
    detectable_shift,
    documents_for_shift,
    effect,
    exposure,
)
from reports.stats.hiring.means import ONE_CLUSTER, ShareBounds, clustered_mean, error_by_clusters

pytestmark = pytest.mark.once


def test_a_mean_by_clusters_is_that_of_the_clusters_where_they_are_equal() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((12, 4))
    found = clustered_mean(values, np.repeat(np.arange(12), 4), bounds=ShareBounds.FIRST)
    means = values.mean(axis=1)
    low, high = stats.t.interval(0.95, 11, means.mean(), stats.sem(means))
    assert (found.value, found.low, found.high) == pytest.approx((means.mean(), low, high))
    assert clustered_mean([0.5, np.nan], [1, 2]).reason == ONE_CLUSTER
    assert clustered_mean([], []).value is None
    # All the same: as many trials as there are clusters, not as there are cells.
    told = stats.binomtest(0, 12).proportion_ci(method="exact")
    for bounds in ShareBounds:
        found = clustered_mean(np.zeros(48), np.repeat(np.arange(12), 4), bounds=bounds)
        assert (found.low, found.high) == pytest.approx((0.0, told.high))


def test_a_share_by_clusters_of_one_value_is_that_of_independent_values() -> None:
    told = stats.binomtest(3, 40).proportion_ci(method="exact")
    found = clustered_mean(np.arange(40) < 3, np.arange(40))
    assert (found.value, found.low, found.high) == pytest.approx((3 / 40, told.low, told.high))


@pytest.mark.parametrize("share", [0.03, 0.95])
@pytest.mark.parametrize("icc", [0.1, 0.5])
def test_shares_near_0_and_1_are_held_as_often_as_said(share: float, icc: float) -> None:
    rng, cluster = np.random.default_rng(7), np.repeat(np.arange(20), 10)
    held = {ShareBounds.FIRST: 0, ShareBounds.LATEST: 0}
    for _study in range(400):
        rates = rng.beta(share * (1 / icc - 1), (1 - share) * (1 / icc - 1), 20)
        values = rng.random(200) < rates[cluster]
        for bounds in held:
            found = clustered_mean(values, cluster, bounds=bounds)
            assert found.low is not None
            assert found.high is not None
            held[bounds] += found.low <= share <= found.high
    assert held[ShareBounds.LATEST] / 400 > 0.89
    assert held[ShareBounds.FIRST] < held[ShareBounds.LATEST]


def test_the_error_by_clusters_is_as_its_sources_define_it() -> None:
    sizes = np.array([60, 4, 9, 1, 17])
    cluster, n = np.repeat(np.arange(5), sizes), sizes.sum()
    values = np.random.default_rng(8).random(n)
    rest = values - values.mean()
    keeps = np.eye(n) - np.full((n, n), 1 / n)  # what regression on a constant leaves
    scores, parts = [], []
    for place in range(5):
        inside = cluster == place
        spread, along = np.linalg.eigh(keeps[np.ix_(inside, inside)])
        adjusted = along @ np.diag(spread**-0.5) @ along.T
        scores.append(adjusted.sum(axis=0) @ rest[inside] / n)
        parts.append(keeps[:, inside] @ adjusted.sum(axis=1) / n)
    products = np.array(parts) @ np.array(parts).T

    error, degrees = error_by_clusters(np.bincount(cluster, rest), sizes.astype(float))

    assert error == pytest.approx(np.sqrt(np.square(scores).sum()))
    assert degrees == pytest.approx(np.trace(products) ** 2 / np.square(products).sum())
    # One that has nearly all is all that there is to go by.
    assert error_by_clusters(np.array([1e-9, -1e-9]), np.array([1e9, 1.0]))[1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("sizes", "icc"),
    [
        ([60] + [4] * 29, 0.9),
        ([60] + [4] * 7, 0.0),
        ([60] + [4] * 7, 0.3),
        ([200] + [4] * 19, 0.1),
        ([200] + [4] * 19, 0.9),
    ],
)
def test_a_share_is_held_where_one_document_has_most_of_the_cells(sizes: list[int], icc: float) -> None:
    rng, cluster = np.random.default_rng(5), np.repeat(np.arange(len(sizes)), sizes)
    held = 0
    for _study in range(400):
        spread = (1 / icc - 1) / 2 if icc else 0.0
        rates = rng.beta(spread, spread, len(sizes)) if icc else np.full(len(sizes), 0.5)
        found = clustered_mean(rng.random(cluster.size) < rates[cluster], cluster)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.5 <= found.high
    assert held / 400 > 0.92


def test_where_nothing_varies_a_document_with_most_of_the_cells_counts_once() -> None:
    # (60 + 4)^2 / (60^2 + 4 * 1^2) = 1.137 documents, and not 5.
    found = clustered_mean(np.zeros(64), np.repeat(np.arange(5), [60, 1, 1, 1, 1]))
    assert found.high == pytest.approx(1 - 0.025 ** (3604 / 4096))


def test_documents_that_are_more_alike_than_chance_say_no_more_than_independent_cells() -> None:
    values = np.concatenate([np.arange(20) < hits for hits in (10, 10, 10, 10, 11)])
    told = stats.binomtest(51, 100).proportion_ci(method="exact")
    found = clustered_mean(values, np.repeat(np.arange(5), 20))
    assert (found.low, found.high) == pytest.approx((told.low, told.high))


# --- exposure -------------------------------------------------------------------------------------------------------


def experiment(
    rng: np.random.Generator, *, n_raters: int, n_documents: int, cells: int, shift: float, icc: float = 0.2
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Whether each answer is the judge's (0.6 without its being shown), whether it was shown, rater, document."""
    rater, document = (grid.ravel() for grid in np.indices((n_raters, n_documents)))
    shown = rng.random(rater.size) < 0.5
    mean = 0.6 + shift * shown
    rate = rng.beta(mean * (1 - icc) / icc, (1 - mean) * (1 - icc) / icc)
    same = rng.random((rater.size, cells)) < rate[:, np.newaxis]
    return same.ravel(), np.repeat(shown, cells), np.repeat(rater, cells), np.repeat(document, cells)


def test_the_effect_is_that_of_least_squares() -> None:
    same, shown, rater, document = experiment(np.random.default_rng(1), n_raters=4, n_documents=30, cells=5, shift=0.1)
    found = effect(same.astype(float), shown, rater, document)
    levels = (rater[:, np.newaxis] == np.arange(4)).astype(float)
    fit = sm.OLS(same.astype(float), np.column_stack([shown, levels])).fit()
    robust = fit.get_robustcov_results("cluster", groups=document, df_correction=True, use_correction=False)
    assert found.value == pytest.approx(fit.params[0])
    # statsmodels without its correction; ours is G / (G - 1).
    error = robust.bse[0] * np.sqrt(30 / 29)
    assert found.high is not None
    assert found.value is not None
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 29) * error)
    assert found.wide_high is not None
    assert found.wide_high > found.high  # t of three degrees of freedom


def test_the_planned_shift_is_found_in_four_of_five_experiments() -> None:
    rng = np.random.default_rng(2)
    shift = detectable_shift(n_raters=4, n_documents=60, cells=8, agreement=0.6)
    found, held = 0, 0
    for _ in range(200):
        told = effect(*_numbers(experiment(rng, n_raters=4, n_documents=60, cells=8, shift=shift)))
        assert told.low is not None
        assert told.high is not None
        found += told.low > 0
        held += told.low <= shift <= told.high
    assert 0.7 <= found / 200 <= 0.9
    assert held / 200 >= 0.9


def _numbers(
    parts: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return parts[0].astype(float), *parts[1:]


def test_what_a_suggestion_does() -> None:
    """People who follow it in half of the cells where it is shown, right or wrong, and are faster there."""
    rng = np.random.default_rng(3)
    rater, document, _ = (grid.ravel() for grid in np.indices((4, 80, 10)))
    shown = (rng.random((4, 80)) < 0.5)[rater, document]
    right = rng.integers(0, 3, rater.size)
    judge = np.where(rng.random(rater.size) < 0.8, right, (right + 1) % 3)
    own = np.where(rng.random(rater.size) < 0.7, right, (right + 2) % 3)
    answer = np.where(shown & (rng.random(rater.size) < 0.5), judge, own)
    seconds = np.exp(rng.normal(2, 0.5, rater.size)) * np.where(shown, 0.8, 1.0)
    found = exposure(answer, judge, shown, rater, document, right=right, seconds=seconds)
    assert found.followed_right is not None
    assert found.followed_wrong is not None
    assert found.accuracy is not None
    assert found.time is not None
    assert found.shift.value == pytest.approx(0.5 * (1 - 0.8 * 0.7), abs=0.05)
    assert found.followed_right.value == pytest.approx(0.15, abs=0.05)
    assert found.followed_wrong.value == pytest.approx(0.5, abs=0.06)
    assert found.accuracy.value == pytest.approx(0.05, abs=0.05)
    assert found.time.value == pytest.approx(0.8, abs=0.05)
    assert found.time.low is not None
    assert found.time.high is not None
    assert found.time.low < 0.8 < found.time.high < 1
    # Whoever saw it always or never tells nothing.
    assert exposure(answer, judge, rater > 1, rater, document).shift.reason == NOT_BOTH


def test_a_difference_of_shares_is_bounded_and_times_that_nobody_took_are_said() -> None:
    # Two raters, two documents each: with the suggestion both follow it, without it one in two does.
    rater, document = np.repeat([0, 1], 20), np.tile(np.repeat(np.arange(4), 5), 2)
    was_shown = document < 2
    judge = np.zeros(40, dtype=np.int64)
    answer = np.where(was_shown, 0, 1)
    answer[[10, 30]] = 0
    found = exposure(answer, judge, was_shown, rater, document, seconds=np.full(40, np.nan))
    assert found.shift.value == pytest.approx(0.9)
    assert found.shift.high is not None
    assert found.shift.high <= 1
    assert found.time is not None
    assert (found.time.value, found.time.reason) == (None, NO_TIMES)


def test_the_size_of_an_experiment() -> None:
    size = documents_for_shift(n_raters=4, cells=10)
    assert size.n_documents is not None
    assert size.detectable is not None
    assert size.detectable <= 0.05
    assert detectable_shift(n_raters=4, n_documents=size.n_documents - 1, cells=10) > 0.05
    assert documents_for_shift(n_raters=4, cells=10, raters_differ=0.1).reason == RATERS_DIFFER
    assert documents_for_shift(n_raters=1, cells=1, largest=50).reason == TOO_MANY
    with pytest.raises(ValueError, match="two raters"):
        detectable_shift(n_raters=1, n_documents=10, cells=5, raters_differ=0.1)


# --- arms -----------------------------------------------------------------------------------------------------------


def test_flips_by_hand() -> None:
    codes = [[0, 0, 1, 1, MISSING], [0, 1, 1, 1, 0], [0, 1, 0, MISSING, 0]]
    found = flips(codes, [0, 0, 1, 1, 2])
    assert [arm.value for arm in found.against_first] == pytest.approx([1 / 4, 2 / 3])
    assert found.pairwise.value == pytest.approx(np.mean([0, 2 / 3, 2 / 3, 0, 0]))
    assert found.any.value == pytest.approx(2 / 5)
    with pytest.raises(ValueError, match="two arms"):
        flips([[0, 1]], [0, 1])


def test_a_judge_that_likes_the_first_place() -> None:
    rng = np.random.default_rng(4)
    right, k = rng.integers(0, 3, 400), 3
    arms = []
    for turn in range(k):  # rotations: option o stands at place (o + turn) % 3
        place = np.where(rng.random(400) < 0.7, (right + turn) % k, 0)
        arms.append(place)
    shares = place_shares(arms, np.arange(400) // 10, n_places=k)
    assert shares[0].low is not None
    assert shares[0].low > 1 / 3
    assert shares[1].high is not None
    assert shares[1].high < 1 / 3


def test_swapped_candidates() -> None:
    # The same candidate twice; the first place twice; ties; the second place twice; no verdict.
    found = swapped([0, 0, 2, 1, 0], [1, 0, 2, 1, MISSING], [0, 1, 2, 3, 4])
    assert found.consistent.value == pytest.approx(2 / 4)
    assert found.first.value == pytest.approx(np.mean([0.5, 1, 0.5, 0]))
    assert found.first_if_not.value == pytest.approx(1 / 2)


# --- abilities ------------------------------------------------------------------------------------------------------


def crowd(rng: np.random.Generator) -> tuple[Answers, np.ndarray, np.ndarray]:
    """300 cells in 100 documents, 12 raters of known ability, a third of the answers missing."""
    ability = np.concatenate([[-1.0, -0.5, 0, 0, 0], np.linspace(0.3, 3, 7)])
    truth, ease = rng.integers(0, 3, 300), np.exp(rng.normal(0, 0.7, 300))
    rater, cell = (grid.ravel() for grid in np.indices((12, 300)))
    right = rng.random(rater.size) < 1 / (1 + np.exp(-ability[rater] * ease[cell]))
    code = np.where(right, truth[cell], (truth[cell] + rng.integers(1, 3, rater.size)) % 3)
    code = np.where(rng.random(rater.size) < 1 / 3, MISSING, code)
    answers = Answers.from_long(
        rater=rater, cell=cell, sheet=np.zeros(rater.size, dtype=int), document=cell // 3, code=code, n_options=3
    )
    return answers, truth, ability


def test_abilities_are_found() -> None:
    answers, truth, ability = crowd(np.random.default_rng(5))
    found = abilities(answers)
    assert found.converged
    assert (found.code == truth).mean() > (majority_vote(answers).code == truth).mean() + 0.02
    assert stats.pearsonr([rater.ability for rater in found.raters], ability).statistic > 0.95
    for rater in found.raters:
        mine = answers.rater == rater.rater
        assert rater.right.value == pytest.approx((answers.code[mine] == truth[answers.cell[mine]]).mean(), abs=0.08)
    assert found.probabilities.sum(axis=1) == pytest.approx(np.ones(300))
    shared = abilities(answers, by="document")
    assert np.all(shared.ease.reshape(100, 3) == shared.ease[::3, np.newaxis])


def test_abilities_of_nobody() -> None:
    none = Answers.from_long(rater=[], cell=[], sheet=[], code=[], n_options=2)
    assert abilities(none).reason == NO_ANSWERS
