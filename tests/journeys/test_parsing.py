"""A recipe taken apart by rules, and what a person makes of that beside its text, by keys."""

from __future__ import annotations

import uuid

import pytest
from playwright.sync_api import expect

from annotation.actions import drafting
from annotation.answers.places import read_places, words_at
from annotation.models import Label
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid
from tests.recipes.parsing import CURRY, rules

pytestmark = pytest.mark.once


@pytest.fixture
def grid(browsing: Browsing) -> Grid:
    """Anna's sheet, drafted from the rules."""
    judge = rules("parsing-lexical", texts={"Curry": CURRY})
    sheet = judge.study.sheets.get()
    (assignment,) = builders.assignments(builders.rater(judge.study, pages.person("anna")), sheet)
    drafting.draft(assignment=assignment, rater=judge, key=uuid.uuid4())
    return Grid(browsing.person("anna"), sheet).open()


def test_a_draft_of_the_rules_is_corrected_beside_the_text(grid: Grid) -> None:
    page, keyboard = grid.page, grid.page.keyboard
    document = page.locator("#evidence")
    expect(document).to_contain_text("blend until smooth")
    grid.go("1", "", "tasks")
    grid.keys("F2")
    expect(page.get_by_role("combobox", name="Task, entry 1", exact=True)).to_have_value("place")

    # The words of the entry that has the focus stand out in the document, and follow it.
    now = document.locator("mark.m-tied.strong")
    expect(now).to_have_text("Place the lemongrass, garlic and white pepper in a food processor")
    grid.keys("ArrowDown")
    expect(now).to_have_text("blend until smooth")

    # What the task before has is proposed, visibly; one key takes it.
    tool = page.get_by_role("combobox", name="Tool, entry 2", exact=True)
    expect(tool).to_have_attribute("placeholder", "food processor")
    expect(tool).to_have_value("")
    grid.keys("Tab", "ArrowRight")
    expect(tool).to_have_value("food processor")
    ingredients = page.get_by_role("combobox", name="Ingredients, entry 2", exact=True)
    expect(ingredients).to_have_attribute("placeholder", "mixture")
    grid.keys("Tab", "ArrowRight")
    expect(ingredients).to_have_value("mixture")

    # A new entry behind it: its words are marked in the document, and the keys stay in the entry.
    grid.keys("Alt+Enter")
    keyboard.type("make the")
    line = document.get_by_text("Make the paste:")
    line.evaluate(
        """(element) => {
            // The words may be cut up by marks: the ends are sought among the texts.
            const at = element.textContent.indexOf("Make the paste");
            const range = document.createRange();
            const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
            let before = 0;
            for (let text = walker.nextNode(); text; text = walker.nextNode()) {
                const after = before + text.length;
                const [start, end] = [at, at + "Make the paste".length];
                if (before <= start && start < after) range.setStart(text, start - before);
                if (before < end && end <= after) range.setEnd(text, end - before);
                before = after;
            }
            getSelection().removeAllRanges();
            getSelection().addRange(range);
            element.dispatchEvent(new MouseEvent("mouseup", { bubbles: true }));
        }"""
    )
    expect(page.get_by_role("combobox", name="Task, entry 3", exact=True)).to_be_focused()
    expect(now).to_have_text("Make the paste")

    # The same by keys alone: a word more, a word fewer; the next word, and the one before.
    grid.keys("Alt+Shift+Comma")
    expect(now).to_have_text("Make the")
    grid.keys("Alt+Period")
    expect(now).to_have_text("paste")
    grid.keys("Alt+Comma", "Alt+Comma", "Alt+Shift+Period", "Alt+Shift+Period")
    expect(now).to_have_text("Make the paste")

    # It is moved, and its words with it; a reload brings the half-done list back.
    grid.keys("Alt+ArrowUp", "Alt+ArrowUp")
    expect(page.get_by_role("combobox", name="Task, entry 1", exact=True)).to_have_value("make the")
    expect(now).to_have_text("Make the paste")
    page.reload()
    expect(page.get_by_role("combobox", name="Task, entry 1", exact=True)).to_have_value("make the")
    expect(now).to_have_text("Make the paste")
    grid.keys("Control+a")
    keyboard.type("make")
    grid.keys("Control+Enter")
    expect(page.locator(".composing")).to_be_hidden()
    grid.settle()

    label = Label.objects.get(assignment__rater__user__username="anna", question__key="tasks")
    texts = [block.text for block in label.assignment.row.blocks]
    said = [
        (one["task"], one["tool"], one["ingredients"], words_at(texts, read_places(one["words"])))
        for one in label.value
    ]
    assert said[:3] == [
        ("make", "", [], "Make the paste"),
        (
            "place",
            "food processor",
            ["lemongrass", "garlic", "ground white pepper"],
            "Place the lemongrass, garlic and white pepper in a food processor",
        ),
        ("blend", "food processor", ["mixture"], "blend until smooth"),
    ]
    assert label.drafted_from_id is not None
