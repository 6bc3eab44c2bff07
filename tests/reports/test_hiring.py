"""Certificates, their cost, supervision and powered shares, on studies whose truth is known.

The quick tests make a hundred studies, those marked slow a thousand; `python -m benchmarks.hiring` prints the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from reports.stats.hiring import certificate as certificates
from reports.stats.hiring.betting import evidence_below, upper_bound
from reports.stats.hiring.certificate import binomial_bound, certify, design_bound
from reports.stats.hiring.clusters import Judged, Totals, design_effect, intraclass_correlation, totals
from reports.stats.hiring.planning import ERROR_TOO_HIGH, TOO_MANY, documents_needed, plan
from reports.stats.hiring.shares import NO_LABEL, TOO_FEW_CLUSTERS, powered_share
from reports.stats.hiring.supervision import NO_AUDIT, first_alarm, watch

pytestmark = pytest.mark.once


def made(
    rng: np.random.Generator,
    n: int,
    *,
    error: float,
    icc: float = 0.2,
    cells: int = 10,
    sure: float = 2.0,
    start: int = 0,
) -> Judged:
    """n documents of `cells` cells, three more or less; wrong cells have a score lower by `sure`."""
    rate = rng.beta(error * (1 - icc) / icc, (1 - error) * (1 - icc) / icc, n)
    cluster = np.repeat(np.arange(n), rng.integers(cells - 3, cells + 4, n))
    wrong = rng.random(cluster.size) < rate[cluster]
    score = rng.normal(size=cluster.size) - sure * wrong + 0.5 * rng.normal(size=n)[cluster]
    return Judged.of(wrong, score, cluster + start)


def test_counts_by_document() -> None:
    judged = Judged.of([1, 0, 0, 1, 0], [3.0, 2.0, 1.0, 0.0, 2.0], [7, 7, 8, 8, 9])
    counts = totals(judged, 1.5)
    assert counts.wrong.tolist() == [1, 0, 0]
    assert counts.accepted.tolist() == [2, 0, 1]  # the second document was drawn, though none of its cells is accepted
    assert counts.error == pytest.approx(1 / 3)
    assert totals(judged, 9.0).error is None
    with pytest.raises(ValueError, match="leave it out"):
        Judged.of([0], [np.nan], [1])
    with pytest.raises(ValueError, match="one entry"):
        Judged.of([0, 1], [1.0], [1])


def test_correlation_and_design_effect_are_those_of_the_formulas() -> None:
    rng = np.random.default_rng(3)
    n, m, icc, error = 20_000, 6, 0.3, 0.2
    rate = rng.beta(error * (1 - icc) / icc, (1 - error) * (1 - icc) / icc, n)
    counts = Totals(rng.binomial(m, rate) * 1.0, np.full(n, m * 1.0))
    assert intraclass_correlation(counts) == pytest.approx(icc, abs=0.02)
    assert design_effect(counts) == pytest.approx(1 + (m - 1) * icc, rel=0.03)
    assert intraclass_correlation(Totals(np.zeros(5), np.full(5, 4.0))) is None
    assert design_effect(Totals(np.zeros(5), np.full(5, 4.0))) is None


def test_the_binomial_bound_is_clopper_and_pearsons() -> None:
    told = stats.binomtest(3, 80, alternative="less").proportion_ci(0.9, method="exact")
    assert binomial_bound(3, 80, 0.1) == pytest.approx(told.high)
    assert binomial_bound(0, 0, 0.1) == 1.0


def test_the_betting_bound_is_where_the_wealth_is_enough() -> None:
    rng = np.random.default_rng(0)
    counts = totals(made(rng, 200, error=0.02))
    bound = upper_bound(counts, delta=0.1, most=13, stake=0.8)
    assert evidence_below(counts, bound + 1e-6, most=13, stake=0.8) >= np.log(10)
    assert evidence_below(counts, bound - 1e-6, most=13, stake=0.8) < np.log(10)
    # The order of the documents is no matter.
    turned = Totals(counts.wrong[::-1], counts.accepted[::-1])
    assert upper_bound(turned, delta=0.1, most=13, stake=0.8) == pytest.approx(bound)


def test_the_wealth_is_fair_where_the_statement_is_just_true() -> None:
    """Its expectation is 1, here by all outcomes of two documents wholly right or wholly wrong."""
    rate, expectation = 0.3, 0.0
    for first in (0, 4):
        for second in (0, 4):
            chance = (rate if first else 1 - rate) * (rate if second else 1 - rate)
            counts = Totals(np.array([first, second]) * 1.0, np.array([4.0, 4.0]))
            expectation += chance * np.exp(evidence_below(counts, rate, most=4, stake=0.5))
    assert expectation == pytest.approx(1.0)


def false_certificates(n_studies: int, method: certificates.Method, *, seed: int = 0) -> float:
    """The share of studies that certify a judge whose error is a hair above what is asked, at one threshold."""
    rng = np.random.default_rng(seed)
    bad = 0
    for _ in range(n_studies):
        counts = [made(rng, n, error=0.0501, icc=0.3) for n in (40, 120)]
        before, test = (totals(part) for part in counts)
        if method == "betting":
            bound = upper_bound(test, delta=0.1, most=13, stake=0.8)
        elif method == "design":
            bound = design_bound(test, 0.1, effect=design_effect(before))
        else:
            bound = binomial_bound(float(test.wrong.sum()), float(test.accepted.sum()), 0.1)
        bad += bound <= 0.05
    return bad / n_studies


def test_few_false_certificates() -> None:
    # 10 % and three standard deviations of a hundred studies.
    assert false_certificates(100, "betting") <= 0.19
    assert false_certificates(100, "design") <= 0.19


@pytest.mark.slow
def test_false_certificates_in_a_thousand_studies() -> None:
    assert false_certificates(1_000, "betting") <= 0.1
    assert false_certificates(1_000, "design") <= 0.1
    assert false_certificates(1_000, "binomial") > 0.15  # cells of one document are no independent ones


def test_a_good_judge_is_certified_with_coverage() -> None:
    rng = np.random.default_rng(5)
    development, test = made(rng, 80, error=0.12), made(rng, 250, error=0.12, start=1_000)
    found = certify(development, test)
    assert found.holds, found.reason
    assert found.threshold is not None
    assert found.upper <= 0.05
    assert found.error is not None
    assert found.error < found.upper
    accepted = test.score >= found.threshold
    assert (found.n_accepted, found.n_wrong) == (accepted.sum(), test.wrong[accepted].sum())
    assert found.coverage > 0.5
    # Each step accepts more than the one before, and only the last may have failed.
    assert np.all(np.diff([step.coverage for step in found.steps]) > 0)
    assert all(step.holds for step in found.steps[:-1])
    # The exact bound is above the approximate one, that of independent cells below it.
    assert found.binomial < found.design < found.betting
    assert certify(development, test) == found


def test_why_a_certificate_is_refused() -> None:
    rng = np.random.default_rng(6)
    development = made(rng, 80, error=0.03)
    assert certify(development, made(rng, 4, error=0.03, start=100)).reason == certificates.TOO_FEW_CLUSTERS
    assert certify(development, made(rng, 200, error=0.5, sure=0, start=100)).reason == certificates.TOO_MANY_WRONG
    assert certify(development, made(rng, 60, error=0.04, sure=0, start=100)).reason == certificates.NOT_SHOWN
    assert certify(made(rng, 80, error=0.6, sure=0, start=100), development).reason == certificates.NO_THRESHOLD
    empty = Judged.of([], [], [])
    assert certify(empty, development).reason == certificates.NO_DEVELOPMENT
    assert certify(development, empty).reason == certificates.NO_TEST
    far = Judged.of([0, 0], [-99.0, -99.0], [101, 102])
    assert certify(development, far).reason == certificates.NOTHING_ACCEPTED
    with pytest.raises(ValueError, match="more cells"):
        certify(development, far, most=3)
    with pytest.raises(ValueError, match="development or for the test"):
        certify(development, development)


@pytest.mark.parametrize("method", ["design", "betting"])
def test_the_planned_documents_are_enough(method: str) -> None:
    needed = documents_needed(error=0.02, cells=10, icc=0.2, coverage=1.0, method=method)  # type: ignore[arg-type]
    assert needed.n_documents is not None
    assert needed.n_labels == needed.n_documents * 10
    rng = np.random.default_rng(1)

    def reached(n: int, bound: Callable[[Totals, Totals], float]) -> float:
        hits = 0
        for _ in range(200):
            counts = [
                Totals(rng.binomial(10, rng.beta(0.08, 3.92, size)) * 1.0, np.full(size, 10.0)) for size in (80, n)
            ]
            hits += bound(counts[0], counts[1]) <= 0.05
        return hits / 200

    if method == "design":
        share = reached(needed.n_documents, lambda before, test: design_bound(test, 0.1, effect=design_effect(before)))
    else:
        share = reached(needed.n_documents, lambda _, test: upper_bound(test, delta=0.1, most=10, stake=0.95))
    assert 0.7 < share < 0.92


def test_what_is_asked_of_a_plan() -> None:
    few, many = (documents_needed(error=0.02, cells=10, icc=icc).n_documents for icc in (0.05, 0.5))
    assert few is not None
    assert many is not None
    assert few < many  # cells that are alike tell less
    assert documents_needed(error=0.06, cells=10).reason == ERROR_TOO_HIGH
    assert documents_needed(error=0.049, cells=10, largest=100).reason == TOO_MANY
    rng = np.random.default_rng(0)
    made_plan = plan(made(rng, 60, error=0.12))
    assert made_plan.options
    assert all(option.error > (option.point.error or 0) for option in made_plan.options)
    assert plan(Judged.of([], [], [])).reason == certificates.NO_DEVELOPMENT
    assert plan(made(rng, 60, error=0.7, sure=0)).reason == certificates.NO_THRESHOLD


def audits(
    rng: np.random.Generator, errors: list[float], *, cells: int = 3, icc: float = 0.2
) -> tuple[list[bool], list[int]]:
    rate = np.array([rng.beta(error * (1 - icc) / icc, (1 - error) * (1 - icc) / icc) for error in errors])
    cluster = np.repeat(np.arange(rate.size), cells)
    return (rng.random(cluster.size) < rate[cluster]).tolist(), cluster.tolist()


STEADY = [0.05] * 200
DRIFTING = [0.02] * 100 + [0.15] * 150


def alarms(n: int, errors: list[float], *, seed: int) -> float:
    rng = np.random.default_rng(seed)
    return sum(first_alarm(*audits(rng, errors), most=3) is not None for _ in range(n)) / n


def test_a_drifting_judge_is_caught_and_a_steady_one_is_not_accused() -> None:
    assert alarms(40, STEADY, seed=1) <= 0.25
    assert alarms(40, DRIFTING, seed=2) >= 0.9


@pytest.mark.slow
def test_a_thousand_audits() -> None:
    assert alarms(1_000, STEADY, seed=3) <= 0.1
    assert alarms(1_000, DRIFTING, seed=4) >= 0.95


def test_the_sequence_of_bounds() -> None:
    wrong, cluster = audits(np.random.default_rng(7), [0.1] * 300)
    found = watch(wrong, cluster, most=3, epsilon=0.05)
    assert found.n_cells == 900
    assert found.low < 0.1 < found.high
    assert found.alarm
    assert found.alarm_at == first_alarm(wrong, cluster, most=3)
    # What was known after the first hundred documents is not taken back.
    early = watch(wrong[:300], cluster[:300], most=3, epsilon=0.05)
    assert early.low <= found.low
    assert early.high >= found.high
    # Documents count in the order in which they come, whatever their numbers.
    renamed = watch(wrong, [10_000 - number for number in cluster], most=3, epsilon=0.05)
    assert renamed.evidence == found.evidence
    assert watch([], [], most=3).high == 1.0
    with pytest.raises(ValueError, match="more cells"):
        watch(wrong, cluster, most=2)


def test_cells_that_nobody_could_judge_are_no_step_and_change_no_figure() -> None:
    rng = np.random.default_rng(7)
    wrong, cluster = audits(rng, [0.1] * 100)
    alone = watch(wrong, cluster, most=3, epsilon=0.05)
    # After every fourth document comes one that nobody could judge, and the fifth one has a fourth cell.
    mixed: list[tuple[float, int]] = []
    for place, (error, document) in enumerate(zip(wrong, cluster, strict=True)):
        mixed.append((error, document))
        if place % 12 == 11:
            mixed += [(np.nan, 1_000 + place)] * 2
    mixed.insert(15, (np.nan, 4))
    found = watch(*zip(*mixed, strict=True), most=3, epsilon=0.05)

    assert (found.n_unjudged, found.n_finished, found.n_clusters) == (51, 125, 100)
    assert vars(replace(found, n_unjudged=0, n_finished=100)) == vars(alone)
    assert found.error_at_most == (alone.n_wrong + 51) / 351
    nothing = watch([np.nan], [1], most=3)
    assert (nothing.error, nothing.low, nothing.high, nothing.reason) == (None, 0.0, 1.0, NO_AUDIT)
    assert (watch([], [], most=3).error_at_most, nothing.error_at_most) == (None, 1.0)


def left_out(n: int, *, seed: int, depends: bool) -> float:
    """How often a judge is accused that keeps to 5 %, where people leave a third of its cells unanswered: which ones
    chance says, document by document, or where `depends` only cells in which it is right."""
    rng, accused = np.random.default_rng(seed), 0
    for _ in range(n):
        wrong, cluster = (np.asarray(values, dtype=np.float64) for values in audits(rng, STEADY))
        cannot = rng.random(200)[cluster.astype(np.int64)] > rng.random(wrong.size) ** 2
        if depends:
            cannot &= wrong == 0
        wrong[cannot] = np.nan
        accused += first_alarm(wrong, cluster.astype(np.int64), most=3) is not None
    return accused / n


def test_what_people_cannot_judge_accuses_nobody_unless_it_depends_on_the_judge() -> None:
    assert left_out(60, seed=5, depends=False) <= 0.15
    assert left_out(60, seed=5, depends=True) >= 0.3


def labelled_study(
    rng: np.random.Generator, n: int, n_labelled: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Truth with the mean 3/7, a judge right in 0.8 of cells and otherwise too often positive, and who was labelled."""
    cluster = np.repeat(np.arange(n), 8)
    truth = rng.random(cluster.size) < rng.beta(3, 4, n)[cluster]
    judge = np.where(rng.random(cluster.size) < rng.beta(8, 2, n)[cluster], truth, rng.random(cluster.size) < 0.8)
    return truth, judge, cluster < n_labelled, cluster


