from __future__ import annotations

import csv
import itertools
import os
from dataclasses import replace
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import cohen_kappa_score

from reports.stats import agreement
from reports.stats.agreement import UndefinedStatistic, cohen_kappa, krippendorff_alpha, macro_accuracy, macro_kappa
from reports.stats.answers import MISSING, Answers, merge
from reports.stats.pairs import pair_tables
from tests.reports.matrices import answers_of

# --- published tables ------------------------------------------------------------------------------------------------

COHEN_TABLES = {
    "Wikipedia 1": ([[20, 5], [10, 15]], 0.4),
    "Wikipedia 2": ([[45, 15], [25, 15]], 0.1304),
    "Wikipedia 3": ([[25, 35], [5, 35]], 0.2593),
    # Feinstein and Cicchetti's paradox: the observed agreement is 0.85 in both.
    "Feinstein 1": ([[40, 9], [6, 45]], 0.6995),
    "Feinstein 2": ([[80, 10], [5, 5]], 0.3182),
    "SAS": ([[0, 4, 1], [0, 8, 0], [0, 1, 5]], 0.4842),
    "Gwet, 3 x 3 abstractors": ([[13, 0, 0], [0, 20, 7], [0, 4, 56]], 0.7964094),
    "Cohen 1968, counts of 200": ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.4915),
    # 40 of 60 rows "1" and two unequal margins; also the example of Artstein and Poesio.
    "Artstein and Poesio": ([[20, 20], [10, 50]], 0.3478),
}


@pytest.mark.parametrize(("table", "kappa"), COHEN_TABLES.values(), ids=COHEN_TABLES.keys())
def test_cohen_kappa_equals_published_tables(table: list[list[int]], kappa: float) -> None:
    assert cohen_kappa(table) == pytest.approx(kappa, abs=6e-5)


def test_cohen_kappa_with_linear_weights_equals_the_sas_example() -> None:
    assert cohen_kappa([[0, 4, 1], [0, 8, 0], [0, 1, 5]], "linear") == pytest.approx(0.4701, abs=5e-5)


ANXIETY_2 = [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4]
ANXIETY_3 = [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2]


@pytest.mark.parametrize(
    ("weights", "kappa"), [(None, -0.006289308), ("linear", 0.1459075), ("quadratic", 0.2520325)], ids=str
)
def test_cohen_kappa_equals_the_anxiety_ratings_of_irr(weights: agreement.Weights | None, kappa: float) -> None:
    # irr takes only the ratings that occur (nobody gave a 5) as its scale: 1 2 3 4 6 are the options 0 1 2 3 4.
    codes = np.searchsorted([1, 2, 3, 4, 6], [ANXIETY_2, ANXIETY_3])
    answers = answers_of(codes, n_options=5)

    assert macro_kappa(pair_tables(answers), weights).value == pytest.approx(kappa, abs=5e-8)


def test_cohen_kappa_is_not_defined_when_both_always_chose_the_same_option() -> None:
    with pytest.raises(UndefinedStatistic, match="everyone always chose the same option"):
        cohen_kappa([[0, 0], [0, 7]])


def test_cohen_kappa_is_not_defined_for_an_empty_table() -> None:
    with pytest.raises(UndefinedStatistic, match="no cell has two answers"):
        cohen_kappa(np.zeros((3, 3)))


def test_cohen_kappa_is_zero_when_each_rater_is_constant_on_another_option() -> None:
    # Observed disagreement 5/5, expected 1 * 1: 1 - 1/1 = 0.
    assert cohen_kappa([[0, 5], [0, 0]]) == 0


# --- pairs of raters ------------------------------------------------------------------------------------------------

# Two recipes of four cells; raters 0, 1, 2 work on the first and 1, 2, 3 on the second ("-" is no answer).
#            recipe 0   recipe 1
TINY = """
    rater 0: 0 0 1 1    - - - -
    rater 1: 0 1 1 1    0 0 0 -
    rater 2: - - - 0    0 0 1 1
    rater 3: - - - -    - - - 1
"""


def tiny() -> Answers:
    rows = [line.split(":")[1].split() for line in TINY.strip().splitlines()]
    codes = [[MISSING if sign == "-" else int(sign) for sign in row] for row in rows]
    return answers_of(codes, groups=[0] * 4 + [1] * 4, n_options=2)


