"""What the journeys hold in their hands: a small study of one recipe, and the grid as its user sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from playwright.sync_api import Page, Route, expect

from annotation import actions
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING
from annotation.models import Assignment, Label, Question, Role, Row, Sheet, Study, User
from recipes.cooking import actions as recipes
from recipes.cooking.parsing import parse_recipe
from recipes.cooking.vocabulary import INGREDIENT, STEP
from recipes.memorization.demo_study import paper_scheme
from tests import builders

PASSWORD = "long enough for a test"
COLESLAW = """\
name: Coleslaw
ingredients: [white cabbage, carrots, mayonnaise, mustard]
steps: [Shred the cabbage., Stir., Serve with mayonnaise.]
tasks:
  - {task: shred, tool: knife, ingredients: white cabbage}
  - {task: stir, tool: "", ingredients: "carrots, mayonnaise"}
  - {task: serve, tool: "", ingredients: ""}
"""
# Three documents; none has mustard.
DOCUMENTS = {
    "Google 1": (
        ["1 white cabbage", "2 carrots, grated", "4 tbsp mayonnaise"],
        ["Shred the cabbage with a knife.", "Stir in the carrots.", "Serve cold."],
    ),
    "Google 2": (["1 small cabbage", "salad cream"], ["Cut the cabbage.", "Serve."]),
    "Bing 1": (
        ["carrots", "light mayonnaise"],
        ["Grate the carrots.", "Fold in the mayonnaise and chill for an hour."],
    ),
}
# The keys that lead to a document's first ingredient, from anywhere in the grid.
TO = {"Google 1": ("Control+Home",), "Google 2": ("Control+Home", "n"), "Bing 1": ("Control+Home", "n", "n")}


@dataclass(frozen=True)
class Coleslaw:
    """Anna and Boris label three documents of a recipe; Boris and the judge J1 have finished, Anna has not begun."""

    study: Study
    sheet: Sheet

    def assignment(self, name: str, row: str) -> Assignment:
        return Assignment.objects.get(rater__user__username=name, row__name=row)

    def standing(self, name: str) -> dict[tuple[str, str, str], str]:
        """{(row, column, question key): option key} of all labels of a person."""
        labels = Label.objects.filter(assignment__rater__user__username=name)
        return {
            (row, column, question): option
            for row, column, question, option in labels.values_list(
                "assignment__row__name", "column__name", "question__key", "option__key"
            )
        }


def person(name: str) -> User:
    return User.objects.create_user(name, password=PASSWORD)


def add_document(sheet: Sheet, name: str, ingredients: Sequence[str], steps: Sequence[str]) -> Row:
    evidence = [
        Block(HEADING, "Ingredients"),
        *(Block(INGREDIENT, line) for line in ingredients),
        Block(HEADING, "Steps"),
        *(Block(STEP, line) for line in steps),
    ]
    return actions.add_row(
        sheet=sheet, name=name, title=f"Slaw of {name}", url="https://slaw.example/", evidence=evidence
    )


def build_coleslaw() -> None:
    study = actions.create_study(slug="slaw", title="Slaw", scheme=paper_scheme(), by=person("mara"))
    actions.add_member(study=study, user=person("rene"), role=Role.RESEARCHER)
    sheet = recipes.add_recipe(study=study, recipe=parse_recipe(COLESLAW))
    for name, (ingredients, steps) in DOCUMENTS.items():
        add_document(sheet, name, ingredients, steps)
    builders.assignments(builders.rater(study, person("anna")), sheet)
    others = builders.assignments(builders.rater(study, person("boris")), sheet)
    others += builders.assignments(builders.judge(study), sheet)
    everything_implied: Mapping[tuple[str, str], str] = {
        (column.name, question.key): {"task": "task-found-wrong-context", "ingredients": "ingredients-implied"}.get(
            question.key, "tool-implied" if question.key == "tool" else "implied"
        )
        for column in sheet.columns.all()
        for question in Question.objects.filter(section=column.section_id)
    }
    for assignment in others:
        builders.label(assignment, everything_implied, note="between us")
        actions.submit(assignment=assignment)


def paper_sized() -> Sheet:
    """The paper's sheet: 9 documents × (12 ingredients + 18 tasks × 3 questions), all of them Anna's."""
    study = actions.create_study(slug="paper", title="Paper", scheme=paper_scheme(), by=None)
    recipe = parse_recipe(COLESLAW)
    large = replace(
        recipe,
        ingredients=tuple(f"{recipe.ingredients[n % 4]} {n}" for n in range(12)),
        tasks=tuple(recipe.tasks[n % 3] for n in range(18)),
    )
    sheet = recipes.add_recipe(study=study, recipe=large)
    ingredients, steps = DOCUMENTS["Google 1"]
    for n in range(9):
        add_document(sheet, f"Google {n + 1}", list(ingredients) * 4, list(steps) * 5)
    builders.assignments(builders.rater(study, person("anna")), sheet)
    return sheet


def slow_down(page: Page, address: str = "**/record/", seconds: float = 0.06) -> None:
    """Let the server take its time with each choice, or with what else is asked of it."""

    def later(route: Route) -> None:
        page.wait_for_timeout(1000 * seconds)
        route.continue_()

    page.route(address, later)


def until(true: Callable[[], bool], otherwise: str) -> None:
    """Wait until something is true of the server, which no page tells: a busy machine may take its time."""
    end = time.monotonic() + 30
    while True:
        time.sleep(0.02)
        if true():
            return
        assert time.monotonic() < end, otherwise


class Grid:
    """A sheet's page, driven by keys."""

    def __init__(self, page: Page, sheet: Sheet, name: str = "anna") -> None:
        self.page, self.sheet, self.name = page, sheet, name

    def open(self) -> Grid:
        self.page.goto(f"/sheets/{self.sheet.pk}/")
        self.page.wait_for_selector("td:focus")
        return self

    def reload(self) -> None:
        """Load the page anew once the server has everything, and wait until it takes keys."""
        self.settle()
        self.page.reload()
        self.page.wait_for_selector("td:focus")

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def id(self, row: str, column: str, question: str = "presence") -> str:
        """The id of a cell; of columns with the same name the first."""
        assignment = Assignment.objects.get(rater__user__username=self.name, row__name=row, row__sheet=self.sheet)
        found = self.sheet.columns.filter(name=column).earliest("position")
        return f"c-{assignment.pk}-{found.pk}-{Question.objects.get(section=found.section_id, key=question).pk}"

    def go(self, row: str, column: str, question: str = "presence") -> None:
        """Click into a cell, one that is not asked included.

        At the place where it stands, as a hand does: an answer of the server may put a new element there meanwhile.
        """
        x, y = self.page.evaluate(
            """(id) => {
                const cell = document.getElementById(id);
                cell.scrollIntoView({ block: "center", inline: "center" });
                const box = cell.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2];
            }""",
            self.id(row, column, question),
        )
        self.page.mouse.click(x, y)

    @property
    def focused(self) -> str:
        return str(self.page.evaluate("document.activeElement.id"))

    def sign(self, row: str, column: str, question: str = "presence") -> str:
        return self.page.locator(f"#{self.id(row, column, question)}").get_attribute("data-sign") or ""

    def where(self) -> str:
        return self.page.locator("#where").inner_text()

    def settle(self) -> None:
        """Wait until the server has everything."""
        # As a function: a bare expression would be evaluated by the page, which its security policy forbids.
        self.page.wait_for_function("() => !Object.keys(localStorage).some((name) => name.startsWith('palate:edit:'))")

    def expect_refusal(self, sentence: str) -> None:
        expect(self.page.locator("#refusal")).to_contain_text(sentence)