def share_coverage(n_studies: int, *, seed: int) -> tuple[float, float, float]:
    """How often the powered interval, the classical one, and the powered one by strata hold the true share."""
    rng = np.random.default_rng(seed)
    held = np.zeros(3)
    for _ in range(n_studies):
        truth, judge, labelled, cluster = labelled_study(rng, 60, 15)
        one = powered_share(truth, judge, labelled, cluster)
        # People label what the judge does not accept, and one in four of the rest.
        accepted = rng.random(cluster.size) < np.where(truth == judge, 0.8, 0.3)
        audited = ~accepted | (rng.random(cluster.size) < 0.25)
        strata = powered_share(truth, judge, audited, cluster, stratum=accepted)
        for place, estimate in enumerate((one.powered, one.classical, strata.powered)):
            assert estimate.low is not None
            assert estimate.high is not None
            held[place] += estimate.low <= 3 / 7 <= estimate.high
    return tuple(held / n_studies)


def test_powered_intervals_hold_the_share() -> None:
    powered, _, by_strata = share_coverage(100, seed=1)
    assert min(powered, by_strata) >= 0.88


@pytest.mark.parametrize("by_strata", [False, True])
def test_powered_intervals_hold_the_share_where_one_document_has_most_of_the_labels(by_strata: bool) -> None:
    rng, held = np.random.default_rng(9), 0
    cluster = np.repeat(np.arange(60), [200] + [6] * 59)
    for _study in range(150):
        truth = rng.random(cluster.size) < rng.beta(3, 4, 60)[cluster]
        judge = np.where(rng.random(cluster.size) < 0.8, truth, rng.random(cluster.size) < 0.8)
        accepted = rng.random(cluster.size) < np.where(truth == judge, 0.8, 0.3)
        labelled = ~accepted | (cluster < 20) if by_strata else cluster < 20
        found = powered_share(truth, judge, labelled, cluster, stratum=accepted if by_strata else None).powered
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 3 / 7 <= found.high
    assert held / 150 > 0.9


