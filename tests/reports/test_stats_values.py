"""Agreement on values and on numbers, against other libraries, and against what copied documents give."""

from __future__ import annotations

from itertools import combinations

import krippendorff
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reports.stats.answers import Answers
from reports.stats.bootstrap import resampling
from reports.stats.numeric import (
    MOST_BINS,
    bin_edges,
    number_pairs,
    numeric_agreement,
    numeric_difference,
    numeric_difference_intervals,
    numeric_intervals,
    shares_in,
)
from reports.stats.values import exact_agreement, exact_intervals, most_frequent

Matrix = npt.NDArray[np.int64]


def matrix(seed: int, n_raters: int = 4, n_cells: int = 60, n_codes: int = 30, missing: float = 0.3) -> Matrix:
    """Codes of raters (rows) and cells, -1 where there is none; raters are near a truth of the cell."""
    rng = np.random.default_rng(seed)
    codes = np.clip(rng.integers(n_codes, size=n_cells) + rng.integers(-2, 3, size=(n_raters, n_cells)), 0, n_codes - 1)
    return np.where(rng.random(codes.shape) < missing, -1, codes)


def of(codes: Matrix, n_codes: int = 30, *, per_document: int = 3, per_sheet: int = 15) -> Answers:
    rater, cell = np.indices(codes.shape)
    return Answers.from_long(
        rater=rater.ravel(),
        cell=cell.ravel(),
        sheet=cell.ravel() // per_sheet,
        document=cell.ravel() // per_document,
        code=codes.ravel(),
        n_options=n_codes,
    )


VALUES = np.arange(30) * 0.5 + 100


@pytest.mark.parametrize("seed", range(5))
def test_exact_agreement_is_that_of_krippendorff_and_of_counting(seed: int) -> None:
    codes = matrix(seed)
    found = exact_agreement(of(codes))
    pairs = [
        (a[cell] == b[cell], cell)
        for a, b in combinations(codes, 2)
        for cell in range(codes.shape[1])
        if a[cell] >= 0 and b[cell] >= 0
    ]
    by_cell = [np.mean([same for same, at in pairs if at == cell]) for cell in {at for _same, at in pairs}]
    given = np.where(codes < 0, np.nan, codes)

    assert found.alpha == pytest.approx(krippendorff.alpha(given, level_of_measurement="nominal"), abs=1e-12)
    assert found.percent_of_comparisons == pytest.approx(np.mean([same for same, _at in pairs]), abs=1e-12)
    assert found.percent == pytest.approx(np.mean(by_cell), abs=1e-12)
    assert found.n_comparisons == len(pairs)


@pytest.mark.parametrize("seed", range(5))
def test_numeric_agreement_is_that_of_other_libraries(seed: int) -> None:
    codes = matrix(seed)
    found = numeric_agreement(of(codes), VALUES)
    given = np.where(codes < 0, np.nan, VALUES[codes])
    kappas, ranks, apart = [], [], []
    for a, b in combinations(given, 2):
        both = ~np.isnan(a) & ~np.isnan(b)
        kappas.append(stats.pearsonr(a[both], b[both]).statistic)
        ranks.append(stats.spearmanr(a[both], b[both]).statistic)
        apart += (a[both] - b[both]).tolist()

    assert found.alpha == pytest.approx(krippendorff.alpha(given, level_of_measurement="interval"), abs=1e-9)
    assert found.pearson == pytest.approx(np.mean(kappas), abs=1e-9)
    assert found.spearman == pytest.approx(np.mean(ranks), abs=1e-9)
    assert found.difference == pytest.approx(np.mean(np.abs(apart)), abs=1e-9)
    assert found.limits == pytest.approx(1.96 * np.sqrt(np.mean(np.square(apart))), abs=1e-9)


def test_the_intraclass_correlation_of_shrout_and_fleiss() -> None:
    """Their Table 2 of six targets and four judges: ICC(1,1) is .17 (Table 4), .166 to three places."""
    ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]).T
    found = numeric_agreement(of(ratings, 11), np.arange(11.0))

    assert found.icc == pytest.approx(0.166, abs=5e-4)


