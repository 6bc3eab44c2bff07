"""The board's panel of agreement so far."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Rater
from reports.views import board
from tests import builders
from tests.annotation.importing import labels_in
from tests.builders import Leases


def panel(leases: Leases, name: str = "board", **query: str | int) -> str:
    client = Client()
    client.force_login(leases.manager)
    return client.get(reverse(f"reports:{name}", args=[leases.study.slug]), query).content.decode()


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def gold(leases: Leases, *cells: str) -> None:
    """Each `row,section,column,question,answer`."""
    lines = ["rater,sheet,row,section,column,question,answer", *(f"gold,{cell}" for cell in cells)]
    labels_in(leases.study, "\n".join(lines))


def test_nothing_in_common_is_said(leases: Leases) -> None:
    builders.label(leases.annas[0])

    assert "No two people have answered the same cell yet." in panel(leases)


def test_too_little_data_is_said_with_its_count(leases: Leases) -> None:
    for assignment in (leases.annas[0], leases.boriss[0], leases.judges[0]):
        builders.label(assignment)

    page = panel(leases)

    # Of the duties' one question two columns; the judge is no person.
    assert "<code>A1</code> · <code>A2</code>" in page
    assert "too little data: 2 cells" in page
    assert not re.search(r"\bJ1\b", page)  # a random token may hold the letters


def test_enough_data_is_kappa_with_what_it_rests_on(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "ENOUGH_CELLS", 4)
    other = {**builders.COMPLETE, ("Insure", "stated"): "absent"}
    builders.label(leases.annas[0])
    builders.label(leases.annas[1], other)
    builders.label(leases.boriss[0])
    builders.label(leases.boriss[1])

    page = panel(leases)

    # A: stated implied stated absent; B: stated implied stated implied. p_o = 3/4, p_e = 1/4 + 1/4 × 1/2 = 3/8,
    # kappa = (3/4 - 3/8) / (5/8) = 0.6
    assert "κ 0.60" in page
    assert "75 % alike · 4 cells" in page
    assert Rater.objects.people().count() == 2


def test_kappa_of_a_scale_has_the_weights_that_it_has_in_the_report(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board, "ENOUGH_CELLS", 4)
    cells = [(row, column) for row in ("Clause 1", "Clause 2") for column in (1, 2)]
    given = {"ann": "1233", "bob": "1332"}
    lines = [
        f"{rater},{row},acts,{column},strictness,{answer}"
        for rater, answers in given.items()
        for (row, column), answer in zip(cells, answers, strict=True)
    ]
    labels_in(leases.study, "\n".join(["rater,row,section,column_number,question,answer", *lines]))

    # Of squared distances 2 / 4 are seen, and 22 / 16 expected: 1 - 0.5 / 1.375; without weights κ were 0.2.
    assert "κ 0.64" in panel(leases)


def test_where_everybody_chose_the_same_kappa_is_not_defined(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "ENOUGH_CELLS", 1)
    for assignment in (leases.annas[0], leases.boriss[0]):
        builders.label(assignment, {("Pay rent", "stated"): "stated"})

    assert "κ not defined" in panel(leases)


def test_cells_in_which_there_was_nothing_to_answer_are_no_agreement(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the report: “No party” was filled in for both where the column names none."""
    monkeypatch.setattr(board, "ENOUGH_CELLS", 1)
    both = {**builders.COMPLETE, ("Inspect", "act"): "found", ("Inspect", "strictness"): "1"}
    builders.label(leases.annas[0], both)
    builders.label(leases.boriss[0], {**both, ("Give notice · tenant", "party"): "other"})

    page = panel(leases)

    assert "κ 0.00" in page
    assert "0 % alike · 1 cell" in page
    assert "50 % alike" not in page


def test_labels_of_people_who_had_seen_the_others_are_left_out_and_that_is_said(leases: Leases) -> None:
    builders.label(leases.annas[0])
    builders.label(leases.boriss[0])
    assert "left out" not in panel(leases)

    leases.boriss[0].labels.filter(question__key="stated").update(exposed=True)
    page = panel(leases)

    assert "2 non-blind labels are left out: their raters had seen others’ labels" in page
    assert "too little data" in page  # of the other questions


def test_of_very_many_pairs_those_with_most_cells_are_shown(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "MOST_PAIRS", 1)
    given = {"ann": 4, "bob": 4, "cid": 1}
    lines = [
        f"{rater},Clause {1 + n // 2},acts,{1 + n % 2},strictness,1"
        for rater, many in given.items()
        for n in range(many)
    ]
    labels_in(leases.study, "\n".join(["rater,row,section,column_number,question,answer", *lines]))

    page = panel(leases)

    assert "<code>ann</code> · <code>bob</code>" in page
    assert "<code>cid</code>" not in page
    assert "2 more pairs, with no more cells in common than these, are in the report." in page


def test_where_there_is_no_gold_it_is_said_how_there_can_be(leases: Leases) -> None:
    builders.label(leases.annas[0])

    assert "There is no gold yet. Once the right answers to some clauses are imported" in panel(leases, "gold-board")


def test_gold_that_nobody_else_has_answered_says_nothing_of_anybody(leases: Leases) -> None:
    gold(leases, "Lease,Clause 1,duties,Pay rent,stated,stated")

    assert "Nobody has answered a cell that has gold yet." in panel(leases, "gold-board")


def test_each_person_is_held_against_the_gold(leases: Leases) -> None:
    gold(
        leases,
        "Lease,Clause 1,duties,Pay rent,stated,stated",
        "Lease,Clause 1,duties,Insure,stated,absent",
        "Lease,Clause 2,duties,Insure,stated,absent",
    )
    for assignment in (leases.annas[0], leases.boriss[0], leases.judges[0]):
        builders.label(assignment)
    builders.label(leases.boriss[1], {("Insure", "stated"): "absent"})

    page = words(panel(leases, "gold-board"))

    # Both found rent stated and insurance implied in the first clause; Boris alone labelled the second one.
    assert "A1 50 % 1 of 2 cells" in page
    assert "A2 67 % 2 of 3 cells" in page
    assert "J1" not in page
    assert "Duties · Stated" in page
    assert "Strictness" not in page  # no gold there


def test_gold_of_one_sheet_is_looked_at_alone(leases: Leases) -> None:
    """Training has gold that was there before; that of the other sheets was decided from people's answers."""
    other = builders.sheet(leases.study, "Training")
    theirs = builders.assignments(leases.study.raters.get(code="A1"), other)
    gold(leases, "Lease,Clause 1,duties,Insure,stated,absent", "Training,Clause 1,duties,Insure,stated,implied")
    for assignment in (leases.annas[0], theirs[0]):
        builders.label(assignment)

    assert "A1 50 % 1 of 2 cells" in words(panel(leases, "gold-board"))
    assert "A1 100 % 1 of 1 cell " in words(panel(leases, "gold-board", sheet=other.pk))
    assert "A1 0 % 0 of 1 cell " in words(panel(leases, "gold-board", sheet=leases.sheet.pk))
    assert "There is nothing here" in panel(leases, "gold-board", sheet="9" * 200)


def test_what_had_nothing_to_answer_is_not_right(leases: Leases) -> None:
    gold(leases, "Lease,Clause 1,acts,Inspect,act,found", "Lease,Clause 1,acts,Inspect,strictness,1")
    builders.label(leases.annas[0], {("Inspect", "act"): "found", ("Inspect", "strictness"): "1"})

    page = words(panel(leases, "gold-board"))

    assert "Acts · Act Acts · Strictness A1" in page  # not the party, which the column presets
    assert page.count("1 of 1 cell") == 2
