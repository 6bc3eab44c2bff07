"""SPA against SciPy's t-test, statsmodels' cluster-robust errors, a hand calculation, and its own symmetries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reports.stats import spa
from reports.stats.spa import Assessments

# Nine assessments of five inputs by three raters.
PROBABILITY = np.array([0.9, 0.7, 0.8, 0.4, 0.55, 0.6, 1.0, 0.75, 0.3])
INPUT = np.array([0, 0, 1, 1, 2, 2, 3, 4, 4])
RATER = np.array([0, 1, 0, 2, 1, 2, 0, 1, 2])
EXAMPLE = Assessments(PROBABILITY, INPUT, RATER)


def test_independent_bounds_are_those_of_students_t_test() -> None:
    found, theirs = spa.spa(EXAMPLE).independent, stats.ttest_1samp(PROBABILITY, 0.5)
    assert found is not None
    interval = theirs.confidence_interval(0.95)
    assert (found.low, found.high) == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert (found.p_value, found.freedom) == (pytest.approx(theirs.pvalue), 8)


def test_clustered_bounds_are_those_of_statsmodels() -> None:
    regression = pytest.importorskip("statsmodels.regression.linear_model")
    # Of the mean alone: its factor (n - 1) / (n - k) is 1 for k = 1, so that G / (G - 1) is all of the correction.
    fitted = regression.OLS(PROBABILITY, np.ones((9, 1))).fit(
        cov_type="cluster", cov_kwds={"groups": INPUT}, use_t=True
    )
    found = spa.spa(EXAMPLE).clustered
    assert found is not None
    assert [found.low, found.high] == pytest.approx(fitted.conf_int()[0].tolist())
    assert found.p_value == pytest.approx(fitted.t_test("const = 0.5").pvalue)
    assert found.freedom == 4


def test_clustered_by_hand() -> None:
    # Mean 0.6; residuals summed by input: 0.4, -0.2, -0.2. Variance (0.16 + 0.04 + 0.04) * 3 / 2 / 4**2 = 0.0225.
    found = spa.spa(Assessments(np.array([0.8, 0.8, 0.4, 0.4]), np.array([0, 0, 1, 2]), np.zeros(4, dtype=np.int64)))
    assert found.probability == pytest.approx(0.6)
    assert found.clustered is not None
    assert found.clustered.high == pytest.approx(min(1.0, 0.6 + stats.t.ppf(0.975, 2) * 0.15))
    assert found.clustered.p_value == pytest.approx(2 * stats.t.sf(0.1 / 0.15, 2))


def test_what_cannot_be_bounded_says_why() -> None:
    none = spa.spa(Assessments(np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)))
    assert (none.probability, none.clustered, none.reason) == (None, None, spa.NO_ASSESSMENT)
    one = spa.spa(Assessments(np.array([0.2, 0.4]), np.array([3, 3]), np.array([0, 1])))
    assert (one.clustered, one.reason, one.n_raters) == (None, spa.ONE_INPUT, 2)
    assert one.independent is not None
    same = spa.spa(Assessments(np.array([1.0, 1.0]), np.array([0, 1]), np.array([0, 0])))
    assert (same.clustered, same.independent, same.reason) == (None, None, spa.ALL_THE_SAME)


def test_raters_who_use_the_scale_otherwise_and_prefer_alike_count_alike() -> None:
    """The paper's point: averages of ratings turn the preference round, probabilities do not."""
    generous, strict = [10, 9], [2, 1]  # both like the first system's better
    third = [1, 10]  # and this one the second's, by as much as the scale has
    value = np.array(generous + strict + third)
    system, rater = np.array([0, 1] * 3), np.repeat([0, 1, 2], 2)
    found = spa.spa(spa.from_preferences(value=value, system=system, input=np.zeros(6), rater=rater, first=0, second=1))
    assert value[system == 0].mean() < value[system == 1].mean()
    assert found.probability == pytest.approx(2 / 3)


def test_the_example_of_the_documentation_by_hand() -> None:
    """docs/statistics.md: anna likes 9 and 4 of A and 4 of B for one input, 3 and 7 for the other; ben 8 and 8."""
    assessed = spa.from_preferences(
        value=[9, 4, 4, 3, 7, 8, 8], system=[0, 0, 1, 0, 1, 0, 1], input=[0, 0, 0, 1, 1, 0, 0],
        rater=[0, 0, 0, 0, 0, 1, 1], first=0, second=1,
    )  # fmt: skip
    by = list(zip(assessed.input.tolist(), assessed.rater.tolist(), assessed.probability.tolist(), strict=True))
    assert by == [(0, 0, 0.75), (0, 1, 0.5), (1, 0, 0.0)]
    found = spa.spa(assessed)
    assert found.probability == pytest.approx(1.25 / 3)
    # Residuals 1/3 + 1/12 of the first input and -5/12 of the second: error sqrt(2 * (5/12)**2 * 2 / 1) / 3 = 5/18.
    assert found.clustered is not None
    assert found.clustered.p_value == pytest.approx(2 * stats.t.sf((0.5 - 1.25 / 3) / (5 / 18), 1))
    assert (found.clustered.low, found.clustered.high) == (0.0, 1.0)


answers = st.lists(
    st.tuples(st.integers(1, 4), st.integers(0, 2), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40
)


@given(answers)
def test_turned_round_it_is_the_other_probability_and_an_order_is_all_that_counts(
    of: list[tuple[int, int, int, int]],
) -> None:
    value, system, at, rater = (np.array(column) for column in zip(*of, strict=True))
    given_ = {"system": system, "input": at, "rater": rater}
    there = spa.spa(spa.from_preferences(value=value, **given_, first=0, second=1))
    back = spa.spa(spa.from_preferences(value=value, **given_, first=1, second=0))
    stretched = spa.spa(spa.from_preferences(value=value**3 * 10 + rater, **given_, first=0, second=1))
    assert (there.n, there.n_inputs) == (back.n, back.n_inputs)
    assert stretched.probability == there.probability
    if there.probability is not None and back.probability is not None:
        assert there.probability + back.probability == pytest.approx(1)
        if there.clustered and back.clustered:
            assert there.clustered.low == pytest.approx(1 - back.clustered.high)
