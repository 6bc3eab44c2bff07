"""Every coefficient against published examples, and against two other implementations on data with missing answers."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import cohens_kappa as statsmodels_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from reports.stats import coefficients
from reports.stats.among import AgreementAmong, agreement_among
from reports.stats.answers import MISSING, Answers
from reports.stats.cells import cell_sums, cluster_sums
from reports.stats.pairs import Weights, agreement_weights
from tests.reports.matrices import answers_of


def codes_of(*raters: str) -> np.ndarray:
    """One string a rater, one sign a cell, "." for no answer."""
    return np.array([[MISSING if sign == "." else int(sign) for sign in rater] for rater in raters])


def from_cells(cells: str) -> np.ndarray:
    """One string a cell, one sign a rater."""
    return codes_of(*cells.split()).T


def from_counts(cells: str) -> np.ndarray:
    """Codes of shape (n_raters, n_cells) that give each cell these counts of each option, one hexadecimal sign each."""
    return np.array([np.repeat(np.arange(len(cell)), [int(sign, 16) for sign in cell]) for cell in cells.split()]).T


def from_table(table: list[list[int]]) -> np.ndarray:
    pairs = [(x, y) for x, row in enumerate(table) for y, n in enumerate(row) for _ in range(n)]
    return np.array(pairs).T


def value(codes: np.ndarray, key: str, n_options: int, **of: Any) -> float | None:
    return next(
        c.value for c in agreement_among(answers_of(codes, n_options=n_options), **of).coefficients if c.key == key
    )


# --- published examples ---------------------------------------------------------------------------------------------

# Krippendorff (2011), example C; the options 1 to 5 as 0 to 4.
KRIPPENDORFF_C = codes_of("012210301...", "0122113014..", ".22212311402", "01221330140.")
# Rows of hexadecimal counts of each option.
WIKIPEDIA_FLEISS = from_counts("""
    0000e 02642 00356 03920 22811 77000 32630 25322 65210 02237
""")
GWET_SIX_RATERS = from_counts("""
    00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
""")
# Fleiss (1971): 30 patients, six psychiatrists each, five diagnoses 1 to 5.
FLEISS_1971 = (
    from_cells("""
    444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445
    333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555
""")
    - 1
)
GWET_FIVE_OBSERVERS = from_cells("""
    112.2 1101. 2333. .00.0 000.0 000.0 102.1 1.20. 222.2 2111. .100. 0000. 1222. 33223 111.1