def test_pair_tables_lists_every_pair_that_shares_a_cell_in_a_sheet() -> None:
    found = [(t.sheet, t.rater_a, t.rater_b, t.n, t.table.tolist()) for t in pair_tables(tiny())]

    assert found == [
        (0, 0, 1, 4, [[1, 1], [0, 2]]),
        (0, 0, 2, 1, [[0, 0], [1, 0]]),  # cell 3: rater 0 chose 1 and rater 2 chose 0
        (0, 1, 2, 1, [[0, 0], [1, 0]]),
        (1, 1, 2, 3, [[2, 1], [0, 0]]),
        (1, 2, 3, 1, [[0, 0], [0, 1]]),
    ]


def test_macro_kappa_is_the_sum_over_recipe_pairs_divided_by_their_number() -> None:
    result = macro_kappa(pair_tables(tiny()))

    # (0; 0,1): po = 3/4, pe = (2*1 + 2*3)/16 = 1/2, kappa = 1/2.  (0; 0,2) and (0; 1,2): po = 0, pe = 0, kappa = 0.
    # (1; 1,2): po = 2/3, pe = (3*2 + 0*1)/9 = 2/3, kappa = 0.  (1; 2,3): both always chose 1, not defined.
    assert [row.value for row in result.rows] == [pytest.approx(0.5), 0, 0, pytest.approx(0), None]
    # (1/2 + 0 + 0 + 0) / 4
    assert result.value == pytest.approx(0.125)
    assert (result.n_pairs, result.n_undefined) == (4, 1)
    assert result.rows[4].reason == "everyone always chose the same option"


def test_macro_kappa_counts_pairs_of_a_sheet_without_a_shared_cell() -> None:
    # Raters 1 and 3 both work on recipe 1 and share no cell; all three pairs of recipe 0 share some.
    assert macro_kappa(pair_tables(tiny())).n_unshared == 1


def test_macro_kappa_carries_its_coverage() -> None:
    result = macro_kappa(pair_tables(tiny()))

    # All 8 cells have two answers or more; cell 3 of recipe 0 has three answers, so 3 comparisons: 7 + 3 = 10.
    assert (result.n_cells, result.n_comparisons, result.overlap) == (8, 10, 1.0)


def test_pooled_kappa_puts_all_comparisons_in_one_table_both_ways_round() -> None:
    pooled = macro_kappa(pair_tables(tiny())).pooled

    # Sum of the five tables: [[3, 2], [2, 3]]; with its transpose [[6, 4], [4, 6]].
    # po = 12/20 = 0.6, pe = 1/2, kappa = 0.1/0.5 = 0.2
    assert pooled.value == pytest.approx(0.2)
    assert pooled.n_comparisons == 10


def test_macro_accuracy_is_the_mean_over_pair_positions_of_the_mean_over_recipes() -> None:
    result = macro_accuracy(pair_tables(tiny()))

    # Places in recipe 0: raters 0, 1, 2; in recipe 1: raters 1, 2, 3.
    # (1,2): recipe 0: 3/4, recipe 1: raters 1,2: 2/3 -> 17/24.   (1,3): recipe 0: 0/1; raters 1,3 share nothing -> 0.
    # (2,3): recipe 0: 0/1, recipe 1: raters 2,3: 1/1 -> 1/2.     (17/24 + 0 + 1/2) / 3 = 29/72
    assert result.value == pytest.approx(29 / 72)
    assert (result.n_pairs, result.n_positions, result.n_unshared) == (5, 3, 1)
    assert [(row.sheet, row.position, row.agreed, row.shared) for row in result.rows][-1] == (1, (2, 3), 1, 1)


def test_places_are_of_those_who_are_to_answer() -> None:
    """Rater 0 is to answer in recipe 1 too, so raters 1, 2, 3 are its second, third and fourth."""
    found = pair_tables(replace(tiny(), assigned=np.array([[1, 0], [1, 2], [7, 9]])))

    assert [(t.sheet, a, b) for t, a, b in zip(found, found.position_a, found.position_b, strict=True)] == [
        (0, 0, 1), (0, 0, 2), (0, 1, 2), (1, 1, 2), (1, 2, 3),
    ]  # fmt: skip
    assert found.n_unshared == pair_tables(tiny()).n_unshared
    assert found.rater_a.tolist() == [0, 0, 1, 1, 2]


