"""People judge systems: rates, who is preferred, and which metric goes with people; from a label table alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from annotation.scheme.spec import load_scheme
from reports.contents import contents_of
from reports.data.arrays import Filters
from reports.data.cells import study_data
from reports.data.label_table import AssignmentEntry, Assignments, ColumnEntry, LabelTable, RaterEntry, RowEntry
from reports.numbers.report import StudyReport, compute
from reports.stats.bootstrap import resampling_of
from reports.stats.paired import difference
from reports.stats.systems import NEVER_APART, TOO_FEW, correlation, rate, wilson
from reports.tables import ReportTable
from reports.tables.systems import Judged, system_tables

pytestmark = pytest.mark.once

SCHEME = """\
key: beside
version: 1
title: Side by side
words: {sheet: recipe, sheets: recipes, row: line, rows: lines}
row:
  facets: [{key: left, hidden: true}, {key: right, hidden: true}, {key: reference, hidden: true}]
sections:
  - key: side
    title: Each side
    column: {title: Side, facets: [side]}
    questions:
      - {key: complete, title: Complete, kind: flag}
      - {key: valid, title: Valid, kind: flag}
  - key: better
    title: Which is better?
    column: {title: Comparison, facets: [pair]}
    questions:
      - key: preference
        title: Better
        options: [{key: left, label: Left}, {key: tie, label: Tie}, {key: right, label: Right}]
