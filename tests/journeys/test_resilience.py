"""What happens to choices when the network, the server, the login or the tab goes away: none is lost or doubled."""

from __future__ import annotations

import uuid

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, Route, expect

from annotation import actions
from annotation.models import Assignment, LabelEvent, Rater, User
from tests import builders
from tests.journeys.conftest import Browsing
from tests.journeys.pages import PASSWORD, TO, Coleslaw, Grid, slow_down

pytestmark = pytest.mark.once

RECORD = "**/record/"
NETWORK = ("Failed to load resource", "htmx:", "Response Status Error Code")
INGREDIENTS = ("white cabbage", "carrots", "mayonnaise", "mustard")
WIDTHS = (1440, 1366, 1280, 1152, 1024)
SHRED = "shred · knife · white cabbage"
TEN = (
    *"1234",
    *TO["Google 2"],
    *"1234",
    *TO["Bing 1"],
    *"12",
)  # Google 1's and Google 2's ingredients, and two of Bing 1's
TEN_CHOSEN = {
    (row, column, "presence"): option
    for row, columns in {"Google 1": 4, "Google 2": 4, "Bing 1": 2}.items()
    for column, option in list(
        zip(
            ("white cabbage", "carrots", "mayonnaise", "mustard"),
            ("found", "found-not-perfect", "not-found", "implied"),
            strict=True,
        )
    )[:columns]
}


def state(page: Page) -> str:
    return page.locator("#save-state").inner_text()


def once_each() -> bool:
    """Each choice of Anna's left one event, and no label was changed again."""
    events = LabelEvent.objects.filter(assignment__rater__user__username="anna")
    return events.count() == 10 and set(events.values_list("before", flat=True)) == {None}


