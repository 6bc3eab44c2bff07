"""Rows that are asked about as a whole: reviews of shops, with a question of each kind and no columns."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation import actions
from annotation.evidence.blocks import Block
from annotation.models import Sheet
from annotation.scheme.spec import load_scheme
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid

pytestmark = pytest.mark.once

SCHEME = """\
key: reviews
version: 1
title: Reviews
words: {sheet: shop, sheets: shops, row: review, rows: reviews}
sections:
  - key: review
    title: Review
    questions:
      - key: rules
        title: Does it break the rules of the shop?
        options: [{key: does, label: It does}, {key: perhaps, label: Perhaps}, {key: not, label: It does not}]
      - {key: helpful, title: "How helpful is it?", kind: scale, min: 1, max: 5}
      - {key: bought, title: "Bought or machine-written?", kind: flag}
      - {key: price, title: Price that is named, kind: number, number: {min: 0, max: 500, step: 0.01, unit: €}}
      - {key: reason, title: Reason in your words, kind: text, text: {longest: 300, special: [NA]}}
      - {key: claims, title: Claims made, kind: items, items: {most: 5, fields: [{key: claim, required: true}]}}
"""
N_QUESTIONS = 6


@pytest.fixture
def shop(browsing: Browsing) -> Sheet:
    scheme = actions.store_scheme(spec=load_scheme(SCHEME), source=SCHEME)
    study = actions.create_study(slug="reviews", title="Reviews", scheme=scheme, by=pages.person("mara"))
    sheet = actions.add_sheet(study=study, title="Corner shop", columns={})
    for n in range(1, 9):
        evidence = [Block("paragraph", f"Review {n}: the blender was 39.90 € and broke after a week.")]
        actions.add_row(sheet=sheet, name=f"r0{n}", evidence=evidence)
    builders.assignments(builders.rater(study, pages.person("anna")), sheet)
    return sheet


def test_questions_take_the_room_that_there_is(shop: Sheet, browsing: Browsing) -> None:
    page = browsing.person("anna")
    Grid(page, shop).open()
    asked = page.locator(".grid th.q.long > span")
    expect(asked).to_have_count(8 * N_QUESTIONS - 8)  # “Claims made” is short
    for width in (1440, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        # Each on one line, and none cut.
        assert asked.evaluate_all(
            "(all) => all.every((one) => one.scrollHeight <= one.clientHeight && one.clientHeight < 20)"
        )
    page = browsing.person("mara")
    page.goto(f"/sheets/{shop.pk}/lens/")
    asked = page.locator(".lens th.q")
    expect(asked).to_have_count(8 * N_QUESTIONS)
    assert max(asked.evaluate_all("(all) => all.map((one) => one.offsetHeight)")) <= 34


def test_the_row_that_one_comes_to_is_seen_whole(shop: Sheet, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, shop).open()
    seen = """(tables) => {
        const view = tables.getBoundingClientRect();
        const { a } = document.activeElement.closest("tr").dataset;
        const boxes = [...tables.querySelectorAll(`tr[data-a="${a}"]`)].map((tr) => tr.getBoundingClientRect());
        return boxes.filter(({ top, bottom }) => top >= view.top && bottom <= view.bottom).length;
    }"""
    for _row in range(7):
        grid.keys("n")
        assert page.locator("#tables").evaluate(seen) == N_QUESTIONS
    # Not under a hand: what is clicked stays where it is.
    tables = page.locator("#tables")
    tables.evaluate("(tables) => { tables.scrollTop = 120; }")
    clicked = grid.id("r01", "", "reason")
    box = page.locator(f"#{clicked}").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 20, box["y"] + 10)
    assert (grid.focused, tables.evaluate("(tables) => tables.scrollTop")) == (clicked, 120)


def test_the_guide_and_the_line_below_say_what_is_taken(shop: Sheet, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, shop).open()
    grid.go("r01", "", "reason")
    expect(page.locator("#choices")).to_contain_text("A text of at most 300 characters. Or: NA")
    page.locator("#open-guide").click()
    said = {
        "price": "A number from 0 to 500. In steps of 0.01. In €.",
        "reason": "A text of at most 300 characters. Or: NA",
        "claims": "One entry a line: Claim.",
    }
    for question, sentence in said.items():
        expect(page.locator(f"#guide-review-{question}")).to_contain_text(sentence)


def test_a_step_of_a_scale_is_said_once(shop: Sheet, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, shop).open()
    grid.go("r01", "", "helpful")
    assert page.locator("#choices .choice:not([data-choose=''])").all_inner_texts() == ["1", "2", "3", "4", "5"]
    page.locator("#open-guide").click()
    assert page.locator("#guide-review-helpful dt").all_inner_texts() == ["1", "2", "3", "4", "5"]
    assert page.locator("#guide-review-rules dt").first.inner_text() == "Id It does 1"
