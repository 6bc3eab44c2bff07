"""The grid on phones, zoomed to 400 %, and in forced colours: the focused cell is whole in sight, nothing but the
tables goes sideways, and what colours tell is told by lines."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotation import actions
from annotation.models import Role
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Coleslaw, Grid
from tests.journeys.test_looks import SIDEWAYS, WIDER
from tests.journeys.test_typing import weighing

pytestmark = pytest.mark.once

WINDOWS = ((390, 844), (320, 640), (320, 256), (320, 200))
# The corners of the focused cell that something else covers, or that are out of sight.
COVERED = """() => {
    const cell = document.activeElement;
    const box = cell.getBoundingClientRect();
    const corners = [box.left + 3, box.right - 3].flatMap((x) =>
        [box.top + 3, box.bottom - 3].map((y) => [x, y]));
    return corners.filter(([x, y]) => document.elementFromPoint(x, y)?.closest("td") !== cell);
}"""
# Two frames later whatever a new size sets off is done.
LAID_OUT = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
# What overlaps: the tables, the name of the cell below them, its options, and what is done with it.
OVERLAPPING = """() => {
    const boxes = ["#tables", "#where", "#palette .aids", "#choices"].map((one) =>
        [one, document.querySelector(one).getBoundingClientRect()]);
    const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    return boxes.flatMap(([a, one], n) =>
        boxes.slice(n + 1).filter(([, other]) => over(one, other)).map(([b]) => [a, b]));
}"""
# How much of the tables' width stays in place at the left.
STAYING = """() => {
    const tables = document.getElementById("tables");
    const corners = [...tables.querySelectorAll(".corner")].map((corner) => corner.offsetWidth);
    return Math.max(...corners) / tables.clientWidth;
}"""


def held(page: Page, keys: tuple[str, ...]) -> None:
    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(LAID_OUT)
        page.keyboard.press("Control+Home")
        for key in keys:
            page.keyboard.press(key)
            assert page.evaluate(COVERED) == [], (width, height, key)
        at = (width, height)
        assert page.evaluate(WIDER) == 0, (at, page.evaluate(SIDEWAYS))
        assert page.evaluate(OVERLAPPING) == [], at
        assert page.evaluate(STAYING) <= 0.5, at


def test_cells_of_several_questions_are_seen(slaw: Coleslaw, browsing: Browsing) -> None:
    grid = Grid(browsing.person("anna"), slaw.sheet).open()
    page = grid.page
    expect(page.locator("#evidence h2")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    # The name of the document has a line of its own where the buttons leave it none.
    assert page.locator("#evidence header p").first.evaluate("(name) => name.offsetWidth") > 120
    held(page, ("ArrowRight", "End", "Control+End", "Home", "ArrowUp", "PageUp"))
    # In the smallest window one scrolls on to the document; a key leads back to the cell.
    page.locator("#work").evaluate("(work) => work.scrollTo(0, work.scrollHeight)")
    expect(page.locator("#evidence h2")).to_be_in_viewport()
    grid.keys("ArrowDown")
    assert page.evaluate(COVERED) == []


def test_a_finger_answers_on_a_phone(slaw: Coleslaw, browsing: Browsing) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = browsing.person("anna", **phone)
    page.goto(f"/sheets/{slaw.sheet.pk}/")
    page.locator("td[tabindex]").tap()
    options = page.locator(".choice")
    expect(options.first).to_be_in_viewport()
    assert min(options.evaluate_all("(all) => all.map((one) => one.offsetHeight)")) >= 44
    # What only a keyboard needs takes no room.
    for of_keys in (options.first.locator("kbd"), page.locator("#open-help"), page.locator("#open-spreadsheet")):
        expect(of_keys).to_be_hidden()
    first = page.locator("td:focus").evaluate("(td) => td.cellIndex")
    with page.expect_response("**/record/"):
        options.first.tap()
    assert len(slaw.standing("anna")) == 1
    assert page.locator("td:focus").evaluate("(td) => td.cellIndex") == first + 1
    assert page.evaluate(COVERED) == []


def test_typed_cells_are_seen(browsing: Browsing) -> None:
    sheet = weighing()
    grid = Grid(browsing.person("anna"), sheet).open()
    held(grid.page, ("ArrowDown", "ArrowDown", "Control+End", "ArrowLeft"))


def test_who_comes_back_by_tab_sees_the_cell_that_was_scrolled_away(browsing: Browsing) -> None:
    """Behind the headings a browser took it for seen."""
    sheet = pages.paper_sized()
    actions.add_member(study=sheet.study, user=pages.person("mara"), role=Role.MANAGER)
    for name, path in (("mara", "lens/"), ("anna", "")):
        page = browsing.person(name, viewport={"width": 1280, "height": 800})
        page.goto(f"/sheets/{sheet.pk}/{path}")
        page.wait_for_selector("td[tabindex]")
        page.locator("td[tabindex]").focus()
        for key in (*["ArrowRight"] * 5, *["ArrowDown"] * 12):
            page.keyboard.press(key)
        for right, down in ((1, 0), (0, 1), (1, 1)):
            # Its cell is right below the first of the headings.
            page.evaluate(
                """([right, down]) => {
                    const tables = document.getElementById("tables");
                    const [view, cell] = [tables, tables.querySelector("td[tabindex]")];
                    const [from, to] = [view, cell].map((element) => element.getBoundingClientRect());
                    tables.scrollLeft += right * (to.left - from.left - 30);
                    tables.scrollTop += down * (to.top - from.top - 20);
                }""",
                [right, down],
            )
            page.locator(".sheet-bar button:visible, #filters input").last.focus()
            page.keyboard.press("Tab")
            assert page.evaluate("() => document.activeElement.tagName") == "TD"
            assert page.evaluate(COVERED) == [], (path, right, down)


def test_a_bottom_line_of_two_lines_leaves_the_cell_in_sight(slaw: Coleslaw, browsing: Browsing) -> None:
    grid = Grid(browsing.person("anna", viewport={"width": 720, "height": 600}), slaw.sheet).open()
    line = grid.page.locator("#palette > p")
    grid.keys("Control+End")
    before = line.evaluate("(line) => line.offsetHeight")
    grid.keys("8")
    grid.expect_refusal("The key 8 is no answer here.")
    assert line.evaluate("(line) => line.offsetHeight") > before
    grid.page.wait_for_function(f"() => !({COVERED})().length")


def test_a_range_and_the_states_of_cells_are_seen_in_forced_colours(slaw: Coleslaw, browsing: Browsing) -> None:
    """Where grounds and shadows are taken away, lines tell them."""
    grid = Grid(browsing.person("anna", forced_colors="active"), slaw.sheet).open()
    grid.keys("1", "Control+Home", "ArrowDown", "Shift+ArrowRight")
    page = grid.page
    plain = page.locator(f"#{grid.id('Bing 1', 'mustard')}")

    def lines(cell: str) -> list[str]:
        style = "(td) => { const s = getComputedStyle(td); return [s.outlineStyle, s.borderLeftWidth]; }"
        return list(page.locator(f"#{cell}").evaluate(style))

    assert lines(str(plain.get_attribute("id"))) == ["none", "0px"]
    assert lines(grid.id("Google 2", "carrots")) == ["dashed", "0px"]
    assert lines(grid.id("Google 1", "white cabbage")) == ["none", "3px"]
    # What is drawn has the colours of the rest.
    quiet = page.evaluate("() => getComputedStyle(document.documentElement).getPropertyValue('--quiet')")
    assert quiet.strip() == "CanvasText"
