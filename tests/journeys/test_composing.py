"""Answers that have parts, lists of records and transitions, put together by keys alone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from annotation import actions
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Label, LabelEvent
from annotation.scheme.spec import load_scheme
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid

pytestmark = pytest.mark.once

SCHEME = """\
key: states
version: 1
title: States
row: {facets: [ingredients]}
sections:
  - key: steps
    title: Steps
    layout: down
    column: {title: Step, facets: [instruction]}
    questions:
      - key: tasks
        title: Tasks
        kind: items
        items:
          most: 8
          fields:
            - {key: task, title: Task, required: true}
            - {key: tool, title: Tool, completions: [wooden spoon]}
            - {key: ingredients, title: Ingredients, list: true}
      - {key: change, title: What changes, kind: transitions, transitions: {start: [ingredients]}}
    checks: [{rule: no-number, question: change, level: refuse}]
"""
MIX, KNEAD, BAKE = (
    "Mix the flour with the water in a bowl and separate the egg.",
    "Knead the dough, and keep a part of it for decoration.",
    "Brush with the yolk and bake.",
)
INGREDIENTS = ["flour", "cold water", "egg", "salt"]


@pytest.fixture
def grid(browsing: Browsing) -> Grid:
    scheme = actions.store_scheme(spec=load_scheme(SCHEME), source=SCHEME)
    study = actions.create_study(slug="states", title="States", scheme=scheme, by=None)
    columns = {"steps": [{"instruction": text} for text in (MIX, KNEAD, BAKE)]}
    sheet = actions.add_sheet(study=study, title="Bread", columns=columns)
    evidence = [Block("paragraph", text) for text in (MIX, KNEAD, BAKE)]
    actions.add_row(sheet=sheet, name="Recipe", evidence=evidence, facets={"ingredients": INGREDIENTS})
    builders.assignments(builders.rater(study, pages.person("anna")), sheet)
    return Grid(browsing.person("anna"), sheet).open()


def stands(grid: Grid) -> dict[tuple[str, str], Any]:
    grid.settle()
    labels = Label.objects.filter(assignment__rater__user__username="anna").select_related("column", "question")
    return {(label.column.name, label.question.key): label.value for label in labels}


def test_a_table_of_records_and_transitions_is_written_by_keys_alone(grid: Grid) -> None:
    page, keyboard = grid.page, grid.page.keyboard
    editor = page.locator(".composing")
    described = page.get_by_role("group", name=f"Recipe › Tasks › {MIX}")

    # A list of records: a letter opens it; Tab goes on, Enter begins the next entry, and a completion is taken.
    keyboard.type("mix")
    expect(described).to_be_visible()
    expect(editor.locator(".keys-line")).to_contain_text("| alone: there is nothing to list")
    expect(page.get_by_role("combobox", name="Task, entry 1")).to_be_focused()
    grid.keys("Tab")
    keyboard.type("wo")
    expect(page.get_by_role("option")).to_have_text(["wooden spoon"])
    grid.keys("ArrowDown", "Enter", "Tab")
    keyboard.type("flour, water")
    grid.keys("Enter")
    grid.keys("Tab", "Tab")
    keyboard.type("egg")

    # What is not an answer is said at its entry; a reload brings it back as it was.
    grid.keys("Control+Enter")
    problem = editor.locator(".problem")
    expect(problem).to_have_text("Entry 2 of “Tasks” has no “Task”.")
    expect(page.get_by_role("combobox", name="Task, entry 2")).to_be_focused()
    page.reload()
    expect(page.get_by_role("combobox", name="Ingredients, entry 2")).to_have_value("egg")
    kept = editor.get_by_role("status").filter(has_text="This was written before and not taken.")
    expect(kept).to_be_visible()
    expect(kept).to_have_class("told")  # a notice, nothing is wrong
    grid.keys("Shift+Tab", "Shift+Tab")
    keyboard.type("separate")
    expect(problem).to_have_count(0)

    # Entries are moved, put in and taken out; all of it can be taken back in the editor.
    grid.keys("Alt+ArrowUp", "Alt+Enter")
    keyboard.type("wait")
    grid.keys("Control+Delete")
    expect(page.get_by_role("combobox", name="Task, entry 1")).to_have_value("separate")
    grid.keys("Control+z")
    expect(page.get_by_role("combobox", name="Task, entry 2")).to_have_value("wait")
    grid.keys("Control+Shift+z", "Control+Enter")
    mixed = [
        {"task": "separate", "tool": "", "ingredients": ["egg"]},
        {"task": "mix", "tool": "wooden spoon", "ingredients": ["flour", "water"]},
    ]
    expect(editor).to_be_hidden()
    assert stands(grid) == {(MIX, "tasks"): mixed}
    assert grid.focused == grid.id("Recipe", KNEAD, "tasks")

    # Lines of a spreadsheet are pasted; Escape leaves the cell as it was.
    grid.keys("F2")
    page.evaluate(
        """() => {
            const data = new DataTransfer();
            data.setData("text/plain", "knead\\t\\tdough\\nkeep\\tbowl\\tdough\\n");
            const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
            document.activeElement.dispatchEvent(event);
        }"""
    )
    expect(page.get_by_role("combobox", name="Tool, entry 2")).to_have_value("bowl")
    grid.keys("Control+Enter", "ArrowUp", "F2")
    keyboard.type("!")
    grid.keys("Escape")
    kneaded = [
        {"task": "knead", "tool": "", "ingredients": ["dough"]},
        {"task": "keep", "tool": "bowl", "ingredients": ["dough"]},
    ]
    assert stands(grid) == {(MIX, "tasks"): mixed, (KNEAD, "tasks"): kneaded}
    assert grid.focused == grid.id("Recipe", KNEAD, "tasks")

    # Transitions: what is there is picked by letters, digits, or arrows and a blank; then what it becomes is written.
    grid.keys("ArrowUp", "ArrowRight", "F2")
    things = page.get_by_role("listbox", name="What is there").get_by_role("option")
    expect(things).to_have_count(4)
    keyboard.type("wa")
    expect(things).to_have_count(1)
    grid.keys("Enter", "1", "Enter")
    keyboard.type("dough")
    grid.keys("Enter")
    afterwards = page.locator(".afterwards")
    expect(afterwards).to_have_text("There afterwards: egg · salt · dough")
    grid.keys("ArrowDown", "ArrowUp", "Space", "Enter")
    keyboard.type("yolk, white")

    # In the middle of it, the page is loaded anew.
    page.reload()
    expect(page.get_by_role("combobox", name="becomes")).to_be_focused()
    expect(page.get_by_role("combobox", name="becomes")).to_have_value("yolk, white")
    grid.keys("Enter")
    expect(page.locator(".made li")).to_have_text(["cold water, flour → dough✕", "egg → yolk, white✕"])
    grid.keys("Enter")
    first = [{"from": ["cold water", "flour"], "to": ["dough"]}, {"from": ["egg"], "to": ["yolk", "white"]}]
    assert stands(grid)[MIX, "change"] == first

    # Splitting: picked twice, a part stays as it was. A dash throws away, or says that nothing changes.
    keyboard.type("dou")
    grid.keys("Enter")
    keyboard.type("dou")
    grid.keys("Enter", "Enter")
    keyboard.type("smooth dough")
    grid.keys("Enter")
    keyboard.type("white")
    grid.keys("Enter", "-")
    expect(afterwards).to_have_text("There afterwards: salt · yolk · smooth dough · dough")
    grid.keys("Control+Enter")
    second = [{"from": ["dough"], "to": ["smooth dough", "dough"]}, {"from": ["white"], "to": []}]
    assert stands(grid)[KNEAD, "change"] == second
    grid.keys("F2", "-", "Enter")
    assert stands(grid)[BAKE, "change"] == []

    # A step above is changed: what the later one used is kept, and shown to be missing.
    grid.go("Recipe", MIX, "change")
    grid.keys("F2", "Backspace", "Control+a")
    keyboard.type("beaten egg")
    grid.keys("Control+Enter", "F2")
    expect(page.locator(".doubt")).to_have_text(["not there at this step: white"])
    grid.keys("Escape")

    # Each answer was one step, which is taken back as a whole.
    grid.keys("Control+z")
    assert stands(grid)[MIX, "change"] == first
    events = LabelEvent.objects.filter(column__name=MIX, question__key="change")
    assert events.count() == 3

    # The rest, and the document is submitted.
    grid.go("Recipe", BAKE, "tasks")
    keyboard.type("bake")
    grid.keys("Enter", "Enter")
    assert stands(grid)[BAKE, "tasks"] == [{"task": "bake", "tool": "", "ingredients": []}]
    grid.keys("Alt+s")
    pages.until(
        lambda: Assignment.objects.get(rater__user__username="anna").state == Assignment.State.SUBMITTED,
        "the document is not submitted",
    )


def test_what_an_earlier_visit_has_begun_is_taken_by_a_key_alone(grid: Grid) -> None:
    page, editor = grid.page, grid.page.locator(".composing")
    grid.go("Recipe", MIX, "tasks")
    grid.keys("F2")
    page.keyboard.type("mix")
    page.reload()
    expect(editor).to_be_visible()
    page.locator(f"#{grid.id('Recipe', KNEAD, 'tasks')}").click()
    expect(editor).to_be_hidden()
    assert stands(grid) == {}
    # Answered since elsewhere: it does not open by itself, and there are two answers.
    builders.label(Assignment.objects.get(), {(MIX, "tasks"): ':[{"task":"stir","tool":"","ingredients":[]}]'})
    grid.reload()
    expect(editor).to_be_hidden()
    grid.go("Recipe", MIX, "tasks")
    grid.keys("F2")
    expect(page.get_by_role("combobox", name="Task, entry 1")).to_have_value("mix")
    grid.keys("Control+Enter")
    grid.settle()
    expect(page.locator(f"#{grid.id('Recipe', MIX, 'tasks')}")).to_have_attribute("data-state", "conflict")
    assert stands(grid) == {(MIX, "tasks"): [{"task": "stir", "tool": "", "ingredients": []}]}


def test_what_is_no_answer_is_kept_and_two_answers_are_decided_in_the_editor(grid: Grid) -> None:
    page, keyboard = grid.page, grid.page.keyboard

    # Whoever goes elsewhere with something half done finds it there again.
    grid.go("Recipe", MIX, "change")
    grid.keys("F2", "1")
    grid.go("Recipe", KNEAD, "tasks")
    grid.expect_refusal("Write what becomes of flour")
    assert stands(grid) == {}
    grid.go("Recipe", MIX, "change")
    grid.keys("F2")
    expect(page.locator(".making .thing")).to_have_text("flour")
    grid.keys("Escape")

    # Answered elsewhere after this page had seen it: the editor has what was chosen here, and names the other one.
    assignment = Assignment.objects.get()
    builders.label(assignment, {(MIX, "change"): ':[{"from":["flour"],"to":["dough"]}]'})
    grid.keys("F2", "3", "Enter")
    keyboard.type("egg wash")
    grid.keys("Enter", "Enter")
    grid.settle()
    grid.go("Recipe", MIX, "change")
    expect(page.locator("#choices .answer .text")).to_have_text(["flour → dough", "egg → egg wash"])
    grid.keys("F2")
    expect(page.locator(".composing .both")).to_contain_text("saved elsewhere meanwhile: flour → dough")
    expect(page.locator(".made li")).to_have_text(["egg → egg wash✕"])
    grid.keys("Control+Enter")
    assert stands(grid) == {(MIX, "change"): [{"from": ["egg"], "to": ["egg wash"]}]}

    # What a check of the scheme refuses stays in the editor, with its sentence.
    grid.go("Recipe", KNEAD, "change")
    grid.keys("F2", "2", "Enter")
    keyboard.type("2 cups")
    grid.keys("Control+Enter")
    expect(page.locator(".composing .error")).to_have_text("“What changes” should have no number in it.")
    grid.keys("Escape")

    # The text form is there still.
    grid.go("Recipe", KNEAD, "tasks")
    keyboard.type("knead")
    grid.keys("F2")
    expect(page.locator(".typed")).to_have_value("knead |  |")
    keyboard.type(" dough")
    grid.keys("Control+Enter")
    assert stands(grid)[KNEAD, "tasks"] == [{"task": "knead", "tool": "", "ingredients": ["dough"]}]


def test_a_row_that_is_asked_about_as_a_whole_is_named_without_a_column(browsing: Browsing) -> None:
    text = (
        "key: s\nversion: 1\ntitle: S\nsections: [{key: a, title: A, questions: [{key: q, title: Glad, kind: flag}]}]\n"
    )
    scheme = actions.store_scheme(spec=load_scheme(text), source=text)
    study = actions.create_study(slug="s", title="S", scheme=scheme, by=pages.person("mara"))
    sheet = actions.add_sheet(study=study, title="Texts", columns={})
    actions.add_row(sheet=sheet, name="Text 1", evidence=[Block("paragraph", "So it is.")])
    builders.assignments(builders.rater(study, pages.person("anna")), sheet)
    grid = Grid(browsing.person("anna"), sheet).open()
    expect(grid.page.locator("#where")).to_have_text("Text 1 › Glad")


NAMES = """\
key: names
version: 1
title: Names
sections:
  - key: text
    title: Text
    questions:
      - key: names
        title: Names
        kind: items
        items:
          fields:
            - {key: words, required: true}
            - {key: type, options: [person, organisation, location]}
            - {key: roles, list: true, options: [buyer, seller]}
            - {key: place, place: true}
