"""Two dishes from their names to a verdict by somebody new, who does at each step what the page says comes next: one
recipe is written by a model, the other pasted; a person says which are good, rules take them apart, documents are
searched for and fetched from sites of this machine, the lexical judge looks, a model says what is nonsense.

The model writes what it is told, at once; everything else is what it is.
"""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Permission
from playwright.sync_api import Page, expect
from pytest_django import Settings

from annotation.models import Study
from benchmarks.recipe_web import RecipeWeb
from judges.models import GenerationRun, Run
from judges.runs import labelling
from recipes.cooking.models import Retrieval
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid
from tests.judges import generations
from tests.recipes.test_chain import RECIPE, says
from tests.recipes.test_retrieving import PAGES, done, free_port
from work import actions as machine

pytestmark = [pytest.mark.once, pytest.mark.slow]

CHILI = """Ingredients
- 500 g ground beef
- 1 onion
- 1 can kidney beans

Steps
1. Chop the onion with a knife.
2. Brown the beef in a large pot, then stir in the beans.
"""


def follow(page: Page, label: str) -> None:
    """Press what the line “Next” offers."""
    line = page.locator(".follows")
    line.get_by_role("link", name=label).or_(line.get_by_role("button", name=label)).first.click()


def made(page: Page, slug: str) -> Study:
    """The form that makes the next study is filled in."""
    page.get_by_role("button", name="Make the study").click()
    expect(page).to_have_url(f"{page.url.split('/studies/')[0]}/studies/{slug}/")
    return Study.objects.get(slug=slug)


def judged(study: Study) -> None:
    run = Run.objects.get(study=study)
    while machine.take_up(run):
        pass


def test_who_follows_the_line_comes_to_a_verdict(
    browsing: Browsing, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PALATE_FETCH_LOOPBACK = True
    settings.PALATE_FETCH_PAUSE = 0.0
    settings.PALATE_FETCH_SECONDS = 5.0
    backend = generations.writes(monkeypatch, says)
    scored = labelling.backend_of
    monkeypatch.setattr(labelling, "backend_of", lambda judge: backend if judge.writes else scored(judge))
    monkeypatch.setattr("llm.registry.check", lambda *_args, **_options: None)
    generations.model()
    nina = pages.person("nina")
    nina.user_permissions.set(Permission.objects.filter(codename__in=["add_study", "add_judge"]))
    page = browsing.person("nina")

    page.goto("/studies/new/")
    page.get_by_label("Title").fill("Dishes")
    page.get_by_label("Address").fill("dishes")
    page.locator("select[name=scheme]").select_option(label="Names of dishes")
    page.get_by_role("button", name="Create the study").click()
    follow(page, "Names")
    page.locator("textarea[name=text]").fill("Pancakes; USA")
    page.get_by_role("button", name="Add the dishes").click()
    follow(page, "Have recipes written by models")
    for other in ("More detail", "Less detail", "Include origin", "Freestyle"):
        page.get_by_label(other, exact=True).uncheck()
    page.get_by_label("Texts of each type (K)").fill("1")
    expect(page.locator("#estimate")).to_contain_text("1 texts")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".follows")).to_contain_text("Recipes are being written.")
    generations.work(GenerationRun.objects.get())
    # The line follows by itself. A dish without a text is one for which a recipe is pasted.
    expect(page.locator(".follows")).to_contain_text("held against each other")
    page.get_by_role("link", name="Names").click()
    page.locator("textarea[name=text]").fill("Chili; Mexico")
    page.get_by_role("button", name="Add the dishes").click()
    follow(page, "Put them side by side")
    candidates = made(page, "dishes-candidates")
    expect(page.locator(".follows")).to_contain_text("“Chili” has no recipe yet.")
    follow(page, "Paste a recipe")
    expect(page.get_by_label("Dish")).to_have_value("Chili")
    page.locator("textarea[name=text]").fill(CHILI)
    page.get_by_label("Written by").fill("nina")
    page.get_by_role("button", name="Add the recipe").click()

    # By hand, without anybody to invite: a bar says that there is no fault.
    follow(page, "Do it yourself")
    for sheet in candidates.sheets.all():
        grid = Grid(page, sheet, "nina").open()
        grid.keys("F2", "|", "Control+Enter", "4", "7")
        grid.settle()
        page.keyboard.press("s")
        expect(page.locator("body")).to_contain_text("1 of 1 candidate")
    page.goto("/studies/dishes-candidates/")
    follow(page, "Go on with the best")
    parsing = made(page, "dishes-parsing")
    follow(page, "Let the rules do it")
    expect(page.locator(".follows")).to_contain_text("A judge is at work.")
    judged(parsing)
    # The rules alone have answered: theirs are the answers that count, without a word of who nina is to name.
    follow(page, "Look for the parts in documents")
    documents = made(page, "dishes-documents")

    with RecipeWeb(PAGES, free_port(), pause=0.1).running() as web:
        monkeypatch.setenv("SEARXNG_URL", web.searxng)
        follow(page, "Search for documents")
        page.get_by_label("Documents per engine").fill("2")
        page.get_by_role("button", name="Search and fetch").click()
        expect(page.locator(".follows")).to_contain_text("Documents are being searched for.")
        done(Retrieval.objects.get())
    follow(page, "Let the lexical judge do it")
    expect(page.locator(".follows")).to_contain_text("A judge is at work.")
    judged(documents)
    follow(page, "Examine them for nonsense")
    nonsense = made(page, "dishes-nonsense")
    follow(page, "Let /models/writer")
    expect(page.locator(".follows")).to_contain_text("A judge is at work.")
    judged(nonsense)
    follow(page, "Read the verdict")

    expect(page.get_by_role("row").filter(has_text="unicorn dust").first).to_contain_text("nonsense")
    expect(page.get_by_role("row").filter(has_text="ground beef").first).to_contain_text("Chili")
    written_by = page.locator("table").filter(has_text="Generator").first
    expect(written_by).to_contain_text("nina")
    expect(written_by).to_contain_text("/models/writer")
    assert "unicorn dust" in RECIPE  # which no page has
    page.get_by_role("link", name="Steps").click()
    for step in ("Names", "Recipes written", "The best recipe of each", "Taken apart", "Examined for nonsense"):
        expect(page.get_by_role("rowheader", name=step)).to_be_visible()


