from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING
from annotation.evidence.matching import Hit, Match, WordIndex
from recipes.cooking.vocabulary import INGREDIENT, STEP

SOUP = [
    Block(HEADING, "Tomato soup"),
    Block(INGREDIENT, "2 tomatoes, chopped"),
    Block(STEP, "Chop the tomato."),
]
# 0 … of the ingredients of a page
LIST = [
    "500 g lean minced beef",
    "2 tbsp extra-virgin olive oil",
    "sunflower oil, for frying",
    "1 cup buttermilk",
    "1 zuchini and two bread loaves",
    "beef stock",
    "beef (finely minced)",
    "jalapeño, sautéed",
]
SYNONYMS = [["ground beef", "minced beef"], ["courgette", "zucchini"], ["scallion", "green onion", "spring onion"]]


def found(item: str, lines: list[str] = LIST, *, language: str = "en") -> list[tuple[int, str, str]]:
    """(line, the words marked, kind) of each hit."""
    index = WordIndex([Block(INGREDIENT, line) for line in lines], language=language, synonyms=SYNONYMS)
    return [(hit.block, lines[hit.block][hit.start : hit.end], hit.kind.value) for hit in index.find(item)]


@pytest.mark.parametrize(
    ("item", "hits"),
    [
        pytest.param("olive oil", [(1, "olive oil", "exact"), (2, "oil", "part")], id="whole here, part there"),
        pytest.param("loaf of bread", [(4, "bread loaves", "exact")], id="irregular form, any order, no stop words"),
        pytest.param("jalapeno", [(7, "jalapeño", "exact")], id="accents do not count"),
        pytest.param("sauté", [(7, "sautéed", "exact")], id="a form that the stemmer misses"),
        pytest.param("milk", [(3, "buttermilk", "part")], id="inside a longer word"),
        pytest.param("sunflowers", [(2, "sunflower", "exact")], id="plural"),
        pytest.param("zucchini", [(4, "zuchini", "near")], id="a letter left out"),
        pytest.param("buttremilk", [(3, "buttermilk", "near")], id="letters swapped"),
        pytest.param("basil", [], id="nothing"),
        pytest.param("", [], id="an empty facet"),
        pytest.param("12", [], id="no words"),
    ],
)
def test_find(item: str, hits: list[tuple[int, str, str]]) -> None:
    assert found(item) == hits


def test_find_takes_a_synonym_only_from_the_list() -> None:
    assert found("ground beef") == [
        (0, "minced beef", "synonym"),
        (5, "beef", "part"),
        (6, "beef", "synonym"),  # in another order, and with a word between
        (6, "minced", "synonym"),
    ]
    assert found("scallion", ["3 spring onions", "1 onion", "green beans"]) == [(0, "spring onions", "synonym")]
    # "fried rice" has no synonyms, and one word of a phrase does not stand for it.
    assert found("ground rice", ["minced beef"]) == []


def test_find_looks_for_parts_and_near_spellings_only_where_there_is_nothing_better() -> None:
    assert found("butter", ["butter", "batter"]) == [(0, "butter", "exact")]
    assert found("butter", ["butter", "buttermilk"]) == [(0, "butter", "exact")]
    assert found("butter", ["batter", "bitten"]) == [(0, "batter", "near")]


@pytest.mark.parametrize("line", ["price", "boil", "malt", "floor"])
def test_find_leaves_alike_words_alone(line: str) -> None:
    for item in ("rice", "oil", "salt", "flower"):
        assert found(item, [line]) == []


def test_find_in_another_language() -> None:
    assert found("Zucker", ["100 g Puderzucker"], language="de-AT") == [(0, "Puderzucker", "part")]
    assert found("rajčata", ["2 rajčat", "rajce"], language="cs") == [(0, "rajčat", "exact")]


def test_find_says_how_much_of_the_item_a_block_has() -> None:
    # Of "chopped", "red" and "tomatoes" each block has two.
    hits = WordIndex(SOUP).find("chopped red tomatoes")

    assert {(hit.block, hit.kind, round(hit.share, 2)) for hit in hits} == {
        (1, Match.PART, 0.67),
        (2, Match.PART, 0.67),
    }


def test_find_looks_in_the_kinds_that_are_asked_for() -> None:
    assert WordIndex(SOUP).find("tomato") == [Hit(1, 2, 10, Match.EXACT, 1.0), Hit(2, 9, 15, Match.EXACT, 1.0)]
    assert WordIndex(SOUP, kinds=["step"]).find("tomato") == [Hit(2, 9, 15, Match.EXACT, 1.0)]


@pytest.fixture
def _threads_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_threads_take_turns_often")
def test_several_threads_can_look_at_once() -> None:
    """A stemmer that threads shared mixed up their words, or failed."""

    def look(thread: int) -> bool:
        # Words that no other thread has met: what was met is remembered and not stemmed again.
        words = [f"{chr(97 + thread)}{chr(97 + n % 26)}{chr(97 + n // 26)}ationally" for n in range(400)]
        index = WordIndex([Block(STEP, word) for word in words])
        return all(len([hit for hit in index.find(word) if hit.kind == Match.EXACT]) == 1 for word in words)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(look, range(8)))