def test_the_intraclass_correlation_follows_from_the_analysis_of_variance() -> None:
    codes = matrix(3, missing=0.0)
    f = stats.f_oneway(*VALUES[codes].T).statistic

    assert numeric_agreement(of(codes), VALUES).icc == pytest.approx((f - 1) / (f + codes.shape[0] - 1), abs=1e-9)


def copied(codes: Matrix, counts: npt.NDArray[np.float64], per_document: int) -> Answers:
    """Each document as many times as it was drawn."""
    parts = []
    for document, times in enumerate(counts.astype(int)):
        parts += [codes[:, document * per_document : (document + 1) * per_document]] * times
    return of(np.concatenate(parts, axis=1), per_document=per_document)


def test_intervals_are_those_of_copied_documents() -> None:
    codes, draws = matrix(1), 40
    answers = of(codes)
    counts = np.concatenate(list(resampling(answers, n_draws=draws, seed=5).counts()), axis=1)
    exact = exact_intervals(answers, n_draws=draws, seed=5, expanded=False)
    numeric = numeric_intervals(answers, VALUES, n_draws=draws, seed=5, expanded=False)
    by_hand = [copied(codes, counts[:, draw], 3) for draw in range(draws)]

    for name in ("percent", "percent_of_comparisons", "alpha"):
        values = [getattr(exact_agreement(one), name) for one in by_hand]
        assert (exact[name].low, exact[name].high) == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=1e-9)
    # Spearman's ranks are those of the whole sample, so it is no function of the copied documents alone.
    for name in ("alpha", "icc", "difference", "limits", "pearson"):
        values = [getattr(numeric_agreement(one, VALUES), name) for one in by_hand]
        assert (numeric[name].low, numeric[name].high) == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=1e-9)
    assert numeric["spearman"].low is not None


def test_correlations_do_not_depend_on_how_many_comparisons_are_taken_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = of(matrix(2, n_raters=6))
    whole = numeric_agreement(answers, VALUES), numeric_intervals(answers, VALUES, n_draws=40)
    monkeypatch.setattr("reports.stats.numeric._AT_ONCE", 7)
    parts = numeric_agreement(answers, VALUES), numeric_intervals(answers, VALUES, n_draws=40)
    assert parts[0].n_comparisons > 70
    for name in ("pearson", "spearman"):
        assert getattr(parts[0], name) == pytest.approx(getattr(whole[0], name), abs=1e-12)
        for end in ("low", "high"):
            assert getattr(parts[1][name], end) == pytest.approx(getattr(whole[1][name], end), abs=1e-12)


def test_a_judges_numbers_are_held_against_each_persons() -> None:
    people = of(np.array([[1, 4, 6, -1], [2, 4, 8, 9]]), per_document=1)
    judge = of(np.array([[3, 4, 5, 9]]), per_document=1)
    found = numeric_difference(number_pairs(people, judge, np.arange(30.0)))

    # Judge less person: 2, 1, 0, 0, -1, -3, 0.
    assert (found.n, found.bias) == (7, pytest.approx(-1 / 7))
    assert found.difference == pytest.approx(1.0)
    spread = np.std([2, 1, 0, 0, -1, -3, 0], ddof=1)
    assert (found.low, found.high) == pytest.approx((-1 / 7 - 1.96 * spread, -1 / 7 + 1.96 * spread))
    assert numeric_difference_intervals(people, number_pairs(people, judge, np.arange(30.0)))["bias"].reason.startswith(
        "too little data"
    )


def test_large_numbers_do_not_drown_in_rounding() -> None:
    codes = matrix(2)

    near, far = numeric_agreement(of(codes), VALUES), numeric_agreement(of(codes), VALUES + 1e9)
    assert far.alpha == pytest.approx(near.alpha, abs=1e-6)
    assert far.icc == pytest.approx(near.icc, abs=1e-6)