def test_one_dish_by_hand_from_its_name_to_two_verdicts(
    browsing: Browsing, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No model and nobody to invite: each step is done by keys, pages come from a small web of this machine, and the
    lexical judge's verdict is held against the hand's."""
    settings.PALATE_FETCH_LOOPBACK = True
    settings.PALATE_FETCH_PAUSE = 0.0
    settings.PALATE_FETCH_SECONDS = 5.0
    nina = pages.person("nina")
    nina.user_permissions.set(Permission.objects.filter(codename__in=["add_study", "add_judge"]))
    page = browsing.person("nina")

    page.goto("/studies/new/")
    page.get_by_label("Title").fill("By hand")
    page.locator("select[name=scheme]").select_option(label="Names of dishes")
    page.get_by_role("button", name="Create the study").click()  # its address is made of the title
    expect(page).to_have_url(re.compile(r"/studies/by-hand/$"))
    follow(page, "Names")
    page.locator("textarea[name=text]").fill("Chili; Mexico")
    page.get_by_role("button", name="Add the dishes").click()
    follow(page, "Or paste recipes that you have")
    candidates = made(page, "by-hand-candidates")
    follow(page, "Paste a recipe")
    page.locator("textarea[name=text]").fill(CHILI)
    page.get_by_role("button", name="Add the recipe").click()
    follow(page, "Do it yourself")
    grid = Grid(page, candidates.sheets.get(), "nina").open()
    expect(page.locator("body")).not_to_contain_text("No match found")  # there is nothing to look for
    grid.keys("F2", "|", "Control+Enter", "4", "7")
    grid.settle()
    page.keyboard.press("s")
    page.get_by_role("link", name="What comes next").click()

    follow(page, "Go on with the best")
    parsing = made(page, "by-hand-parsing")
    follow(page, "Do it yourself")
    grid = Grid(page, parsing.sheets.get(), "nina").open()
    page.keyboard.press("Enter")
    for number, ingredient in enumerate(("ground beef", "onion", "glitter salt")):
        page.keyboard.press("Enter") if number else None
        page.keyboard.type(ingredient)
    page.keyboard.press("Control+Enter")
    grid.settle()
    page.keyboard.press("Enter")
    for word in ("brown", "Tab", "pot", "Tab", "ground beef"):
        page.keyboard.press(word) if word == "Tab" else page.keyboard.type(word)
    page.keyboard.press("Control+Enter")
    grid.settle()
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+s")
    page.get_by_role("link", name="What comes next").click()

    follow(page, "Look for the parts in documents")
    documents = made(page, "by-hand-documents")
    with RecipeWeb(PAGES, free_port(), pause=0.1).running() as web:
        monkeypatch.setenv("SEARXNG_URL", web.searxng)
        follow(page, "Search for documents")
        page.get_by_label("Documents per engine").fill("1")
        page.get_by_role("button", name="Search and fetch").click()
        expect(page.locator(".follows")).to_contain_text("Documents are being searched for.")
        done(Retrieval.objects.get())
    follow(page, "Do it yourself")
    sheet = documents.sheets.get()
    grid = Grid(page, sheet, "nina").open()
    grid.keys("3", "1", "3", "1", "1", "1")  # of the ingredients the onion alone is found, and all of the task
    grid.settle()
    page.keyboard.press("s")
    page.get_by_role("link", name="What comes next").click()
    follow(page, "Examine them for nonsense")
    nonsense = made(page, "by-hand-nonsense")
    follow(page, "Do it yourself")
    grid = Grid(page, nonsense.sheets.get(), "nina").open()
    grid.keys("1", "1", "1", "2")
    page.keyboard.type("glitter is no food")
    page.keyboard.press("Enter")
    grid.settle()
    expect(page.locator("body")).to_contain_text("glitter is no food")
    page.keyboard.press("1")
    grid.settle()
    page.keyboard.press("s")
    page.get_by_role("link", name="What comes next").click()
    follow(page, "Read the verdict")
    for item, said in (("ground beef", "creative"), ("onion", "memorised"), ("glitter salt", "nonsense")):
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=item, exact=True))
        expect(row.first).to_contain_text(said)

    follow(page, "Let the lexical judge do it")
    expect(page.locator(".follows")).to_contain_text("A judge is at work.")
    judged(documents)
    follow(page, "Hold by hand against by models")
    expect(page.locator("main, body").first).to_contain_text(
        "have the same verdict on both sides: anybody among people; lexical."
    )
    onion = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="onion", exact=True))
    expect(onion).to_contain_text("Chili")
