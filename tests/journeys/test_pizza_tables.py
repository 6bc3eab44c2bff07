"""A recipe of the pizza tables written by keys alone, most cells by one; and its rules, provoked one by one."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation import actions, doors
from annotation.models import Label, Sheet
from annotation.scheme.spec import load_scheme
from recipes.pizza_commonsense.actions import import_tables
from recipes.pizza_commonsense.forms import pasted
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid

pytestmark = pytest.mark.once

RECIPE = """\
White pizza
- 1 pkg pizza dough
- 2 tbsp olive oil
- 8 oz. shredded mozzarella
- 1 can artichoke hearts
Preheat the oven to 450 degrees.
Roll out the dough.
Brush with olive oil.
Place on a stone.
Top with mozzarella and artichoke hearts.
Bake for 12 minutes.
Serve.
"""
# Of each line what is typed into input, action and output; a space takes what is suggested.
KEYS = (
    (" ", " ", " "),
    (" ", " ", "rolled dough"),
    (" ", " ", "oiled dough"),
    (" ", " ", " "),
    (" ", " ", "topped pizza"),
    (" ", " ", "baked pizza"),
    (" ", " ", " "),
)
SAID = (
    ("NA", "Preheat", "NA"),
    ("pizza dough", "Roll", "rolled dough"),
    ("rolled dough; olive oil", "Brush", "oiled dough"),
    ("oiled dough", "Place", "oiled dough"),
    ("oiled dough; shredded mozzarella; artichoke hearts", "Top", "topped pizza"),
    ("topped pizza", "Bake", "baked pizza"),
    ("baked pizza", "Serve", "baked pizza"),
)
LINES = tuple(pasted(RECIPE)[0].instructions)


@pytest.fixture
def sheet(browsing: Browsing) -> Sheet:
    source = doors.shipped_schemes()["pizza-commonsense"].read_text(encoding="utf-8")
    scheme = actions.store_scheme(spec=load_scheme(source), source=source)
    study = actions.create_study(slug="pizzas", title="Pizzas", scheme=scheme, by=pages.person("mara"))
    import_tables(study=study, tables=pasted(RECIPE))
    made = study.sheets.get()
    builders.assignments(builders.rater(study, pages.person("anna")), made)
    return made


def test_what_is_done_with_the_tables_stands_beside_a_long_list_of_them(sheet: Sheet, browsing: Browsing) -> None:
    """Downloads and the counts of a large study stood below its fifty recipes."""
    import_tables(study=sheet.study, tables=pasted("\n".join(f"Pizza {n}\nBake.\n" for n in range(50))))
    page = browsing.person("mara")
    page.goto(f"/studies/{sheet.study.slug}/tables/")
    last = page.locator("tbody th a").last.bounding_box()
    assert last is not None
    for name in ("Add recipes", "Download", "Parts for training", "How large the tables are", "Lines on which systems"):
        box = page.locator("a, summary", has_text=name).bounding_box()
        assert box is not None
        assert box["y"] < 500 < last["y"], name
    page.get_by_text("Download", exact=True).click()
    expect(page.get_by_role("button", name="Download the tables")).to_be_visible()


def standing(sheet: Sheet) -> list[tuple[str, ...]]:
    labels = Label.objects.filter(assignment__row__sheet=sheet).order_by("column__position", "question__position")
    values = list(labels.values_list("value", flat=True))
    return [tuple(values[place : place + 3]) for place in range(0, len(values), 3)]


def test_a_recipe_by_keys_alone_and_its_rules(sheet: Sheet, browsing: Browsing) -> None:
    grid = Grid(browsing.person("anna"), sheet, "anna").open()
    page, pressed, one_key = grid.page, 0, 0
    expect(page.locator("#choices")).to_contain_text("Space takes what is shown")  # the key that most cells take
    for line, keys in zip(LINES, KEYS, strict=True):
        for question, key in zip(("input", "action", "output"), keys, strict=True):
            cell = page.locator(f"#{grid.id('Table', line, question)}")
            expect(cell).to_be_focused()
            if key == " ":
                expect(cell).to_have_attribute(
                    "data-suggested", SAID[LINES.index(line)][("input", "action", "output").index(question)]
                )
                grid.keys("Space")
            else:
                page.keyboard.type(key)
                grid.keys("Tab")
            pressed += len(key) + (key != " ")
            one_key += key == " "
    grid.settle()
    assert standing(sheet) == list(SAID)
    assert (one_key, 3 * len(LINES)) == (17, 21)  # four descriptions are written out, all else is a key a cell
    assert pressed == 17 + sum(len(key) + 1 for keys in KEYS for key in keys if key != " ")

    def answer(line: int, question: str, text: str) -> None:
        grid.go("Table", LINES[line], question)
        page.keyboard.type(text)
        grid.keys("Enter")

    # What can be no answer is not taken, with the reason.
    for question, text, said in (
        ("input", "n/a", "Write NA"),
        ("input", "NA; dough", "NA stands alone"),
        ("input", "2 tbsp oil", "Write no amounts"),
        ("action", "mix; stir", "One verb, without numbers"),
        ("output", "none", "Write NA"),
        ("output", "dough; na", "NA stands alone"),
        ("output", "3 cups dough", "Write no amounts"),
    ):
        answer(2, question, text)
        grid.expect_refusal(said)
        grid.keys("Escape")
    # What breaks a rule otherwise is taken and warned of.
    for line, question, text, said in (
        (3, "output", "oiled dough on a stone", "What only moves"),
        (2, "input", "beer; rolled dough", "it is no ingredient"),
        (4, "input", "oiled dough, mozzarella, artichoke hearts", "put “;” between them"),
        (4, "input", "(oiled dough; olive oil)", "Brackets are not needed"),
        (4, "output", "(topped pizza)", "Brackets are not needed"),
        (1, "output", "flat disc", "No later step goes on"),
        (5, "output", "NA", "nothing comes out"),
        (4, "output", "pizza 7", "Write no numbers"),
        (0, "output", "warm air", "nothing goes in"),
    ):
        answer(line, question, text)
        # That something comes of nothing is said of the input.
        grid.go("Table", LINES[line], "input" if line == 0 else question)
        expect(page.locator("#where")).to_contain_text(said)
    grid.settle()
    assert standing(sheet)[4][2] == "pizza 7"
