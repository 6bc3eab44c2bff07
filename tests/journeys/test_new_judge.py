"""The form of a new judge while somebody types: nothing that was typed or chosen is lost."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from annotation.models import User
from annotation.scheme.spec import load_scheme
from judges import actions
from judges.methods.skeletons import skeleton
from tests import builders
from tests.journeys.conftest import Browsing
from tests.journeys.pages import PASSWORD
from tests.judges import helpers

pytestmark = pytest.mark.once

KEPT = "The prompt was edited, so it stays as it is."


@pytest.fixture
def page(browsing: Browsing) -> Page:
    olga = User.objects.create_superuser("olga", password=PASSWORD)
    builders.sheet(builders.study("leases", by=olga))
    made = browsing.person("olga")
    made.goto("/studies/leases/judges/new/")
    return made


def choose(page: Page, method: str) -> None:
    page.get_by_label("Method").select_option(method)
    expect(page.locator("[name=method_before]")).to_have_value(method)
    # Fields that have just come are no part of htmx yet, and nothing follows from what is chosen there.
    expect(page.locator(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added")).to_have_count(0)


def made(method: str) -> str:
    return skeleton(load_scheme(builders.SCHEME), method)


def test_what_is_chosen_stays_through_other_methods_and_slow_answers(page: Page) -> None:
    def slowly(route: Route) -> None:
        time.sleep(0.8)
        route.continue_()

    page.get_by_label("Another model runs").select_option("openai")
    expect(page.get_by_label("Name on the server")).to_be_visible()
    page.get_by_label("Name on the server").fill("llama")
    choose(page, "lexical")
    expect(page.get_by_label("Name on the server")).to_be_hidden()
    page.route("**/judges/new/?*", slowly)
    page.get_by_label("Method").select_option("rating")
    page.get_by_label("Name:", exact=True).fill("typed-meanwhile")
    expect(page.get_by_label("Temperature")).to_be_visible()
    page.get_by_label("Temperature").fill("0.3")
    page.get_by_label("Method").select_option("writing")
    page.get_by_label("Use the chat template").check()
    expect(page.locator("[name=method_before]")).to_have_value("writing")
    expect(page.get_by_label("Use the chat template")).to_be_checked()
    expect(page.get_by_label("Temperature")).to_have_value("0.3")
    expect(page.get_by_label("Name on the server")).to_have_value("llama")
    expect(page.get_by_label("Name:", exact=True)).to_have_value("typed-meanwhile")


def test_a_choice_made_as_the_answer_comes_is_heard(page: Page) -> None:
    """Fields that have just come listen at once, not a moment later."""
    page.evaluate("""() => document.addEventListener("htmx:afterSwap", () => setTimeout(() => {
        const method = document.querySelector("[name=method]");
        method.value = "writing";
        method.dispatchEvent(new Event("change", {bubbles: true}));
    }), {once: true})""")
    page.get_by_label("Method").select_option("rating")
    expect(page.locator("[name=method_before]")).to_have_value("writing")


def test_a_prompt_follows_the_method_until_it_was_edited(page: Page) -> None:
    prompt, begin = page.get_by_label("Prompt text"), page.get_by_label("Begin with")
    expect(begin).to_have_value("made:cloze")
    choose(page, "rating")
    expect(prompt).to_have_value(made("rating"))
    expect(begin).to_have_value("made:rating")
    expect(page.get_by_text(KEPT)).to_be_hidden()
    prompt.press("Control+End")
    prompt.press_sequentially("# mine")
    choose(page, "lexical")
    expect(page.get_by_text(KEPT)).to_be_visible()
    expect(prompt).to_have_value(f"{made('rating')}# mine")
    expect(begin).to_have_value("")


def test_an_edited_prompt_is_replaced_after_a_question(page: Page) -> None:
    prompt, begin = page.get_by_label("Prompt text"), page.get_by_label("Begin with")
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.once("dialog", refuse)
    prompt.fill("row: mine")
    choose(page, "lexical")
    begin.select_option("made:lexical")
    expect(begin).to_have_value("")
    expect(prompt).to_have_value("row: mine")
    assert asked == ["The prompt below was edited. Put another one in its place? What was edited is lost."]
    page.once("dialog", lambda dialog: dialog.accept())
    begin.select_option("made:lexical")
    expect(prompt).to_have_value(made("lexical"))
    expect(page.get_by_text(KEPT)).to_be_hidden()
    begin.select_option("")  # nobody is asked, and nothing changes
    expect(prompt).to_have_value(made("lexical"))


def test_another_method_takes_what_a_trial_has_shown_away(page: Page) -> None:
    choose(page, "lexical")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#trial")).to_contain_text("It answers")
    choose(page, "rating")
    expect(page.locator("#trial")).to_be_empty()


def test_more_than_is_taken_at_once_is_refused_with_a_sentence(page: Page, browsing: Browsing) -> None:
    browsing.expect("400")
    page.get_by_label("Prompt text").evaluate("text => { text.value = 'x'.repeat(3_000_000) }")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("alert")).to_contain_text("is the prompt longer than 2.5 MB?")
    expect(page.get_by_role("button", name="Try it")).to_be_enabled()


def test_an_extractor_and_a_model_are_asked_for_what_they_have_alone(page: Page) -> None:
    """All fields of every backend stood there, those of servers for a model that no server has too."""
    name = page.get_by_label("Name on the server")
    for address, backend in (("judges/extractors/new/", "Another model runs"), ("texts/new-model/", "The model runs")):
        page.goto(f"/studies/leases/{address}")
        expect(page.get_by_label("Model path or URL")).to_be_visible()
        expect(name).to_have_count(0)
        page.get_by_label(backend).select_option("openai")
        expect(name).to_be_visible()
        expect(page.get_by_label("Revision")).to_have_count(0)
    page.goto("/studies/leases/judges/extractors/new/")
    page.get_by_label("Name:", exact=True).fill("typed-before")
    page.get_by_label("Parser").select_option(index=1)
    expect(page.get_by_label("Model path or URL")).to_have_count(0)
    expect(page.get_by_label("Name:", exact=True)).to_have_value("typed-before")


def test_the_method_comes_first_and_long_lines_of_a_prompt_are_wrapped(page: Page) -> None:
    """What is asked below follows from the method; nobody scrolls sideways to read a prompt."""
    first = page.locator("#judge-form").locator("input:visible, select:visible, textarea:visible").first
    expect(first).to_have_attribute("name", "method")
    prompt = page.locator("[name=prompt_text]")
    prompt.fill("row: |\n  " + "a long line of words " * 40)
    assert prompt.evaluate("(area) => area.scrollWidth - area.clientWidth") == 0


def test_who_tries_by_keys_stays_on_the_button(page: Page) -> None:
    button = page.get_by_role("button", name="Try it")
    button.press("Enter")
    expect(page.locator("#trial .errorlist")).to_be_visible()
    expect(button).to_be_focused()


def test_who_cancels_a_trial_by_keys_is_back_on_the_button(page: Page) -> None:
    page.get_by_label("Another model runs").select_option("openai")
    expect(page.get_by_label("Name on the server")).to_be_visible()
    page.get_by_label("Name on the server").fill("llama")
    page.locator("[name=location]").fill("http://127.0.0.1:9/v1")
    button = page.get_by_role("button", name="Try it")
    button.press("Enter")
    page.get_by_role("button", name="Cancel").press("Enter")
    expect(page.locator("#trial")).to_contain_text("It was cancelled.")
    expect(button).to_be_focused()


def test_a_trial_is_asked_for_once_at_a_time(page: Page) -> None:
    asked: list[Route] = []

    def waits(route: Route) -> None:  # until all is pressed
        asked.append(route)

    page.route("**/judges/new/try/", waits)
    button = page.get_by_role("button", name="Try it")
    with page.expect_request("**/judges/new/try/"):
        button.press("Enter")
    for _press in range(2):
        button.press("Enter")
    while not asked:
        page.wait_for_timeout(10)
    asked[0].continue_()
    expect(page.locator("#trial .errorlist")).to_be_visible()
    assert len(asked) == 1


def test_a_button_in_the_table_of_judges_has_one_line(page: Page) -> None:
    actions.create_judge(
        name="llama-3.1-70b-instruct-rating-of-leases-t07",
        method="rating",
        prompt_text=helpers.RATING,
        backend="openai",
        served_name="meta-llama/llama-3.1-70b-instruct",
        location="https://openrouter.ai/api/v1",
        temperature=0.7,
        chat_template=True,
        price_read=Decimal(2),
    )
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto("/studies/leases/judges/")
    button = page.get_by_role("link", name="see what it costs")
    heights = button.evaluate_all("all => all.map(each => each.getBoundingClientRect().height)")
    assert heights == [28]


def test_a_parser_is_asked_nothing_of_a_model(page: Page) -> None:
    """The prompt and the longest answer stayed in the form of an extractor that is a parser."""
    page.goto("/studies/leases/judges/extractors/new/")
    prompt = page.get_by_label("Prompt", exact=False)
    expect(prompt).to_be_visible()
    page.get_by_label("Parser").select_option(index=1)
    expect(prompt).to_be_hidden()
    expect(page.get_by_label("Another model runs")).to_have_count(0)
    page.get_by_label("Name", exact=False).first.fill("by-rules")
    page.get_by_role("button", name="Create the extractor").click()
    expect(page.get_by_text("“by-rules” can be started now.")).to_be_visible()