def test_numbers_that_lie_far_from_those_of_others_are_told_apart() -> None:
    # Two raters give spoons, two others grams of other cells; and one number was typed without its point.
    spoons, grams = [[1, 2, 3, 4, 5], [2, 1, 4, 3, 6]], [[2.5e7, 1500, 900, 1200], [2.5e7, 1400, 950, 1000]]
    given = np.full((4, 9), np.nan)
    given[:2, :5], given[2:, 5:] = spoons, grams
    values, code = np.unique(given[~np.isnan(given)], return_inverse=True)
    codes = np.full(given.shape, -1)
    codes[~np.isnan(given)] = code
    found = numeric_agreement(of(codes, values.size, per_document=1), values)

    assert found.pearson == pytest.approx(np.mean([np.corrcoef(*pair)[0, 1] for pair in (spoons, grams)]))
    apart = np.diff(spoons, axis=0).tolist()[0] + np.diff(grams, axis=0).tolist()[0]
    assert found.limits == pytest.approx(1.96 * np.sqrt(np.mean(np.square(apart))), rel=1e-12)
    same = np.where(codes < 0, -1, codes.max(axis=0))
    assert numeric_agreement(of(same, values.size, per_document=1), values).limits == 0
    # A number that nobody else gave moves no agreement.
    alone = np.concatenate([codes[:2, :5], [[values.size - 1], [-1]]], axis=1)
    expected = krippendorff.alpha(np.array(spoons, dtype=float), level_of_measurement="interval")
    assert numeric_agreement(of(alone, values.size, per_document=1), values).alpha == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("codes", [[[-1, -1]], [[0, 1]], [[0, 1], [-1, -1]]], ids=["nobody", "alone", "not shared"])
def test_where_nothing_is_shared_nothing_is_defined(codes: list[list[int]]) -> None:
    answers = of(np.array(codes))

    assert exact_agreement(answers).percent is None
    assert numeric_agreement(answers, VALUES).alpha is None
    assert numeric_agreement(answers, VALUES).reason == "no cell has two answers"


def test_everybody_alike_has_no_alpha() -> None:
    answers = of(np.array([[2, 2, 2], [2, 2, 2]]))

    assert exact_agreement(answers).percent == 1
    assert exact_agreement(answers).alpha is None
    assert numeric_agreement(answers, VALUES).alpha is None
    assert numeric_agreement(answers, VALUES).difference == 0


def test_the_most_frequent_answers_come_first() -> None:
    found = most_frequent(np.array([3, 1, 1, 3, 2]), at_most=2)

    assert [(of_answer.code, of_answer.n) for of_answer in found] == [(1, 2), (3, 2)]


# --- bins ---


@given(st.lists(st.floats(-1e12, 1e12) | st.integers(-(10**6), 10**6).map(float), min_size=1, max_size=60))
def test_every_number_is_in_a_bin(numbers: list[float]) -> None:
    x = np.array(numbers)
    edges = bin_edges(x)
    assert 2 <= edges.size <= MOST_BINS + 1
    assert (np.diff(edges) > 0).all() or np.ptp(x) < 1e-9 * np.abs(x).max()
    assert shares_in(x, edges).sum() == pytest.approx(1)


def test_bins_of_whole_numbers_hold_equally_many_of_them() -> None:
    assert bin_edges(np.array([1.0, 2, 3, 4, 5, 5, 5])).tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    edges = bin_edges(np.arange(1000.0))
    assert set(np.diff(edges)) == {float(np.diff(edges)[0])}
    assert float(np.diff(edges)[0]).is_integer()


@pytest.mark.parametrize("numbers", [[], [1e308, -1e308]])
def test_what_has_no_spread_to_draw_has_no_bins(numbers: list[float]) -> None:
    assert not bin_edges(np.array(numbers)).size


@pytest.mark.parametrize("numbers", [[7.5], [0.1] * 9, [1e300, 1.0], [0.0, 0.0, 0.0, 0.5], [1e17, 1e17 + 16]])
def test_few_or_far_numbers_have_bins(numbers: list[float]) -> None:
    x = np.array(numbers)
    assert shares_in(x, bin_edges(x)).sum() == pytest.approx(1)


def test_bins_of_fractions_are_those_of_numpys_rule() -> None:
    x = np.random.default_rng(0).normal(size=500)
    assert bin_edges(x) == pytest.approx(np.histogram_bin_edges(x, "fd"))
