"""What a screen reader hears in the grid: what is said of the focused cell, and what a key has done."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation import actions
from annotation.models import Column, Question
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Coleslaw, Grid

pytestmark = pytest.mark.once


def described(grid: Grid) -> str:
    return grid.page.evaluate("document.activeElement.getAttribute('aria-description')") or ""


def expect_spoken(grid: Grid, sentence: str) -> None:
    expect(grid.page.locator("#spoken[role=status]")).to_have_text(sentence)


@pytest.fixture
def grid(slaw: Coleslaw, browsing: Browsing) -> Grid:
    return Grid(browsing.person("anna"), slaw.sheet).open()


def test_the_focused_cell_alone_is_described(slaw: Coleslaw, browsing: Browsing) -> None:
    """By its options and their keys, and by its state; what is known of a note stays with its cell."""
    mine = slaw.assignment("anna", "Google 1")
    carrots = Column.objects.get(sheet=slaw.sheet, name="carrots")
    question = Question.objects.get(section=carrots.section_id, key="presence")
    actions.ask(assignment=mine, column=carrots, question=question, text="Is grated enough?", by=mine.rater.user)
    grid = Grid(browsing.person("anna"), slaw.sheet).open()
    assert described(grid).startswith("1 ")
    first = described(grid)
    noted = grid.page.locator("#" + grid.id("Google 1", "carrots"))
    note = noted.get_attribute("aria-description")
    grid.keys("ArrowRight")
    assert described(grid) == f"{note}. {first}"
    grid.keys("ArrowRight")
    assert described(grid) == first
    assert noted.get_attribute("aria-description") == note
    assert grid.page.locator("td[aria-description]").count() == 2
    grid.keys("Control+Home", "1", "1", "1", "1", *"111", *"11", "1")
    grid.keys("Control+Home")
    assert described(grid) == f"complete: s submits it, Ctrl+→ goes on. {first}"


def test_what_a_key_has_done_is_said_in_one_sentence(grid: Grid) -> None:
    grid.keys("1")
    expect_spoken(grid, "Google 1, Presence, white cabbage: Found")
    grid.keys("ArrowRight", "ArrowLeft")
    expect_spoken(grid, "Google 1, Presence, white cabbage: Found")  # nothing is said of moving
    grid.keys("Control+z")
    expect_spoken(grid, "Undone: Google 1, Presence, white cabbage: empty")
    grid.keys("Control+y")
    expect_spoken(grid, "Done again: Google 1, Presence, white cabbage: Found")
    grid.keys("Control+Home", "Backspace")
    expect_spoken(grid, "Google 1, Presence, white cabbage: empty")
    grid.keys("Shift+End", "1")
    expect_spoken(grid, "Cells filled: 4.")
    grid.keys("Control+z")
    expect_spoken(grid, "Undone: Google 1, Presence, white cabbage: empty; more cells: 3")


def test_that_a_document_is_complete_and_submitted_is_said(grid: Grid) -> None:
    grid.keys("1", "1", "1", "1", *"111", *"11", "1")
    expect(grid.page.locator("#spoken")).to_contain_text("complete: s submits it, Ctrl+→ goes on")
    grid.keys("s")
    expect_spoken(grid, "“Google 1” is submitted.")


def test_a_number_that_is_no_option_is_said_once(grid: Grid) -> None:
    grid.keys("8")
    grid.expect_refusal("The key 8 is no answer here.")
    assert grid.page.locator("#spoken").inner_text() == ""
    grid.keys("1")
    expect(grid.page.locator("#refusal")).to_be_hidden()
