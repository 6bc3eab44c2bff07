"""Texts that a page is not made for: words without an end, and what is written from right to left."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation import actions
from annotation.evidence.blocks import Block
from annotation.models import Role, Sheet
from annotation.scheme.spec import load_scheme
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid

pytestmark = pytest.mark.once

SCHEME = """\
key: texts
version: 1
title: Texts
sections:
  - key: things
    title: Things
    column: {title: Thing, facets: [thing]}
    questions:
      - {key: weight, title: Weight, kind: number}
      - {key: remark, title: Remark, kind: text}
  - key: steps
    title: Steps
    layout: down
    column: {title: Step, facets: [step]}
    questions:
      - {key: said, title: What is said, kind: text}
"""
ARABIC = "خبز أبيض."
LONG = "Word" * 50


def texts(title: str = "Texts", *, things: int = 2, row_title: str = "") -> Sheet:
    scheme = actions.store_scheme(spec=load_scheme(SCHEME), source=SCHEME)
    study = actions.create_study(slug="texts", title=title, scheme=scheme, by=pages.person("mara"))
    actions.add_member(study=study, user=pages.person("rene"), role=Role.RESEARCHER)
    columns = {"things": [{"thing": f"thing {n}"} for n in range(things)], "steps": [{"step": "Knead"}]}
    sheet = actions.add_sheet(study=study, title="Kitchen", columns=columns)
    evidence = [Block("heading", ARABIC), Block("paragraph", ARABIC), Block("list", ARABIC)]
    actions.add_row(sheet=sheet, name="Page 1", title=row_title or ARABIC, language="ar", evidence=evidence)
    builders.assignments(builders.rater(study, pages.person("anna")), sheet)
    return sheet


def starts_right(text: Locator) -> bool:
    """Whether it runs from right to left and begins at the right edge of what it stands in."""
    return bool(
        text.evaluate("""(one) => {
          const style = getComputedStyle(one);
          return style.direction === "rtl" && ["start", "right"].includes(style.textAlign);
        }""")
    )


def overflows(page: Page) -> list[str]:
    """What is wider than the page, or than the box in which a table is scrolled."""
    found: list[str] = page.evaluate("""() =>
      [document.documentElement, ...document.querySelectorAll(".scroll")]
        .filter((one) => one.scrollWidth > one.clientWidth + 1)
        .map((one) => `${one.tagName} ${one.className} ${one.scrollWidth} > ${one.clientWidth}`)""")
    return found


# --- from right to left ---


def test_what_is_written_from_right_to_left_runs_so(browsing: Browsing) -> None:
    sheet = texts()
    grid = Grid(browsing.person("anna"), sheet).open()
    grid.go("Page 1", "thing 0", "remark")
    grid.keys("F2")
    grid.page.keyboard.insert_text(ARABIC)
    expect(grid.page.locator(".typed")).to_have_attribute("dir", "auto")
    grid.keys("Enter")
    grid.settle()
    written = grid.page.locator("td.value > span").filter(has_text=ARABIC)
    assert starts_right(written)
    blocks = grid.page.locator("#evidence .blocks")
    expect(blocks).to_have_attribute("lang", "ar")
    for block in blocks.locator("[data-b]").all():
        assert starts_right(block)
    grid.reload()
    assert starts_right(written)

    lens = browsing.person("mara")
    lens.goto(f"/sheets/{sheet.pk}/lens/")
    lens.locator("td").filter(has=lens.locator("bdi")).click()
    assert starts_right(lens.locator("#detail .value").first)


# --- words without an end ---


@pytest.mark.parametrize("who", ["mara", "rene"])
def test_a_long_title_leaves_the_columns_where_they_are(browsing: Browsing, who: str) -> None:
    sheet = texts(LONG, row_title=LONG)
    page = browsing.person(who)
    for address in (
        "/studies/",
        "/studies/texts/",
        "/studies/texts/documents/",
        f"/studies/texts/report/evidence/{sheet.rows.get().pk}/",
    ):
        page.goto(address)
        assert overflows(page) == [], address


def test_a_long_title_is_whole_beside_the_grid(browsing: Browsing) -> None:
    sheet = texts(LONG, row_title=LONG)
    grid = Grid(browsing.person("anna"), sheet).open()
    title = grid.page.locator("#evidence h2")
    expect(title).to_have_text(LONG)
    pane = grid.page.locator("#evidence")
    assert pane.evaluate("(pane) => pane.scrollWidth <= pane.clientWidth")
    grid.page.goto("/work/")
    assert overflows(grid.page) == []


# --- one table above another ---


def test_the_names_of_the_lower_table_stay_while_the_upper_one_is_scrolled(browsing: Browsing) -> None:
    sheet = texts(things=12)
    grid = Grid(browsing.person("anna"), sheet).open()
    grid.go("Page 1", "thing 11", "remark")
    assert grid.page.locator("#tables").evaluate("(tables) => tables.scrollLeft") > 400
    lower = grid.page.locator("table.down")
    for name in (lower.locator("th.doc .name"), lower.locator("tbody th.given"), lower.locator("thead th.corner")):
        expect(name).to_be_in_viewport(ratio=0.9)
    left = lower.locator("tbody th.given").evaluate("(one) => one.getBoundingClientRect().left")
    assert left == grid.page.locator("#tables").evaluate("(one) => one.getBoundingClientRect().left")
    grid.go("Page 1", "Knead", "said")
    expect(lower.locator("td")).to_be_in_viewport(ratio=0.9)


def test_numbers_are_whole_in_the_lens(browsing: Browsing) -> None:
    sheet = texts()
    grid = Grid(browsing.person("anna"), sheet).open()
    grid.go("Page 1", "thing 0", "weight")
    grid.page.keyboard.type("250,5")
    grid.keys("Enter")
    grid.settle()
    lens = browsing.person("mara")
    lens.goto(f"/sheets/{sheet.pk}/lens/")
    expect(lens.locator("td").filter(has_text="250.5")).to_be_visible()


def test_a_long_text_is_read_by_keys_from_its_cell(browsing: Browsing) -> None:
    sheet = texts()
    row = sheet.rows.get()
    row.evidence = [{"kind": "paragraph", "text": f"Line {n}."} for n in range(200)]
    row.save()
    page = browsing.person("anna")
    grid = Grid(page, sheet).open()
    where = grid.where()

    def top() -> int:
        return int(page.locator("#evidence").evaluate("(panel) => panel.scrollTop"))

    expect(page.locator("#evidence")).to_contain_text("Line 199.")
    page.keyboard.press("Alt+d")  # letters are typed into this cell, so that a command takes Alt
    down = top()
    assert 100 < down < page.locator("#evidence").evaluate("(panel) => panel.clientHeight")  # nothing is passed over
    page.keyboard.press("Alt+d")
    assert top() == 2 * down
    page.keyboard.press("Alt+u")
    assert (top(), grid.where()) == (down, where)