""")
GENDER = np.array(
    [
        ["abc".index(sign) for sign in rater]
        for rater in ("aaaaabbbcaaaaab", "aaaababccaaaaba", "abbcaabbcabbcaa", "ccccaabbcccccaa")
    ]
)
ABSTRACTORS = from_table([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
PARADOX_1, PARADOX_2 = from_table([[40, 9], [6, 45]]), from_table([[80, 10], [5, 5]])
SAS = from_table([[0, 4, 1], [0, 8, 0], [0, 1, 5]])
ANXIETY = np.array(
    [[3, 3, 3, 4, 5, 5, 2, 3, 5, 2, 2, 6, 1, 5, 2, 2, 1, 2, 4, 3],
     [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4],
     [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2]]
) - 1  # fmt: skip

NOMINAL = [
    ("Krippendorff C", KRIPPENDORFF_C, 5, {"percent": 0.81818, "ac1": 0.77544, "fleiss": 0.76117, "pabak": 0.77273}),
    ("Krippendorff C", KRIPPENDORFF_C, 5, {"alpha": 0.74342}),
    ("Fleiss 1971", FLEISS_1971, 5, {"fleiss": 0.4302445, "pabak": 0.4444444, "alpha": 0.4334098}),
    ("Wikipedia, Fleiss", WIKIPEDIA_FLEISS, 5, {"fleiss": 0.20993, "alpha": 0.215574}),
    (
        "Gwet, six raters",
        GWET_SIX_RATERS,
        5,
        {"ac1": 0.4448007, "fleiss": 0.4139265, "alpha": 0.4204384, "pabak": 0.4388889, "percent": 0.5511111},
    ),
    (
        "Gwet, five observers",
        GWET_FIVE_OBSERVERS,
        4,
        {"ac1": 0.49662, "fleiss": 0.45762, "pabak": 0.48741, "alpha": 0.48053, "percent": 0.61556},
    ),
    (
        "Gwet, gender",
        GENDER,
        3,
        {"ac1": 0.20808, "fleiss": 0.12889, "pabak": 0.18333, "alpha": 0.14341, "percent": 0.45556},
    ),
    (
        "Gwet, abstractors",
        ABSTRACTORS,
        3,
        {"percent": 0.89, "cohen": 0.7964094, "scott": 0.7962397, "ac1": 0.8493305, "pabak": 0.835, "alpha": 0.7972585},
    ),
    ("Feinstein and Cicchetti 1", PARADOX_1, 2, {"percent": 0.85, "cohen": 0.6995, "pabak": 0.70, "ac1": 0.7007}),
    ("Feinstein and Cicchetti 2", PARADOX_2, 2, {"percent": 0.85, "cohen": 0.3182, "pabak": 0.70, "ac1": 0.8080}),
    ("SAS", SAS, 3, {"cohen": 0.4842}),
    # Light's kappa is the mean over pairs of raters.
    ("irr, anxiety", ANXIETY, 6, {"fleiss": -0.0410765, "cohen": -0.0174789, "alpha": -0.0237}),
]
EXAMPLES = [(name, codes, k, key, expected) for name, codes, k, found in NOMINAL for key, expected in found.items()]


@pytest.mark.parametrize(
    ("codes", "n_options", "key", "expected"),
    [example[1:] for example in EXAMPLES],
    ids=[f"{name}-{key}" for name, _, _, key, _ in EXAMPLES],
)
def test_coefficients_equal_published_examples(codes: np.ndarray, n_options: int, key: str, expected: float) -> None:
    # Published with four to seven decimals: half a unit of the last one that is printed.
    digits = max(2, len(str(abs(expected))) - 2)
    assert value(codes, key, n_options) == pytest.approx(expected, abs=0.6 * 10.0 ** -min(digits, 7))


@pytest.mark.parametrize(
    ("codes", "n_options", "weights", "expected"),
    [
        (KRIPPENDORFF_C, 5, "ordinal", 0.89894),
        (KRIPPENDORFF_C, 5, "linear", 0.85874),
        (KRIPPENDORFF_C, 5, "quadratic", 0.91400),
        (GWET_FIVE_OBSERVERS, 4, "quadratic", 0.83043),
    ],
    ids=["C ordinal", "C linear", "C quadratic", "five observers quadratic"],
)
def test_ac2_equals_published_examples(codes: np.ndarray, n_options: int, weights: Weights, expected: float) -> None:
    found = value(codes, "ac2", n_options, level="ordinal", weights=weights)

    assert found == pytest.approx(expected, abs=6e-6)


@pytest.mark.parametrize(
    ("level", "expected"), [("nominal", -0.0237), ("ordinal", 0.2284), ("interval", 0.1701)], ids=str
)
def test_alpha_of_the_anxiety_ratings(level: coefficients.Level, expected: float) -> None:
    assert value(ANXIETY, "alpha", 6, level=level) == pytest.approx(expected, abs=5e-5)


def test_linear_kappa_equals_the_sas_example() -> None:
    assert value(SAS, "cohen_linear", 3, level="ordinal") == pytest.approx(0.4701, abs=5e-5)


def test_category_kappas_equal_fleiss_1971() -> None:
    options = agreement_among(answers_of(FLEISS_1971, n_options=5)).options

    assert [round(option.kappa or 0, 3) for option in options] == [0.245, 0.245, 0.520, 0.471, 0.566]
    assert [option.n for option in options] == [26, 26, 30, 55, 43]


def test_specific_agreement_of_two_raters_is_2a_by_2a_b_c() -> None:
    first, second = agreement_among(answers_of(PARADOX_2, n_options=2)).options

    # [[80, 10], [5, 5]]: 160 / 175 and 10 / 25
    assert (first.specific, second.specific) == (pytest.approx(160 / 175), pytest.approx(0.4))
    assert (first.n_comparisons, second.n_comparisons) == (95, 20)


def test_prevalence_shows_the_paradox() -> None:
    balanced = agreement_among(answers_of(PARADOX_1, n_options=2)).prevalence
    skewed = agreement_among(answers_of(PARADOX_2, n_options=2)).prevalence

    # 90 + 85 of 200 answers are the first option.
    assert (skewed.majority_option, skewed.majority_share) == (0, pytest.approx(0.875))
    assert balanced.imbalance is not None
    assert skewed.imbalance is not None
    assert balanced.imbalance < 0.01 < 0.5 < skewed.imbalance
    # Margins .9/.1 and .85/.15: po at most .85 + .1 = .95, pe = .765 + .015 = .78; .17 / .22
    assert skewed.cohen_maximum == pytest.approx(0.17 / 0.22)


# --- other implementations, on random data with missing answers -----------------------------------------------------

K = 4


def random_codes(seed: int, *, n_raters: int = 4, n_cells: int = 40, missing: float = 0.35) -> np.ndarray:
    rng = np.random.default_rng(seed)
    truth = rng.choice(K, n_cells, p=[0.5, 0.3, 0.15, 0.05])
    codes = np.where(rng.random((n_raters, n_cells)) < 0.3, rng.integers(0, K, (n_raters, n_cells)), truth)
    return np.where(rng.random(codes.shape) < missing, MISSING, codes)


def irr_cac(codes: np.ndarray, weights: Weights | None, method: str) -> float:
    pandas, raw = pytest.importorskip("pandas"), None
    with warnings.catch_warnings():
        # irrCAC 0.4 calls pandas in a way that pandas 4 will refuse.
        warnings.simplefilter("ignore")
        raw = pytest.importorskip("irrCAC.raw")
        frame = pandas.DataFrame(np.where(codes < 0, np.nan, codes.astype(float)).T)
        cac = raw.CAC(frame, weights=weights or "identity", categories=[float(q) for q in range(K)], digits=13)
        return float(getattr(cac, method)()["est"]["coefficient_value"])


SEEDS = range(3)
WEIGHTS: list[Weights | None] = [None, "linear", "quadratic", "ordinal"]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_gwet_fleiss_and_pabak_equal_irrcac(seed: int, weights: Weights | None) -> None:
    codes = random_codes(seed)
    sums = cell_sums(answers_of(codes, n_options=K))
    of = agreement_weights(K, weights)

    for ours, theirs in (
        (coefficients.gwet_ac, "gwet"),
        (coefficients.fleiss_kappa, "fleiss"),
        (coefficients.pabak, "bp"),
    ):
        assert float(ours(sums, of)) == pytest.approx(irr_cac(codes, weights, theirs), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_gwet_fleiss_and_pabak_equal_their_formulas_written_as_loops(seed: int, weights: Weights | None) -> None:
    codes = random_codes(seed)
    w = agreement_weights(K, weights)
    cells = [[code for code in cell if code != MISSING] for cell in codes.T.tolist()]
    shared = [cell for cell in cells if len(cell) > 1]
    answered = [cell for cell in cells if cell]
    pa = np.mean([np.mean([w[x, y] for x, y in itertools.permutations(cell, 2)]) for cell in shared])
    pi = [np.mean([cell.count(q) / len(cell) for cell in answered]) for q in range(K)]
    by_fleiss = sum(w[x, y] * pi[x] * pi[y] for x in range(K) for y in range(K))
    by_gwet = w.sum() / (K * (K - 1)) * sum(p * (1 - p) for p in pi)

    sums = cell_sums(answers_of(codes, n_options=K))

    assert float(coefficients.percent(sums, w)) == pytest.approx(pa, abs=1e-12)
    for ours, pe in (
        (coefficients.fleiss_kappa, by_fleiss),
        (coefficients.gwet_ac, by_gwet),
        (coefficients.pabak, w.sum() / K**2),
    ):
        assert float(ours(sums, w)) == pytest.approx((pa - pe) / (1 - pe), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_fleiss_and_randolph_equal_statsmodels_without_missing_answers(seed: int) -> None:
    codes = random_codes(seed, missing=0)
    table, _ = aggregate_raters(codes.T, n_cat=K)

    assert value(codes, "fleiss", K) == pytest.approx(statsmodels_fleiss(table), abs=1e-9)
    assert value(codes, "pabak", K) == pytest.approx(statsmodels_fleiss(table, method="randolph"), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_kappas_of_two_equal_scikit_learn_and_statsmodels(seed: int) -> None:
    codes = random_codes(seed)
    found = agreement_among(answers_of(codes, n_options=K), level="ordinal")

    ours: dict[str, list[float]] = {"linear": [], "quadratic": [], "None": []}
    for pair in found.pairs:
        a, b = codes[pair.rater_a], codes[pair.rater_b]
        shared = (a != MISSING) & (b != MISSING)
        table = np.zeros((K, K))
        np.add.at(table, (a[shared], b[shared]), 1)
        for mine, weights in ((pair.cohen, None), (pair.cohen_linear, "linear"), (pair.cohen_quadratic, "quadratic")):
            theirs = cohen_kappa_score(a[shared], b[shared], weights=weights, labels=list(range(K)))
            assert mine == pytest.approx(theirs, abs=1e-9)
            wt = {} if weights is None else {"weights": np.arange(K), "wt": weights}
            assert mine == pytest.approx(statsmodels_kappa(table, return_results=False, **wt), abs=1e-9)
            ours[str(weights)].append(theirs)
        assert pair.n == shared.sum()
    assert found.cohen.value == pytest.approx(np.mean(ours["None"]), abs=1e-9)
    assert found.cohen_linear is not None
    assert found.cohen_linear.value == pytest.approx(np.mean(ours["linear"]), abs=1e-9)
    assert found.cohen_quadratic is not None
    assert found.cohen_quadratic.value == pytest.approx(np.mean(ours["quadratic"]), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_rater_coefficients_of_each_pair_equal_irrcac(seed: int) -> None:
    codes = random_codes(seed)
    for pair in agreement_among(answers_of(codes, n_options=K)).pairs:
        two = codes[[pair.rater_a, pair.rater_b]]
        both = two[:, (two != MISSING).all(axis=0)]
        # On cells that both answered, Fleiss' kappa of two raters is Scott's pi.
        assert pair.scott == pytest.approx(irr_cac(both, None, "fleiss"), abs=1e-9)
        assert pair.ac1 == pytest.approx(irr_cac(both, None, "gwet"), abs=1e-9)
        assert pair.pabak == pytest.approx(irr_cac(both, None, "bp"), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_scott_is_the_kappa_of_all_comparisons_both_ways_round(seed: int) -> None:
    codes = random_codes(seed)
    ordered = [pair for cell in codes.T for pair in itertools.permutations(cell[cell != MISSING].tolist(), 2)]
    first, second = zip(*ordered, strict=True)

    assert value(codes, "scott", K) == pytest.approx(cohen_kappa_score(first, second), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_of_sums_equals_krippendorff(seed: int, level: coefficients.Level) -> None:
    codes = random_codes(seed)
    values = [0.0, 1.0, 4.0, 10.0] if level == "interval" else None
    raw = np.where(codes < 0, np.nan, codes.astype(float))
    if values:
        raw = np.where(codes < 0, np.nan, np.array(values)[codes])
    expected = krippendorff.alpha(reliability_data=raw, level_of_measurement=level)

    sums = cell_sums(answers_of(codes, n_options=K))

    assert float(coefficients.krippendorff_alpha(sums, level, values)) == pytest.approx(expected, abs=1e-9)
    assert value(codes, "alpha", K, level=level, values=values) == pytest.approx(expected, abs=1e-9)
    if level == "nominal":
        assert expected == pytest.approx(irr_cac(codes, None, "krippendorff"), abs=1e-9)


# --- what is not defined --------------------------------------------------------------------------------------------


def test_everyone_always_chose_the_same_option() -> None:
    found = agreement_among(answers_of(codes_of("1111", "1111", "11.."), n_options=3))

    assert {c.key: c.value for c in found.coefficients} == {
        "percent": 1,
        "percent_of_comparisons": 1,
        "cohen": None,
        "scott": None,
        "fleiss": None,
        "alpha": None,
        # Chance for AC1 and PABAK does not come from these answers only: both are defined, and 1.
        "ac1": 1,
        "pabak": 1,
    }
    assert found.cohen.reason == "no pair of raters has a defined value"
    assert found.fleiss.reason == found.alpha.reason == "everyone always chose the same option"
    assert found.prevalence.imbalance == 1


def test_nobody_shares_a_cell() -> None:
    found = agreement_among(answers_of(codes_of("12..", "..01"), n_options=3))

    assert {(c.value, c.reason, c.n_cells) for c in found.coefficients} == {(None, "no cell has two answers", 0)}
    assert (found.n_answered, found.n_shared, found.overlap, found.pairs) == (4, 0, 0.0, ())


def test_one_option_leaves_nothing_to_agree_on() -> None:
    found = agreement_among(answers_of(codes_of("00", "00"), n_options=1))

    assert (found.ac1.value, found.ac1.reason) == (None, "there is only one option")


def test_options_that_do_not_count_are_taken_out() -> None:
    # Option 3 counts as 2, option 1 means that there was nothing to decide: 0 and 2 are left, as 0 and 1.
    codes = codes_of("0123", "0132", "2133")
    answers = answers_of(codes, n_options=4).merged({3: 2}).only([0, 2])

    assert answers.n_options == 2
    assert answers.code.tolist() == [0, 0, 1, *[1] * 6]
    # Cells: 0 0 1, then twice 1 1 1 -> pa = (1/3 + 1 + 1) / 3 = 7/9; 2 pa - 1
    assert agreement_among(answers).pabak.value == pytest.approx(5 / 9)


# --- properties -----------------------------------------------------------------------------------------------------

matrices = hnp.arrays(np.int64, st.tuples(st.integers(2, 5), st.integers(1, 20)), elements=st.integers(MISSING, K - 1))


def nominal(found: AgreementAmong) -> dict[str, Any]:
    return {c.key: None if c.value is None else pytest.approx(c.value, abs=1e-9) for c in found.coefficients}


def plain(found: AgreementAmong) -> dict[str, Any]:
    return {c.key: c.value for c in found.coefficients}


@settings(max_examples=50, deadline=None)
@given(matrices, st.data())
def test_coefficients_do_not_depend_on_the_order_of_raters_cells_or_options(codes: np.ndarray, data: Any) -> None:
    raters = data.draw(st.permutations(range(codes.shape[0])))
    cells = data.draw(st.permutations(range(codes.shape[1])))
    renamed = np.array([*data.draw(st.permutations(range(K))), MISSING])
    ours = agreement_among(answers_of(codes, n_options=K))
    theirs = agreement_among(answers_of(renamed[codes][raters][:, cells], n_options=K))

    assert plain(theirs) == nominal(ours)
    assert {pair.n for pair in theirs.pairs} == {pair.n for pair in ours.pairs}


@settings(max_examples=50, deadline=None)
@given(matrices)
def test_ordered_coefficients_do_not_change_when_the_scale_is_turned_round(codes: np.ndarray) -> None:
    turned = np.where(codes >= 0, K - 1 - codes, MISSING)

    ours = agreement_among(answers_of(codes, n_options=K), level="ordinal")
    theirs = agreement_among(answers_of(turned, n_options=K), level="ordinal")

    assert plain(theirs) == nominal(ours)


@settings(max_examples=50, deadline=None)
@given(matrices)
def test_sums_of_clusters_add_up_and_pack(codes: np.ndarray) -> None:
    answers = answers_of(codes, n_options=K)
    per_cluster = cluster_sums(answers, answers.cell % 3, 3)
    whole = cell_sums(answers)

    np.testing.assert_allclose(per_cluster.packed().sum(axis=0), whole.packed(), atol=1e-12)
    np.testing.assert_array_equal(type(whole).unpacked(whole.packed(), K).agreements, whole.agreements)


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(np.int64, (2, 12), elements=st.integers(0, 1)))
def test_two_raters_and_two_options_in_closed_form(codes: np.ndarray) -> None:
    assume(len(np.unique(codes)) == 2)
    found = agreement_among(answers_of(codes, n_options=2))
    agreed = (codes[0] == codes[1]).mean()

    assert found.pabak.value == pytest.approx(2 * agreed - 1)
    # Without missing answers Scott's pi is Fleiss' kappa of two raters, and alpha its small-sample form:
    # 1 - (1 - pi) (n - 1) / n with n answers.
    assert found.scott.value == pytest.approx(found.fleiss.value)
    assert found.scott.value is not None
    assert found.alpha.value == pytest.approx(1 - (1 - found.scott.value) * (24 - 1) / 24)


def test_documents_of_cells_are_kept_and_checked() -> None:
    columns = {"rater": [0, 1, 0], "cell": [7, 7, 3], "sheet": [0, 0, 0], "code": [1, 0, 1], "n_options": 2}

    assert Answers.from_long(**columns, document=[4, 4, 2]).document.tolist() == [2, 4, 4]
    assert Answers.from_long(**columns).document.tolist() == [3, 7, 7]
    with pytest.raises(ValueError, match="a cell lies in two documents"):
        Answers.from_long(**columns, document=[4, 5, 2])
