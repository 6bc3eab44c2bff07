"""The first minutes of somebody new in the demo: a tile, a cell, the recipe and the page beside it, the way back."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from pytest_django import Settings

from annotation.models import Study
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid
from tests.journeys.test_looks import RULES

pytestmark = pytest.mark.once


def test_from_the_tiles_to_the_first_answer_and_back(demo: Study, browsing: Browsing, settings: Settings) -> None:
    settings.PALATE_ENV = "demo"
    page = browsing.person()
    page.goto("/")
    assert not Axe().run(page, options=RULES["light"]).response["violations"]
    page.get_by_role("button", name="annotator").click()
    way = page.get_by_role("region", name="A first look")
    expect(way.get_by_role("heading")).to_contain_text("0 of 5")
    assert not Axe().run(page, options=RULES["light"]).response["violations"]
    way.get_by_role("link", name="Answer some cells").click()
    page.wait_for_selector("td:focus")
    grid = Grid(page, demo.sheets.earliest("position"), "annotator")
    before = grid.focused

    # The recipe beside the grid, and the page: keys stay the grid's, and Esc leads back.
    grid.keys("r")
    expect(page.locator("#sheet-text")).to_contain_text("Let the batter rest for ten minutes.")
    grid.keys("r", "v")
    expect(page.locator("#sheet-text")).to_be_hidden()
    frame = page.frame_locator("#evidence iframe")
    frame.get_by_role("heading").first.click()
    grid.keys("Escape")
    assert grid.focused == before
    frame.get_by_role("heading").first.click()
    grid.keys("1")  # also from within the page
    grid.settle()
    assert grid.sign("Google 1", "all-purpose flour") == "F"

    page.get_by_role("link", name="Back to my work").click()
    expect(way.get_by_role("heading")).to_contain_text("1 of 5")
    way.get_by_role("button", name="See where they differ").click()  # as somebody else
    expect(page.get_by_text("Accept what all agree on")).to_be_visible()

    # A filter that is chosen with the mouse leaves the keys in the grid.
    page.locator("label", has_text="People differ").click()
    place = page.locator("#place").inner_text()
    page.keyboard.press("n")
    expect(page.locator("#place")).not_to_have_text(place)
