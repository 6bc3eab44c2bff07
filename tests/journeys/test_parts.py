"""Parts of the sheet's page that come after its first cell: what is pressed before they are there is not lost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Label
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Coleslaw, Grid, until
from tests.journeys.test_typing import weighing

pytestmark = pytest.mark.once

LATER = re.compile(r"/scripts/grid-(?:later|editors)-")


class Held:
    """Keeps the parts of a page back until they are let through."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.routes: list[Route] = []
        page.route(LATER, lambda route: self.routes.append(route))

    def let_through(self, n: int) -> None:
        while len(self.routes) < n:
            self.page.wait_for_timeout(10)  # routes are heard of while the page is waited for
        for route in self.routes:
            route.continue_()
        self.page.wait_for_selector("#tables[data-whole]")


def begun(grid: Grid) -> Grid:
    grid.page.goto(f"/sheets/{grid.sheet.pk}/")
    grid.page.wait_for_selector("td:focus")
    return grid


def test_keys_and_clicks_wait_for_the_parts_that_hear_them(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    held = Held(page)
    grid = begun(Grid(page, slaw.sheet))
    first = grid.focused
    grid.keys("1")  # is chosen at once
    expect(page.locator(f"#{first}")).to_have_attribute("data-sign", "F")
    grid.settle()
    grid.keys("/")
    page.keyboard.type("mustar")
    grid.keys("Backspace", "ArrowDown")
    expect(page.locator("#find")).to_be_hidden()

    held.let_through(1)

    expect(page.locator("#find")).to_be_hidden()  # the arrow has closed it again, at what was found
    expect(page.locator("#where")).to_contain_text("mustard")
    held.routes.clear()
    page.reload()
    page.wait_for_selector("td:focus")
    page.click("#open-skip")
    held.let_through(1)
    expect(page.locator("#skip")).to_be_visible()


def test_letters_wait_for_the_editor_of_their_cell(browsing: Browsing) -> None:
    sheet = weighing()
    page = browsing.person("anna")
    held = Held(page)
    grid = begun(Grid(page, sheet))
    weight = grid.id("Page 1", "bread", "weight")
    page.locator(f"#{weight}").click()
    page.keyboard.type("251")
    grid.keys("Backspace")
    page.keyboard.type("0 g")
    grid.keys("Enter")
    page.keyboard.type("fl")

    held.let_through(2)

    expect(page.locator(".typed")).to_be_focused()
    expect(page.locator(".typed")).to_have_value("fl")
    expect(page.locator(".offers li")).to_have_text(["flour"])
    grid.settle()
    assert Label.objects.get(question__key="weight").value == 250


def test_parts_that_do_not_come_are_asked_for_again(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect("ERR_FAILED")
    page = browsing.person("anna")
    page.route(LATER, lambda route: route.abort(), times=1)
    grid = begun(Grid(page, slaw.sheet))

    grid.expect_refusal("A part of this page has not come yet")
    grid.keys("1", "m")

    expect(page.locator("#ask")).to_be_visible()
    expect(page.locator("#refusal")).to_be_hidden()
    until(Label.objects.exists, "the choice is not saved")
