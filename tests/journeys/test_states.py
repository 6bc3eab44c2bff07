"""A recipe of twelve steps: its graph of states is drawn by keys alone, changed in the middle, and drawn again."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from annotation import actions as annotating
from annotation.answers import transitions
from annotation.models import Assignment, Label, Rater
from annotation.queries import state_graphs
from annotation.scheme.spec import load_scheme
from recipes.ingredient_states import actions, demo_study
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid

pytestmark = pytest.mark.once

BUNS = next(recipe for recipe in demo_study.demo_recipes() if recipe.title == "Braided milk buns")


@pytest.fixture
def grid(browsing: Browsing) -> Grid:
    source = (demo_study.ROOT / "schemes" / "ingredient-states.yaml").read_text(encoding="utf-8")
    scheme = annotating.store_scheme(spec=load_scheme(source), source=source)
    study = annotating.create_study(slug="states", title="States", scheme=scheme, by=None)
    actions.import_recipes(study=study, recipes=[BUNS])
    sheet = study.sheets.get()
    builders.assignments(builders.rater(study, pages.person("anna")), sheet)
    return Grid(browsing.person("anna"), sheet).open()


def answer(grid: Grid, step: list[dict[str, list[str]]]) -> None:
    """Answer the focused step in the editor: pick each thing by name, twice where a part stays, write what becomes."""
    keyboard = grid.page.keyboard
    staying = {one["from"][0] for one in step if transitions.is_staying(one)}
    grid.keys("F2")
    for one in step:
        if transitions.is_staying(one):
            continue
        for name in one["from"]:
            for _time in range(2 if name in staying or (len(one["from"]) == 1 and name in one["to"]) else 1):
                keyboard.insert_text(name)
                grid.keys("Enter")
        grid.keys("Enter")
        keyboard.insert_text(", ".join(name for name in one["to"] if name not in one["from"]))
        grid.keys("Enter")
    grid.keys("Enter")


def test_twelve_steps_are_drawn_by_keys_changed_in_the_middle_and_drawn_again(grid: Grid) -> None:
    page, keyboard = grid.page, grid.page.keyboard
    drawing = page.get_by_role("group", name="States of Braided milk buns by A1")
    expect(drawing.get_by_text("not answered yet")).to_have_count(12)
    assert len(BUNS.steps) == 12
    # The step stands out among the steps; its own words are not marked in it, nor counted.
    expect(page.locator("#evidence .best")).to_have_text(BUNS.steps[0])
    expect(page.locator("#evidence mark")).to_have_count(0)
    expect(page.locator("#evidence .matches")).to_have_text("")

    # All twelve steps, without a hand on the mouse; the drawing follows what is saved.
    for step in BUNS.graphs[0].answers:
        answer(grid, step or [])
    grid.settle()
    expect(drawing.get_by_text("not answered yet")).to_have_count(0)
    expect(drawing.locator("a.state.made")).to_have_count(14)
    expect(drawing.locator("path.edge")).to_have_count(25)
    expect(page.locator("#states .problems")).to_have_count(0)
    said = Label.objects.filter(assignment__rater__user__username="anna").order_by("column__position")
    assert [label.value for label in said] == BUNS.graphs[0].answers
    # The step that refers to another one says so.
    expect(drawing.get_by_text(re.compile("Step 5 ← 1"))).to_have_count(1)

    # Step 4 makes something else: what step 5 used of it is kept, and shown not to be there; nothing below is lost.
    grid.go("Recipe", BUNS.steps[3], "change")
    grid.keys("F2", "Backspace", "Control+a")
    keyboard.insert_text("flour mixture")
    grid.keys("Control+Enter")
    grid.settle()
    expect(drawing.locator("a.state.lost")).to_have_count(1)
    expect(page.locator("#states .problems li")).to_have_text(
        [
            "Step 5 “sweetened flour” is used, and there is no such thing.",
        ]
    )
    fifth = page.locator(f"#{grid.id('Recipe', BUNS.steps[4], 'change')}")
    expect(fifth).to_have_attribute("data-doubt", "")
    assert Label.objects.filter(assignment__rater__user__username="anna").count() == 12

    # The drawing leads to the step, which is mended there.
    grid.go("Recipe", BUNS.steps[11], "change")
    drawing.locator("a.state.lost").click()
    assert grid.focused == grid.id("Recipe", BUNS.steps[4], "change")
    grid.keys("F2")
    expect(page.locator(".composing .doubt")).to_have_text(["not there at this step: sweetened flour"])
    grid.keys("F2", "Control+a")
    keyboard.insert_text("yeast milk, melted butter, whole egg, flour mixture, yolk -> rough dough\nyolk -> yolk")
    grid.keys("Control+Enter")
    grid.settle()
    expect(drawing.locator("a.state.lost")).to_have_count(0)
    expect(drawing.locator("a.state.made")).to_have_count(14)

    # What it says stands in a table as well.
    page.locator("#states summary").click()
    expect(page.locator("#states .twin tbody tr")).to_have_count(13)
    expect(page.locator("#states .twin tbody tr").last).to_contain_text("baked buns")

    [mine] = state_graphs(grid.sheet.study, Rater.objects.get(user__username="anna").assignments.select_related("row"))
    assert not mine.graph.problems
    assert [state.name for state in mine.graph.world(12)] == ["egg white", "baked buns"]


def test_a_step_is_drawn_by_the_mouse(grid: Grid) -> None:
    page = grid.page
    things, becomes = page.get_by_role("listbox", name="What is there"), page.get_by_role("combobox", name="becomes")
    page.locator(f"#{grid.id('Recipe', BUNS.steps[2], 'change')}").dblclick()
    add, thrown = page.get_by_role("button", name="Add", exact=True), page.get_by_role("button", name="Throw away")
    expect(add).to_be_hidden()
    expect(thrown).to_be_hidden()
    for name, made in (("2 eggs", "yolk, egg white"), ("80 g butter", "melted butter")):
        things.get_by_role("option", name=name).click()
        expect(thrown).to_be_visible()
        becomes.fill(made)
        expect(thrown).to_be_hidden()
        add.click()  # a click on the next thing would join it to this one
    things.get_by_role("option", name="pearl sugar").click()
    thrown.click()
    page.get_by_role("button", name="Take it").click()
    grid.settle()
    [label] = Label.objects.filter(assignment__rater__user__username="anna")
    assert label.value == [
        {"from": ["2 eggs"], "to": ["yolk", "egg white"]},
        {"from": ["80 g butter"], "to": ["melted butter"]},
        {"from": ["pearl sugar"], "to": []},
    ]


def finished(grid: Grid) -> None:
    """Anna has all twelve steps already."""
    [assignment] = Assignment.objects.filter(rater__user__username="anna")
    answers = {
        (text, "change"): f":{json.dumps(step)}" for text, step in zip(BUNS.steps, BUNS.graphs[0].answers, strict=True)
    }
    builders.label(assignment, answers)
    grid.open()


def test_twelve_steps_take_few_keys(grid: Grid) -> None:
    """By a hand that picks by digits, and by letters what has none: how many keys a step takes."""
    page, pressed = grid.page, []

    def press(*keys: str) -> None:
        grid.keys(*keys)
        pressed[-1] += len(keys)

    def write(text: str) -> None:
        page.keyboard.type(text)
        pressed[-1] += len(text)

    for step in BUNS.graphs[0].answers:
        pressed.append(0)
        staying = {one["from"][0] for one in step or [] if transitions.is_staying(one)}
        press("F2")
        for one in step or []:
            if transitions.is_staying(one):
                continue
            for name in one["from"]:
                for _time in range(2 if name in staying or (len(one["from"]) == 1 and name in one["to"]) else 1):
                    # The digit beside it, by what the page shows at that moment.
                    item = page.locator(".things li", has=page.locator(f".name:text-is('{name}')"))
                    digit = item.locator("kbd").inner_text()
                    if digit:
                        press(digit)
                    else:
                        write(name[:5])
                        press("Enter")
            press("Enter")
            write(", ".join(name for name in one["to"] if name not in one["from"]))
            press("Enter")
        press("Enter")
    grid.settle()
    said = Label.objects.filter(assignment__rater__user__username="anna").order_by("column__position")
    assert [label.value for label in said] == BUNS.graphs[0].answers
    # Of a minute a step takes who types 200 keys in it 11 seconds at most; the rest is for reading.
    assert (sum(pressed), max(pressed)) == (246, 35), pressed


def test_a_new_name_goes_down_by_one_key_and_comes_back_by_another(grid: Grid) -> None:
    finished(grid)
    page, keyboard = grid.page, grid.page.keyboard
    panel = page.locator("#renaming")
    expect(panel).to_be_hidden()

    def fifth() -> str:
        grid.settle()
        label = Label.objects.get(assignment__rater__user__username="anna", column__position=4)
        return json.dumps(label.value)

    def rename(to: str) -> None:
        grid.go("Recipe", BUNS.steps[3], "change")
        grid.keys("F2", "Backspace", "Control+a")
        keyboard.insert_text(to)
        grid.keys("Control+Enter")

    rename("flour mixture")
    expect(panel).to_contain_text("“sweetened flour” is called “flour mixture” now")
    expect(panel).to_contain_text("Steps below use the old name: 5.")
    assert "sweetened flour" in fifth()  # nothing is changed before somebody says so
    grid.keys("Alt+l")
    expect(panel).to_be_hidden()
    assert "flour mixture" in fifth()
    expect(page.locator("#states a.state.lost")).to_have_count(0)
    grid.keys("Control+z")
    assert "sweetened flour" in fifth()
    expect(page.locator("#states a.state.lost")).to_have_count(1)
    grid.keys("Control+Shift+z")
    assert "flour mixture" in fifth()

    # A click does the same; and the step's own undo takes the offer away.
    rename("sweet dry mixture")
    panel.get_by_role("button", name="Rename it there too").click()
    assert "sweet dry mixture" in fifth()
    rename("sugared flour")
    expect(panel).to_be_visible()
    grid.keys("Control+z")
    expect(panel).to_be_hidden()
    assert "sweet dry mixture" in fifth()
    rename("sugared flour")
    rename("sugary flour")  # the name is mended before anybody has said yes
    expect(panel).to_contain_text("“sweet dry mixture” is called “sugary flour” now")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    assert "sweet dry mixture" in fifth()

    # Hidden it is not written to: a screen reader would read it out with every answer.
    page.evaluate(
        """() => {
            window.written = 0;
            const count = (records) => { window.written += records.length };
            const all = { attributes: true, childList: true, characterData: true, subtree: true };
            new MutationObserver(count).observe(document.getElementById("renaming"), all);
        }"""
    )
    grid.keys("Backspace", "Control+z")
    grid.settle()
    assert page.evaluate("window.written") == 0


def test_letters_that_nothing_has_are_answered(grid: Grid) -> None:
    page = grid.page
    grid.keys("F2")
    page.keyboard.type("zucchini")
    expect(page.locator(".things")).to_have_text("Nothing that is there has this in its name.")
    grid.keys("Enter")
    expect(page.locator(".composing .told")).to_contain_text("“zucchini” is not there at this step.")