"""


def test_the_beginning_of_an_option_is_enough_and_another_word_is_refused(browsing: Browsing) -> None:
    """“pe” stood in the list beside the offer “person”, and was stored."""
    scheme = actions.store_scheme(spec=load_scheme(NAMES), source=NAMES)
    study = actions.create_study(slug="names", title="Names", scheme=scheme, by=None)
    sheet = actions.add_sheet(study=study, title="Texts", columns={})
    actions.add_row(sheet=sheet, name="Text 1", evidence=[Block("paragraph", "Anna moved to Gdansk.")])
    builders.assignments(builders.rater(study, pages.person("anna")), sheet)
    grid = Grid(browsing.person("anna"), sheet).open()
    page, keyboard = grid.page, grid.page.keyboard
    offers = page.locator(".offers").get_by_role("option")

    keyboard.type("Anna")
    grid.keys("Tab")
    expect(offers).to_have_text(["person", "organisation", "location"])
    keyboard.type("pe")
    expect(offers).to_have_text(["person"])
    grid.keys("Tab")
    expect(page.get_by_role("combobox", name="Type, entry 1")).to_have_value("person")
    expect(page.get_by_role("combobox", name="Roles, entry 1")).to_be_focused()
    keyboard.type("b")
    grid.keys("Enter")
    expect(page.get_by_role("combobox", name="Roles, entry 1")).to_have_value("buyer")

    # The next entry: a word that is no option is told at its line, and nothing is stored.
    keyboard.type("Gdansk")
    grid.keys("Tab")
    keyboard.type("town")
    expect(offers).to_have_count(0)
    grid.keys("Control+Enter")
    expect(page.locator(".composing .problem")).to_have_text(
        "“Type” of “Names” is one of these, not “town”: person, organisation, location."
    )
    assert not Label.objects.exists()
    grid.keys("Control+a", "Backspace")
    expect(offers).to_have_count(3)
    grid.keys("ArrowUp", "Enter", "Enter")
    keyboard.type("Anna")
    grid.keys("Tab")
    keyboard.type("pe")
    grid.keys("Control+Enter")  # which takes the list, and writes the option out as well
    expect(page.locator(".composing")).to_be_hidden()
    assert next(iter(stands(grid).values())) == [
        {"words": "Anna", "type": "person", "roles": ["buyer"], "place": "0:0-4"},
        {"words": "Gdansk", "type": "location", "roles": [], "place": "0:14-20"},
        {"words": "Anna", "type": "person", "roles": [], "place": "0:0-4"},
    ]