@pytest.mark.slow
def test_powered_intervals_in_a_thousand_studies() -> None:
    found = share_coverage(1_000, seed=2)
    assert all(0.92 <= share <= 0.98 for share in found), found


def rare_coverage(n_studies: int, *, seed: int) -> float:
    """The same of a share of 1 %, of whichever of the four intervals holds it least often: 20 of 200 documents."""
    rng = np.random.default_rng(seed)
    held = np.zeros(4)
    for _ in range(n_studies):
        cluster = np.repeat(np.arange(200), 8)
        truth = rng.random(cluster.size) < rng.beta(0.06, 5.94, 200)[cluster]
        judge = np.where(rng.random(cluster.size) < 0.9, truth, rng.random(cluster.size) < 0.1)
        accepted, labelled = rng.random(cluster.size) < np.where(truth == judge, 0.8, 0.3), cluster < 20
        one = powered_share(truth, judge, labelled, cluster)
        strata = powered_share(truth, judge, ~accepted | labelled, cluster, stratum=accepted)
        for place, estimate in enumerate((one.powered, one.classical, strata.powered, strata.classical)):
            assert estimate.low is not None
            assert estimate.high is not None
            held[place] += estimate.low <= 0.01 <= estimate.high
    return float(held.min() / n_studies)


def test_intervals_of_a_rare_option_hold_its_share() -> None:
    assert rare_coverage(60, seed=5) >= 0.85


