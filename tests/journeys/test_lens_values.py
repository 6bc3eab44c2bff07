"""The lens where answers are written: somebody's is taken by its number, another one is typed."""

from __future__ import annotations

import uuid

import pytest
from playwright.sync_api import expect

from annotation import actions
from annotation.actions import Answer
from annotation.evidence.blocks import Block
from annotation.models import Label, Sheet
from annotation.scheme.spec import load_scheme
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import Browsing

pytestmark = pytest.mark.once

SCHEME = """\
key: weighing
version: 1
title: Weighing
sections:
  - key: things
    title: Things
    column: {title: Thing, facets: [thing]}
    questions:
      - {key: weight, title: Weight, kind: number, number: {min: 0, max: 500, step: 0.5, unit: g}}
      - key: made-of
        title: Made of
        kind: text
        text: {longest: 200, separator: ";"}
"""


def weighed() -> Sheet:
    """Anna and Boris differ about both questions."""
    scheme = actions.store_scheme(spec=load_scheme(SCHEME), source=SCHEME)
    study = actions.create_study(slug="weighing", title="Weighing", scheme=scheme, by=pages.person("mara"))
    sheet = actions.add_sheet(study=study, title="Kitchen", columns={"things": [{"thing": "bread"}]})
    actions.add_row(sheet=sheet, name="Page 1", evidence=[Block("paragraph", "A loaf of bread.")])
    column = sheet.columns.select_related("section__scheme").get()
    said = {"anna": (":3", ':"flour; water"'), "boris": (":4.5", ':"flour"')}
    for name, codes in said.items():
        (assignment,) = builders.assignments(builders.rater(study, pages.person(name)), sheet)
        answers = [
            Answer.of_code(column, question, code, spec=question.spec)
            for question, code in zip(column.section.questions.order_by("position"), codes, strict=True)
        ]
        actions.record(assignment=assignment, answers=answers, key=uuid.uuid4())
    return sheet


def gold() -> dict[str, object]:
    return dict(Label.objects.filter(assignment__rater__kind="gold").values_list("question__key", "value"))


def test_a_manager_takes_an_answer_and_writes_another(browsing: Browsing) -> None:
    browsing.expect("409")
    sheet = weighed()
    page = browsing.person("mara")
    page.goto(f"/sheets/{sheet.pk}/lens/")
    page.wait_for_selector("td[tabindex]")

    # A text is not cut where there is room.
    texts = page.locator("td i", has_text="flour")
    assert texts.evaluate_all("of => of.map((one) => one.scrollWidth <= one.clientWidth)") == [True, True]

    # What was said stands in the line below, by number; a number takes it, Enter decides.
    choices = page.locator("#choices button")
    expect(choices).to_have_text(["1 3 g", "2 4.5 g", "Enter write an answer"])
    page.keyboard.press("2")
    expect(page.locator("#own")).to_have_value("4.5")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("it was weighed")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Decided: 4.5")
    assert gold() == {"weight": 4.5}
    expect(page.locator("td[data-f~=decided] b")).to_have_text("4.5")

    # An answer of one's own is typed; a refusal is said, and what was typed stays.
    page.keyboard.press("ArrowDown")
    expect(choices).to_have_text(["1 flour; water", "2 flour", "Enter write an answer"])
    page.keyboard.press("Enter")
    expect(page.locator("#own")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#refusal")).to_contain_text("Write the answer first")
    page.keyboard.type("x" * 201)
    page.keyboard.press("Enter")
    expect(page.locator("#refusal")).to_contain_text("takes at most 200 characters")
    page.locator("#own").fill("water ;salt")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Decided: water ;salt")
    assert gold() == {"weight": 4.5, "made-of": "water; salt"}

    # Escape leaves the field, and a decision is taken back as any other.
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(page.locator("#reason-form")).to_be_hidden()
    page.keyboard.press("Backspace")
    expect(page.locator("#own")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("The decision is withdrawn.")
    assert gold() == {"weight": 4.5}
