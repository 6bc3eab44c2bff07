"""A manager writes a scheme: a mistake is told and mended, a question comes by a button, keys work beside it."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.urls import reverse
from playwright.sync_api import Page, Route, expect

from annotation.models import Label, LabelEvent, Study
from tests import builders
from tests.journeys.conftest import WIDE, Browsing
from tests.journeys.test_looks import fits_when_zoomed, look

pytestmark = pytest.mark.once

ALONE = "key: alone\nversion: 1\ntitle: Alone\nsections:\n  - key: a\n    title: A\n    questions:\n"


def caret(page: Page) -> str:
    """What is selected in the text; also that the text has the keys."""
    assert page.evaluate("() => document.activeElement.id") == "id_scheme_text"
    return str(
        page.evaluate(
            "() => { const t = document.activeElement; return t.value.slice(t.selectionStart, t.selectionEnd); }"
        )
    )


def test_from_a_short_scheme_to_a_study(browsing: Browsing) -> None:
    builders.user("olga", superuser=True)
    page = browsing.person("olga")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.goto(reverse("annotation:new-study"))
    page.get_by_role("link", name="Begin with a short one").click()
    verdict, text = page.get_by_role("status"), page.get_by_label("or its text")
    expect(verdict).to_have_text("Valid: 5 questions.")
    frame = page.frame_locator("#scheme-preview iframe:not(.arriving)")
    expect(frame.get_by_role("rowheader", name="Sentiment")).to_be_visible()
    expect(frame.locator("#evidence")).to_contain_text("Here stands what is labelled.")
    look(page, "writing-scheme")
    fits_when_zoomed(page, "writing-scheme")
    page.set_viewport_size(WIDE)

    # A mistake of content is told while one types, with its line, which a click leads to; the caret stays in the text.
    whole = text.input_value()
    text.fill(whole.replace("kind: flag", "kind: flog"))
    expect(verdict).to_have_text("1 problem, in line 25.")
    assert page.evaluate("() => document.activeElement.id") == "id_scheme_text"
    expect(page.locator(".lines mark")).to_have_text("▸25")
    expect(page.locator("#preview-note")).to_contain_text("valid last")
    look(page, "writing-scheme-wrong")
    page.get_by_role("button", name="line 25").click()
    assert caret(page).strip() == "kind: flog"
    page.keyboard.type("        kind: flag")
    expect(verdict).to_have_text("Valid: 5 questions.")
    assert text.input_value() == whole

    # A mistake of YAML, with its column.
    text.press("Control+End")
    page.keyboard.type("title: a: b")
    page.get_by_role("button", name="line 51, column").click()
    assert caret(page).endswith(": b")
    text.fill(whole)
    expect(verdict).to_have_text("Valid: 5 questions.")

    # A question by a button, taken back by the field's own undo, and put in again by keys.
    page.get_by_role("button", name="Several options").click()
    assert caret(page) == "Which of these?"
    expect(verdict).to_have_text("Valid: 6 questions.")
    page.keyboard.press("Control+z")
    assert text.input_value() == whole
    expect(verdict).to_have_text("Valid: 5 questions.")
    page.get_by_role("button", name="Only after an answer").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("Do we know it?")  # in the place of the example's title
    expect(verdict).to_have_text("Valid: 7 questions.")
    expect(frame.get_by_role("rowheader", name="Do we know it?")).to_be_visible()
    assert page.evaluate("() => document.activeElement.id") == "id_scheme_text"

    # Keys in the preview: answered, gone on, undone, switched off; and nothing of it is stored.
    cells = frame.get_by_role("gridcell")
    cells.first.click()
    page.keyboard.press("2")
    expect(cells.nth(0)).to_have_attribute("data-option", "neutral")
    page.keyboard.press("1")
    expect(cells.nth(1)).to_have_attribute("data-option", "yes")
    page.keyboard.press("Control+z")
    expect(cells.nth(1)).not_to_have_attribute("data-option", "yes")
    cells.nth(5).click()
    page.keyboard.press("2")
    expect(cells.nth(6)).to_have_attribute("aria-disabled", "true")
    expect(frame.locator("#refusal")).to_be_hidden()
    frame.get_by_role("button", name="Ask the manager").click()
    frame.get_by_label("Your question").fill("Who?")
    page.keyboard.press("Control+Enter")
    expect(frame.get_by_text("This is a preview: nobody is asked.").first).to_be_visible()
    page.keyboard.press("Escape")
    assert {url.rpartition("/studies/")[2] for url in sent} == {"new/check/"}
    assert page.evaluate("() => Object.keys(localStorage).filter((name) => name.startsWith('palate:'))") == []

    page.get_by_label("Title").fill("Mails")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("heading", name="Mails")).to_be_visible()
    study = Study.objects.get(slug="mails")
    assert [question.title for question in study.scheme.parsed.sections[0].questions][-2:] == [
        "Do we know it?",
        "Where is it known from?",
    ]

    # The same in the study's settings, begun with what it asks.
    page.goto(reverse("annotation:change-scheme", args=["mails"]))
    page.get_by_role("link", name="Begin with the one that it has").click()
    expect(verdict).to_have_text("Valid: 7 questions.")
    text.fill(text.input_value().replace("version: 2", "version: 1").replace("Do we know it?", "Is it known?"))
    expect(verdict).to_contain_text("Version 1 of “texts” is stored already and asks something else.")
    look(page, "changing-scheme")
    assert not Label.objects.exists()
    assert not LabelEvent.objects.exists()


def test_under_answers_it_is_said_while_one_writes_what_changes(browsing: Browsing) -> None:
    leases = builders.leases()
    builders.label(leases.annas[0])
    page = browsing.person("mara")
    page.goto(reverse("annotation:change-scheme", args=["leases"]))
    verdict, text = page.locator("#scheme-verdict"), page.get_by_label("The scheme")
    expect(verdict).to_contain_text("Nothing is changed yet.")
    expect(page.frame_locator("#scheme-preview iframe").locator("#evidence")).to_contain_text("Clause 1")
    text.fill(text.input_value().replace("          - {key: implied, label: Implied}\n", ""))
    expect(verdict).to_contain_text("cannot be taken away under answers")
    look(page, "rewording-scheme")


def test_what_is_written_outlives_a_login_that_ends_and_a_server_that_does_not_answer(browsing: Browsing) -> None:
    browsing.expect("status of 500", "Response Status Error Code 500")
    builders.user("olga", superuser=True)
    page = browsing.person("olga")
    page.goto(reverse("annotation:new-study"))
    text, verdict = page.get_by_label("or its text"), page.locator("#scheme-verdict")
    page.get_by_role("button", name="Number").click()  # into nothing comes a whole scheme
    expect(verdict).to_have_text("Valid: 1 question.")
    whole = text.input_value()

    page.route("**/check/", lambda route: route.fulfill(status=500, body=""))
    text.press("Control+End")
    page.keyboard.type("# more")
    expect(verdict).to_contain_text("What you have written is still here")
    page.unroute("**/check/")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.keyboard.type(" and more")
    expect(verdict).to_contain_text("You are not logged in any more.")
    assert text.input_value() == f"{whole}# more and more"


def test_a_caret_stays_where_one_types_while_a_preview_comes(browsing: Browsing) -> None:
    builders.user("olga", superuser=True)
    page = browsing.person("olga")
    page.goto(reverse("annotation:new-study"))
    text = page.get_by_label("or its text")
    text.fill(f"{ALONE}      - {{key: b, title: Be, kind: flag}}\n")
    frame = page.frame_locator("#scheme-preview iframe:not(.arriving)")
    text.press("Control+End")
    for letter in "abcdefghij":
        page.keyboard.type(f"      - {{key: {letter}-x, title: {letter}}}"[:10])
        page.keyboard.press("Control+a")
        page.keyboard.type(f"{ALONE}      - {{key: b, title: Be {letter}, kind: flag}}\n", delay=1)
        page.wait_for_timeout(90)
    expect(frame.get_by_role("grid")).to_have_count(1)
    assert text.input_value().endswith("title: Be j, kind: flag}\n")
    expect(page.locator("#scheme-preview iframe")).to_have_count(1)
    assert page.evaluate("() => document.activeElement.id") == "id_scheme_text"


def test_a_scheme_to_begin_from_leaves_the_other_fields_as_they_are(browsing: Browsing) -> None:
    builders.user("olga", superuser=True)
    page = browsing.person("olga")
    page.goto(reverse("annotation:new-study"))
    title, text, schemes = page.get_by_label("Title"), page.get_by_label("or its text"), page.get_by_label("Scheme:")
    title.fill("Mails")
    page.get_by_role("link", name="Begin with a short one").click()
    expect(text).to_have_value(re.compile("^# What is asked about each text."))
    expect(title).to_have_value("Mails")
    change = page.get_by_role("button", name="Change its text")
    expect(change).to_be_hidden()
    schemes.select_option("Which of two texts is better?")
    change.click()
    expect(text).to_have_value(re.compile("key: text-pairs\nversion: 2"))
    expect(schemes).to_have_value("")  # what is written counts
    expect(page.locator("#scheme-verdict")).to_have_text("Valid: 2 questions.")
    page.keyboard.press("Control+z")
    expect(text).to_have_value(re.compile("^# What is asked about each text."))


def test_a_scheme_to_begin_from_that_comes_late_takes_no_words_away(browsing: Browsing) -> None:
    """What was typed while it was under way was gone, and of two choices the slower one stood there."""
    builders.user("olga", superuser=True)
    page = browsing.person("olga")
    page.goto(reverse("annotation:new-study"))
    text, short = page.get_by_label("or its text"), page.get_by_role("link", name="Begin with a short one")
    waiting: list[Route] = []
    page.route("**/studies/new/scheme/**", lambda route: waiting.append(route))
    short.click()
    text.focus()
    page.keyboard.type("key: mine")
    (slow,) = waiting
    slow.fulfill(body="key: slow")
    page.wait_for_timeout(100)
    assert text.input_value() == "key: mine"

    # Of two choices the later one counts, whichever comes first.
    short.click()
    short.click()
    page.wait_for_timeout(100)
    first, second = waiting[1:]
    second.fulfill(body="key: second")
    expect(text).to_have_value("key: second")
    first.fulfill(body="key: first")
    page.wait_for_timeout(100)
    assert text.input_value() == "key: second"


def test_a_text_of_many_lines_is_numbered_at_once(browsing: Browsing) -> None:
    """Each line's number was a piece of the page by itself."""
    builders.user("olga", superuser=True)
    page = browsing.person("olga")
    page.goto(reverse("annotation:new-study"))
    page.get_by_label("or its text").evaluate(
        "(text) => { text.value = '# a\\n'.repeat(20000); text.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    expect(page.locator("#scheme-verdict")).to_have_text("1 problem, in line 1.")
    numbers = page.locator(".lines")
    expect(numbers.locator("mark")).to_have_text("▸1")
    assert numbers.evaluate("(of) => of.childNodes.length") == 2
    assert str(numbers.text_content()).endswith("20000\n20001\n")
