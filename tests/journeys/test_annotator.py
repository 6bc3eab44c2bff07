"""An annotator's day: find the work, label a document on the keyboard alone, submit it, come back later."""

from __future__ import annotations

import re

import pytest
from django.db.models import Q
from playwright.sync_api import Page, Route, expect

from annotation import actions
from annotation.models import Assignment, Rater
from tests.journeys.conftest import Browsing
from tests.journeys.pages import PASSWORD, Coleslaw, Grid, slow_down, until

pytestmark = pytest.mark.once


def log_in(page: Page, name: str) -> None:
    """By the keyboard alone; the name field has the focus already."""
    page.goto("/")
    page.wait_for_selector("[name=username]:focus")  # which it gets when the page is drawn
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")


def tab_to(page: Page, words: str) -> None:
    """Press Tab until a link or button with these words has the focus."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent").strip() == words:
            return
    raise AssertionError(f"“{words}” is not reached by Tab")


def test_from_login_to_submission_and_back_without_a_mouse(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person()
    log_in(page, "anna")
    line = page.get_by_role("row", name="Coleslaw")
    expect(line).to_contain_text("0 of 3 documents")
    tab_to(page, "Start")
    page.keyboard.press("Enter")
    page.wait_for_selector("td:focus")
    grid = Grid(page, slaw.sheet)
    assert grid.where() == "Google 1 › Presence › white cabbage"

    # Four ingredients, one key each; the focus goes on by itself, at last to this document's tasks.
    grid.keys("1", "1", "2", "3")
    assert grid.where() == "Google 1 › Task › shred · knife · white cabbage"
    # Shred has three cells; the blanks of the others fill themselves. The focus stays in the complete document.
    grid.keys("1", "1", "1", "2", "3", "1")
    assert grid.where() == "Google 1 › Task › serve · complete: s submits it, Ctrl+→ goes on"
    grid.settle()
    assert slaw.standing("anna") == {
        ("Google 1", "white cabbage", "presence"): "found",
        ("Google 1", "carrots", "presence"): "found",
        ("Google 1", "mayonnaise", "presence"): "found-not-perfect",
        ("Google 1", "mustard", "presence"): "not-found",
        ("Google 1", "shred · knife · white cabbage", "task"): "task-found",
        ("Google 1", "shred · knife · white cabbage", "tool"): "found",
        ("Google 1", "shred · knife · white cabbage", "ingredients"): "ingredients-match",
        ("Google 1", "stir · carrots, mayonnaise", "task"): "task-found-not-exact-wording",
        ("Google 1", "stir · carrots, mayonnaise", "tool"): "no-tool-involved",
        ("Google 1", "stir · carrots, mayonnaise", "ingredients"): "some-ingredients-match",
        ("Google 1", "serve", "task"): "task-found",
        ("Google 1", "serve", "tool"): "no-tool-involved",
        ("Google 1", "serve", "ingredients"): "no-ingredients-used",
    }

    grid.keys("s")
    expect(page.locator("#n-submitted")).to_have_text("1")
    assert grid.where() == "Google 2 › Presence › white cabbage"  # on to the next document with open cells
    grid.go("Google 1", "carrots")
    assert "submitted: a change opens it again" in grid.where()
    # A correction takes the key of its answer, and closes behind whoever goes on.
    grid.keys("3")
    grid.expect_refusal("“Google 1” is open again. It is submitted again as soon as you leave it, or with s.")
    expect(page.locator("#n-submitted")).to_have_text("0")
    grid.settle()
    assert slaw.assignment("anna", "Google 1").state == "started"
    grid.keys("n")
    grid.expect_refusal("“Google 1” is submitted again.")
    expect(page.locator("#n-submitted")).to_have_text("1")
    assert grid.where().startswith("Google 2")
    assert slaw.assignment("anna", "Google 1").state == "submitted"
    assert slaw.standing("anna")["Google 1", "carrots", "presence"] == "not-found"
    grid.go("Google 1", "carrots")
    grid.keys("1", "s")
    expect(page.locator("#n-submitted")).to_have_text("1")
    # An answer that stands there already opens nothing; cleared, it stays open: it is not complete.
    grid.go("Google 1", "carrots")
    grid.keys("1")
    expect(page.locator("#n-submitted")).to_have_text("1")
    grid.go("Google 1", "carrots")
    grid.keys("Delete", "n")
    grid.settle()
    expect(page.locator("#n-submitted")).to_have_text("0")
    grid.go("Google 1", "carrots")
    grid.keys("1", "s")
    expect(page.locator("#n-submitted")).to_have_text("1")

    page.goto("/")
    expect(line).to_contain_text("1 of 3 documents")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    later = browsing.person()
    log_in(later, "anna")
    later.get_by_role("link", name="Continue").click()
    later.wait_for_selector("td:focus")
    again = Grid(later, slaw.sheet)
    assert [again.sign("Google 1", column) for column in ("white cabbage", "carrots", "mayonnaise", "mustard")] == [
        *"FF~–"
    ]
    assert again.where() == "Google 2 › Presence › white cabbage"


def test_an_ordinary_cell_costs_one_key(slaw: Coleslaw, browsing: Browsing) -> None:
    # 3 documents × (4 ingredients + 3 tasks × 3 questions) = 39 cells, of which "stir" presets its tool and "serve" its
    # tool and ingredients: 3 × 3 = 9. So 30 keys fill the sheet, and three submit it.
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    expect(page.locator("#cells-left")).to_have_text("39 of 39 cells left")
    page.evaluate(
        """() => {
            window.shown = [];
            document.addEventListener("focusin", ({ target }) => {
                const line = target.closest("td") && target.closest("tr");
                const name = line && document.querySelector(`tr[data-a="${line.dataset.a}"] .name`).textContent;
                if (name && name !== window.shown.at(-1)) window.shown.push(name);
            });
        }"""
    )
    for n in (1, 2, 3):
        grid.keys(*"1" * 10)
        assert "complete: s submits it" in grid.where()
        expect(page.locator(".mark[data-state=ready]")).to_have_count(2)  # one document, in both tables
        if n == 3:
            expect(page.locator("#cells-left")).to_have_text("all cells answered, to submit: 1")
        grid.keys("s")
        expect(page.locator("#n-submitted")).to_have_text(str(n))
    # Each document is read once: its tasks come after its ingredients, and only then the next document.
    assert page.evaluate("window.shown") == ["Google 1", "Google 2", "Bing 1"]
    expect(page.locator("#cells-left")).to_have_text("0 of 39 cells left")
    expect(page.locator("#sheet-done")).to_contain_text("“Coleslaw” is done: all 3 documents are submitted.")
    grid.settle()
    assert len(slaw.standing("anna")) == 39


def test_a_correction_stays_in_its_cell_and_an_answer_leads_to_what_was_left_open(
    slaw: Coleslaw, browsing: Browsing
) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    grid.keys("ArrowRight", *"1" * 9)  # all of Google 1 but its first cell
    assert grid.focused == grid.id("Google 1", "white cabbage")
    grid.keys("1")
    assert grid.focused == grid.id("Google 1", "white cabbage")  # complete
    grid.keys("ArrowRight", "3")
    assert grid.focused == grid.id("Google 1", "carrots")
    grid.keys("Control+ArrowRight")
    assert grid.focused == grid.id("Google 2", "white cabbage")
    grid.settle()
    assert slaw.standing("anna")["Google 1", "carrots", "presence"] == "not-found"


def test_an_incomplete_document_is_refused_and_says_what_is_missing(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect("409")
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    grid.keys("1", "1", "1", "s")
    grid.expect_refusal("10 cells of “Google 1” are still open, first mustard, shred")
    assert slaw.assignment("anna", "Google 1").state == Assignment.State.STARTED
    grid.keys("1")
    expect(page.locator("#refusal")).to_be_hidden()


def test_a_choice_and_submit_at_once_waits_for_the_choice(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    grid.keys(*"1" * 8)  # all of Google 1 but two cells
    slow_down(page)
    grid.keys("1", "1", "s")
    expect(page.locator("#n-submitted")).to_have_text("1")
    assert slaw.assignment("anna", "Google 1").state == Assignment.State.SUBMITTED


def test_s_held_down_or_pressed_twice_submits_one_document(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    for _document in range(3):
        grid.keys(*"1" * 10, "Control+ArrowRight")
    grid.settle()
    submitted = page.locator("#n-submitted")

    def of_server() -> list[str]:
        return [slaw.assignment("anna", row).state for row in ("Google 1", "Google 2", "Bing 1")]

    grid.keys("Control+Home")
    for _ in range(12):  # over a second; without an up between them, the browser reports repeats
        page.keyboard.down("s")
        page.wait_for_timeout(120)
    page.keyboard.up("s")
    expect(submitted).to_have_text("1")
    page.wait_for_timeout(300)  # in which nothing more may happen
    assert of_server() == ["submitted", "started", "started"]
    assert grid.where().startswith("Google 2")

    # Another key, and it is about the document that has the focus now.
    grid.keys("ArrowRight", "s")
    expect(submitted).to_have_text("2")
    grid.keys("s")
    page.wait_for_timeout(300)
    assert of_server() == ["submitted", "submitted", "started"]
    page.wait_for_timeout(1000)
    # Twice at once, while the last choice is on its way: one submission, which the second press does not take back.
    slow_down(page)
    grid.keys("2", "s", "s")
    expect(submitted).to_have_text("3")
    grid.keys("s")
    page.wait_for_timeout(300)
    assert of_server() == ["submitted", "submitted", "submitted"]


def test_a_submission_is_taken_back_and_its_cells_open_again(slaw: Coleslaw, browsing: Browsing) -> None:
    actions.submit(assignment=slaw.assignment("anna", "Google 1"), allow_open=True)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    grid.go("Google 1", "carrots")
    assert page.locator(f"#{grid.focused}").get_attribute("aria-readonly") == "true"
    grid.keys("s")
    expect(page.locator("#n-submitted")).to_have_text("0")
    assert grid.focused == grid.id("Google 1", "carrots")
    grid.keys("3")
    grid.settle()
    assert slaw.standing("anna") == {("Google 1", "carrots", "presence"): "not-found"}


def test_the_document_follows_the_focus_and_shows_its_words(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna", viewport={"width": 1280, "height": 420})
    grid = Grid(page, slaw.sheet).open()
    panel = page.locator("#evidence")
    expect(panel.get_by_role("heading", name="Slaw of Google 1")).to_be_visible()
    # All its words in the list, one of them in a step: told apart, and said in the line above.
    expect(panel.locator("mark.strong")).to_have_text(["white cabbage", "cabbage"])
    expect(panel.locator("mark.m-part")).to_have_text(["cabbage"])
    expect(panel.locator(".matches")).to_have_text("same words 1part 1")
    expect(panel.locator(".best")).to_have_text("1 white cabbage")
    grid.keys("ArrowRight")
    expect(panel.locator("mark.strong")).to_have_text(["carrots", "carrots"])
    expect(panel.locator(".best")).to_be_in_viewport()
    grid.keys("ArrowRight", "ArrowRight")
    expect(panel.get_by_text("No match found on this page.")).to_be_visible()
    assert panel.locator("mark").count() == 0
    grid.keys("ArrowDown")
    expect(panel.get_by_role("heading", name="Slaw of Google 2")).to_be_visible()
    # In a task's line the words of the question's own facet stand out; those of the others are marked softly.
    grid.go("Google 1", "shred · knife · white cabbage", "tool")
    expect(panel.locator("mark.strong")).to_have_text(["knife"])
    expect(panel.locator("mark:not(.strong)")).to_contain_text(["white", "Shred"])
    expect(panel.locator(".best")).to_be_in_viewport()


def test_nothing_of_other_raters_is_in_the_source(slaw: Coleslaw, browsing: Browsing) -> None:
    # Boris and the judge chose "implied" in every cell and noted "between us"; Anna has chosen nothing.
    mine = slaw.assignment("anna", "Google 1")
    anna = browsing.person("anna")
    for path in ("/", f"/sheets/{slaw.sheet.pk}/", f"/assignments/{mine.pk}/evidence/", "/studies/", "/studies/slaw/"):
        response = anna.request.get(path)
        assert response.ok
        # A random token may hold the two letters of a code among others.
        assert not re.search(r"boris|(?<![\w-])(J1|A2)(?![\w-])|between us|data-option=", response.text()), path
    for other in ("boris", "J1"):
        theirs = Assignment.objects.filter(
            rater__in=Rater.objects.filter(Q(code=other) | Q(user__username=other))
        ).first()
        assert theirs is not None
        assert anna.request.get(f"/assignments/{theirs.pk}/evidence/").status == 404


def test_the_answer_to_a_choice_tells_nothing_of_others(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    grid.go("Google 1", "stir · carrots, mayonnaise", "task")
    with page.expect_response("**/record/") as caught:
        grid.keys("1")
    # The column's three cells: her own choice, the tool that fills itself, and the open one.
    [answer] = caught.value.json()["answers"]
    [[_, _, values]] = answer["columns"]
    assert sorted(values.values()) == ["=no-tool-involved", "task-found"]
    assert list(answer["states"]) == [str(slaw.assignment("anna", "Google 1").pk)]


def test_where_the_study_wants_it_the_last_answer_submits(slaw: Coleslaw, browsing: Browsing) -> None:
    study = slaw.study
    actions.change_study(study=study, slug=study.slug, title=study.title, guideline="", submit_complete=True)
    page = browsing.person("anna")
    posted: list[str] = []
    page.on("request", lambda request: posted.append(request.url) if "/submit/" in request.url else None)
    grid = Grid(page, slaw.sheet).open()
    submitted = page.locator("#n-submitted")
    grid.keys(*"1" * 10)
    expect(submitted).to_have_text("1")
    # A correction opens the document, closes it again with the same request, and leads back to the work.
    grid.keys("p", "ArrowRight")
    with page.expect_response("**/record/") as caught:
        grid.keys("3")
    assert caught.value.json()["submitted"] == {"state": "submitted"}
    expect(page.locator("#refusal")).to_have_text("“Google 1” is submitted again.")
    expect(submitted).to_have_text("1")
    assert grid.where().startswith("Google 2 › Presence › white cabbage")
    assert slaw.standing("anna")["Google 1", "carrots", "presence"] == "not-found"
    for n in (2, 3):
        grid.keys(*"1" * 10)
        expect(submitted).to_have_text(str(n))
    grid.settle()
    assert {slaw.assignment("anna", name).state for name in ("Google 1", "Google 2", "Bing 1")} == {"submitted"}
    assert posted == []  # each travelled with its last answer
    # What a correction leaves open is not closed behind it.
    grid.go("Google 1", "carrots")
    grid.keys("Backspace")
    grid.settle()
    expect(submitted).to_have_text("2")
    grid.keys("2")
    expect(submitted).to_have_text("3")
    grid.settle()
    assert slaw.standing("anna")["Google 1", "carrots", "presence"] == "found-not-perfect"


@pytest.mark.parametrize("key", [[], ["s"]], ids=["last-answer", "s"])
def test_who_types_in_rhythm_labels_the_next_document_whatever_the_network_takes(
    slaw: Coleslaw, browsing: Browsing, key: list[str]
) -> None:
    """The last answer, or `s`, leads on at once: a key for the next document never meets the one before."""
    study = slaw.study
    if not key:
        actions.change_study(study=study, slug=study.slug, title=study.title, guideline="", submit_complete=True)
    page = browsing.person("anna")
    for address in ("**/record/", "**/submit/"):
        slow_down(page, address, seconds=0.4)
    grid = Grid(page, slaw.sheet).open()
    for first in "132":
        grid.keys(first, *"1" * 9, *key)
    grid.settle()
    expect(page.locator("#n-submitted")).to_have_text("3", timeout=20_000)
    standing = slaw.standing("anna")
    rows = ("Google 1", "Google 2", "Bing 1")
    assert [standing[row, "white cabbage", "presence"] for row in rows] == ["found", "not-found", "found-not-perfect"]
    assert all(
        answer in ("found", "task-found", "ingredients-match", "no-tool-involved", "no-ingredients-used")
        for (_row, column, _question), answer in standing.items()
        if column != "white cabbage"
    )
    assert {slaw.assignment("anna", row).state for row in rows} == {"submitted"}


def test_who_corrects_a_document_on_its_way_comes_back_to_it(slaw: Coleslaw, browsing: Browsing) -> None:
    study = slaw.study
    actions.change_study(study=study, slug=study.slug, title=study.title, guideline="", submit_complete=True)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    slow_down(page, seconds=0.4)
    grid.keys(*"1" * 10, "p", "ArrowRight", "3")
    assert grid.where().startswith("Google 2 › Presence › white cabbage")
    grid.settle()
    expect(page.locator("#save-state")).to_have_text("Saved")
    expect(page.locator("#n-submitted")).to_have_text("1")
    assert slaw.assignment("anna", "Google 1").state == "submitted"
    assert slaw.standing("anna")["Google 1", "carrots", "presence"] == "not-found"


def test_who_is_refused_is_led_back_unless_they_have_gone_on(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    grid.keys(*"1" * 10)
    grid.settle()
    there = grid.where()
    browsing.expect("ERR_FAILED")
    on_their_way: list[Route] = []
    page.route("**/submit/", lambda route: on_their_way.append(route))

    def fails() -> None:
        while not on_their_way:
            page.wait_for_timeout(10)
        on_their_way.pop().abort()

    grid.keys("s")
    assert grid.where().startswith("Google 2")
    fails()
    grid.expect_refusal("The server did not answer. Nothing was submitted")
    assert grid.where() == there
    grid.keys("s", "3")
    fails()
    grid.expect_refusal("The server did not answer. Nothing was submitted")
    assert grid.where().startswith("Google 2 › Presence › carrots")
    grid.settle()
    assert slaw.standing("anna")["Google 2", "white cabbage", "presence"] == "not-found"
    assert slaw.assignment("anna", "Google 1").state == "started"


def test_a_correction_takes_the_key_of_its_answer_and_leaving(slaw: Coleslaw, browsing: Browsing) -> None:
    """Where `s` submits, and the focus is on what was wrong: two keys, as in Potato."""
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    submitted = page.locator("#n-submitted")
    grid.keys(*"1" * 10, "s")
    expect(submitted).to_have_text("1")
    assert grid.where().startswith("Google 2 › Presence › white cabbage")
    grid.keys("p")
    grid.keys("3")
    grid.expect_refusal("“Google 1” is open again")
    expect(submitted).to_have_text("0")
    grid.keys("n")
    grid.expect_refusal("“Google 1” is submitted again.")
    expect(submitted).to_have_text("1")
    grid.settle()
    assert slaw.standing("anna")["Google 1", "white cabbage", "presence"] == "not-found"
    assert slaw.assignment("anna", "Google 1").state == "submitted"
    assert grid.where().startswith("Google 2 › Presence › white cabbage")
    # What is corrected while it is being submitted again is submitted once more when it is left.
    browsing.expect("409")  # whichever of the two is there first
    slow_down(page, "**/submit/")
    grid.keys("p", "2", "n", "p", "1")
    grid.settle()
    expect(submitted).to_have_text("0")
    grid.keys("n")
    expect(submitted).to_have_text("1")
    assert slaw.standing("anna")["Google 1", "white cabbage", "presence"] == "found"
    assert slaw.assignment("anna", "Google 1").state == "submitted"


def test_a_correction_is_submitted_again_by_who_leaves_the_page(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    submitted = page.locator("#n-submitted")
    grid.keys(*"1" * 10, "s")
    expect(submitted).to_have_text("1")
    grid.keys("p", "3")
    grid.settle()
    expect(submitted).to_have_text("0")
    page.get_by_role("link", name="My work").click()
    until(lambda: slaw.assignment("anna", "Google 1").state == "submitted", otherwise="it is not submitted again")
    # Where the correction itself does not get through, the next page of the sheet saves it, and submits the document.
    Grid(page, slaw.sheet).open()
    expect(submitted).to_have_text("1")
    browsing.expect("ERR_FAILED")
    page.route("**/record/", lambda route: route.abort())
    grid.go("Google 1", "carrots")
    grid.keys("2")
    grid.expect_refusal("“Google 1” is open again")
    page.get_by_role("link", name="My work").click()
    page.unroute("**/record/")
    assert slaw.standing("anna")["Google 1", "carrots", "presence"] == "found"
    Grid(page, slaw.sheet).open()
    grid.settle()
    expect(submitted).to_have_text("1")
    assert slaw.standing("anna")["Google 1", "carrots", "presence"] == "found-not-perfect"
    assert slaw.assignment("anna", "Google 1").state == "submitted"


def test_what_waits_to_be_submitted_is_submitted_by_who_leaves_the_page(slaw: Coleslaw, browsing: Browsing) -> None:
    """`s` in a second document while the first is being submitted, and the page is left before the answer."""
    page = browsing.person("anna")
    held: list[Route] = []  # the first submission stays on its way, and goes with its page
    page.route("**/submit/", lambda route: route.continue_() if held else held.append(route))
    grid = Grid(page, slaw.sheet).open()
    grid.keys(*"1" * 10)
    grid.settle()
    grid.keys("s", *"1" * 10)
    grid.settle()
    grid.keys("s")
    page.get_by_role("link", name="My work").click()
    until(lambda: slaw.assignment("anna", "Google 2").state == "submitted", otherwise="it was forgotten with its page")
    # What the server has not heard of is submitted when the sheet is opened again: after it is saved, where it is not.
    Grid(page, slaw.sheet).open()
    expect(page.locator("#n-submitted")).to_have_text("2")
    grid.go("Bing 1", "white cabbage")
    page.route("**/record/", lambda route: held.append(route))
    grid.keys(*"1" * 10, "s")
    page.get_by_role("link", name="My work").click()
    page.unroute("**/record/")
    assert slaw.assignment("anna", "Bing 1").state != "submitted"
    Grid(page, slaw.sheet).open()
    expect(page.locator("#n-submitted")).to_have_text("3")
    assert {slaw.assignment("anna", row).state for row in ("Google 1", "Google 2", "Bing 1")} == {"submitted"}


def test_behind_the_last_document_those_follow_that_were_passed_over(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    grid.keys(*"1" * 10, "n", *"1" * 10, "n", *"1" * 10, "s")
    expect(page.locator("#n-submitted")).to_have_text("1")
    assert grid.where().startswith("Google 1")
    grid.keys("ArrowRight", "s")
    expect(page.locator("#n-submitted")).to_have_text("2")
    assert grid.where().startswith("Google 2")


# An answer comes in two steps: that it is there, and what it says.
READ_LATE = """
    const json = Response.prototype.json;
    Response.prototype.json = async function () {
        if (this.url.includes("/submit/")) await new Promise((resolve) => setTimeout(resolve, 700));
        return json.call(this);
    };