"""
# What the two systems write of the same reference: one leaves nothing out, the other all but a word.
WHOLE, HALF = "warm water; flour; {n} olives", "flour {n}"
N_SHEETS, N_ROWS = 12, 3


def said(row: Mapping[str, str], side: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    text = row[side].split("|", 1)[1]
    return {"Input": (text, (row["reference"],))}


JUDGED = Judged(
    flags={"side.complete": "yes", "side.valid": "yes"},
    beside={"better.preference": {"left": 1.0, "tie": 0.5, "right": 0.0}},
    system=lambda row, column: row[column["side"]].split("|", 1)[0] if column.get("side") else "",
    sides=lambda row: (row["left"].split("|", 1)[0], row["right"].split("|", 1)[0]),
    texts=lambda row, column: said(row, column["side"]),
    left=lambda row: said(row, "left"),
    right=lambda row: said(row, "right"),
    separator=";",
)


def table(seed: int = 1) -> LabelTable:
    """“whole” is complete nine times of ten and “half” two times; valid always; whole is preferred where it is complete
    and half is not. Two people and a judge; sides are drawn."""
    rng = np.random.default_rng(seed)
    spec = load_scheme(SCHEME)
    rows, labels = [], []
    for sheet in range(N_SHEETS):
        for n in range(N_ROWS):
            texts = {"whole": WHOLE.format(n=f"word{n}"), "half": HALF.format(n=f"word{n}")}
            left, right = ("whole", "half") if rng.random() < 0.5 else ("half", "whole")
            facets = {"left": f"{left}|{texts[left]}", "right": f"{right}|{texts[right]}", "reference": texts["whole"]}
            rows.append(RowEntry(sheet, f"{n}", facets=facets))
    columns = [
        entry
        for sheet in range(N_SHEETS)
        for entry in (
            ColumnEntry(sheet, "side", 0, "Left", {"side": "left"}),
            ColumnEntry(sheet, "side", 1, "Right", {"side": "right"}),
            ColumnEntry(sheet, "better", 0, "Both", {"pair": "both"}),
        )
    ]
    raters = (RaterEntry("A1", "person"), RaterEntry("A2", "person"), RaterEntry("J1", "judge"))
    assignments = tuple(
        AssignmentEntry(rater, row, 1, "submitted", ()) for row in range(len(rows)) for rater in (0, 1, 2)
    )
    for place, work in enumerate(assignments):
        row = rows[work.row]
        complete = {}
        for at, side in enumerate(("left", "right")):
            system = row.facets[side].split("|")[0]
            complete[side] = rng.random() < (0.9 if system == "whole" else 0.2)
            labels.append((place, 3 * row.sheet + at, 0, 0 if complete[side] else 1, 0, 0))
            labels.append((place, 3 * row.sheet + at, 1, 0, 0, 0))
        better = 1 if complete["left"] == complete["right"] else 0 if complete["left"] else 2
        labels.append((place, 3 * row.sheet + 2, 2, better, 0, 0))
    return LabelTable(
        slug="beside",
        title="Beside",
        spec=spec.model_dump(mode="json"),
        raters=raters,
        sheets=tuple(f"Pizza {n}" for n in range(N_SHEETS)),
        rows=tuple(rows),
        columns=tuple(columns),
        assignments=Assignments.of(assignments),
        labels=np.array(sorted(labels), dtype=np.int64),
        values=((), (), ()),
    )


def made(**filters: Any) -> tuple[StudyReport, dict[str, ReportTable]]:
    chosen = Filters(**filters)
    report = compute(study_data(table(), chosen), chosen)
    tables = [of for section in report.sections for q in section.questions for of in system_tables(report, q, JUDGED)]
    return report, {of.key: of for of in tables}


def test_rates_by_system_are_those_of_the_labels() -> None:
    report, tables = made()
    rows = {(row[0], row[1]): row[2:] for row in tables["side.complete.systems"].rows}

    assert set(rows) == {(system, by) for system in ("whole", "half") for by in ("People", "J1")}
    data = report.data.questions[0].people
    right = [
        code == 0
        for cell, code in zip(data.cell.tolist(), data.code.tolist(), strict=True)
        if JUDGED.system(
            report.data.table.rows[cell // report.data.n_columns].facets,
            report.data.table.columns[cell % report.data.n_columns].facets,
        )
        == "whole"
    ]
    value, low, high, n = rows["whole", "People"][:4]
    assert (value, n) == (pytest.approx(np.mean(right)), 2 * N_SHEETS * N_ROWS)
    assert low < value < high <= 1
    # Everything is valid: Clopper and Pearson's interval of 12 recipes.
    assert rows["whole", "People"][4:7] == (1, pytest.approx(0.025 ** (1 / N_SHEETS)), 1)


def test_rates_of_methods_before_have_the_intervals_of_their_day() -> None:
    _report, tables = made(methods=7)
    rows = {(row[0], row[1]): row[2:] for row in tables["side.complete.systems"].rows}
    _report, tables = made()
    now = {(row[0], row[1]): row[2:] for row in tables["side.complete.systems"].rows}

    # Everything is valid: Wilson's interval of 12 recipes.
    assert rows["whole", "People"][4:7] == (1, pytest.approx(wilson(1, N_SHEETS)[0]), 1)
    value, low, high, n = rows["whole", "People"][:4]
    assert value - low == pytest.approx(high - value)  # Student's has two equal halves
    assert now["whole", "People"][0] == value
    assert now["whole", "People"][3] == n
    assert value - now["whole", "People"][1] > now["whole", "People"][2] - value


def test_who_is_preferred_whatever_side_it_stood_on() -> None:
    _report, tables = made()
    rows = {row[:3]: row[3:] for row in tables["better.preference.systems"].rows}

    wins, ties, loses, probability, _low, high, p, n, n_sheets, because = rows["half", "whole", "People"]
    assert wins + ties + loses == pytest.approx(1)
    assert probability == pytest.approx(wins + ties / 2)
    assert high < 0.5
    assert p < 0.001
    assert (n, n_sheets, because) == (2 * N_SHEETS * N_ROWS, N_SHEETS, "")
    left = rows["left side", "right side", "People"]
    assert left[4] < 0.5 < left[5]  # the place alone is not preferred


def test_the_metric_that_people_follow_comes_first() -> None:
    _report, tables = made(metrics=("rouge-l", "exact"))
    compared = tables["better.preference.metrics"]
    flagged = {row[0]: row for row in tables["side.complete.metrics"].rows}

    assert {row[0] for row in compared.rows} == {"ROUGE-L", "Exact match"}
    for row in compared.rows:
        assert row[1] == "Input"
        assert 0.5 < row[3] < row[2] < row[4]
    assert flagged["ROUGE-L"][8] == 2 * N_SHEETS * N_ROWS
    assert "the same everywhere" in tables["side.valid.metrics"].rows[0][-1]


def test_a_report_without_a_metric_is_not_kept() -> None:
    report, tables = made(metrics=("rouge-l", "bertscore"), encoder="none-of-this-name")

    assert {row[0] for row in tables["better.preference.metrics"].rows} == {"ROUGE-L"}
    assert report.missed == {"bertscore"}
    assert report.lacks
    assert not made(metrics=("rouge-l",))[0].lacks


def test_earlier_methods_have_none_of_it() -> None:
    assert made(methods=3)[1] == {}


def test_no_text_is_measured_by_earlier_methods() -> None:
    from tests.reports.make_frozen import value_table

    lines = value_table(4, 12)
    before, now = (
        {of.key for of in contents_of(compute(study_data(lines, f), f)).tables}
        for f in (Filters(methods=3, by="sheet", n_draws=100), Filters(by="sheet", n_draws=100))
    )

    assert now - before == {
        f"steps.{question}.texts{part}"
        for question in ("input", "parts")
        for part in ("", ".people", ".tests", ".lines", ".sheets")
    } | {"steps.parts.entries", "steps.parts.edits", "missing"}
    assert before <= now


# --- the statistics ---------------------------------------------------------------------------------------------------


def test_rate_of_nothing() -> None:
    assert rate(np.zeros(0), np.zeros(0, dtype=np.int64)).value is None


def test_correlation_is_scipys() -> None:
    rng = np.random.default_rng(3)
    metric, cluster = rng.random(80), np.arange(80) // 4
    human = np.round(metric + rng.normal(0, 0.3, 80), 1)

    found = correlation(metric, human, cluster)

    assert found.kendall == pytest.approx(scipy_stats.kendalltau(metric, human).statistic)
    assert found.spearman == pytest.approx(scipy_stats.spearmanr(metric, human).statistic)
    assert found.kendall_low is not None
    assert found.kendall_low < found.kendall < found.kendall_high


def test_correlation_says_why_it_has_no_value() -> None:
    cells = np.arange(20)
    assert correlation(cells * 1.0, cells * 1.0, np.zeros(20, dtype=np.int64)).reason == TOO_FEW
    assert correlation(np.ones(20), cells * 1.0, cells).reason == NEVER_APART


def test_coverage_of_the_jackknife() -> None:
    """Of 60 samples of correlated pairs in clusters about 95 in 100 intervals hold the true ρ."""
    rng = np.random.default_rng(5)
    held = 0
    for _sample in range(60):
        shared = rng.normal(size=(25, 1))
        x = shared + rng.normal(size=(25, 4))
        y = 0.8 * x + rng.normal(size=(25, 4))
        found = correlation(x.ravel(), y.ravel(), np.repeat(np.arange(25), 4))
        truth = 6 / np.pi * np.arcsin(0.8 * 2 / np.sqrt(2 * (0.64 * 2 + 1)) / 2)
        held += found.spearman_low < truth < found.spearman_high
    assert 52 <= held <= 60


def _mean(sums: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return sums[:, 0] / sums[:, 1]


def test_exchanging_all_the_ways_there_are() -> None:
    """Six clusters can be exchanged in 64 ways, 2 of which are as far as 6 of 6: p = 2/64."""
    ones, zeros = np.ones((6, 2)), np.array([[0.0, 1.0]] * 6)
    draws = resampling_of(np.arange(6), "sheet", n_draws=20_000, seed=1, group_many=False)

    found = difference(ones, zeros, _mean, draws)

    assert found.value == 1
    assert found.p_randomisation == pytest.approx(2 / 64, abs=0.004)
    assert found.p_bootstrap is None  # too few clusters to draw from
    assert found.interval.low is None


def test_p_values_are_uniform_where_nothing_differs() -> None:
    rng = np.random.default_rng(2)
    draws = resampling_of(np.arange(20), "sheet", n_draws=400, seed=3, group_many=False)
    low = {"bootstrap": 0, "randomisation": 0}
    for _sample in range(200):
        first, second = (np.stack([rng.normal(size=20), np.ones(20)], axis=-1) for _system in range(2))
        found = difference(first, second, _mean, draws)
        low["bootstrap"] += found.p_bootstrap < 0.1
        low["randomisation"] += found.p_randomisation < 0.1
    # 20 of 200 are expected; three standard deviations are 13. The bootstrap of 20 clusters is a little too bold.
    assert 7 <= low["randomisation"] <= 33
    assert 7 <= low["bootstrap"] <= 40


def test_order_of_the_two_changes_the_sign_alone() -> None:
    rng = np.random.default_rng(4)
    first, second = (np.stack([rng.random(15), np.ones(15)], axis=-1) for _system in range(2))
    draws = resampling_of(np.arange(15), "sheet", n_draws=500, seed=1, group_many=False)

    one, other = difference(first, second, _mean, draws), difference(second, first, _mean, draws)

    assert one.value == pytest.approx(-other.value)
    assert one.p_bootstrap == other.p_bootstrap
    assert replace(one, value=None).n_clusters == 15
