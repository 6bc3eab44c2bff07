"""Two wordings beside each other, with what is marked in each."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.scheme.marking import LEFT_OUT, Piece, compared
from annotation.scheme.rewording import Difference
from annotation.templatetags.palate import side_by_side

LONG = " ".join(f"w{n}" for n in range(5000))


def texts(pieces: list[Piece]) -> list[str]:
    return [f"[{piece.text}]" if piece.is_marked else piece.text for piece in pieces]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("It says so.", "It says it.", ("It says [so].", "It says [it].")),
        ("It says so.", "It always says so.", ("It says so.", "It [always ]says so.")),
        ("", "New.", ("", "[New.]")),
        ("a b c d e", "a x c y e", ("a [b] c [d] e", "a [x] c [y] e")),
    ],
)
def test_the_words_are_marked_that_the_other_has_not(before: str, after: str, shown: tuple[str, str]) -> None:
    found = compared(before, after, most=1000)
    assert ("".join(texts(found.before)), "".join(texts(found.after))) == shown


@given(st.text("ab .", max_size=60), st.text("ab .", max_size=60), st.sampled_from([0, 10**6]))
def test_the_pieces_are_the_texts(before: str, after: str, most: int) -> None:
    found = compared(before, after, most=most)
    assert "".join(piece.text for piece in found.before) == before
    assert "".join(piece.text for piece in found.after) == after
    same = ["".join(piece.text for piece in side if not piece.is_marked) for side in (found.before, found.after)]
    assert same[0] == same[1]


def test_of_a_long_text_what_is_around_the_change_is_shown() -> None:
    found = compared(LONG, LONG.replace("w2500 ", "another "), most=10**6)
    before, after = "".join(texts(found.before)), "".join(texts(found.after))
    assert "w2499 [w2500] w2501" in before
    assert "w2499 [another] w2501" in after
    assert before.startswith(LEFT_OUT.strip())
    assert after.endswith(LEFT_OUT.strip())
    assert len(before) < 1000


@pytest.mark.parametrize("n", [50, 2000, 100_000])
def test_no_texts_take_long(n: int) -> None:
    """Words that are everywhere took a minute for two thousand of them; a scheme has 1 MB of text."""
    some = 500_000 // n
    differences = [Difference("guideline", (), "x " + "a " * n + "y", "v " + "a b " * (n // 2) + "w", wording=True)]
    began = time.process_time()
    drawn = side_by_side(differences * some)
    assert len(drawn) == some
    assert time.process_time() - began < 10
