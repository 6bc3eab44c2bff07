"""Whatever is missing, a statistic has a value or says why it has none; nothing warns, nothing fails."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reports.stats import bootstrap
from reports.stats.agreement import macro_accuracy, macro_kappa
from reports.stats.alternative import alternative_annotator_test
from reports.stats.among import agreement_among
from reports.stats.answers import MISSING, Answers
from reports.stats.bootstrap import By, Interval
from reports.stats.calibration import calibration, entropy, option_probabilities, scored_cells
from reports.stats.classification import (
    classification,
    classification_intervals,
    human_ceiling,
    kappas_with_people,
    left_out,
)
from reports.stats.comparison import compare_judges
from reports.stats.consensus import dawid_skene, majority_vote, self_consistency
from reports.stats.coverage import coverage_curve, item_documents, item_verdicts
from reports.stats.estimates import option_shares
from reports.stats.intervals import agreement_intervals, judge_accuracy_interval, macro_intervals
from reports.stats.judge import confusion, judge_accuracy, majority_baseline
from reports.stats.pairs import pair_tables
from reports.stats.thresholds import error_by_doubt, option_precision_recall, recall_at_precision, selective_accuracy

K = 3


def answers(codes: np.ndarray) -> Answers:
    """Four cells a sheet, two a document."""
    rater, cell = np.indices(codes.shape)
    columns = {"rater": rater, "cell": cell, "sheet": cell // 4, "document": cell // 2, "code": codes}
    return Answers.from_long(**{name: column.ravel() for name, column in columns.items()}, n_options=K)


def floats(result: Any) -> list[float]:
    """All numbers in a result, however deep."""
    if dataclasses.is_dataclass(result):
        return [number for field in dataclasses.fields(result) for number in floats(getattr(result, field.name))]
    if isinstance(result, dict):
        return floats(tuple(result.values()))
    if isinstance(result, (tuple, list)):
        return [number for part in result for number in floats(part)]
    return [result] if isinstance(result, float) else []


few = st.integers(0, 2)
nothing = np.full((3, 12), MISSING)


@pytest.fixture(autouse=True)
def two_clusters_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "MINIMUM_CLUSTERS", 2)


def codes(n_raters: int) -> st.SearchStrategy[np.ndarray]:
    """Mostly holes."""
    sparse = hnp.arrays(np.int64, (n_raters, 12), elements=few, fill=st.just(MISSING))
    return st.one_of(sparse, hnp.arrays(np.int64, (n_raters, 12), elements=st.integers(MISSING, K - 1)))


@settings(max_examples=25, deadline=None)
@example(nothing, nothing[:1], "document")
@example(np.zeros((3, 12), dtype=np.int64), nothing[:1], "sheet")
@example(nothing, np.zeros((1, 12), dtype=np.int64), "document")
@example(np.ones((3, 12), dtype=np.int64), np.ones((1, 12), dtype=np.int64), "sheet")
@given(codes(3), codes(1), st.sampled_from(["document", "sheet"]))
def test_every_statistic_has_a_value_or_a_reason(of_people: np.ndarray, of_judge: np.ndarray, by: By) -> None:
    people, judge = answers(of_people), answers(of_judge)
    other = answers(np.where(of_judge == MISSING, MISSING, (of_judge + 1) % K))
    draws = {"by": by, "n_draws": 20}
    rng = np.random.default_rng(0)
    scored = scored_cells(people, judge, judge.cell, option_probabilities(rng.normal(size=(judge.cell.size, K))))
    curve = option_precision_recall(scored, 0)
    results = [
        agreement_among(people),
        agreement_among(people, level="interval", values=[0, 1, 5]),
        macro_kappa(pair_tables(people)),
        macro_accuracy(pair_tables(people)),
        agreement_intervals(people, level="ordinal", **draws),
        macro_intervals(people, **draws),
        judge_accuracy(people, judge),
        judge_accuracy_interval(people, judge, **draws),
        majority_baseline(people, judge),
        classification(confusion(people, judge).table),
        classification_intervals(people, judge, **draws),
        kappas_with_people(people, judge),
        human_ceiling(people, left_out(people, judge)),
        alternative_annotator_test(people, judge, minimum_cells=2),
        alternative_annotator_test(people, judge, scoring="rmse"),
        compare_judges(people, judge, other, **draws),
        calibration(scored.confidence, scored.right),
        recall_at_precision(curve, 0.5),
        error_by_doubt(entropy(scored.probabilities), scored.right),
        option_shares(people, judge, by=by),
        self_consistency(people),
        item_verdicts(people, people.cell % 4, exact=[0], inexact=[1]),
    ]
    assert np.isfinite(floats(results)).all()

    consensus = dawid_skene(rater=people.rater, cell=people.cell, code=people.code, n_options=K)
    found = coverage_curve(item_documents(people, people.cell % 4, found=[0]))
    unsure = selective_accuracy(scored.confidence, scored.right)
    for array in (consensus.probabilities, consensus.shares, found.mean, found.pooled, unsure.accuracy, curve.recall):
        assert np.isfinite(array).all()
    assert majority_vote(people).cell.tolist() == consensus.cell.tolist()


def test_an_interval_lies_within_what_the_statistic_can_be() -> None:
    rng = np.random.default_rng(0)
    people = answers(rng.integers(MISSING, K, (3, 12)))

    for name, interval in agreement_intervals(people, n_draws=50).items():
        assert isinstance(interval, Interval)
        if interval.low is not None and interval.high is not None and not interval.centred:
            assert -1.5 <= interval.low <= interval.high <= 1, name
