"""The targets of the page reader on real pages, which lie outside the project."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from statistics import fmean

import pytest

from benchmarks import documents as benchmark
from benchmarks.documents import Expected
from recipes.cooking.pages import PageRefused, read_page, structured
from recipes.cooking.pages.structured import Extract

FOLDER = Path(
    os.environ.get("PALATE_SHARED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
) / "recipe-pages"  # fmt: skip
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the recipe pages are not there (PALATE_SHARED_DATA)")


@pytest.fixture(scope="module")
def pages() -> list[Expected]:
    return benchmark.load(FOLDER)


def test_lists_equal_the_librarys_where_the_site_is_known(pages: list[Expected]):
    scores = benchmark.measure(pages, benchmark.known)
    assert fmean(score.exact[0] for score in scores) >= 0.95
    assert fmean(score.exact[1] for score in scores) >= 0.90


@pytest.mark.parametrize(
    ("read", "ingredients", "steps"),
    [(benchmark.hidden, 0.93, 0.90), (benchmark.shown, 0.75, 0.90)],
    ids=["site hidden", "shown text alone"],
)
def test_line_f1(pages: list[Expected], read: Callable[[Expected], Extract], ingredients: float, steps: float):
    scores = benchmark.measure(pages, read)
    assert fmean(score.f1[0] for score in scores) >= ingredients
    assert fmean(score.f1[1] for score in scores) >= steps


@pytest.mark.parametrize(
    ("change", "ingredients", "steps"),
    [
        ("shown, no names, Russian", 0.75, 0.86),
        ("shown, words alone", 0.72, 0.80),
    ],
)
def test_line_f1_with_one_sign_less(pages: list[Expected], change: str, ingredients: float, steps: float):
    scores = benchmark.measure(pages, benchmark.degraded(change, pages))
    assert fmean(score.f1[0] for score in scores) >= ingredients
    assert fmean(score.f1[1] for score in scores) >= steps


def test_stated_lines_are_the_librarys(pages: list[Expected]):
    compared = 0
    for page in pages[::3]:  # the library takes its time
        wild = benchmark.library(page)
        found = benchmark.hidden(page)
        if len(wild.ingredients) > 1 and len(wild.steps) > 1:
            ingredients, steps = structured.tidied(wild)
            names = structured.names_of_steps(structured.json_nodes(benchmark.tree_of(page)))
            assert found.ingredients == ingredients, page.name
            assert found.steps == tuple(step for step in steps if step not in names), page.name
            compared += 1
    assert compared > 20


def test_no_page_is_refused(pages: list[Expected]):
    assert [page.name for page in pages if not benchmark.shown(page).ingredients] == []


def test_read_page_raises_nothing_else_on_cut_pages(pages: list[Expected]):
    chance = random.Random(1)
    for page in chance.sample(pages, 12):
        with suppress(PageRefused):
            read_page(page.name, page.data[: chance.randrange(len(page.data))])


@pytest.mark.parametrize(
    ("expected", "found", "f1"),
    [
        (["a", "b"], ["B ", "a"], 1.0),
        # 2 common lines of 3 and 2: 2 x 2 / (3 + 2)
        (["a", "a", "b"], ["a", "a"], 0.8),
        ([], [], 1.0),
        (["a"], [], 0.0),
    ],
)
def test_line_f1_counts_lines_as_a_multiset(expected: list[str], found: list[str], f1: float):
    assert benchmark.line_f1(expected, found) == f1