"""


def test_a_correction_before_the_answer_to_a_submission_is_read_is_saved(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    page.add_init_script(READ_LATE)
    grid = Grid(page, slaw.sheet).open()
    grid.keys(*"1" * 10)
    grid.settle()
    with page.expect_response("**/submit/"):
        grid.keys("s")
    grid.go("Google 1", "carrots")
    grid.keys("3")
    grid.expect_refusal("“Google 1” is open again")
    grid.settle()
    assert slaw.standing("anna")["Google 1", "carrots", "presence"] == "not-found"
    assert slaw.assignment("anna", "Google 1").state == "started"


def test_a_correction_that_overtakes_its_submission_is_submitted_when_it_is_left(
    slaw: Coleslaw, browsing: Browsing
) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    submitted = page.locator("#n-submitted")
    grid.keys(*"1" * 10, "s")
    expect(submitted).to_have_text("1")
    grid.settle()
    held: list[Route] = []
    page.route("**/submit/", lambda route: held.append(route))
    with page.expect_request("**/submit/"):
        grid.keys("p", "2", "n")
    with page.expect_response("**/record/"):
        grid.keys("p", "1")
    assert slaw.standing("anna")["Google 1", "white cabbage", "presence"] == "found"
    browsing.expect("409")
    with page.expect_response("**/submit/") as refusal:
        held[0].continue_()
    page.unroute("**/submit/")
    assert refusal.value.status == 409
    grid.expect_refusal("“Google 1” is open again")
    grid.keys("n")
    expect(submitted).to_have_text("1")
    assert slaw.standing("anna")["Google 1", "white cabbage", "presence"] == "found"
    assert slaw.assignment("anna", "Google 1").state == "submitted"
