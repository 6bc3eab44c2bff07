"""Missing labels by reason, and coverage of each sheet by itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from reports.contents import contents_from
from reports.data.arrays import MAJORITY, Filters
from reports.data.cells import study_data
from reports.data.label_table import LabelTable, SkipEntry
from reports.exports.figures import figure_csv
from reports.figures.svg import draw
from reports.stats.summary import Empty
from tests.reports.make_frozen import label_table, marked_table

MOST = 2


@pytest.fixture(scope="module")
def table() -> LabelTable:
    """Six sheets × three documents; three people, two judges, a gold; skips, unreadable answers, failures, presets."""
    made: LabelTable = label_table(7, 6, 3)
    return made


@pytest.mark.parametrize("optional", [False, True])
def test_reasons_add_up_to_the_cells_without_a_label(table: LabelTable, optional: bool) -> None:
    """Cells of optional questions that were left open are among them."""
    data = study_data(marked_table(8, 5, 4) if optional else table, Filters())
    for question in (*data.questions, *data.value_questions):
        missing: Counter[str] = Counter()
        for of in question.missing:
            missing[of.rater.code] += of.n
        given = {of.rater.code: of.of for of in question.missing if of.of is not None}
        assert set(given) <= {"A1", "A2", "A3"}
        # All cells that people were to fill, less those with an option.
        assert sum(missing[code] for code in given) == (question.selections < 0).sum()
        if len(given) == 3:
            assert sum(of for of in given.values() if of) == question.selections.size


def test_a_reason_is_told_as_it_was_said_and_the_rare_ones_together(
    table: LabelTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.tables.missingness.MOST_REASONS", MOST)
    [first, *_rest] = [skip for skip in table.skips if table.assignments[skip.assignment].rater == 0]
    there = {(skip.assignment, skip.column, skip.question) for skip in table.skips}
    labelled = {tuple(line) for line in table.labels[:, :3].tolist()}
    spare = [
        (place, column)
        for place, work in enumerate(table.assignments)
        if work.rater == 0
        for column, entry in enumerate(table.columns)
        if entry.section == "items" and entry.sheet == table.rows[work.row].sheet
    ]
    free = [cell for cell in spare if (*cell, 0) not in there | labelled]
    more = [SkipEntry(place, column, 0, f"reason {n}") for n, (place, column) in enumerate(free)]
    told = replace(table, skips=tuple(sorted([*table.skips, *more])))
    [missing] = [of for of in contents_from(told, Filters(), "en").tables if of.key == "missing"]
    mine = [row for row in missing.rows if row[:3] == ("Items", "A1", "skipped")]
    assert len(more) > 0
    assert mine[0][3] == first.reason == "cannot-tell"
    assert {row[3] for row in mine} >= {"reason 0"}
    n_rare = len(more) + 1 - MOST
    assert n_rare > 1
    assert mine[MOST:] == [(*mine[0][:3], "other reasons", n_rare, mine[-1][5])]


def test_what_was_left_open_is_told_by_itself() -> None:
    """A3 has not begun the last four of twenty texts."""
    [missing] = [of for of in contents_from(marked_table(8, 5, 4), Filters(), "en").tables if of.key == "missing"]
    of_remark = {(row[1], row[2]): row[4] for row in missing.rows if row[0] == "Remark"}
    assert of_remark["A3", "not reached"] == 4
    left_open = "left open: the question is optional"
    assert {rater for rater, why in of_remark if why == left_open} == {"A1", "A2", "A3"}
    [before] = [
        of for of in contents_from(marked_table(8, 5, 4), Filters(methods=13), "en").tables if of.key == "missing"
    ]
    assert left_open not in {row[2] for row in before.rows}


def test_what_everybody_left_open_is_so_by_the_majority_too() -> None:
    """All three leave the tone of the first text open; on the last A3, who has not begun it, is waited for."""
    table = marked_table(8, 5, 4)
    of_text = np.array([work.row for work in table.assignments])[table.labels[:, 0]]
    told = replace(table, labels=table.labels[(table.labels[:, 2] != 1) | ((of_text > 0) & (of_text < 19))])
    for methods, reason in ((13, Empty.NOT_REACHED), (14, Empty.LEFT_OPEN)):
        filters = Filters(voices=(MAJORITY,), methods=methods)
        [tone] = [of for of in study_data(told, filters).questions if of.spec.key == "tone"]
        [majority] = tone.voices
        assert (majority.selections[0], majority.selections[-1]) == (reason, Empty.NOT_REACHED)


def test_texts_that_a_file_leaves_open_are_among_those_it_has_not() -> None:
    """J2's answers came from a file. What gold has and it has not is an empty text where these count."""
    table = marked_table(8, 5, 4)
    filters = Filters(unanswered=True)
    [remark] = [of for of in study_data(table, filters).value_questions if of.spec.key == "remark"]
    gold, its = remark.written["G1"].cell, remark.written["J2"].cell
    assert set(gold.tolist()) - set(its.tolist()) <= remark.no_label["J2"].cells
    for methods, n in ((13, len(set(gold.tolist()) & set(its.tolist()))), (14, gold.size)):
        contents = contents_from(table, replace(filters, methods=methods), "en")
        [texts] = [of for of in contents.tables if of.key == "text.remark.texts"]
        cells = [head.key for head in texts.heads].index("cells")
        assert {row[0]: row[cells] for row in texts.rows}["J2"] == n


def test_methods_before_did_not_tell_it(table: LabelTable) -> None:
    contents = contents_from(table, Filters(methods=4), "en")
    assert "missing" not in [of.key for of in contents.tables]
    assert not [of for of in contents.figures if of.kind in ("multiples", "panels")]


def test_each_sheet_has_its_panel(table: LabelTable) -> None:
    figures = [of for of in contents_from(table, Filters(), "en").figures if of.kind == "multiples"]
    assert figures
    panels = figures[0].data["panels"]
    assert [panel["name"] for panel in panels] == [f"Soup {n}" for n in range(6)]
    assert all(0 <= share <= 1 for panel in panels for share in panel["values"])
    assert b"<svg" in draw(figures[0])
    assert figure_csv(figures[0]).splitlines()[0].endswith("panel,n,value")
    assert "6 curves" in figures[0].alt


def test_people_and_judges_stand_in_the_panel_of_each_sheet(table: LabelTable) -> None:
    contents = contents_from(table, Filters(by="document", n_draws=100), "en")
    panels = {of.key: of for of in contents.figures if of.kind == "panels"}
    names = sorted({key.rpartition(".")[2] for key in panels})
    assert names == ["accuracy-panels", "kappa-panels"]
    for figure in panels.values():
        assert [panel["name"] for panel in figure.data["panels"]] == [f"Soup {n}" for n in range(6)]
        lines = figure_csv(figure).splitlines()
        assert lines[0].endswith("panel,name,value,low,high")
        assert len(lines) == 1 + 6 * len(figure.data["names"])
        assert "6 panels" in figure.alt
    assert b"<svg" in draw(next(iter(panels.values())))
