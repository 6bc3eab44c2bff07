"""Ratings of a benchmark: known effects are found again, coefficients equal those of other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.scheme.spec import load_scheme
from recipes.benchmark.instructions import read_instructions
from recipes.cuisine_transfer.simulation import FAVOUR, simulate
from reports.contents import contents_of
from reports.data.arrays import Filters
from reports.data.cells import study_data
from reports.figures.svg import draw
from reports.numbers.ratings import RatingsReport
from reports.numbers.report import StudyReport, compute
from reports.stats.bootstrap import intervals_of
from reports.stats.ratings import agreement, judges, ranking
from reports.stats.ratings.arrays import Draws, Estimate, Ratings, difference, mean
from reports.stats.ratings.ranking import Compared, _compared

pytestmark = pytest.mark.once

PACK = Path(__file__).resolve().parents[2] / "recipes" / "cuisine_transfer"
SCHEME = load_scheme((PACK / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8"))
INSTRUCTIONS = read_instructions((PACK / "instructions.yaml").read_text(encoding="utf-8"), SCHEME)
TABLE, TRUTH = simulate(SCHEME, INSTRUCTIONS[::10], people_texts=160, seed=3)


@pytest.fixture(scope="module")
def report() -> StudyReport:
    """80 instructions × 6 generators × 9 judges × 3 repeats × 3 criteria, and five people."""
    filters = Filters(n_draws=400)
    return compute(study_data(TABLE, filters), filters)


@pytest.fixture(scope="module")
def rated(report: StudyReport) -> RatingsReport:
    (found,) = report.ratings
    return found


def _holds(estimate: Estimate | None, value: float) -> bool:
    assert estimate is not None
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low <= value <= estimate.high


def _share(held: list[bool]) -> float:
    return sum(held) / len(held)


def test_the_simulated_effects_are_found_again(rated: RatingsReport) -> None:
    cells, lenient, favour, bias, length = [], [], [], [], []
    for of in rated.criteria:
        for place, judge in enumerate(rated.judges):
            key = of.data.spec.key
            cells += [
                _holds(of.cells[place][at].mean, TRUTH.cells[key, judge.code, name])
                for at, name in enumerate(rated.generators)
            ]
            lenient.append(_holds(of.traits[place].leniency, TRUTH.leniency[judge.code]))
            against = of.against[place]
            assert against is not None
            bias.append(_holds(against.bias, TRUTH.bias[judge.code]))
            length.append(_holds(of.effects[place].length, TRUTH.length))
            if judge.code in TRUTH.favour:
                favour.append(_holds(of.favour[place], TRUTH.favour[judge.code]))
            else:
                assert of.favour[place] is None  # nobody of its family wrote
    assert len(cells) == 162
    assert _share(cells) > 0.88
    assert _share(lenient) > 0.8
    assert _share(favour) > 0.8
    assert _share(bias) > 0.75
    assert _share(length) > 0.75


def test_favour_is_seen_where_it_is_and_nowhere_else(rated: RatingsReport) -> None:
    for place, judge in enumerate(rated.judges):
        found = [of.favour[place] for of in rated.criteria if of.favour[place] is not None]
        low = np.array([one.low for one in found if one is not None])
        if judge.code in FAVOUR:
            assert (low > 0.05).all()
        elif found:
            assert (low < 0.05).all()


def test_the_order_of_generators_and_what_is_not_known_of_it(rated: RatingsReport) -> None:
    for of in rated.criteria:
        assert of.ranking is not None
        names = [rated.generators[one.generator] for one in of.ranking.ranked]
        assert names[0] == "gpt-4o-mini"
        assert set(names[1:3]) == {"gemma2:9b", "llama3.1:8b"}  # 0.02 apart
        strengths = [one.strength.value for one in of.ranking.ranked]
        assert strengths[0] == max(value for value in strengths if value is not None)
        close = next(
            one
            for one in of.ranking.compared
            if {rated.generators[one.first], rated.generators[one.second]} == {"gemma2:9b", "llama3.1:8b"}
        )
        assert close.known == (not _holds(close.difference, 0.0))
        assert all(one.rank_low is not None and one.rank_low <= one.rank for one in of.ranking.ranked)


def test_tables_and_figures(report: StudyReport, rated: RatingsReport) -> None:
    contents = contents_of(report)
    part = next(part for part in contents.parts if part.key == "transfer.benchmark")
    tables = {table.key: table for table in part.tables}
    assert len(tables) == len(part.tables)
    cells = tables["transfer.authenticity.ratings"]
    assert len([row for row in cells.rows if str(row[0]).startswith(" ")]) == 10 * 6
    words = [row for row in tables["transfer.words"].rows if row[0] == "Cuisine" and row[1] == "Harmony"]
    assert [row[2] for row in words] == [1, 2, 3, 38, 39, 40]
    assert tables["transfer.words"].folded is False
    every = tables["transfer.all-words"]
    assert every.folded
    places = {head.key: place for place, head in enumerate(every.heads)}
    cuisines = [row for row in every.rows if row[1] == "Cuisine"]
    assert [row[places["authenticity_rank"]] for row in cuisines] == list(range(1, 41))
    for of in rated.criteria:
        key = of.data.spec.key
        by_rank = sorted(cuisines, key=lambda row: int(row[places[f"{key}_rank"]] or 0))
        means = [(row[0], row[places[f"{key}_mean"]], row[places["texts"]]) for row in by_rank]
        assert means == [(word.word, pytest.approx(word.mean.value), word.mean.n) for word in of.facets["cuisine"]]
        ends = [(row[2], row[3]) for row in tables["transfer.words"].rows if row[:2] == ("Cuisine", of.title)]
        assert ends == [(rank, by_rank[int(rank or 0) - 1][0]) for rank, _word in ends]
    # Facets with six words or fewer have all of them in the other one.
    assert {str(row[1]) for row in every.rows} < {str(row[0]) for row in tables["transfer.words"].rows}
    pairs = tables["transfer.judge-pairs"]
    assert [row[0] for row in pairs.rows[::36]] == ["Mean", "Authenticity", "Sensitivity", "Harmony"]
    matrix = next(figure for figure in part.figures if figure.kind == "matrix")
    assert [row[3] for row in pairs.rows[:8]] == matrix.data["values"][0][1:]
    unweighted = [head.key for head in pairs.heads].index("unweighted")
    assert all(None not in row[unweighted : unweighted + 3] for row in pairs.rows)
    for table in part.tables:
        assert all(len(row) == len(table.heads) for row in table.rows), table.key
        assert len({head.key for head in table.heads}) == len(table.heads), table.key
    assert [figure.kind for figure in part.figures] == ["heat"] * 3 + ["matrix"] + ["intervals"] * 3
    for figure in part.figures[::3]:
        assert draw(figure).startswith(b"<?xml")
    # Families stand together.
    assert list(rated.judge_families) == sorted(rated.judge_families)


def test_as_before_methods_12(report: StudyReport) -> None:
    before = compute(report.data, Filters(n_draws=400, methods=11))
    part = next(part for part in contents_of(before).parts if part.key == "transfer.benchmark")
    tables = {table.key: table for table in part.tables}
    assert "transfer.all-words" not in tables
    pairs = tables["transfer.judge-pairs"]
    assert len(pairs.rows) == 3 * 36
    assert "unweighted" not in [head.key for head in pairs.heads]


# --- against other libraries, and by hand -----------------------------------------------------------------------------


def _ratings(values: Any, cluster: Any = None) -> Ratings:
    given = np.asarray(values, dtype=np.float64)
    if given.ndim == 2:
        given = given[:, :, np.newaxis]
    n = given.shape[1]
    return Ratings(
        raters=tuple(map(str, range(given.shape[0]))),
        values=given,
        cluster=np.arange(n) if cluster is None else np.asarray(cluster),
        generator=np.zeros(n, dtype=np.int64),
        position=np.zeros(n),
        words=np.full(n, np.nan),
    )


@pytest.fixture
def table() -> Any:
    rng = np.random.default_rng(5)
    worth = rng.normal(3, 0.8, 60)
    return np.clip(np.round(worth + rng.normal(0, 0.7, (4, 60)) + np.array([[0.3], [0], [-0.2], [0]])), 1, 5)


def test_alpha_equals_krippendorffs(table: Any) -> None:
    import krippendorff

    table[0, :9], table[3, 20:30] = np.nan, np.nan
    draws, scale = Draws.of(60, n_draws=50), np.arange(1.0, 6.0)
    for level in ("ordinal", "interval"):
        ours = agreement.alpha(_ratings(table), scale, draws, ordinal=level == "ordinal")
        theirs = krippendorff.alpha(reliability_data=table, level_of_measurement=level, value_domain=scale)
        assert ours.value == pytest.approx(theirs, abs=1e-9)
        assert ours.low is not None
        assert ours.low < theirs


def test_kappa_equals_scikit_learns(table: Any) -> None:
    table[0, :9], table[3, 20:30] = np.nan, np.nan
    draws = Draws.of(60, n_draws=50)
    pairs = agreement.pair_agreement([agreement.drawn_pairs(_ratings(table), draws)], draws)
    assert len(pairs) == 6
    for pair in pairs:
        both = ~np.isnan(table[pair.a]) & ~np.isnan(table[pair.b])
        a, b = table[pair.a, both], table[pair.b, both]
        assert pair.kappa.value == pytest.approx(cohen_kappa_score(a, b, weights="quadratic", labels=[1, 2, 3, 4, 5]))
        assert pair.unweighted.value == pytest.approx(cohen_kappa_score(a, b))
        assert pair.pearson.value == pytest.approx(np.corrcoef(a, b)[0, 1])
        assert pair.exact.value == pytest.approx((a == b).mean())
        assert pair.kappa.n == pair.exact.n == both.sum()


def test_unweighted_kappa_by_hand() -> None:
    """Ten texts: (1, 1) four times, (1, 2) twice, (2, 2) three times, (3, 2) once. p_o = 7/10; p_e = (6 × 4 + 3 × 6 +
    1 × 0)/100 = 0.42; κ = 0.28/0.58. Who always gives one number has no κ with one who does too."""
    draws = Draws.of(10, n_draws=50)
    a, b = [1, 1, 1, 1, 1, 1, 2, 2, 2, 3], [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]
    always = [2] * 10
    found = agreement.pair_agreement([agreement.drawn_pairs(_ratings([a, b, always, always]), draws)], draws)
    assert found[0].unweighted.value == pytest.approx(0.28 / 0.58)
    assert (found[1].unweighted.value, found[5].unweighted.value, found[5].unweighted.n) == (0, None, 10)


def _two_criteria(table: Any) -> list[Ratings]:
    """Of 20 instructions, three texts each; in the second criterion the last rater always gives the same."""
    cluster = np.repeat(np.arange(20), 3)
    other = np.where(table > 2, table - 1, table)[:, ::-1].copy()
    other[3] = 4
    table[0, :9] = np.nan
    return [_ratings(table, cluster), _ratings(other, cluster)]


def test_the_mean_over_criteria_is_that_of_each_draw_of_instructions(table: Any) -> None:
    """Each draw by itself, its texts written out, κ by scikit-learn."""
    draws = Draws.of(20, n_draws=60, seed=4)
    criteria = _two_criteria(table)
    found = agreement.pair_agreement([agreement.drawn_pairs(of, draws) for of in criteria], draws)

    def kappa(of: Ratings, a: int, b: int, times: Any, weights: str | None) -> float:
        x, y = (np.repeat(of.first[n], times) for n in (a, b))
        both = ~np.isnan(x) & ~np.isnan(y)
        return float(cohen_kappa_score(x[both], y[both], labels=[1, 2, 3, 4, 5], weights=weights))

    for pair in found:
        for weights, estimate in (("quadratic", pair.kappa), (None, pair.unweighted)):
            drawn = np.array(
                [
                    np.mean([kappa(of, pair.a, pair.b, times[of.cluster], weights) for of in criteria])
                    for times in draws.weights.T.astype(np.int64)
                ]
            )
            interval = draws.resampling.interval(drawn)
            assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
                (drawn[0], interval.low, interval.high)
            )


def test_the_mean_over_criteria_leaves_out_where_a_figure_is_not_defined(table: Any) -> None:
    draws = Draws.of(20, n_draws=60)
    criteria = _two_criteria(table)
    criteria[1].values[2] = 4  # as the last rater's
    alone = [agreement.pair_agreement([agreement.drawn_pairs(of, draws)], draws)[5] for of in criteria]
    mean_of_both = agreement.pair_agreement([agreement.drawn_pairs(of, draws) for of in criteria], draws)[5]
    assert (alone[1].kappa.value, alone[1].unweighted.value) == (None, None)
    assert (mean_of_both.kappa, mean_of_both.unweighted) == (alone[0].kappa, alone[0].unweighted)
    assert alone[0].exact.value is not None
    assert mean_of_both.exact.value == pytest.approx((alone[0].exact.value + 1) / 2)


def test_the_mean_over_criteria_of_equal_numbers_has_statsmodels_interval(table: Any) -> None:
    import statsmodels.api as sm

    draws = Draws.of(20, n_draws=10)
    criteria = _two_criteria(table)
    pair = agreement.pair_agreement([agreement.drawn_pairs(of, draws) for of in criteria], draws)[3]  # 1 and 2
    assert (pair.a, pair.b) == (1, 2)
    x = np.mean([of.first[1] == of.first[2] for of in criteria], axis=0)
    fitted = sm.OLS(x, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": criteria[0].cluster, "use_correction": False}, use_t=True
    )
    assert pair.exact.value == pytest.approx(x.mean())
    assert pair.exact.half_width == pytest.approx(float(fitted.bse[0]) * np.sqrt(20 / 19) * _student(19), rel=1e-9)
    assert pair.exact.n == 60


def test_icc_of_shrout_and_fleiss() -> None:
    """Their Table 2 and 4 (1979): six targets, four judges."""
    table = np.array([[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]])
    found = agreement.together(_ratings(table), np.arange(1.0, 11.0), Draws.of(6, n_draws=0))
    assert found.icc_one_way.value == pytest.approx(0.17, abs=0.005)
    assert found.icc_agreement.value == pytest.approx(0.29, abs=0.005)
    assert found.icc_consistency.value == pytest.approx(0.71, abs=0.006)
    assert found.icc_mean.value == pytest.approx(0.62, abs=0.005)


def test_clustered_means_equal_statsmodels() -> None:
    import statsmodels.api as sm

    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(20), 6)
    x = rng.normal(size=120) + rng.normal(size=20)[cluster]
    fitted = sm.OLS(x, np.ones(120)).fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}, use_t=True
    )
    found = mean(x, cluster)
    # They leave out G / (G - 1), which they put together with (N - 1) / (N - k).
    assert found.half_width == pytest.approx(float(fitted.bse[0]) * np.sqrt(20 / 19) * _student(19), rel=1e-9)
    apart = difference(x[::2], x[1::2], cluster[::2], cluster[1::2])
    assert apart.value == pytest.approx(x[::2].mean() - x[1::2].mean())


# Two instructions, a text each by two generators, rated by one person alone from 0 to 10.
FEW = Ratings(
    raters=("A1",),
    values=np.array([[[0.0], [4.5], [3.0], [9.0]]]),
    cluster=np.array([0, 1, 0, 1]),
    generator=np.array([0, 0, 1, 1]),
    position=np.zeros(4),
    words=np.full(4, np.nan),
    ends=(0.0, 10.0),
)


def test_intervals_of_means_stay_within_the_scale_and_what_cannot_vary_has_none() -> None:
    draws = Draws.of(2)
    found = ranking.ranking(FEW, [""], ["A", "B"], draws, family_of=["", ""])
    assert [(one.mean.value, one.mean.low, one.mean.high) for one in found.ranked] == [(6, 0, 10), (2.25, 0, 10)]
    (compared,) = found.compared
    assert (compared.difference.low, compared.difference.high) == (pytest.approx(3.75 - 9.53, abs=0.01), 10)
    # Of the whole interval, not of the one that is cut.
    assert compared.needed == _compared(1, 0, difference(*_apart(FEW))).needed
    [traits] = judges.traits(FEW, draws)
    assert (traits.leniency.value, traits.leniency.low) == (0, None)
    # As before methods 10.
    with intervals_of(as_before=True):
        assert mean(FEW.item_means[:2], FEW.cluster[:2]).within(0, 10).low == pytest.approx(-26.34, abs=0.01)
        assert judges.traits(FEW, draws)[0].leniency.low == 0


def test_one_person_by_the_others_is_neither_higher_nor_lower_and_that_cannot_vary(table: Any) -> None:
    found = judges.people_among_themselves(_ratings(table), Draws.of(60, n_draws=200))
    assert found is not None
    assert found.bias.value == pytest.approx(0)
    assert found.bias.low is None
    assert found.absolute.low is not None


def _apart(ratings: Ratings) -> tuple[Any, Any, Any, Any]:
    y, of_b = ratings.item_means, ratings.generator == 1
    return y[of_b], y[~of_b], ratings.cluster[of_b], ratings.cluster[~of_b]


def test_the_instructions_needed_find_the_order_four_times_of_five() -> None:
    rng = np.random.default_rng(5)
    apart, spread = 0.4, 1.0  # of two texts for the same instruction, which share what it is worth

    def compared(n: int) -> Compared:
        worth, cluster = rng.normal(size=n), np.arange(n)
        a = worth + apart + spread * rng.normal(size=n)
        return _compared(0, 1, difference(a, worth + spread * rng.normal(size=n), cluster, cluster))

    needed = compared(20_000).needed
    assert needed == pytest.approx(2 * spread**2 * 2.8016**2 / apart**2, rel=0.05)  # 98
    assert needed is not None
    found = np.mean([compared(needed).known for _time in range(1500)])
    assert found == pytest.approx(0.8, abs=0.04)


def _student(degrees: int) -> float:
    from scipy import stats

    return float(stats.t.ppf(0.975, degrees))


def test_leniency_where_not_all_rated_all() -> None:
    """One judge saw only the good texts, and is not lenient for that."""
    worth = np.arange(1, 9) / 2
    values = np.stack([worth + 1, worth, worth])
    values[2, :4] = np.nan
    leniency, texts = judges.additive(values)
    assert leniency - leniency[1] == pytest.approx([1, 0, 0], abs=1e-6)
    assert np.diff(texts) == pytest.approx(0.5)


def test_leniency_of_judges_who_have_few_texts_in_common() -> None:
    """Six in a row, each two more lenient than the one before: 45 texts of their own, 5 with the next one."""
    rng = np.random.default_rng(0)
    leniencies = np.arange(-5.0, 6, 2)
    whose = np.array(
        [[j] * 2 for j in range(6) for _text in range(45)] + [[j, j + 1] for j in range(5) for _text in range(5)]
    )
    values = np.full((6, len(whose)), np.nan)
    for raters in whose.T:
        values[raters, np.arange(len(whose))] = leniencies[raters]
    values += rng.normal(size=len(whose))

    assert judges.additive(values)[0] == pytest.approx(leniencies)
    assert judges.additive(values, exact=False)[0] != pytest.approx(leniencies, abs=1)  # before methods 7
    whole = rng.normal(size=(4, 30))
    for solved, fitted in zip(judges.additive(whole), judges.additive(whole, exact=False), strict=True):
        assert solved == pytest.approx(fitted)


def test_no_judge_is_neither_lenient_nor_strict() -> None:
    leniency, texts = judges.additive(np.zeros((0, 3)))
    assert leniency.size == 0
    assert np.isnan(texts).all()


def test_bradley_terry_of_known_strengths() -> None:
    """Two of whom the one wins three of four: log 3 apart, but for the half win that each is given."""
    values = np.array([[2, 1] * 300 + [1, 2] * 100], dtype=np.float64)
    ratings = Ratings(
        raters=("judge",),
        values=values[:, :, np.newaxis],
        cluster=np.repeat(np.arange(400), 2),
        generator=np.tile([0, 1], 400),
        position=np.zeros(800),
        words=np.full(800, np.nan),
    )
    first, second = ranking.bradley_terry(ratings, 2, Draws.of(400, n_draws=200))
    assert first.value is not None
    assert second.value is not None
    assert first.value - second.value == pytest.approx(np.log(300.5 / 100.5), abs=1e-6)
    assert _holds(first, np.log(3) / 2)


def test_how_many_ratings_are_enough() -> None:
    assert ranking.reliability(0.5, 2) == pytest.approx(2 / 3)
    assert ranking.ratings_needed(0.5, 0.8) == 4
    assert ranking.ratings_needed(0.0, 0.8) is None
    assert ranking.ratings_needed(None, 0.8) is None
    assert ranking.ratings_needed(1.0, 0.8) == 1


def test_a_study_without_a_single_rating_has_no_such_part() -> None:
    from dataclasses import replace

    empty = replace(TABLE, labels=TABLE.labels[:0])
    assert compute(study_data(empty, Filters()), Filters()).ratings == ()


def test_one_rating_is_enough_to_say_little() -> None:
    from dataclasses import replace

    one = replace(TABLE, labels=TABLE.labels[:1])
    (found,) = compute(study_data(one, Filters()), Filters()).ratings
    assert sum(cell.n for of in found.criteria for line in of.cells for cell in line) == 1


# --- judges that cannot be compared -----------------------------------------------------------------------------------


def _of_two_families(more: float) -> Ratings:
    """Two judges, whose families wrote three texts each; a third judge, of no family here, rates the first with `more`
    of them."""
    values = np.array([[4.0, 5, 4, 2, 1, 2], [2, 3, 2, 1, 1, 1], [np.nan] * 6])[:, :, np.newaxis]
    values[2, : int(more), 0] = 3
    return Ratings(
        raters=("lion", "tiger", "owl"),
        values=values,
        cluster=np.array([0, 1, 2, 0, 1, 2]),
        generator=np.array([0, 0, 0, 1, 1, 1]),
        position=np.array([0.0, 0, 0, 1, 1, 1]),
        words=np.full(6, np.nan),
    )


def test_judges_that_rate_each_others_families_alone_have_no_favour() -> None:
    """What the lion rates of the tiger's texts says nothing of what the tiger rates of the lion's."""
    families, judges_of = ["lion", "tiger"], ["lion", "tiger", "owl"]
    apart = _of_two_families(3)  # the owl has read the lion's texts alone
    assert judges.self_preference(apart, judges_of, families) == [None, None, None]
    assert np.isnan(judges.corrected(apart, judges.own_texts(apart, judges_of, families))).all()
    order = ranking.ranking(apart, judges_of, ["l", "t"], Draws.of(3, n_draws=50), family_of=families)
    assert [one.fair.value for one in order.ranked] == [None, None]
    met = _of_two_families(5)
    lion, _tiger, owl = judges.self_preference(met, judges_of, families)
    assert owl is None
    assert lion is not None
    assert lion.value is not None
    assert not np.isnan(judges.corrected(met, judges.own_texts(met, judges_of, families))).all()
