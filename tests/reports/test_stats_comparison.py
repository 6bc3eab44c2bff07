"""A judge against people and against another judge: published examples, other libraries, and formulas as loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, f1_score, precision_recall_fscore_support
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from base.proportions import wilson_interval
from reports.stats.agreeing import agreeing
from reports.stats.alternative import alternative_annotator_test
from reports.stats.answers import MISSING, Answers
from reports.stats.bootstrap import TOO_FEW_CLUSTERS, resampling_of
from reports.stats.classification import (
    ceiling_baseline,
    ceiling_intervals,
    classification,
    classification_intervals,
    human_ceiling,
    kappas_with_people,
    left_out,
)
from reports.stats.comparison import compare_judges, mcnemar
from reports.stats.hiring.means import ShareBounds
from reports.stats.judge import confusion, judge_accuracy
from reports.stats.judge_models import JudgeScore, annotation_by_extraction, annotation_models
from tests.reports.matrices import answers_of

K = 3
_ = MISSING


def sheets(codes: np.ndarray, *, size: int = 6) -> np.ndarray:
    return np.arange(codes.shape[1]) // size


def of(codes: np.ndarray, *, n_options: int = K) -> Answers:
    """Every six cells are a sheet, every two a document."""
    table = np.asarray(codes)
    rater, cell = np.indices(table.shape)
    return Answers.from_long(
        rater=rater.ravel(),
        cell=cell.ravel(),
        sheet=(cell // 6).ravel(),
        document=(cell // 2).ravel(),
        code=table.ravel(),
        n_options=n_options,
    )


def random_case(seed: int, *, n_people: int = 3, n_cells: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(K, n_cells, p=[0.5, 0.3, 0.2])
    codes = np.where(rng.random((n_people + 1, n_cells)) < 0.35, rng.integers(0, K, (n_people + 1, n_cells)), truth)
    codes = np.where(rng.random(codes.shape) < 0.2, MISSING, codes)
    return codes[:n_people], codes[n_people:]


# --- classification -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_classification_equals_scikit_learn(seed: int) -> None:
    people, judge = random_case(seed, n_people=1)
    both = (people[0] != MISSING) & (judge[0] != MISSING)
    truth, said = people[0][both], judge[0][both]

    found = classification(confusion(of(people), of(judge)).table)

    precision, recall, f1, support = precision_recall_fscore_support(truth, said, labels=range(K))
    assert [option.precision for option in found.options] == pytest.approx(precision)
    assert [option.recall for option in found.options] == pytest.approx(recall)
    assert [option.f1 for option in found.options] == pytest.approx(f1)
    assert [option.n_people for option in found.options] == support.tolist()
    assert found.macro_f1 == pytest.approx(f1_score(truth, said, average="macro"), abs=1e-9)
    assert found.macro_recall == pytest.approx(balanced_accuracy_score(truth, said), abs=1e-9)
    assert found.kappa == pytest.approx(cohen_kappa_score(truth, said), abs=1e-9)
    assert found.accuracy == pytest.approx((truth == said).mean())
    weighted = classification(confusion(of(people), of(judge)).table, "quadratic")
    assert weighted.kappa == pytest.approx(cohen_kappa_score(truth, said, weights="quadratic"), abs=1e-9)
    assert (weighted.accuracy, weighted.macro_f1) == (found.accuracy, found.macro_f1)


def test_options_that_nobody_chose_do_not_lower_the_macro_f1() -> None:
    # Option 2 is nobody's. Option 0: precision 2/3, recall 1, F1 4/5; option 1: precision 1, recall 1/2, F1 2/3.
    found = classification([[2, 0, 0], [1, 1, 0], [0, 0, 0]])

    assert found.macro_f1 == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert (found.options[2].precision, found.options[2].recall, found.options[2].f1) == (None, None, None)


def test_classification_of_nothing_says_so() -> None:
    found = classification(np.zeros((2, 2)))

    assert (found.macro_f1, found.kappa, found.accuracy, found.n) == (None, None, None, 0)
    assert found.reason == "the judge has no label in a cell that a person answered"


def test_classification_intervals_are_of_whole_documents() -> None:
    people, judge = random_case(4, n_cells=120)
    found = classification_intervals(of(people), of(judge), n_draws=500, seed=1)
    point = classification(confusion(of(people), of(judge)).table)

    for interval, value in (
        (found.accuracy, point.accuracy),
        (found.macro_f1, point.macro_f1),
        (found.macro_recall, point.macro_recall),
        (found.kappa, point.kappa),
    ):
        assert interval.low is not None
        assert interval.high is not None
        assert value is not None
        assert interval.low < value < interval.high
        assert interval.n_clusters == 60
    weighted = classification_intervals(of(people), of(judge), "quadratic", n_draws=500, seed=1).kappa
    value = classification(confusion(of(people), of(judge)).table, "quadratic").kappa
    assert weighted.low is not None
    assert weighted.high is not None
    assert value is not None
    assert weighted.low < value < weighted.high
    few = classification_intervals(of(people[:, :12]), of(judge[:, :12]))
    assert few.kappa.reason.startswith("too little data")


def test_kappas_with_people_are_those_of_the_cells_that_both_answered() -> None:
    people, judge = random_case(5)
    named = Answers.from_long(rater=np.full(60, 7), cell=np.arange(60), sheet=sheets(judge), code=judge[0], n_options=K)

    found = kappas_with_people(of(people), named)

    assert [(row.rater_a, row.rater_b) for row in found] == [(0, 7), (1, 7), (2, 7)]
    for row in found:
        both = (people[row.rater_a] != MISSING) & (judge[0] != MISSING)
        assert row.n == both.sum()
        assert row.cohen == pytest.approx(cohen_kappa_score(people[row.rater_a][both], judge[0][both]), abs=1e-9)


# --- human ceiling --------------------------------------------------------------------------------------------------

cases = st.tuples(
    hnp.arrays(np.int64, (3, 12), elements=st.integers(MISSING, K - 1)),
    hnp.arrays(np.int64, (1, 12), elements=st.integers(MISSING, K - 1)),
)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_human_ceiling_equals_judge_accuracy_with_each_person_as_the_judge(
    case: tuple[np.ndarray, np.ndarray],
) -> None:
    people, judge = case
    expected = {}
    for person in range(3):
        others = np.delete(people, person, axis=0)
        usable = (people[person] != MISSING) & (judge[0] != MISSING) & (others != MISSING).any(axis=0)
        if usable.any():
            left = of(np.where(usable, others, MISSING))
            expected[person] = (
                judge_accuracy(left, of(people[[person]])).value,
                judge_accuracy(left, of(judge)).value,
                usable.sum(),
            )

    found = human_ceiling(of(people), left_out(of(people), of(judge)))

    assert {row.rater: (row.person, row.judge, row.n) for row in found.rows} == {
        person: (pytest.approx(a), pytest.approx(b), n) for person, (a, b, n) in expected.items()
    }
    if expected:
        assert found.person == pytest.approx(np.mean([row[0] for row in expected.values()]))
    else:
        assert (found.person, found.reason) == (None, "no cell has the judge's label and two people's answers")


def drawn_answers(rng: np.random.Generator, n: int) -> tuple[Answers, Answers]:
    """n documents of three cells in two sheets, which two or three people and a judge have answered; in ten more one
    person and the judge."""
    lines = []
    for document in range(n + 10):
        for cell in range(3):
            people = range(1) if document >= n else range(2 + int(rng.integers(2)))
            lines += [(rater, 3 * document + cell, document % 2, int(rng.integers(K)), document) for rater in people]
    rater, cell, sheet, code, document = np.array(lines).T
    people = Answers.from_long(rater=rater, cell=cell, sheet=sheet, code=code, document=document, n_options=K)
    cells = np.arange(3 * (n + 10))
    judge = Answers.from_long(
        rater=np.zeros(cells.size),
        cell=cells,
        sheet=cells // 3 % 2,
        code=rng.integers(K, size=cells.size),
        document=cells // 3,
        n_options=K,
    )
    return people, judge


@pytest.mark.parametrize("each", [False, True])
def test_intervals_of_the_ceiling_are_those_of_drawn_documents(each: bool) -> None:
    people, judge = drawn_answers(np.random.default_rng(5), 12)
    found = ceiling_intervals(people, left_out(people, judge, each=each), n_draws=60, seed=1)

    # The documents with a cell of two people, drawn and put together again, each copy with cells of its own.
    draws = resampling_of(np.arange(12), "document", n_draws=60, seed=1, group_many=False)
    values = [human_ceiling(people, left_out(people, judge, each=each))]
    for counts in np.concatenate(list(draws.counts()), axis=1).T.astype(int):
        copies = [(document, copy) for document, n in enumerate(counts) for copy in range(n)]
        drawn = [
            Answers.from_long(
                rater=np.concatenate([of.rater[of.document == document] for document, _copy in copies]),
                cell=np.concatenate([of.cell[of.document == document] + 1000 * copy for document, copy in copies]),
                sheet=np.concatenate([of.sheet[of.document == document] for document, _copy in copies]),
                code=np.concatenate([of.code[of.document == document] for document, _copy in copies]),
                n_options=K,
            )
            for of in (people, judge)
        ]
        values.append(human_ceiling(drawn[0], left_out(*drawn, each=each)))
    for name in ("person", "judge"):
        expected = draws.interval(np.array([getattr(one, name) for one in values]), n_sheets=2)
        interval = getattr(found, name)
        assert (interval.low, interval.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
        assert interval.n_clusters == 12


def test_a_few_documents_with_two_people_give_no_interval() -> None:
    people, judge = drawn_answers(np.random.default_rng(5), 9)  # and ten that say nothing of the ceiling
    left = left_out(people, judge)
    assert human_ceiling(people, left).n_documents == 9
    assert ceiling_intervals(people, left).judge.reason == TOO_FEW_CLUSTERS
    none = of(np.array([[0, 1]]))
    left = left_out(none, none)
    assert ceiling_intervals(none, left).person.reason == TOO_FEW_CLUSTERS
    assert ceiling_baseline(none, left) is None


def test_the_baseline_beside_the_ceiling_is_of_the_same_cells() -> None:
    # Only the first three cells have two people; there option 0 is the most frequent (4 of 6), elsewhere it is 1.
    people = np.array([[0, 0, 1, 1, 1, 1], [0, 1, 0, MISSING, MISSING, MISSING]])
    judge = of(np.array([[0, 2, 2, 1, 1, 1]]))
    left = left_out(of(people), judge)
    # Always 0: the others of each person chose 0 in cells 1 and 3, or 1 and 2: (2/3 + 2/3) / 2; the judge: 1/3.
    assert ceiling_baseline(of(people), left) == pytest.approx(2 / 3)
    found = human_ceiling(of(people), left)
    assert (found.judge, found.n_cells) == (pytest.approx(1 / 3), 3)


# --- McNemar --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "chi_squared", "exact"),
    [
        ([[794, 86], [150, 570]], 17.3559, 3.716e-05),  # Agresti: approval of the prime minister
        ([[101, 121], [59, 33]], 21.3556, None),  # Wikipedia
        ([[59, 6], [16, 80]], 4.5455, 0.05248),
    ],
)
def test_mcnemar_equals_published_examples(table: list[list[int]], chi_squared: float, exact: float | None) -> None:
    found = mcnemar(table)

    if found.rule == "chi-squared":
        assert found.p_value == pytest.approx(stats.chi2.sf(chi_squared, 1), rel=1e-4)
    if exact:
        assert found.exact == pytest.approx(exact, rel=1e-3)


def test_mcnemar_is_exact_where_few_cells_differ() -> None:
    # Fagerland 2013: airway hyper-responsiveness of 21 children before and after.
    found = mcnemar([[1, 1], [7, 12]])

    assert found.exact == pytest.approx(0.0703, abs=5e-5)
    assert (found.rule, found.p_value) == ("exact", found.exact)


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(np.int64, (2, 2), elements=st.integers(0, 60)))
def test_mcnemar_equals_statsmodels_and_binomtest(table: np.ndarray) -> None:
    found = mcnemar(table)
    first, second = int(table[0, 1]), int(table[1, 0])
    if not first + second:
        assert (found.p_value, found.reason) == (
            None,
            "the judges are right and wrong in the same cells" if table.sum() else found.reason,
        )
        return

    assert found.exact == pytest.approx(stats.binomtest(first, first + second).pvalue, abs=1e-9)
    assert found.exact == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue, abs=1e-9)
    plain = statsmodels_mcnemar(table, exact=False, correction=False)
    assert found.p_value == (found.exact if first + second < 25 else pytest.approx(plain.pvalue, abs=1e-9))


def test_judges_are_compared_on_the_cells_of_both() -> None:
    people = of(np.array([[0, 1, 2, 0, 1, 2], [0, 0, _, 0, 1, 2]]))
    first = of(np.array([[0, 0, 2, 1, _, 0]]))  # right, right (second person), right, wrong, -, wrong
    second = of(np.array([[1, 1, 2, 0, 1, 1]]))  # wrong, right, right, right, not compared, wrong

    found = compare_judges(people, first, second)

    assert (found.mcnemar.both, found.mcnemar.only_first, found.mcnemar.only_second, found.mcnemar.neither) == (
        2,
        1,
        1,
        1,
    )
    assert found.difference == pytest.approx(0)
    assert (found.first.n_cells, found.second.n_cells) == (5, 5)
    assert found.interval.reason.startswith("too little data")


@pytest.mark.parametrize("by", ["document", "sheet"])
def test_difference_of_judges_has_an_interval_around_it(by: str) -> None:
    people, first = random_case(7, n_cells=240)
    __, second = random_case(8, n_cells=240)

    found = compare_judges(of(people), of(first), of(second), by=by, n_draws=400)  # type: ignore[arg-type]

    assert found.difference == pytest.approx(found.first.value - found.second.value)
    assert found.interval.low < found.difference < found.interval.high
    assert found.interval.low > 0  # the second judge answers another truth
    assert found.mcnemar.p_value < 0.001


# --- alternative annotator test -------------------------------------------------------------------------------------


def toy() -> tuple[Answers, Answers]:
    """40 cells; a always A; b B in every fourth; c C in every fifth; the judge B in every eighth."""
    i = np.arange(40)
    people = np.stack([np.zeros(40, dtype=int), np.where(i % 4, 0, 1), np.where(i % 5, 0, 2)])
    return of(people), of(np.where(i % 8, 0, 1)[np.newaxis])


def test_alternative_test_of_the_toy_example() -> None:
    found = alternative_annotator_test(*toy())

    assert (found.winning_rate, found.advantage_probability, found.passed) == (1.0, 1.0, True)
    assert [row.p_value for row in found.rows] == pytest.approx([2.315806e-11, 1.67072e-07, 1.182997e-07], rel=1e-5)
    # rho_h of the same example
    assert [row.person_advantage for row in found.rows] == pytest.approx([0.975, 0.875, 0.8])


def test_alternative_test_without_allowance() -> None:
    found = alternative_annotator_test(*toy(), epsilon=0.0)

    assert found.winning_rate == pytest.approx(2 / 3)
    assert found.advantage_probability == 1.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scoring", ["accuracy", "rmse"])
def test_alternative_test_equals_the_procedure_written_as_loops(seed: int, scoring: str) -> None:
    people, judge = random_case(seed, n_people=4, n_cells=90)
    p_values, advantages = [], []
    for person in range(4):
        wins, losses = [], []
        for cell in range(90):
            others = [code for other, code in enumerate(people[:, cell]) if other != person and code != MISSING]
            mine, its = people[person, cell], judge[0, cell]
            if MISSING in (mine, its) or not others:
                continue

            def score(code: int, others: list[int] = others) -> float:
                if scoring == "accuracy":
                    return float(np.mean([code == other for other in others]))
                return -float(np.sqrt(np.mean([(code - other) ** 2 for other in others])))

            wins.append(score(its) >= score(mine))
            losses.append(score(mine) >= score(its))
        d = np.array(losses, dtype=float) - np.array(wins, dtype=float)
        p_values.append(stats.ttest_1samp(d, 0.1, alternative="less").pvalue)
        advantages.append(np.mean(wins))
    # Benjamini and Yekutieli, as in the authors' code: the largest i with p_(i) <= q i / (m sum 1/j).
    ordered = np.sort(p_values)
    limits = 0.05 * np.arange(1, 5) / (4 * sum(1 / j for j in range(1, 5)))
    below = np.flatnonzero(ordered <= limits)
    omega = (below[-1] + 1) / 4 if below.size else 0.0

    found = alternative_annotator_test(of(people), of(judge), epsilon=0.1, scoring=scoring)  # type: ignore[arg-type]

    assert [row.p_value for row in found.rows] == pytest.approx(p_values, abs=1e-9)
    assert found.advantage_probability == pytest.approx(np.mean(advantages))
    assert found.winning_rate == pytest.approx(omega)


def test_people_with_few_cells_are_left_out_and_counted() -> None:
    people, judge = random_case(1, n_cells=20)

    found = alternative_annotator_test(of(people), of(judge))

    assert (found.winning_rate, found.passed, found.n_people, found.n_left_out) == (None, None, 0, 3)
    assert found.reason == "no person has enough cells that the judge and another person answered"


@settings(max_examples=30, deadline=None)
@given(cases)
def test_a_judge_that_answers_as_everybody_has_every_advantage(case: tuple[np.ndarray, np.ndarray]) -> None:
    people = np.where(case[0] == MISSING, MISSING, 1)
    found = alternative_annotator_test(of(people), of(np.full((1, 12), 1)), minimum_cells=1)

    if found.n_people:
        assert found.advantage_probability == 1.0
        assert found.winning_rate == (1.0 if found.n_people >= 3 else None)


# --- Tables 7 and 8 -------------------------------------------------------------------------------------------------

MIXTRAL, MISTRAL, LLAMA, GEMMA_9B, GEMMA_27B = "Mixtral 8x7B", "Mistral 7B", "Llama 3.1 8B", "Gemma 2 9B", "Gemma 2 27B"
TABLE_7 = {
    MIXTRAL: (0.631, 0.674, 0.708),
    MISTRAL: (0.592, 0.602, 0.589),
    GEMMA_9B: (0.707, 0.740, 0.778),
    LLAMA: (0.377, 0.369, 0.355),
    GEMMA_27B: (0.685, 0.716, 0.745),
}


def paper() -> list[JudgeScore]:
    return [
        JudgeScore(f"{annotator} on {extractor}", annotator, extractor, value, n_cells=4446)
        for annotator, row in TABLE_7.items()
        for extractor, value in zip((MIXTRAL, MISTRAL, LLAMA), row, strict=True)
    ]


def test_table_7_crosses_annotation_and_extraction_models() -> None:
    table = annotation_by_extraction(paper())

    assert table.rows == tuple(TABLE_7)
    assert table.columns == (MIXTRAL, MISTRAL, LLAMA)
    assert [[cell.value if cell else None for cell in row] for row in table.cells] == [
        list(v) for v in TABLE_7.values()
    ]
    # "the extraction by Llama 3.1 8B Instruct resulted in the highest accuracy with 3 out of the 5 tested models"
    assert table.wins == (1, 1, 3)
    assert table.best == (2, 2)


def test_table_7_has_gaps_where_no_judge_ran() -> None:
    table = annotation_by_extraction([*paper()[:2], JudgeScore("new", GEMMA_9B, LLAMA, None, n_cells=0)])

    assert table.cells[1][0] is None
    assert table.best == (0, 1)


def test_table_7_refuses_two_judges_in_one_place() -> None:
    with pytest.raises(ValueError, match="a table has one place for them"):
        annotation_by_extraction([*paper(), paper()[0]])


def test_table_8_lists_the_models_of_one_extraction() -> None:
    table = annotation_models(paper(), LLAMA)

    assert [row.value for row in table.rows] == [0.708, 0.589, 0.778, 0.355, 0.745]
    assert table.best == 2
    assert annotation_models([], LLAMA).best is None


def test_kappa_with_people_ignores_the_order_of_cells() -> None:
    people, judge = random_case(11)
    order = np.random.default_rng(0).permutation(60)

    plain = kappas_with_people(answers_of(people, n_options=K), answers_of(judge, n_options=K))
    moved = kappas_with_people(answers_of(people[:, order], n_options=K), answers_of(judge[:, order], n_options=K))

    assert [row.cohen for row in plain] == pytest.approx([row.cohen for row in moved])


# --- the same by documents ------------------------------------------------------------------------------------------


def in_documents(codes: np.ndarray, cells: int) -> Answers:
    """As `of`, with so many cells a document."""
    raters, columns = np.indices(codes.shape)
    return Answers.from_long(
        rater=raters.ravel(),
        cell=columns.ravel(),
        sheet=np.zeros(codes.size, dtype=int),
        document=columns.ravel() // cells,
        code=codes.ravel(),
        n_options=K,
    )


def test_alternative_test_by_documents_with_one_cell_each_is_the_plain_one() -> None:
    people, judge = random_case(2, n_people=4, n_cells=90)
    plain = alternative_annotator_test(of(people), of(judge), epsilon=0.1)
    by_documents = alternative_annotator_test(in_documents(people, 1), of(judge), epsilon=0.1, by="document")

    assert [row.p_value for row in by_documents.rows] == pytest.approx([row.p_value for row in plain.rows])
    assert [row.n_clusters for row in by_documents.rows] == [row.n for row in by_documents.rows]
    assert (plain.by, by_documents.by) == (None, "document")


def test_alternative_test_by_documents_knows_copied_cells() -> None:
    """Each cell five times over: as independent cells they make p far smaller, as documents they change nothing."""
    people, judge = random_case(4, n_people=3, n_cells=40)
    copies = in_documents(np.repeat(people, 5, axis=1), 5), of(np.repeat(judge, 5, axis=1))
    once = alternative_annotator_test(in_documents(people, 1), of(judge), by="document", minimum_cells=20)
    plain = alternative_annotator_test(*copies)
    by_documents = alternative_annotator_test(*copies, by="document")

    assert [row.p_value for row in by_documents.rows] == pytest.approx([row.p_value for row in once.rows])
    assert all(
        abs(0.5 - (one.p_value or 0)) > abs(0.5 - (row.p_value or 0))
        for one, row in zip(plain.rows, by_documents.rows, strict=True)
    )


def test_alternative_test_asks_for_ten_documents() -> None:
    people, judge = toy()
    codes = np.stack([people.code[people.rater == rater] for rater in range(3)])
    found = alternative_annotator_test(in_documents(codes, 5), judge, by="document")

    assert (found.passed, found.n_people, found.n_left_out) == (None, 0, 3)
    assert found.reason == "not enough annotators: the test needs three with enough cells in ten documents or more"


# --- where two judges agree -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_where_two_judges_agree_is_counted_as_a_loop_does(seed: int) -> None:
    people, first = random_case(seed)
    second = random_case(seed + 10)[1]
    found = agreeing(of(people), of(first), of(second))
    agreed, elsewhere = [], []
    first, second = first[0], second[0]
    for cell in range(people.shape[1]):
        said = set(people[:, cell]) - {MISSING}
        if said and MISSING not in (first[cell], second[cell]):
            (agreed if first[cell] == second[cell] else elsewhere).append((first[cell] in said, second[cell] in said))
    assert (found.n, found.n_agreed) == (len(agreed) + len(elsewhere), len(agreed))
    assert found.agreed == pytest.approx(len(agreed) / found.n)
    assert found.right == pytest.approx(np.mean([one for one, _two in agreed]))
    assert found.right_low < found.right <= found.right_high
    before = agreeing(of(people), of(first[np.newaxis]), of(second[np.newaxis]), bounds=ShareBounds.FIRST)
    hits = sum(one for one, _two in agreed)
    assert (before.right_low, before.right_high) == pytest.approx(wilson_interval(hits, len(agreed)))
    assert found.first == pytest.approx(np.mean([one for one, _two in elsewhere]))
    assert found.second == pytest.approx(np.mean([two for _one, two in elsewhere]))


def test_where_judges_agree_in_one_document_little_is_known() -> None:
    """Twenty cells of one document are worth as much as one cell: twenty of twenty documents say more."""
    people = np.zeros((1, 20), dtype=np.int64)
    one = agreeing(in_documents(people, 20), in_documents(people, 20), in_documents(people, 20))
    many = agreeing(in_documents(people, 1), in_documents(people, 1), in_documents(people, 1))
    assert (one.right, one.right_low, one.right_high) == (1, pytest.approx(0.025), 1)
    assert (many.right, many.right_low, many.right_high) == (1, pytest.approx(0.025 ** (1 / 20)), 1)


def test_judges_that_never_meet_agree_nowhere() -> None:
    people = np.array([[0, 1, 2]])
    found = agreeing(of(people), of(np.array([[0, _, _]])), of(np.array([[_, 1, _]])))
    assert (found.n, found.agreed, found.right, found.first) == (0, None, None, None)
