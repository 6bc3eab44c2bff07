"""The demo study's recipes, pages and right answers are complete, legal and true to the pages."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from bs4 import BeautifulSoup

DEMO = Path(__file__).resolve().parents[2] / "recipes" / "memorization" / "demo"
DISHES = ["brownies", "cheesecake", "chili", "lasagna", "meatballs", "pancakes", "tacos"]
DISHES_WITH_PAGES = ["brownies", "chili", "pancakes"]
PAGES = ["bing-1", "bing-2", "duckduckgo-1", "duckduckgo-2", "google-1", "google-2"]

PRESENCE = {"found", "found-not-perfect", "not-found", "implied"}
TASK = {"task-found", "task-found-not-exact-wording", "task-found-wrong-context", "task-not-found"}
TOOL = {"found", "found-not-exact", "not-found", "no-tool-involved", "tool-implied"}
INGREDIENTS = {
    "ingredients-match",
    "most-ingredients-match",
    "some-ingredients-match",
    "no-ingredients-match",
    "ingredients-implied",
    "no-ingredients-used",
}


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def recipe_of(dish: str) -> dict[str, Any]:
    recipe: dict[str, Any] = load(DEMO / "recipes" / f"{dish}.yaml")
    return recipe


def truth_of(dish: str) -> dict[str, Any]:
    truth: dict[str, Any] = load(DEMO / "pages" / dish / "truth.yaml")
    return truth


def page_path(dish: str, page: str) -> Path:
    return DEMO / "pages" / dish / f"{page}.html"


def recipe_words(dish: str, page: str) -> str:
    """The page as read, without its comments, links to other recipes, header and footer; one space between words."""
    soup = BeautifulSoup(page_path(dish, page).read_text(encoding="utf-8"), "lxml")
    for element in soup.select("head, header, footer, #comments, #related"):
        element.decompose()
    return " ".join(soup.get_text(" ").lower().split())


def named(ingredient: str, words: str) -> bool:
    """Whether the words hold the ingredient verbatim, in singular or plural."""
    return re.search(rf"\b{re.escape(ingredient.lower().removesuffix('s'))}(e?s)?\b", words) is not None


def in_page(dish: str, page: str, tag: str) -> list[Any]:
    return BeautifulSoup(page_path(dish, page).read_text(encoding="utf-8"), "lxml").find_all(tag)


ALL_PAGES = [pytest.param(dish, page, id=f"{dish}/{page}") for dish in DISHES_WITH_PAGES for page in PAGES]


def test_demo_has_the_seven_sheets_and_no_other() -> None:
    assert sorted(path.stem for path in (DEMO / "recipes").iterdir()) == DISHES


@pytest.mark.parametrize("dish", DISHES)
def test_recipe_has_the_right_shape(dish: str) -> None:
    recipe = recipe_of(dish)

    assert set(recipe) == {"name", "ingredients", "steps", "tasks"}
    assert recipe["name"].lower() == dish
    assert 7 <= len(recipe["ingredients"]) <= 12
    assert 5 <= len(recipe["steps"]) <= 8
    assert 7 <= len(recipe["tasks"]) <= 12
    assert all(isinstance(text, str) and text for text in [*recipe["ingredients"], *recipe["steps"]])
    assert len(set(recipe["ingredients"])) == len(recipe["ingredients"])
    for task in recipe["tasks"]:
        assert set(task) == {"task", "tool", "ingredients"}
        assert all(isinstance(text, str) for text in task.values())
        assert task["task"]


@pytest.mark.parametrize("dish", DISHES)
def test_recipe_ingredients_have_no_quantities(dish: str) -> None:
    assert not [name for name in recipe_of(dish)["ingredients"] if re.search(r"\d", name)]


@pytest.mark.parametrize("dish", DISHES)
def test_recipe_has_tasks_without_tool_and_tasks_without_ingredients(dish: str) -> None:
    tasks = recipe_of(dish)["tasks"]

    assert any(not task["tool"] for task in tasks)
    assert any(not task["ingredients"] for task in tasks)


def test_three_dishes_have_six_pages_each_with_its_right_answers() -> None:
    held = {folder.name: sorted(path.name for path in folder.iterdir()) for folder in (DEMO / "pages").iterdir()}

    expected = sorted([*(f"{page}.html" for page in PAGES), "truth.yaml"])
    assert held == dict.fromkeys(DISHES_WITH_PAGES, expected)


@pytest.mark.parametrize(("dish", "page"), ALL_PAGES)
def test_page_declares_utf8_and_its_language(dish: str, page: str) -> None:
    (root,) = in_page(dish, page, "html")

    assert root["lang"] in {"en", "en-GB"}
    assert root.find("meta", charset="utf-8") is not None


def test_pages_come_from_different_invented_sites() -> None:
    hosts = []
    for dish in DISHES_WITH_PAGES:
        for page in PAGES:
            (canonical,) = [link for link in in_page(dish, page, "link") if link["rel"] == ["canonical"]]
            hosts.append(canonical["href"].split("/")[2])

    assert all(host.endswith(".example") for host in hosts)
    assert len(set(hosts)) == 18


def test_pages_differ_in_markup() -> None:
    marks = {
        "json-ld": "application/ld+json",
        "graph": '"@graph"',
        "section": '"HowToSection"',
        "microdata": "itemprop=",
    }
    marks |= {"plugin": "wprm-recipe-ingredient", "breaks": "<br>"}
    sources = [page_path(dish, page).read_text(encoding="utf-8") for dish in DISHES_WITH_PAGES for page in PAGES]

    counts = {name: sum(mark in source for source in sources) for name, mark in marks.items()}

    # each dish has one page of each kind, and of JSON-LD two: with and without @graph
    assert counts == {"json-ld": 6, "graph": 3, "section": 3, "microdata": 3, "plugin": 3, "breaks": 3}


@pytest.mark.parametrize("dish", DISHES_WITH_PAGES)
def test_truth_names_every_page_ingredient_and_task(dish: str) -> None:
    recipe, truth = recipe_of(dish), truth_of(dish)

    assert sorted(truth) == PAGES
    for answers in truth.values():
        assert set(answers) == {"ingredients", "tasks"}
        assert list(answers["ingredients"]) == recipe["ingredients"]
        assert len(answers["tasks"]) == len(recipe["tasks"])


@pytest.mark.parametrize(("dish", "page"), ALL_PAGES)
def test_truth_uses_only_legal_options(dish: str, page: str) -> None:
    answers = truth_of(dish)[page]

    assert set(answers["ingredients"].values()) <= PRESENCE
    for task in answers["tasks"]:
        assert task["task"] in TASK
        assert task.get("tool", "found") in TOOL
        assert task.get("ingredients", "ingredients-match") in INGREDIENTS


@pytest.mark.parametrize(("dish", "page"), ALL_PAGES)
def test_truth_asks_for_tool_and_ingredients_only_of_a_found_task(dish: str, page: str) -> None:
    for answer in truth_of(dish)[page]["tasks"]:
        expected = {"task"} if answer["task"] == "task-not-found" else {"task", "tool", "ingredients"}
        assert set(answer) == expected


@pytest.mark.parametrize(("dish", "page"), ALL_PAGES)
def test_truth_says_none_exactly_where_the_recipe_has_none(dish: str, page: str) -> None:
    for task, answer in zip(recipe_of(dish)["tasks"], truth_of(dish)[page]["tasks"], strict=True):
        if answer["task"] == "task-not-found":
            continue
        assert (answer["tool"] == "no-tool-involved") == (not task["tool"])
        assert (answer["ingredients"] == "no-ingredients-used") == (not task["ingredients"])


@pytest.mark.parametrize(("dish", "page"), ALL_PAGES)
def test_truth_found_and_implied_ingredients_are_on_the_page(dish: str, page: str) -> None:
    words = recipe_words(dish, page)
    present = [name for name, option in truth_of(dish)[page]["ingredients"].items() if option in {"found", "implied"}]

    assert [name for name in present if not named(name, words)] == []


@pytest.mark.parametrize(("dish", "page"), ALL_PAGES)
def test_truth_not_found_ingredients_are_not_in_the_recipe_of_the_page(dish: str, page: str) -> None:
    words = recipe_words(dish, page)
    absent = [name for name, option in truth_of(dish)[page]["ingredients"].items() if option == "not-found"]

    assert [name for name in absent if named(name, words)] == []


@pytest.mark.parametrize(("dish", "page"), ALL_PAGES)
def test_truth_found_tools_are_named_on_the_page(dish: str, page: str) -> None:
    words = recipe_words(dish, page)
    pairs = zip(recipe_of(dish)["tasks"], truth_of(dish)[page]["tasks"], strict=True)
    found = [task["tool"] for task, answer in pairs if answer.get("tool") == "found"]

    assert [tool for tool in found if not named(tool, words)] == []


@pytest.mark.parametrize(("question", "options"), [("task", TASK), ("tool", TOOL), ("ingredients", INGREDIENTS)])
def test_truth_uses_each_option_of_a_task_question(question: str, options: set[str]) -> None:
    answers = [answer for dish in DISHES_WITH_PAGES for page in truth_of(dish).values() for answer in page["tasks"]]
    counts = Counter(answer[question] for answer in answers if question in answer)

    assert set(counts) == options
    assert min(counts.values()) >= 3


def test_truth_uses_each_presence_option_at_least_three_times() -> None:
    pages = [page for dish in DISHES_WITH_PAGES for page in truth_of(dish).values()]
    counts = Counter(option for page in pages for option in page["ingredients"].values())

    assert set(counts) == PRESENCE
    assert min(counts.values()) >= 3
