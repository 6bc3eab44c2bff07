"""A manager plans a sample of rows, lets somebody start from a judge's answers, follows warnings, and decides."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from annotation import actions
from annotation.models import Assignment, Label
from tests.annotation.workshop import CUT, GLUE, STOOL, Workshop, fill, workshop
from tests.journeys.conftest import Browsing
from tests.journeys.test_looks import UNSEEN_FOCUS, fits_when_zoomed, look

pytestmark = pytest.mark.once

ANNAS = {
    (CUT, "input"): ':"oak"',
    (CUT, "tools"): ':[{"tool":"saw","parts":["plank"]},{"tool":"vice","parts":[]}]',
    (GLUE, "change"): ':[{"from":["seat"],"to":["stool"]}]',
}


@pytest.fixture
def wood(browsing: Browsing) -> Workshop:
    """The judge has finished the stool, Anna says otherwise of it; eight chairs of two writers are nobody's yet."""
    made = workshop()
    for n in range(8):
        facets = {"parts": ["plank"], "writer": "M2" if n < 6 else "M3"}
        actions.add_row(sheet=made.sheet, name=f"Chair {n}", evidence=[], facets=facets)
    fill(made.judges_stool)
    actions.submit(assignment=made.judges_stool)
    fill(made.stool, ANNAS)
    return made


def seen(page: Page, name: str) -> None:
    look(page, name)
    assert page.evaluate(UNSEEN_FOCUS) == [], name
    size = page.viewport_size
    fits_when_zoomed(page, name)
    assert size is not None
    page.set_viewport_size(size)


def test_a_sample_drafts_warnings_and_decisions(wood: Workshop, browsing: Browsing) -> None:
    page = browsing.person("mara")
    at = f"/studies/{wood.study.slug}"

    # One chair of each writer; the stool and the bench, of another writer, have people already.
    page.goto(f"{at}/plan/")
    page.get_by_text("Only some of the documents").click()
    page.get_by_label("How many documents are drawn").fill("1")
    page.get_by_label("So many").select_option("of each group")
    expect(page.locator("#preview")).to_contain_text("Say of which groups")
    page.get_by_role("group", name="Groups").get_by_label("Writer").check()
    expect(page.locator("#preview")).to_contain_text("3 of 10 documents that fit are drawn; 2 of them have nobody yet.")
    expect(page.locator("#preview table").first).to_contain_text(re.compile(r"M2\s*6\s*1\s*M3\s*2\s*1"))
    seen(page, "plan-sample")
    page.get_by_role("button", name="Apply this plan").click()
    expect(page.locator(".message.success")).to_be_visible()
    chairs = Assignment.objects.filter(row__name__startswith="Chair")
    assert set(chairs.values_list("row__facets__writer", flat=True)) == {"M2", "M3"}

    # Boris, who has begun nothing, starts from the judge's stool; nothing else of his could.
    page.goto(f"{at}/board/")
    page.get_by_role("row", name="A2").get_by_role("link", name="Draft").click()
    expect(page.get_by_label("Who starts")).to_have_value(str(wood.boriss_stool.rater_id))
    expect(page.get_by_label("Wood · Stool")).to_be_checked()
    expect(page.locator("#preview tbody tr")).to_have_count(1)
    seen(page, "drafts")
    page.get_by_role("button", name="Draft what is ticked").click()
    expect(page.locator(".message.success")).to_have_text(f"{len(STOOL)} answers of “J1” wait as drafts for “A2”.")

    # The board counts Anna's oak, and leads to it in the lens, whose filters can be narrowed and left.
    page.get_by_role("row", name="A1").get_by_role("link", name="Wood: 1").click()
    expect(page.locator("#place")).to_have_text("1 of 1")
    expect(page.locator("#detail")).to_contain_text("This comes from nowhere: oak.")
    expect(page.locator("#detail")).to_contain_text("draft of J1, not confirmed")
    expect(page.locator("tr:not([hidden]) th.doc")).to_have_count(1)
    seen(page, "lens-warned")
    page.get_by_label("Writer").select_option("M2")
    expect(page.locator("#nothing")).to_be_visible()
    assert "facet.writer=M2" in page.url
    page.reload()
    expect(page.get_by_label("Rater")).to_have_value("0")
    expect(page.get_by_label("Writer")).to_have_value("M2")
    page.get_by_label("Writer").select_option("")
    page.get_by_label("Rater").select_option("")
    page.get_by_text("All", exact=True).click()

    # Of a list and of transitions, an answer is taken by its number and another one is written. Boris has drafts, so
    # that another one than Anna's wants a reason.
    decide(page, "Tools", "2", "saw · plank", reason="the oak is gone")
    decide(page, "Change", "1", "seat → stool")
    page.keyboard.press("Enter")
    page.locator("#own").fill("seat, foot -> stool\nglue ->")
    page.locator("#reason").fill("the glue is used up")
    page.keyboard.press("Enter")
    expect(page.locator("#detail .said.gold")).to_contain_text("seat, foot → stoolglue → ∅")  # a list of two
    gold = Label.objects.filter(assignment__rater__kind="gold").values_list("question__key", "value")
    assert dict(gold) == {
        "tools": [{"tool": "saw", "parts": ["plank"]}],
        "change": [{"from": ["seat", "foot"], "to": ["stool"]}, {"from": ["glue"], "to": []}],
    }


def decide(page: Page, question: str, number: str, shown: str, *, reason: str = "") -> None:
    """Go to the first difference of a question by its filter, and take an answer by its number."""
    page.locator("select[name=question]").select_option(question)
    expect(page.locator("#where")).to_contain_text(question)
    page.locator("td[tabindex='0']").click()
    expect(page.locator("#choices")).to_contain_text(f"{number} {shown}")
    page.keyboard.press(number)
    if reason:
        page.locator("#reason").fill(reason)
    page.keyboard.press("Enter")
    expect(page.locator("#detail .said.gold")).to_contain_text(shown)