def test_macro_accuracy_equals_the_mean_of_recipe_pairs_when_all_places_occur_everywhere() -> None:
    rng = np.random.default_rng(0)
    codes = np.full((7, 60), MISSING)
    for sheet in range(6):
        raters = rng.choice(7, 3, replace=False)
        codes[raters, sheet * 10 : sheet * 10 + 10] = rng.integers(0, 3, (3, 10))
    answers = answers_of(codes, groups=np.arange(60) // 10, n_options=3)

    result = macro_accuracy(pair_tables(answers))

    assert result.n_pairs == 18
    assert result.value == pytest.approx(np.mean([row.agreed / row.shared for row in result.rows]))


def test_statistics_of_nothing_have_no_value_and_say_why() -> None:
    nothing = Answers.from_long(rater=[], cell=[], sheet=[], code=[], n_options=3)
    tables = pair_tables(nothing)

    for result in (
        macro_kappa(tables),
        macro_kappa(tables).pooled,
        macro_accuracy(tables),
        agreement.percent_agreement(tables),
        agreement.alpha(nothing),
    ):
        assert (result.value, result.reason, result.overlap) == (None, "no cell has two answers", None)


def test_macro_kappa_without_a_defined_pair_says_so() -> None:
    unanimous = answers_of([[1, 1, 1], [1, 1, 1]], n_options=2)

    result = macro_kappa(pair_tables(unanimous))

    assert (result.value, result.reason) == (None, "no pair of raters has a defined value")
    assert result.pooled.reason == "everyone always chose the same option"


def test_average_counts_questions_alike_and_leaves_out_the_undefined() -> None:
    defined = macro_kappa(pair_tables(answers_of([[0, 1], [0, 1]], n_options=2)))
    zero = macro_kappa(pair_tables(answers_of([[0, 0], [1, 1]], n_options=2)))
    undefined = macro_kappa(pair_tables(answers_of([[0, 0], [0, 0]], n_options=2)))

    # kappas 1 and 0, and one that does not exist
    result = agreement.average([defined, zero, undefined])

    assert (result.value, result.n_questions, result.n_undefined) == (0.5, 2, 1)


def test_merge_counts_one_option_as_another_and_keeps_what_is_missing() -> None:
    assert merge([0, 3, 2, MISSING, -4], {3: 2}, n_options=4).tolist() == [0, 2, 2, MISSING, -4]


def test_merge_refuses_an_option_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="cannot count option 4 as 2"):
        merge([0], {4: 2}, n_options=4)


