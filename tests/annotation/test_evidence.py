from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from annotation.evidence import Block, BlockKind, Hit, find_items

BLOCKS = [
    Block(BlockKind.HEADING, "Tomato soup"),
    Block(BlockKind.INGREDIENT, "2 tomatoes, chopped"),
    Block(BlockKind.STEP, "Chop the tomato."),
]


def test_find_items_finds_words_by_their_stem_and_not_in_headings() -> None:
    assert find_items(BLOCKS, ["tomato"]) == [[Hit(1, 2, 10, 1.0), Hit(2, 9, 15, 1.0)]]


def test_find_items_says_what_share_of_the_words_a_block_has() -> None:
    # Of "chopped", "red" and "tomatoes" each block has two.
    [hits] = find_items(BLOCKS, ["chopped red tomatoes"])

    assert {(hit.block, round(hit.share, 2)) for hit in hits} == {(1, 0.67), (2, 0.67)}


def test_find_items_looks_in_the_kinds_that_are_asked_for() -> None:
    assert find_items(BLOCKS, ["tomato"], kinds=["step"]) == [[Hit(2, 9, 15, 1.0)]]


def test_find_items_of_an_item_without_words_is_empty() -> None:
    assert find_items(BLOCKS, ["", "basil"]) == [[], []]


@pytest.fixture
def _threads_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_threads_take_turns_often")
def test_find_items_works_in_several_threads_at_once() -> None:
    """A stemmer that threads shared mixed up their words, or failed."""

    def look(thread: int) -> bool:
        # Words that no other thread has met: what was met is remembered and not stemmed again.
        words = [f"{chr(97 + thread)}{chr(97 + n % 26)}{chr(97 + n // 26)}ationally" for n in range(400)]
        blocks = [Block(BlockKind.STEP, f"{word} tomatoes") for word in words]
        return all(len(hits) == 1 for hits in find_items(blocks, words))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(look, range(8)))
