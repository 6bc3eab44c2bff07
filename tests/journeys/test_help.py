"""Help for the annotator: asking, skipping, the list of what is open, the guide, the stored page, the clock."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Page, expect

from annotation import actions
from annotation.models import Assignment, Note, Sitting, Skip, Study
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Coleslaw, Grid, until

pytestmark = pytest.mark.once


def ask(page: Page, text: str) -> None:
    page.keyboard.press("m")
    expect(page.locator("#ask-text")).to_be_focused()
    page.keyboard.type(text)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#ask")).to_be_hidden()


def test_ask_skip_and_submit_on_keys_and_read_the_answer(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect("409")
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()

    # Skip with a reason: the cell says so, the focus goes on, undo takes it back.
    grid.keys("x")
    page.keyboard.type("Cut off")
    grid.keys("Enter")
    assert grid.where() == "Google 1 › Presence › carrots"
    cell = page.locator(f"#{grid.id('Google 1', 'white cabbage')}")
    expect(cell).to_have_text("cannot tell: Cut off")
    expect(page.locator("#cells-left")).to_have_text("38 of 39 cells left")
    grid.keys("Control+z")
    expect(cell).to_have_text("empty")
    grid.keys("Control+Shift+z")
    grid.settle()
    assert Skip.objects.get().reason == "Cut off"
    # A label takes its place.
    grid.keys("1")
    grid.settle()
    assert not Skip.objects.exists()

    # Ask about a cell; it gets a corner, and the bottom line says what was asked.
    grid.go("Google 1", "mustard")
    ask(page, "Is it in the dressing?")
    noted = page.locator(f"#{grid.id('Google 1', 'mustard')}")
    expect(noted).to_have_attribute("data-note", "open")
    expect(page.locator("#asked")).to_have_text("You asked: “Is it in the dressing?” · not answered yet")

    # Submitting lists what is open; a click leads to the cell, an answer takes it off the list, Esc closes the list.
    grid.keys("s")
    listed = page.locator("#still-open")
    expect(listed.get_by_role("heading")).to_have_text("Still open in “Google 1”: 12")
    listed.get_by_role("button", name="carrots", exact=True).click()
    assert grid.focused == grid.id("Google 1", "carrots")
    grid.keys("1")
    expect(listed.get_by_role("heading")).to_have_text("Still open in “Google 1”: 11")
    grid.keys("Escape")
    expect(listed).to_be_hidden()

    # Skip the rest of the document: what the columns preset is filled in, and it can be submitted.
    grid.go("Google 1", "mustard")
    grid.keys("x")
    page.get_by_label("All that is still open in “Google 1”: 11 cells").check()
    grid.keys("Enter")
    grid.settle()
    assert Skip.objects.filter(reason="Cut off").count() == 8  # "stir" and "serve" preset three cells
    grid.keys("p", "s")
    expect(page.locator("#n-submitted")).to_have_text("1")

    # The manager answers; the annotator is told, finds the cell, and the answer counts as read.
    manager = browsing.person("mara")
    manager.goto("/studies/slaw/notes/")
    note = manager.get_by_role("article").filter(has_text="Is it in the dressing?")
    expect(note).to_contain_text("cannot tell: Cut off")
    note.get_by_label("Answer").fill("Take it as implied.")
    note.get_by_role("button", name="Answer").click()
    expect(manager.get_by_role("heading", name="Answered")).to_be_visible()
    page.goto("/")
    page.get_by_role("link", name="1 new answer").click()
    expect(page.locator("#asked")).to_have_text("The manager: “Take it as implied.”")
    assert grid.focused == grid.id("Google 1", "mustard")
    expect(page.locator(f"#{grid.focused}")).to_have_attribute("data-note", "read")
    assert Note.objects.get().read_at is not None

    # The manager closes the sheet: nothing is taken back any more, and it says why.
    manager.on("dialog", lambda dialog: dialog.accept())
    manager.goto("/studies/slaw/")
    manager.get_by_role("button", name="Close", exact=True).click()
    expect(manager.get_by_text("2 assignments are not submitted")).to_be_visible()
    grid.keys("s")
    grid.expect_refusal("“Coleslaw” is closed: its work is finished.")
    assert slaw.assignment("anna", "Google 1").state == Assignment.State.SUBMITTED
    grid.open()
    expect(page.locator("#choices")).to_have_text(re.compile("This sheet is closed"))


def test_a_question_that_was_not_sent_stays_in_its_cell(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect("ERR_INTERNET_DISCONNECTED")
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    field = page.locator("#ask-text")

    def drafts() -> int:
        return int(page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('palate:draft:')).length"))

    # Esc does not lose it, nor does a reload; every cell has its own.
    grid.keys("m")
    page.keyboard.type("Is it")
    grid.keys("Escape", "ArrowRight", "m")
    expect(field).to_have_value("")
    page.keyboard.type("Grated?")
    page.get_by_role("button", name="Close").click()
    grid.open()
    grid.keys("m")
    expect(field).to_have_value("Is it")
    grid.keys("End")
    page.keyboard.type(" white?")
    # A send that fails keeps it, as the message says; it goes when it is sent.
    page.context.set_offline(True)
    grid.keys("Control+Enter")
    expect(page.locator("#ask [role=alert]")).to_have_text(re.compile("Your words stand here still; try again."))
    grid.keys("Escape", "m")
    expect(field).to_have_value("Is it white?")
    page.context.set_offline(False)
    grid.keys("Control+Enter")
    expect(page.locator("#ask")).to_be_hidden()
    assert Note.objects.get().text == "Is it white?"
    assert drafts() == 1
    # What is changed of a question that is open stays as well; what was emptied is no draft.
    grid.keys("m")
    expect(page.locator("#ask").get_by_role("button", name="Take the question back")).to_be_visible()
    grid.keys("Control+End")
    page.keyboard.type("?")
    grid.keys("Escape", "m")
    expect(page.locator("#ask").get_by_role("button", name="Take the question back")).to_be_visible()
    expect(field).to_have_value("Is it white??")
    field.fill("")
    grid.keys("Escape", "m")
    expect(field).to_have_value("Is it white?")
    grid.keys("Escape")
    grid.go("Google 1", "carrots")
    grid.keys("m")
    expect(field).to_have_value("Grated?")
    # Another person at the same browser does not see it.
    browsing.log_in(page.context, "boris")
    actions.reopen(assignment=slaw.assignment("boris", "Google 1"))
    boris = Grid(page, slaw.sheet, "boris").open()
    boris.go("Google 1", "carrots")
    boris.keys("m")
    expect(field).to_have_value("")


def test_a_draft_outlives_esc_where_the_browser_stores_nothing(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    page.add_init_script(
        """const before = Storage.prototype.setItem;
        Storage.prototype.setItem = function (name, text) {
            if (name.startsWith("palate:draft:")) throw new DOMException("full", "QuotaExceededError");
            before.call(this, name, text);
        };"""
    )
    Grid(page, slaw.sheet).open()
    page.keyboard.press("m")
    page.keyboard.type("Is it?")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    expect(page.locator("#ask-text")).to_have_value("Is it?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#ask")).to_be_hidden()
    assert Note.objects.get().text == "Is it?"


def test_the_guide_stays_beside_the_work(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    guide = page.locator("#guide")
    grid.keys("g")
    expect(guide.get_by_role("heading", name="Guide: Presence")).to_be_visible()
    expect(guide.get_by_text("The words differ, but it is plainly a form of the same thing.")).to_be_in_viewport()
    # The keys stay in the grid, and the guide follows to another question.
    grid.keys("1")
    assert grid.where() == "Google 1 › Presence › carrots"
    grid.go("Google 1", "shred · knife · white cabbage", "ingredients")
    expect(guide.get_by_text("More than half of the task's ingredients")).to_be_in_viewport()
    grid.keys("Escape")
    expect(guide).to_be_hidden()
    assert grid.focused == grid.id("Google 1", "shred · knife · white cabbage", "ingredients")


def test_the_stored_page_is_shown_in_a_frame_that_can_do_nothing(demo: Study, browsing: Browsing) -> None:
    page = browsing.person("annotator")
    Grid(page, demo.sheets.earliest("position"), "annotator").open()
    button = page.get_by_role("button", name="Page v", exact=True)
    button.click()
    frame = page.frame_locator("#evidence iframe")
    expect(frame.get_by_text("The page as it was stored.")).to_be_visible()
    expect(frame.get_by_role("heading").first).to_be_visible()
    # Neither scripts nor forms: only our own script hears its keys and marks its words.
    assert page.locator("#evidence iframe").get_attribute("sandbox") == "allow-same-origin"
    expect(frame.locator("mark.strong").first).to_be_visible()
    grid = Grid(page, demo.sheets.earliest("position"), "annotator")
    before = grid.focused
    frame.get_by_role("heading").first.click()
    grid.keys("Escape")
    assert grid.focused == before
    address = page.locator("#evidence iframe").get_attribute("src")
    assert address is not None
    policy = page.request.get(address).headers["content-security-policy"]
    assert "sandbox" in policy
    assert "default-src 'none'" in policy
    button.click()
    expect(page.locator("#evidence iframe")).to_have_count(0)
    expect(page.locator("#evidence .best")).to_be_visible()


def test_a_stored_page_that_did_not_load_comes_with_the_connection(demo: Study, browsing: Browsing) -> None:
    browsing.expect("Failed to load resource")
    page = browsing.person("annotator")
    grid = Grid(page, demo.sheets.earliest("position"), "annotator").open()
    page.wait_for_selector("#evidence h2")
    page.context.set_offline(True)
    grid.keys("v")
    # In place of the browser's own page, which would take the keys.
    expect(page.locator("#evidence")).to_contain_text("The document could not be loaded")
    expect(page.locator("#evidence iframe")).to_have_count(0)
    page.context.set_offline(False)
    expect(page.frame_locator("#evidence iframe").get_by_text("The page as it was stored.")).to_be_visible()
    expect(page.locator("#evidence")).not_to_contain_text("could not be loaded")


def test_active_time_leaves_pauses_out(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    page.clock.install()
    grid = Grid(page, slaw.sheet)
    begun = time.monotonic()
    grid.page.goto(f"/sheets/{slaw.sheet.pk}/")
    page.clock.run_for(1000)
    page.wait_for_selector("td:focus")
    expect(page.locator("#active-time")).to_have_text("under 1 min")

    for _ in range(3):
        grid.keys("ArrowRight")
        page.clock.run_for(40_000)
    page.clock.run_for(600_000)  # a pause, of which one minute counts

    # 2 × 40 s between the keys, and the minute after the last one
    expect(page.locator("#active-time")).to_have_text("2 min")
    expect(page.locator("#active-time")).to_have_attribute("title", re.compile("Active on Google 1: 2 min. On"))
    sittings = Sitting.objects.filter(assignment=slaw.assignment("anna", "Google 1"))
    # A beat is sent, and the page does not wait for it.
    until(lambda: sittings.filter(seconds__gte=138).exists(), "the beat did not arrive")
    assert [138 <= seconds <= 143 for seconds in sittings.values_list("seconds", flat=True)] == [True]
    # What the browser claims is held against the clock of the server.
    assert slaw.assignment("anna", "Google 1").active_seconds <= time.monotonic() - begun + 1