def test_merged_answers_agree_where_the_options_became_one() -> None:
    answers = answers_of([[0, 2, 3, 1], [0, 3, 3, 1]], n_options=4)

    assert agreement.percent_agreement(pair_tables(answers)).value == 0.75
    assert agreement.percent_agreement(pair_tables(answers.merged({3: 2}))).value == 1.0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"rater": [0, 0], "cell": [5, 5], "sheet": [0, 0], "code": [1, 1]}, "two answers to the same cell"),
        ({"rater": [0, 1], "cell": [5, 5], "sheet": [0, 1], "code": [1, 1]}, "a cell lies in two sheets"),
        ({"rater": [0], "cell": [5], "sheet": [0], "code": [2]}, "code 2 is none of the 2 options"),
        ({"rater": [0, 1], "cell": [5], "sheet": [0], "code": [1]}, "of the same length"),
    ],
    ids=["repeat", "two sheets", "unknown option", "lengths"],
)
def test_answers_refuse_data_they_cannot_count(labels: dict[str, list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Answers.from_long(**labels, n_options=2)


# --- Krippendorff's alpha -------------------------------------------------------------------------------------------


def codes_of(*raters: str) -> np.ndarray:
    return np.array([[MISSING if sign == "." else int(sign) - 1 for sign in rater] for rater in raters])


KRIPPENDORFF_C = codes_of("123321412...", "1233224125..", ".33323422513", "12332441251.")
WIKIPEDIA = codes_of(".....34121133.3", "1.213343.......", "..21344.21133.4")


@pytest.mark.parametrize(
    ("codes", "level", "expected"),
    [
        (KRIPPENDORFF_C, "nominal", 0.7434),
        (KRIPPENDORFF_C, "ordinal", 0.8154),
        (KRIPPENDORFF_C, "interval", 0.8491),
        (WIKIPEDIA, "nominal", 0.6914),
        (WIKIPEDIA, "ordinal", 0.8067),
        (WIKIPEDIA, "interval", 0.8108),
        (codes_of("1211111121", "2221121111"), "nominal", 0.095),  # Krippendorff 2011 A
        (codes_of("112243335441", "212223335444"), "nominal", 0.692),  # Krippendorff 2011 B, a to e as 1 to 5
    ],
)
def test_alpha_equals_published_examples(codes: np.ndarray, level: agreement.Level, expected: float) -> None:
    result = agreement.alpha(answers_of(codes, n_options=5), level)

    assert result.value == pytest.approx(expected, abs=5e-4 if expected in (0.095, 0.692) else 5e-5)


def test_alpha_carries_the_number_of_cells_it_used() -> None:
    result = agreement.alpha(answers_of(KRIPPENDORFF_C, n_options=5))

    # 12 units; the last has one answer. Answers a unit: 3 4 4 4 4 4 4 4 4 3 2 1 -> 3+6*8+3+1 = 55 comparisons.
    assert (result.n_cells, result.n_comparisons) == (11, 55)
    assert result.overlap == pytest.approx(11 / 12)


def test_alpha_at_the_interval_level_uses_the_values_of_the_options() -> None:
    codes = [[0, 1, 2, 2], [0, 1, 1, 2]]
    values = [0, 1, 10]
    expected = krippendorff.alpha(reliability_data=[[0, 1, 10, 10], [0, 1, 1, 10]], level_of_measurement="interval")

    assert agreement.alpha(answers_of(codes, n_options=3), "interval", values).value == pytest.approx(expected)


def test_alpha_is_not_defined_when_everyone_always_chose_the_same_option() -> None:
    # The other option was chosen too, but in a cell with a single answer, which does not count.
    with pytest.raises(UndefinedStatistic, match="everyone always chose the same option"):
        krippendorff_alpha([[2, 0], [3, 0], [0, 1]])


def test_alpha_is_not_defined_when_no_cell_has_two_answers() -> None:
    with pytest.raises(UndefinedStatistic, match="no cell has two answers"):
        krippendorff_alpha([[1, 0], [0, 1]])


# --- properties -----------------------------------------------------------------------------------------------------

N_OPTIONS = 4
matrices = hnp.arrays(
    np.int64, st.tuples(st.integers(2, 5), st.integers(1, 24)), elements=st.integers(MISSING, N_OPTIONS - 1)
)


def grouped(codes: np.ndarray) -> Answers:
    """Every five cells are a sheet."""
    return answers_of(codes, groups=np.arange(codes.shape[1]) // 5, n_options=N_OPTIONS)


@settings(max_examples=60, deadline=None)
@given(matrices, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_of_each_recipe_pair_equals_scikit_learn(codes: np.ndarray, weights: agreement.Weights | None) -> None:
    rows = {
        (row.sheet, row.rater_a, row.rater_b): row for row in macro_kappa(pair_tables(grouped(codes)), weights).rows
    }

    for start in range(0, codes.shape[1], 5):
        part = codes[:, start : start + 5]
        for a, b in itertools.combinations(range(codes.shape[0]), 2):
            shared = (part[a] >= 0) & (part[b] >= 0)
            if not shared.any():
                assert (start // 5, a, b) not in rows
                continue
            row = rows[start // 5, a, b]
            assert row.n == shared.sum()
            if row.value is None:
                assert len({*part[a][shared], *part[b][shared]}) == 1
            else:
                theirs = cohen_kappa_score(
                    part[a][shared], part[b][shared], weights=weights, labels=list(range(N_OPTIONS))
                )
                assert row.value == pytest.approx(theirs)


@settings(max_examples=60, deadline=None)
@given(matrices, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_equals_krippendorff_on_the_raw_table(codes: np.ndarray, level: agreement.Level) -> None:
    result = agreement.alpha(grouped(codes), level)

    pairable = codes[:, (codes >= 0).sum(axis=0) >= 2]
    if result.value is None:
        assert len(set(pairable[pairable >= 0])) <= 1
    else:
        raw = np.where(codes >= 0, codes, np.nan)
        assert result.value == pytest.approx(krippendorff.alpha(reliability_data=raw, level_of_measurement=level))


@settings(max_examples=60, deadline=None)
@given(matrices, st.randoms(use_true_random=False))
def test_agreement_does_not_depend_on_the_order_of_raters(codes: np.ndarray, random: object) -> None:
    order = list(range(codes.shape[0]))
    random.shuffle(order)  # type: ignore[attr-defined]
    ours, theirs = grouped(codes), grouped(codes[order])
    tables, shuffled = pair_tables(ours), pair_tables(theirs)

    for statistic in (macro_kappa, agreement.pooled_kappa, agreement.percent_agreement):
        assert statistic(tables).value == pytest.approx(statistic(shuffled).value)
    assert agreement.alpha(ours).value == pytest.approx(agreement.alpha(theirs).value)


@settings(max_examples=60, deadline=None)
@given(matrices, st.permutations(range(N_OPTIONS)))
def test_nominal_agreement_does_not_depend_on_the_order_of_options(codes: np.ndarray, renamed: list[int]) -> None:
    ours = grouped(codes)
    theirs = ours.merged(dict(enumerate(renamed)))
    tables, permuted = pair_tables(ours), pair_tables(theirs)

    for statistic in (macro_kappa, macro_accuracy, agreement.pooled_kappa, agreement.percent_agreement):
        assert statistic(tables).value == pytest.approx(statistic(permuted).value)
    assert agreement.alpha(ours).value == pytest.approx(agreement.alpha(theirs).value)


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_macro_accuracy_equals_the_formula_written_as_loops(codes: np.ndarray) -> None:
    shares: dict[tuple[int, int], list[float]] = {}
    for start in range(0, codes.shape[1], 5):
        part = codes[:, start : start + 5]
        present = [rater for rater in range(codes.shape[0]) if (part[rater] >= 0).any()]
        for (i, a), (j, b) in itertools.combinations(enumerate(present), 2):
            shared = (part[a] >= 0) & (part[b] >= 0)
            if shared.any():
                shares.setdefault((i, j), []).append(float((part[a] == part[b])[shared].mean()))
    expected = np.mean([np.mean(recipes) for recipes in shares.values()]) if shares else None

    assert macro_accuracy(pair_tables(grouped(codes))).value == pytest.approx(expected)


@settings(max_examples=30, deadline=None)
@given(matrices)
def test_pairs_are_counted_alike_in_blocks_of_any_size(codes: np.ndarray) -> None:
    at_once = list(pair_tables(grouped(codes)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reports.stats.pairs._COMPARISONS_AT_ONCE", 1)
        one_by_one = list(pair_tables(grouped(codes)))

    assert [(t.sheet, t.rater_a, t.rater_b, t.table.tolist()) for t in at_once] == [
        (t.sheet, t.rater_a, t.rater_b, t.table.tolist()) for t in one_by_one
    ]


# --- real crowd labels ----------------------------------------------------------------------------------------------


def shared_data() -> Path:
    beside = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
    return Path(os.environ.get("PALATE_SHARED_DATA", beside))


def test_crowd_labels_of_76_raters_agree_with_scikit_learn_and_krippendorff() -> None:
    path = shared_data() / "crowd-labels" / "temp.standardized.tsv"
    if not path.exists():
        pytest.skip("the crowd labels are not on this machine (PALATE_SHARED_DATA)")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    raters, rater = np.unique([row["!amt_worker_ids"] for row in rows], return_inverse=True)
    cells, cell = np.unique([row["orig_id"] for row in rows], return_inverse=True)
    _, code = np.unique([row["response"] for row in rows], return_inverse=True)
    answers = Answers.from_long(rater=rater, cell=cell, sheet=np.zeros(len(rows)), code=code, n_options=2)
    matrix = np.full((raters.size, cells.size), np.nan)
    matrix[rater, cell] = code

    result = macro_kappa(pair_tables(answers))
    expected = []
    for row in result.rows:
        a, b = matrix[row.rater_a], matrix[row.rater_b]
        shared = ~np.isnan(a) & ~np.isnan(b)
        if np.unique([a[shared], b[shared]]).size > 1:
            expected.append(cohen_kappa_score(a[shared], b[shared]))

    assert (raters.size, cells.size, len(rows)) == (76, 462, 4620)
    # 76 * 75 / 2 pairs of raters, sharing cells or not
    assert len(result.rows) + result.n_unshared == 2850
    assert result.value == pytest.approx(np.mean(expected))
    assert agreement.alpha(answers).value == pytest.approx(
        krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal")
    )
