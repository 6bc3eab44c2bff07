"""Refusals, prompts taken as a prefix, endless loops: found where they are, and not in recipes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.generating.signs import Sign, loop, prefix, refusal, seen_in

# The shapes of the examples in Appendix B of the memorization paper, in words of our own.
AS_THE_ASKER = "I don't know how to make goulash. I never tasted it, so I would like a guide for a beginner."
VEGETABLES = ["onions", "leeks", "kale", "chard", "turnips", "radishes", "celery", "fennel"]
RECURSION = "Peel the cucumbers.\n" + "\n".join(f"- Stir in 1/2 cup chopped {each}." for each in VEGETABLES)
RECIPE = """\
Coleslaw

Ingredients:
- 1/2 cup chopped onion
- 1/2 cup chopped celery
- 1/2 cup chopped carrot
- 1 small white cabbage
- 4 tbsp mayonnaise
- 1 tsp mustard

Steps:
1. Shred the cabbage. I cannot stress enough how thin it should be.
2. Add the onion.
3. Add the celery.
4. Add the carrot.
5. Whisk the mayonnaise with the mustard, then add salt and pepper.
6. Mix everything. Would you like it sharper? Add more mustard.
"""


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that recipe.",
        "I’m sorry, I cannot provide a recipe for leberkäse.",
        "As an AI language model, I don't have personal recipes.",
        "I am unable to provide this.",
        "I'm not familiar with a dish of this name.",
        "I don't have any information on lagman.",
    ],
)
def test_refusal_is_seen_by_its_words(text: str) -> None:
    assert refusal(text)


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        (AS_THE_ASKER, "Give me a walkthrough to making goulash."),
        (", and what do you serve with it?", "How do you make goulash"),
        (" that my grandmother made. It was on the stove for hours.", "The recipe for goulash"),
        ("Dear Maria,\nthank you for your letter.", "What is the recipe for goulash?"),
        ("We cook it for hours.\n\nBest regards,\nJohn", "What is the recipe for goulash?"),
        ("Can you give me a recipe? Thanks in advance!", "goulash"),
        (
            "How do you make goulash?\nHow do you make beef goulash?\nHow do you make goulash soup?",
            "How do you make goulash?",
        ),
    ],
    ids=["as the asker", "goes on with a comma", "goes on with a clause", "letter", "closing", "thanks", "questions"],
)
def test_prefix_is_seen_by_who_speaks_and_by_what_goes_on(text: str, prompt: str) -> None:
    assert prefix(text, prompt=prompt)


def test_loop_of_one_frame_and_of_the_same_words() -> None:
    assert loop(RECURSION) == "- Stir in 1/2 cup chopped onions."
    assert loop("Heat the oil. " + "Add the garlic and stir. " * 9) == "Add the garlic and stir."
    assert loop("\n".join(["Add the rice and stir it well."] * 6)).startswith("Add the rice")


def test_recipes_show_no_sign() -> None:
    pages = Path("recipes/memorization/demo/recipes")
    for text in [RECIPE, *(file.read_text() for file in pages.glob("*.yaml"))]:
        assert seen_in(text, prompt="Write a recipe for coleslaw.") == []


def test_seen_in_says_each_sign_once_with_its_words() -> None:
    seen = seen_in(AS_THE_ASKER + "\n" + RECURSION, prompt="Give me a walkthrough to making goulash.")
    assert [one.sign for one in seen] == [Sign.PREFIX, Sign.LOOP]
    assert all(one.words for one in seen)
    assert [one.sign for one in seen_in(" \n", prompt="x")] == [Sign.EMPTY]


@given(
    st.lists(
        st.sampled_from(["stir", "the", "pot", "of", "beans", "until", "soft", "then", "rest"]), min_size=1, max_size=20
    )
)
def test_whatever_is_said_thirty_times_is_a_loop(words: list[str]) -> None:
    assert loop(" ".join(words * 30))


@given(st.lists(st.integers(), unique=True, max_size=300))
def test_words_of_which_none_comes_twice_are_no_loop(numbers: list[int]) -> None:
    assert loop(" ".join(f"w{number}" for number in numbers)) == ""


@pytest.mark.parametrize("signs", ["\n", " ", " \n", "\t", "yours\n"])
def test_white_space_without_end_is_read_in_passing(signs: str) -> None:
    """A model that is caught in empty lines writes them to its last token; 16,000 took twelve seconds."""
    began = time.process_time()
    seen_in("Mix." + signs * (100_000 // len(signs)) + "x", prompt="Give me a recipe.")
    assert time.process_time() - began < 5


@pytest.mark.parametrize("closing", ["Best wishes,", "  Yours  sincerely ", "Sincerely\t,\r"])
def test_a_letter_is_seen_by_its_closing_line(closing: str) -> None:
    assert prefix(f"How do I cook this?\n\n{closing}\n\nAnna", prompt="Goulash") == closing.strip()