@pytest.mark.slow
def test_intervals_of_a_rare_option_in_a_thousand_studies() -> None:
    assert rare_coverage(1_000, seed=6) >= 0.9


def test_an_option_that_nobody_chose_may_be_there_for_all_that() -> None:
    cluster = np.repeat(np.arange(40), 5)
    nobody = np.zeros(cluster.size)
    found = powered_share(nobody, nobody, cluster < 10, cluster)
    assert found.powered.value == 0
    # None of ten documents: 1 - 0.025^(1/10).
    assert (found.powered.low, found.powered.high) == (0, pytest.approx(1 - 0.025 ** (1 / 10)))
    # People label all that is not accepted, where it is found; of what is accepted ten documents, none with it.
    accepted = np.arange(cluster.size) % 5 != 0
    truth, known = ~accepted & (cluster % 4 == 0), ~accepted | (cluster < 10)
    strata = powered_share(truth, nobody, known, cluster, stratum=accepted)
    assert strata.powered.high is not None
    assert strata.powered.high > 0.8 * (1 - 0.025 ** (1 / 10))
    # Of two documents nothing is told, however many there are of the rest.
    assert powered_share(truth, nobody, ~accepted | (cluster < 2), cluster, stratum=accepted).reason == TOO_FEW_CLUSTERS


def test_the_powered_share_by_hand() -> None:
    rng = np.random.default_rng(4)
    truth, judge, labelled, cluster = labelled_study(rng, 40, 10)
    found = powered_share(truth, judge, labelled, cluster)
    assert found.powered.value == pytest.approx(
        truth[labelled].mean() + found.weights[0] * (judge.mean() - judge[labelled].mean())
    )
    assert found.classical.value == pytest.approx(truth[labelled].mean())
    assert found.judge == pytest.approx(judge.mean())
    assert found.worth is not None
    assert found.worth > 1
    # A stratum that people labelled wholly needs no judge.
    whole = powered_share(truth, judge, np.ones_like(labelled), cluster)
    assert whole.powered == whole.classical
    assert whole.powered.value == pytest.approx(truth.mean())
    assert powered_share(truth, judge, labelled, cluster, stratum=cluster >= 10).reason == NO_LABEL
    assert powered_share(truth, judge, cluster < 2, cluster).reason == TOO_FEW_CLUSTERS
