"""The lens as a manager uses it: from difference to difference by keys, deciding with a reason."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Decision, Label, Look
from tests import builders
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Coleslaw

pytestmark = pytest.mark.once


def open_lens(page: Page, slaw: Coleslaw, query: str = "") -> None:
    page.goto(f"/sheets/{slaw.sheet.pk}/lens/{query}")
    page.wait_for_selector("td[tabindex]")


def where(page: Page) -> str:
    return page.locator("#where").inner_text()


def gold(slaw: Coleslaw) -> dict[tuple[str, str], str]:
    labels = Label.objects.filter(assignment__rater__kind="gold", column__sheet=slaw.sheet)
    return {
        (row, column): option
        for row, column, option in labels.values_list("assignment__row__name", "column__name", "option__key")
    }


def test_a_manager_goes_from_difference_to_difference_and_decides(slaw: Coleslaw, browsing: Browsing) -> None:
    """Boris and J1 say “implied” of everything; Anna agrees about the carrots and nothing else."""
    said = {("white cabbage", "presence"): "found", ("carrots", "presence"): "implied"}
    for row in ("Google 1", "Bing 1"):
        builders.label(slaw.assignment("anna", row), said, note="it is in line 1")
    page = browsing.person("mara")

    # The first difference has the focus; what is said of it and its document stand beside it.
    open_lens(page, slaw)
    assert where(page) == "Google 1 › Presence › white cabbage"
    detail = page.locator("#detail")
    expect(detail).to_contain_text("it is in line 1")
    expect(detail).not_to_contain_text("anna")
    expect(page.locator("#evidence .best mark.strong")).to_have_text("white cabbage")
    expect(page.locator("td[data-f~=people]")).to_have_count(2)

    # Keys lead to the next one and round to the first; with a filter, documents without a difference are folded away.
    page.keyboard.press("n")
    assert where(page) == "Bing 1 › Presence › white cabbage"
    page.keyboard.press("j")
    assert where(page) == "Google 1 › Presence › white cabbage"
    page.keyboard.press("p")
    assert where(page) == "Bing 1 › Presence › white cabbage"
    page.get_by_text("People differ").first.click()
    expect(page.locator("#place")).to_have_text("2 of 2")
    expect(page.locator("th.doc", has_text="Google 2").first).to_be_hidden()
    assert page.url.endswith("?kind=people")
    page.locator("td[tabindex]").focus()
    page.keyboard.press("ArrowUp")  # over the folded document
    assert where(page) == "Google 1 › Presence › white cabbage"

    # A number opens the reason, Escape leaves it, Enter decides, and with a filter on the next difference is at hand.
    page.keyboard.press("1")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("1n")  # text, and no keys of the grid
    page.keyboard.press("Escape")
    expect(page.locator("#reason")).to_be_hidden()
    page.keyboard.press("1")
    page.keyboard.type("the first line says so")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Decided: Found")
    assert where(page) == "Bing 1 › Presence › white cabbage"
    assert gold(slaw) == {("Google 1", "white cabbage"): "found"}
    expect(page.locator("td[data-f~=decided] b")).to_have_text("F")

    # To overrule all people a reason is needed; the field stays open and says so.
    page.get_by_text("All", exact=True).click()
    page.locator("td[tabindex]").focus()
    page.keyboard.press("ArrowRight")
    assert where(page) == "Bing 1 › Presence › carrots"
    browsing.expect("409")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator("#refusal")).to_contain_text("Give a reason for deciding otherwise")
    page.keyboard.type("grated is not carrots")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Decided: Not found")
    expect(detail).to_contain_text("grated is not carrots")

    # Taken back, it stays in the list of decisions.
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("The decision is withdrawn.")
    assert gold(slaw) == {("Google 1", "white cabbage"): "found"}
    assert [d.option.key if d.option else None for d in Decision.objects.all()] == [None, "not-found", "found"]

    # All that people agree on, after its number was shown.
    page.get_by_role("link", name="Accept what all agree on").click()
    page.get_by_role("button", name="Accept 2 cells").first.click()
    expect(page.get_by_text("2 cells are decided.")).to_be_visible()
    assert gold(slaw)["Bing 1", "carrots"] == "implied"
    assert Look.objects.filter(user__username="mara").count() >= 3


def test_back_to_the_lens_shows_what_was_decided_there(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("mara")
    open_lens(page, slaw)
    for n in (1, 2, 3):
        page.keyboard.press("4")
        page.keyboard.press("Enter")
        expect(page.locator("#said")).to_have_text("Decided: Implied")
        expect(page.locator("td[data-f~=decided]")).to_have_count(n)
        page.get_by_role("link", name="History").click()
        page.wait_for_url("**/history/**")
        page.go_back()
        page.wait_for_selector("td[tabindex]")
        expect(page.locator("td[data-f~=decided]")).to_have_count(n)
        page.locator("td[tabindex]").focus()
        for _ in range(n):
            page.keyboard.press("ArrowRight")


@pytest.mark.parametrize("query", ["?row={row}", "?row={row}&kind=people", ""])
def test_an_address_may_name_a_cell(slaw: Coleslaw, browsing: Browsing, query: str) -> None:
    builders.label(slaw.assignment("anna", "Google 1"), {("white cabbage", "presence"): "found"})
    assignment = slaw.assignment("anna", "Bing 1")
    builders.label(assignment, {("carrots", "presence"): "found"})
    label = Label.objects.get(assignment=assignment)
    row = label.assignment.row_id
    page = browsing.person("mara")
    named = f"#c-{row}-{label.column_id}-{label.question_id}"
    open_lens(page, slaw, query.format(row=row) + named)
    assert where(page) == "Bing 1 › Presence › carrots"


def test_letters_are_keys_in_the_lens_alone(slaw: Coleslaw, browsing: Browsing) -> None:
    builders.label(slaw.assignment("anna", "Google 1"), {("white cabbage", "presence"): "found"})
    builders.label(slaw.assignment("anna", "Bing 1"), {("carrots", "presence"): "found"})
    page = browsing.person("mara")
    open_lens(page, slaw)
    page.wait_for_selector("#evidence h2")
    first, second = "Google 1 › Presence › white cabbage", "Bing 1 › Presence › carrots"

    # On a button, a filter, the divider or a text that is scrolled, they do nothing.
    for elsewhere in ("#open-counts", "[name=undecided]", "[name=question]", "#divider", "#detail", "#evidence"):
        page.locator(elsewhere).focus()
        for key in ("n", "?", "p", "k"):
            page.keyboard.press(key)
        assert where(page) == first, elsewhere
        expect(page.locator("#help")).to_be_hidden()

    # Where nothing has the focus, and after a click into the document, they do what they do in the grid.
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("n")
    assert where(page) == second
    page.locator("#evidence li").first.click()
    page.keyboard.press("n")
    assert where(page) == first
    page.locator("#open-counts").focus()
    page.locator("#detail h2").click()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()


def test_a_researcher_looks_and_does_not_decide(slaw: Coleslaw, browsing: Browsing) -> None:
    builders.label(slaw.assignment("anna", "Google 1"), {("mustard", "presence"): "found"})
    page = browsing.person("rene")

    open_lens(page, slaw, "?kind=people")
    page.keyboard.press("1")

    assert where(page) == "Google 1 › Presence › mustard"
    expect(page.locator("#choices")).to_have_text("Managers decide here.")
    expect(page.locator("#reason")).to_be_hidden()
    expect(page.get_by_role("link", name="Accept what all agree on")).to_have_count(0)


def test_a_manager_restores_after_a_preview(slaw: Coleslaw, browsing: Browsing) -> None:
    mine = slaw.assignment("anna", "Google 1")
    builders.label(mine, {("mustard", "presence"): "found"})
    mine.events.update(at="2026-01-01T08:00:00Z")
    builders.label(mine, {("mustard", "presence"): "not-found"})
    page = browsing.person("mara")

    page.goto(f"/sheets/{slaw.sheet.pk}/history/")
    page.get_by_label("Rater").select_option("A1")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="to before this").first.click()
    expect(page.get_by_text("1 cell would change.")).to_be_visible()
    page.get_by_role("button", name="Restore 1 cell").click()

    expect(page.get_by_text("1 cell is restored.")).to_be_visible()
    expect(page.get_by_text("by mara")).to_be_visible()
    assert builders.standing(mine) == {("mustard", "presence"): "found"}


def test_keys_are_for_the_cell_that_has_the_focus_while_a_decision_is_on_its_way(
    slaw: Coleslaw, browsing: Browsing
) -> None:
    """Who has gone on stays there, and is told what was decided elsewhere; Escape takes nothing back that is sent."""
    page = browsing.person("mara")
    open_lens(page, slaw)
    held: list[Route] = []
    page.route("**/decide/", lambda route: held.append(route))
    first, second = "Google 1 › Presence › white cabbage", "Google 1 › Presence › carrots"

    page.keyboard.press("4")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Saving…")
    page.keyboard.press("Escape")
    expect(page.locator("#reason")).to_be_visible()
    page.locator("td[tabindex] + td").click()
    assert where(page) == second
    page.keyboard.press("3")
    expect(page.locator("#reason-of")).to_contain_text("Not found")
    page.keyboard.type("there is no carrot")
    held.pop().continue_()
    expect(page.locator("#said")).to_have_text(f"{first}: Decided: Implied")
    assert where(page) == second
    expect(page.locator("#reason")).to_be_focused()

    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Saving…")
    page.wait_for_function("() => document.querySelectorAll('td[data-f~=decided]').length === 1")
    page.locator("#open-counts").focus()
    held.pop().continue_()
    expect(page.locator("#said")).to_have_text("Decided: Not found")
    expect(page.locator("#open-counts")).to_be_focused()
    assert gold(slaw) == {("Google 1", "white cabbage"): "implied", ("Google 1", "carrots"): "not-found"}


def test_a_slow_refusal_is_one_sentence(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("mara")
    browsing.expect("409")
    open_lens(page, slaw)
    held: list[Route] = []
    page.route("**/decide/", lambda route: held.append(route))
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Saving…")
    held.pop().continue_()
    expect(page.locator("#refusal")).to_contain_text("Give a reason")
    expect(page.locator("#said")).to_be_empty()