def test_a_broken_server_is_tried_again_until_it_has_everything(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    page.route(RECORD, lambda route: route.fulfill(status=500, body="broken"))
    grid.keys(*TEN)
    expect(page.locator("#save-state")).to_have_text("Not saved yet: retrying")
    expect(page.locator("td[data-state=failed]")).to_have_count(10)
    assert grid.sign("Google 1", "mustard") == "i"
    grid.keys("s")
    grid.expect_refusal("Some choices are still on their way to the server")
    assert slaw.standing("anna") == {}
    page.unroute(RECORD)
    grid.settle()
    expect(page.locator("#save-state")).to_have_text("Saved")
    expect(page.locator("td[data-state=failed]")).to_have_count(0)
    assert slaw.standing("anna") == TEN_CHOSEN
    assert once_each()


def test_an_answer_that_never_came_back_is_not_saved_twice(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()

    def save_and_cut(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route(RECORD, save_and_cut, times=1)
    grid.keys(*TEN)
    grid.settle()
    assert slaw.standing("anna") == TEN_CHOSEN
    assert once_each()


def test_offline_and_online_again(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    page.context.set_offline(True)
    grid.keys(*TEN)
    expect(page.locator("#save-state")).to_have_text("Not saved yet: retrying")
    page.context.set_offline(False)
    grid.settle()
    assert slaw.standing("anna") == TEN_CHOSEN
    assert once_each()


def test_back_to_the_sheet_shows_what_was_answered_there(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    for key, left in (("1", 38), ("2", 37), ("3", 36)):
        grid.keys(key)
        grid.settle()
        page.get_by_role("link", name="Back to my work").click()
        expect(page.get_by_role("row", name="Coleslaw")).to_contain_text(f"{left} of")
        page.go_back()
        page.wait_for_selector("td:focus")
    assert [grid.sign("Google 1", column) for column in INGREDIENTS] == ["F", "~", "–", ""]
    page.go_forward()
    expect(page.get_by_role("row", name="Coleslaw")).to_contain_text("36 of")


@pytest.mark.parametrize("language", ["en", "cs"])
def test_nothing_jumps_where_the_connection_is_lost(slaw: Coleslaw, browsing: Browsing, language: str) -> None:
    browsing.expect(*NETWORK)
    Rater.objects.filter(user__username="boris").update(simulated=True)  # which the top line says
    page = browsing.person("anna", locale=language)
    grid = Grid(page, slaw.sheet).open()
    tops = "() => document.getElementById('tables').getBoundingClientRect().top"
    before = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        before[width] = page.evaluate(tops)
    page.context.set_offline(True)
    grid.keys("1")
    expect(page.locator("#save-state")).to_have_attribute("data-state", "retrying")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(tops) == before[width], width
    page.context.set_offline(False)
    grid.settle()


def test_a_closed_tab_sends_its_choices_when_the_sheet_is_opened_again(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    page.route(RECORD, lambda route: route.abort())
    grid.keys(*TEN)
    expect(page.locator("#save-state")).to_have_text("Not saved yet: retrying")
    context = page.context
    context.set_offline(True)  # what the tab asks for as it goes would get through: nobody is left to abort it
    page.close()
    context.set_offline(False)
    assert slaw.standing("anna") == {}
    again = Grid(context.new_page(), slaw.sheet).open()
    assert again.sign("Google 1", "mustard") == "i"
    again.settle()
    assert slaw.standing("anna") == TEN_CHOSEN
    assert once_each()


def test_after_the_session_ended_nothing_is_lost(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    title = page.title()
    Session.objects.all().delete()
    grid.keys(*TEN)
    grid.expect_refusal("You are logged out. Log in again in another tab; your last choices are kept here.")
    assert page.title() == title  # nothing of the login page got into this one
    assert state(page) == "Not saved yet: retrying"
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Log in again in another tab").click()
    other = opened.value
    other.get_by_label("Username").fill("anna")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Log in").click()
    other.wait_for_url("/")
    grid.settle()
    expect(page.locator("#refusal")).to_be_hidden()
    assert slaw.standing("anna") == TEN_CHOSEN
    assert once_each()
    page.bring_to_front()
    grid.keys("3")  # the keys are in the grid still
    grid.settle()
    assert slaw.standing("anna") == TEN_CHOSEN | {("Bing 1", "mayonnaise", "presence"): "not-found"}


def test_submitting_after_the_session_ended_says_so(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    Session.objects.all().delete()
    grid.keys("s")
    grid.expect_refusal("You are logged out.")
    assert page.locator("#n-submitted").inner_text() == "0"
    # So does asking, in its dialog.
    grid.keys("m")
    page.keyboard.type("Is it?")
    grid.keys("Control+Enter")
    link = page.get_by_role("dialog").get_by_role("link", name="Log in again in another tab")
    expect(link).to_have_attribute("href", "/login/")
    expect(link).to_have_attribute("target", "_blank")
    assert (
        page.locator("#ask [role=alert]")
        .inner_text()
        .startswith("You are logged out. Log in again in another tab; your")
    )


def test_choices_wait_while_somebody_else_is_logged_in(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    browsing.log_in(page.context, "boris")
    grid.keys("1")
    grid.expect_refusal("Somebody else is logged in in this browser now. Your last choices are kept here")
    assert grid.sign("Google 1", "white cabbage") == "F"
    browsing.log_in(page.context, "anna")
    grid.settle()
    expect(page.locator("#refusal")).to_be_hidden()
    assert slaw.standing("anna") == {("Google 1", "white cabbage", "presence"): "found"}


def test_submitting_and_asking_while_somebody_else_is_logged_in_say_so(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    browsing.log_in(page.context, "boris")
    grid.keys("s")
    grid.expect_refusal("Somebody else is logged in in this browser now.")
    grid.keys("m")
    page.keyboard.type("Is it?")
    grid.keys("Control+Enter")
    expect(page.locator("#ask [role=alert]")).to_contain_text("Somebody else is logged in in this browser now.")


def test_that_nobody_is_logged_in_stays_said_while_one_goes_on(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    Session.objects.all().delete()
    grid.keys("1")
    grid.expect_refusal("You are logged out.")
    page.route(RECORD, lambda route: None)  # no answer comes that says it again
    grid.keys("2", "3", "n", "Delete")
    grid.expect_refusal("You are logged out.")
    grid.keys("Control+y")  # what else is to be said stands behind it
    grid.expect_refusal("You are logged out. Log in again in another tab; your last choices are kept here. There is no")
    grid.keys("n")
    expect(page.locator("#refusal")).to_have_text(
        "You are logged out. Log in again in another tab; your last choices are kept here."
    )


def test_of_quick_choices_in_one_cell_the_last_one_wins(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    slow_down(page)
    page.evaluate(
        """(id) => {
            window.signs = [];
            const cell = document.getElementById(id);
            new MutationObserver(() => signs.push(cell.dataset.sign)).observe(cell, { attributes: true });
        }""",
        grid.focused,
    )
    for key in "1234":
        grid.keys(key, "Home")
    grid.settle()
    assert grid.sign("Google 1", "white cabbage") == "i"
    assert slaw.standing("anna") == {("Google 1", "white cabbage", "presence"): "implied"}
    history = LabelEvent.objects.filter(assignment=slaw.assignment("anna", "Google 1")).order_by("pk")
    assert list(history.values_list("after__key", flat=True)) == ["found", "found-not-perfect", "not-found", "implied"]
    signs = page.evaluate("signs")
    # The answers to the first choices came while later ones stood there, and never showed through.
    assert [sign for number, sign in enumerate(signs) if number == 0 or sign != signs[number - 1]] == [*"F~–i"]

    # Each is undone, also those whose answer came while a later one stood there.
    for sign in ("–", "~", "F", ""):
        grid.keys("Control+z")
        assert grid.sign("Google 1", "white cabbage") == sign
    grid.settle()
    assert slaw.standing("anna") == {}


def test_quick_choices_that_switch_cells_off_and_on_keep_the_screen_right(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    shred = "shred · knife · white cabbage"
    slow_down(page)
    grid.go("Google 1", shred, "task")
    grid.keys("4")
    grid.go("Google 1", shred, "task")
    grid.keys("1", "2", "3")
    assert [grid.sign("Google 1", shred, question) for question in ("task", "tool", "ingredients")] == ["F", "~", "~"]
    grid.settle()
    assert [grid.sign("Google 1", shred, question) for question in ("task", "tool", "ingredients")] == ["F", "~", "~"]
    assert slaw.standing("anna") == {
        ("Google 1", shred, "task"): "task-found",
        ("Google 1", shred, "tool"): "found-not-exact",
        ("Google 1", shred, "ingredients"): "some-ingredients-match",
    }


# --- what the server does not take as things stand ------------------------------------------------------------------


KEPT = "Kept in this browser, not saved: {}"


def test_choices_in_a_document_that_was_submitted_elsewhere_wait_until_it_is_taken_back(
    slaw: Coleslaw, browsing: Browsing
) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    page.context.set_offline(True)
    browsing.expect(*NETWORK)
    grid.go("Google 1", SHRED, "task")
    grid.keys("1", "1", "1")
    actions.submit(assignment=slaw.assignment("anna", "Google 1"), allow_open=True)  # in another browser, say
    page.context.set_offline(False)
    grid.expect_refusal("“Google 1” is submitted; take it back first to change it.")
    expect(page.locator("#save-state")).to_have_text(KEPT.format(3))
    assert [grid.sign("Google 1", SHRED, question) for question in ("task", "tool", "ingredients")] == [*"FF="]
    assert slaw.standing("anna") == {}
    grid.open()
    expect(page.locator("#save-state")).to_have_text(KEPT.format(3))
    assert grid.sign("Google 1", SHRED, "tool") == "F"

    # Other documents go on as if nothing had happened.
    grid.go("Google 2", "carrots")
    grid.keys("3")
    expect(page.locator(f"#{grid.id('Google 2', 'carrots')}")).not_to_have_attribute("data-state", "saving")
    assert slaw.standing("anna") == {("Google 2", "carrots", "presence"): "not-found"}

    grid.go("Google 1", SHRED, "task")
    grid.keys("s")  # takes it back
    expect(page.locator("#save-state")).to_have_text("Saved")
    assert slaw.standing("anna") == {
        ("Google 2", "carrots", "presence"): "not-found",
        ("Google 1", SHRED, "task"): "task-found",
        ("Google 1", SHRED, "tool"): "found",
        ("Google 1", SHRED, "ingredients"): "ingredients-match",
    }


def test_choices_that_come_to_a_closed_sheet_wait_until_it_is_open_again(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    page.context.set_offline(True)
    grid.keys(*TEN)
    actions.close_sheet(sheet=slaw.sheet, by=User.objects.get(username="mara"))
    page.context.set_offline(False)
    expect(page.locator("#save-state")).to_have_text(KEPT.format(10))
    grid.expect_refusal("is closed: its work is finished")
    assert slaw.standing("anna") == {}
    grid.go("Bing 1", "mustard")
    grid.keys("1")
    expect(page.locator("#palette")).to_contain_text("This sheet is closed: its work is finished.")
    assert grid.sign("Bing 1", "mustard") == ""

    grid.open()
    expect(page.locator("#save-state")).to_have_text(KEPT.format(10))
    assert grid.sign("Google 1", "mustard") == "i"
    actions.open_sheet(sheet=slaw.sheet)
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    expect(page.locator("#save-state")).to_have_text("Saved")
    assert slaw.standing("anna") == TEN_CHOSEN
    assert once_each()
    # This page was made while the sheet was closed: it is made anew, and takes answers.
    expect(page.locator("#refusal")).to_be_hidden()
    grid.go("Bing 1", "mustard")
    grid.keys("1")
    grid.settle()
    assert slaw.standing("anna")["Bing 1", "mustard", "presence"] == "found"


def test_a_sheet_that_is_opened_again_says_nothing_more_of_having_been_closed(
    slaw: Coleslaw, browsing: Browsing
) -> None:
    grid = Grid(browsing.person("anna"), slaw.sheet).open()
    actions.close_sheet(sheet=slaw.sheet, by=User.objects.get(username="mara"))
    grid.keys("1")
    grid.expect_refusal("is closed: its work is finished")
    actions.open_sheet(sheet=slaw.sheet)
    grid.page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    expect(grid.page.locator("#save-state")).to_have_text("Saved")
    expect(grid.page.locator("#refusal")).to_be_hidden()
    grid.keys("2")
    grid.settle()
    assert len(slaw.standing("anna")) == 2


def test_an_answer_to_what_the_sheet_has_no_longer_is_kept_by_the_page_which_says_so(
    slaw: Coleslaw, browsing: Browsing
) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    grid.go("Google 1", "mustard")
    mustard = page.locator(f"#{grid.id('Google 1', 'mustard')}")
    slaw.sheet.columns.filter(name="mustard").delete()
    grid.keys("1")
    grid.expect_refusal("This sheet has other columns by now. Reload the page.")
    expect(page.locator("#save-state")).to_have_text(KEPT.format(1))
    expect(mustard).to_have_attribute("data-sign", "F")
    # Other cells go on as if nothing had happened.
    grid.go("Google 1", "carrots")
    grid.keys("3")
    expect(page.locator(f"#{grid.id('Google 1', 'carrots')}")).not_to_have_attribute("data-state", "saving")
    assert slaw.standing("anna") == {("Google 1", "carrots", "presence"): "not-found"}


def test_what_is_kept_can_be_thrown_away(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    actions.close_sheet(sheet=slaw.sheet, by=User.objects.get(username="mara"))
    grid.keys("1")
    expect(page.locator("#save-state")).to_have_text(KEPT.format(1))
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Throw away").click()
    expect(page.locator("#save-state")).to_have_text("Saved")
    expect(page.get_by_role("button", name="Throw away")).to_be_hidden()
    assert grid.sign("Google 1", "white cabbage") == ""
    grid.settle()


def test_choices_in_a_document_that_somebody_else_got_are_kept_with_the_withdrawn_work(
    slaw: Coleslaw, browsing: Browsing
) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    page.context.set_offline(True)
    grid.keys(*TEN)
    mine = slaw.assignment("anna", "Google 2")
    Assignment.objects.filter(pk=mine.pk).update(state=Assignment.State.WITHDRAWN)
    page.context.set_offline(False)
    grid.settle()
    grid.expect_refusal("“Google 2” was withdrawn or given to somebody else meanwhile. What you answered there is kept")
    assert slaw.standing("anna") == TEN_CHOSEN
    mine.refresh_from_db()
    assert mine.state == Assignment.State.WITHDRAWN
    grid.go("Google 2", "carrots")
    grid.keys("1")
    assert grid.sign("Google 2", "carrots") == "~"  # the page is told, and locked there
    not_yours = "Not yours any more: it was withdrawn, or given to somebody else."
    expect(page.get_by_text(not_yours)).to_be_visible()
    grid.keys("s")
    grid.expect_refusal(not_yours)
    grid.keys("n")
    expect(page.locator("#refusal")).to_be_hidden()
    grid.keys("Control+z", "Control+z", "Control+z")  # two in the last document, one in that which is gone
    grid.expect_refusal(not_yours)


def test_choices_of_somebody_who_is_no_member_any_more_stay_in_the_browser(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    slaw.study.raters.filter(user__username="anna").update(active=False)
    grid.keys("1")
    grid.expect_refusal("This row is not assigned to you any more")
    expect(page.locator("#save-state")).to_have_text(KEPT.format(1))
    slaw.study.raters.filter(user__username="anna").update(active=True)
    grid.open()
    grid.settle()
    assert slaw.standing("anna") == {("Google 1", "white cabbage", "presence"): "found"}


# --- what the page does not show --------------------------------------------------------------------------------------


def test_what_a_closed_tab_left_is_sent_by_the_one_that_is_open(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    first = Grid(page, slaw.sheet).open()
    second = Grid(page.context.new_page(), slaw.sheet).open()
    page.route(RECORD, lambda route: route.abort())
    first.keys(*TEN)
    expect(page.locator("#save-state")).to_have_text("Not saved yet: retrying")
    page.close(run_before_unload=False)
    second.settle()
    assert second.sign("Google 1", "mustard") == "i"
    assert slaw.standing("anna") == TEN_CHOSEN
    assert once_each()


def test_a_submission_waits_for_what_another_tab_has_not_sent(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    first = Grid(page, slaw.sheet).open()
    first.keys("Shift+End", "1")
    first.go("Google 1", SHRED, "task")
    first.keys("Shift+End", "4")
    first.settle()
    second = Grid(page.context.new_page(), slaw.sheet).open()
    page.route(RECORD, lambda route: route.abort())
    first.go("Google 1", "carrots")
    first.keys("3")
    expect(page.locator("#save-state")).to_have_text("Not saved yet: retrying")
    second.go("Google 1", "mustard")
    second.keys("s")
    expect(second.page.locator("#n-submitted")).to_have_text("1")
    assert slaw.standing("anna")["Google 1", "carrots", "presence"] == "not-found"


def test_a_choice_of_what_the_page_shows_already_is_compared_with_what_stands(
    slaw: Coleslaw, browsing: Browsing
) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    grid.keys("3", "Home")
    grid.settle()
    builders.label(slaw.assignment("anna", "Google 1"), {("white cabbage", "presence"): "found"})
    grid.keys("3")
    expect(page.locator("#save-state")).to_have_text("Two answers: 1")
    grid.open()
    expect(page.locator("#save-state")).to_have_text("Two answers: 1")

    # Where it is what stands there, nothing is written.
    before = LabelEvent.objects.count()
    grid.go("Google 1", "white cabbage")
    grid.keys("1", "Home", "1")
    grid.settle()
    expect(page.locator("#save-state")).to_have_text("Saved")
    assert LabelEvent.objects.count() == before


def test_a_document_is_not_submitted_with_answers_that_its_page_does_not_show(
    slaw: Coleslaw, browsing: Browsing
) -> None:
    browsing.expect("Failed to load resource")
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    grid.keys("Shift+End", "1")
    grid.go("Google 1", SHRED, "task")
    grid.keys("Shift+End", "4")
    grid.settle()
    builders.label(slaw.assignment("anna", "Google 1"), {("carrots", "presence"): "not-found"})
    grid.keys("s")
    grid.expect_refusal("“Google 1” was changed elsewhere meanwhile, and is shown now as it is.")
    assert grid.sign("Google 1", "carrots") == "–"
    assert page.locator("#n-submitted").inner_text() == "0"
    grid.keys("s")
    expect(page.locator("#n-submitted")).to_have_text("1")


# --- the same sheet twice -------------------------------------------------------------------------------------------


def test_two_tabs_show_each_others_choices_and_send_none_twice(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    first = Grid(page, slaw.sheet).open()
    second = Grid(page.context.new_page(), slaw.sheet).open()
    first.keys("1")
    first.settle()
    expect(second.page.locator(f"#{second.id('Google 1', 'white cabbage')}")).to_have_attribute("data-sign", "F")
    second.keys("Control+z")  # the steps are those of the browser
    second.keys("Control+Shift+z")
    second.settle()
    assert LabelEvent.objects.filter(assignment=slaw.assignment("anna", "Google 1")).count() == 3

    # What the first one cannot send, a third one finds in the browser's store and sends too: it arrives once.
    LabelEvent.objects.all().delete()
    actions.record(
        assignment=slaw.assignment("anna", "Google 1"),
        answers=[builders.answer(slaw.sheet, "white cabbage", "presence", None)],
        key=uuid.uuid4(),
    )
    LabelEvent.objects.all().delete()
    first.open()
    page.route(RECORD, lambda route: route.abort())
    first.keys(*TEN)
    expect(page.locator("#save-state")).to_have_text("Not saved yet: retrying")
    third = Grid(page.context.new_page(), slaw.sheet).open()
    third.settle()
    page.unroute(RECORD)
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    expect(page.locator("#save-state")).to_have_text("Saved")
    assert slaw.standing("anna") == TEN_CHOSEN
    assert once_each()


def test_of_two_browsers_the_first_answer_stands_and_both_are_shown(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    other = Grid(browsing.person("anna"), slaw.sheet).open()
    other.keys("3", "3", "3")
    other.settle()

    # This page has seen none of it. One key over all three: what is not answered elsewhere goes in.
    grid.keys("Shift+End", "1")
    state = page.locator("#save-state")
    expect(state).to_have_text("Two answers: 3")
    expect(page.locator("td[data-state=conflict]")).to_have_count(3)
    assert [grid.sign("Google 1", column) for column in INGREDIENTS] == [*"–––F"]
    both = "Two answers: “Not found” was saved elsewhere meanwhile, “Found” was chosen here. Choose one."
    expect(page.locator("#where")).to_contain_text(both)
    grid.keys("Escape", "s")
    grid.expect_refusal("Some cells have two answers. Choose one in each of them, then submit.")

    # It waits for a decision, over a reload as well: one for each side, and a third answer.
    grid.open()
    expect(state).to_have_text("Two answers: 3")
    grid.go("Google 1", "white cabbage")
    expect(page.locator("#where")).to_contain_text(both)
    grid.keys("1")
    expect(page.locator("td[data-state=conflict]")).to_have_count(2)
    assert grid.where().startswith("Google 1 › Presence › carrots")  # the next one to decide
    grid.keys("3")
    grid.keys("2")
    grid.settle()
    expect(state).to_have_text("Saved")
    assert [slaw.standing("anna")["Google 1", column, "presence"] for column in INGREDIENTS] == [
        "found",
        "not-found",
        "found-not-perfect",
        "found",
    ]
    events = LabelEvent.objects.filter(assignment=slaw.assignment("anna", "Google 1"))
    assert events.count() == 3 + 1 + 2  # the other browser's, mustard, and the two decisions that changed something


def test_undoing_while_the_server_is_away_arrives_in_order(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    page.context.set_offline(True)
    grid.go("Google 1", SHRED, "task")
    grid.keys("1", "1", "1")
    grid.go("Google 1", SHRED, "task")
    grid.keys("4")
    expect(page.locator("#save-state")).to_have_text("Not saved yet: retrying")
    grid.keys("Control+z", "Control+z")
    signs = ["F", "F", ""]
    assert [grid.sign("Google 1", SHRED, question) for question in ("task", "tool", "ingredients")] == signs
    page.context.set_offline(False)
    grid.settle()
    assert [grid.sign("Google 1", SHRED, question) for question in ("task", "tool", "ingredients")] == signs
    assert slaw.standing("anna") == {
        ("Google 1", SHRED, "task"): "task-found",
        ("Google 1", SHRED, "tool"): "found",
    }


def test_a_double_click_is_one_choice_and_one_submission(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    page.get_by_role("toolbar").get_by_role("button", name="Not found").dblclick()
    grid.settle()
    assert slaw.standing("anna") == {("Google 1", "white cabbage", "presence"): "not-found"}
    grid.go("Google 1", SHRED, "task")
    grid.keys("Control+Home", "Shift+End", "1")
    grid.go("Google 1", SHRED, "task")
    grid.keys("Shift+ArrowRight", "Shift+ArrowRight", "4")
    grid.settle()
    page.get_by_role("button", name="Submit").dblclick()
    expect(page.locator("#n-submitted")).to_have_text("1")
    page.wait_for_timeout(300)
    assert slaw.assignment("anna", "Google 1").state == "submitted"
    assert slaw.assignment("anna", "Google 2").state == "open"


def test_a_browser_without_a_secure_context_saves_as_well(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    page.add_init_script("Object.defineProperty(Crypto.prototype, 'randomUUID', {value: undefined})")
    grid = Grid(page, slaw.sheet).open()
    grid.keys(*TEN)
    grid.settle()
    assert slaw.standing("anna") == TEN_CHOSEN
    assert once_each()


def test_a_document_that_does_not_load_says_so_and_is_tried_again(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    page.route("**/evidence/", lambda route: route.abort())
    grid = Grid(page, slaw.sheet).open()
    panel = page.locator("#evidence")
    expect(panel).to_have_text("The document could not be loaded. It is tried again when you come back to it.")
    page.unroute("**/evidence/")
    grid.keys("ArrowRight")
    expect(panel.get_by_role("heading", name="Slaw of Google 1")).to_be_visible()


def test_a_document_that_did_not_load_comes_with_the_connection(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect(*NETWORK)
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    panel = page.locator("#evidence")
    expect(panel.get_by_role("heading", name="Slaw of Google 1")).to_be_visible()
    page.context.set_offline(True)
    grid.keys(*TO["Bing 1"])
    expect(panel).to_contain_text("could not be loaded")
    page.context.set_offline(False)
    expect(panel.get_by_role("heading", name="Slaw of Bing 1")).to_be_visible()
