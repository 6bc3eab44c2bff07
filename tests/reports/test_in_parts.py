"""What is kept as arrays or made in parts, so that a million labels need little memory, is the same as in one piece."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reports.contents import Contents, ContentsPart
from reports.data.label_table import AssignmentEntry, Assignments
from reports.figures.base import Figure
from reports.stats import pairs, small_sheets
from reports.stats.answers import Answers
from reports.stats.distinct import among, distinct
from reports.stats.small_sheets import corrected_kappas
from reports.tables import Head, ReportTable

pytestmark = pytest.mark.once


def test_assignments_are_the_entries_that_they_were_made_of() -> None:
    entries = [
        AssignmentEntry(rater, row, 1 + row % 2, ("open", "failed", "submitted")[row % 3], ("a",) if row == 4 else ())
        for row in range(7)
        for rater in (3, 0)
    ]
    made = Assignments.of(entries)

    assert list(made) == entries
    assert len(made) == 14
    assert [made[0], made[-1], made[8]] == [entries[0], entries[-1], entries[8]]
    assert made[2:12:3] == entries[2:12:3]
    assert made.at(np.array([9, 9, 0])) == [entries[9], entries[9], entries[0]]
    assert made.are("failed").tolist() == [entry.state == "failed" for entry in entries]
    assert not made.are("withdrawn").any()
    assert list(Assignments.of([])) == []
    with pytest.raises(IndexError):
        made[14]


def answers(seed: int) -> Answers:
    rng = np.random.default_rng(seed)
    cell, rater = np.unique(rng.integers(0, [90, 6], (300, 2)), axis=0).T
    code = rng.integers(0, 4, cell.size)
    return Answers.from_long(rater=rater, cell=cell, sheet=cell // 3 % 2, code=code, n_options=4, document=cell // 3)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_counted_alike_whether_sorted_or_in_their_places(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    in_place = pairs.pair_tables(answers(seed))
    monkeypatch.setattr(pairs, "_FEW", 0)
    monkeypatch.setattr(pairs, "_COMPARISONS_AT_ONCE", 50)
    by_sorting = pairs.pair_tables(answers(seed))

    for name in ("sheet", "rater_a", "rater_b", "pair", "option_a", "option_b", "count"):
        assert getattr(in_place, name).tolist() == getattr(by_sorting, name).tolist(), name
    assert in_place.n_comparisons > 100


@pytest.mark.parametrize("seed", range(5))
def test_documents_are_corrected_for_alike_in_parts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    said = answers(seed)
    tables = pairs.pair_tables(said)
    whole = corrected_kappas(said, tables, "quadratic")
    monkeypatch.setattr(small_sheets, "_COMPARISONS_AT_ONCE", 20)

    assert np.isfinite(whole).any()
    np.testing.assert_array_equal(corrected_kappas(said, tables, "quadratic"), whole)


def by_hand(said: Answers, a: int, b: int, sheet: int, cost: np.ndarray[Any, Any]) -> float:
    """Kappa of two raters in one sheet, chance counted over each two different documents, one by one."""
    there = list(zip(said.rater.tolist(), said.cell.tolist(), said.code.tolist(), said.document.tolist(), strict=True))
    of_a, of_b = (
        {cell: (code, document) for who, cell, code, document in there if who == rater and cell // 3 % 2 == sheet}
        for rater in (a, b)
    )
    shared = sorted(of_a.keys() & of_b.keys())
    crossed = [cost[of_a[c][0], of_b[d][0]] for c in shared for d in shared if of_a[c][1] != of_b[d][1]]
    if not crossed or not sum(crossed):
        return float("nan")
    observed = [cost[of_a[cell][0], of_b[cell][0]] for cell in shared]
    return float(1 - np.mean(observed) / np.mean(crossed))


@pytest.mark.parametrize("alone", [False, True], ids=["documents of several cells", "of one each"])
@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_chance_is_taken_between_different_documents(weights: pairs.Weights | None, alone: bool) -> None:
    said = answers(3)
    if alone:
        said = replace(said, document=said.cell)
    tables = pairs.pair_tables(said)
    cost = pairs.disagreement_weights(4, weights)
    whose = zip(tables.rater_a.tolist(), tables.rater_b.tolist(), tables.sheet.tolist(), strict=True)
    expected = [by_hand(said, a, b, sheet, cost) for a, b, sheet in whose]

    assert np.isfinite(expected).sum() > 10
    np.testing.assert_allclose(corrected_kappas(said, tables, weights), expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_each_value_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for values in (rng.integers(-5, 5, (40, 2)), rng.integers(0, 2**40, 500).astype(np.int64), np.zeros(0, np.int32)):
        once = distinct(values)
        assert once.tolist() == sorted(set(values.ravel().tolist()))
        assert once.dtype == values.dtype


@pytest.mark.parametrize("n", [0, 1, 500])
def test_what_is_among_an_ascending_array_is_as_numpy_has_it(n: int) -> None:
    rng = np.random.default_rng(n)
    ordered, values = np.sort(rng.integers(-5, 400, n)), rng.integers(-20, 420, 300)
    for some in (values, values[:0], np.sort(values)):
        assert among(some, ordered).tolist() == np.isin(some, ordered).tolist()


def test_answers_that_come_in_another_order_are_the_same() -> None:
    said = answers(1)
    order = np.random.default_rng(1).permutation(said.cell.size)
    mixed = Answers.from_long(
        rater=said.rater[order], cell=said.cell[order], sheet=said.sheet[order], code=said.code[order],
        document=said.document[order], n_options=4,
    )  # fmt: skip
    assert mixed.code.tolist() == said.code.tolist()


def test_contents_are_written_as_json_in_one_piece_would_be() -> None:
    rows = tuple((f"“{n}”\n", n / 3, n, None) for n in range(2500))
    heads = (Head("a", "A"), Head("b", "B", "number"), Head("c", "C", "count"), Head("d", "D", "note"))
    data = {"names": ["x"], "values": [[None, 0.1 + 0.2], []], "label": "κ"}
    tables = ReportTable("t", "", "T", heads, rows), ReportTable("e", "", "E", (), ())
    part = ContentsPart("p", "P", 1, tables, (Figure("f", "matrix", "", "F", data, "how", "alt"),))
    made = Contents((("study", "S"),), 5, (part, ContentsPart("q", "", 0, ())))

    read = json.loads(made.content)
    assert read["parts"][0]["tables"][0]["rows"][1] == ["“1”\n", 0.3333333333, 1, None]
    assert read["parts"][0]["figures"][0]["data"]["values"] == [[None, 0.3], []]
    assert (
        made.content
        == json.dumps(read, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    )
    assert "".join(made.indented()) == json.dumps(read, ensure_ascii=False, indent=1)
