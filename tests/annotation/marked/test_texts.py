"""Texts of files and the blocks that rows have of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotation.answers.places import places_in, words_at
from annotation.evidence.lines import lines_of
from annotation.exchange.marked.texts import Begins, MarkedText, Utf16, begins_with

TEXTS = st.text(st.sampled_from("aé🙂\n\r\t \u2028\x00\x1c\u0301ד👩\u200d"), max_size=30)


@given(TEXTS)
def test_blocks_are_those_that_an_import_of_rows_makes(text: str) -> None:
    """As `row_records` does, of what a database can store."""
    stored = text.replace("\x00", "")
    assert MarkedText(text).blocks == lines_of(stored)


@given(TEXTS, st.data())
def test_a_stretch_has_its_words_wherever_it_stands(text: str, data: st.DataObject) -> None:
    """White space between blocks and what cannot be stored apart."""
    marked = MarkedText(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    places = places_in(marked.extents, marked.stored(start), marked.stored(end))
    assert all(0 <= place.start < place.end <= len(marked.blocks[place.block]) for place in places)
    said = "".join(words_at(marked.blocks, places).replace(" … ", "").split())
    assert said == "".join(text[start:end].replace("\x00", "").split())


@given(TEXTS, TEXTS)
def test_a_digest_is_of_one_text(text: str, other: str) -> None:
    """Of a text with indented lines also as rows have it that came without the blanks."""
    digest, own = MarkedText(text).digest, MarkedText(text).blocks
    bare = [block.strip() for block in own]
    blocks = MarkedText(other).blocks
    if digest:
        assert begins_with([*own, "more"], digest) is Begins.AS_IT_IS
        assert begins_with([*bare, "more"], digest) is (Begins.AS_IT_IS if own == bare else Begins.BARE)
        assert (begins_with(blocks, digest) is not None) == (blocks[: len(own)] in (own, bare))


@given(TEXTS)
def test_units_of_utf_16_are_code_points(text: str) -> None:
    units = Utf16.of(text)
    found = [units.code_point(at) for at in range(-1, units.length + 2)]
    assert [at for at in found if at is not None] == list(range(len(text) + 1))
    for at in range(len(text) + 1):
        assert units.code_point(units.unit(at)) == at
        assert units.unit(at) == len(text[:at].encode("utf-16-le")) // 2
