"""Where in a document the words stand that an entry of a list comes from. Pure.

    3:10-24         of block 3 (the first is 0) the characters from 10 up to 24, as Unicode counts them
    3:10-24 4:0-6   in several stretches, in the order of the document

The scripts have the same in `static/palate/core/places.js`; both are held to `tests/rules/places.json`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from annotation.evidence.blocks import Block
from annotation.scheme.values import ItemsSpec

MOST = 12  # stretches of one entry
_STRETCH = re.compile(r"(\d{1,5}):(\d{1,6})-(\d{1,6})")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_END = re.compile(r"[.;!?](?=\s|$)|\n")
_ENDINGS = ("", "s", "es", "d", "ed", "ing")


class Place(NamedTuple):
    block: int
    start: int
    end: int


def read_places(text: str) -> list[Place]:
    """
    Raises:
        ValueError: it is no such text.
    """
    found = []
    for part in text.split():
        matched = _STRETCH.fullmatch(part)
        place = Place(*map(int, matched.groups())) if matched else None
        if place is None or place.start >= place.end:
            raise ValueError(part)
        found.append(place)
    if len(found) > MOST:
        raise ValueError(text)
    return sorted(set(found))


def written_places(places: Sequence[Place]) -> str:
    return " ".join(f"{place.block}:{place.start}-{place.end}" for place in places)


def places_in(blocks: Sequence[Sequence[int]], start: int, end: int) -> list[Place]:
    """Where a stretch of a whole text is, block by block; nowhere if it has nothing but what is between blocks.

    Args:
        blocks: begin and end of each in the text, in its order.

    >>> places_in([(0, 6), (10, 18)], 0, 14)
    [Place(block=0, start=0, end=6), Place(block=1, start=0, end=4)]
    """
    found = []
    for block in range(max(bisect_right(blocks, start, key=itemgetter(0)) - 1, 0), len(blocks)):
        begins, ends = blocks[block]
        if begins >= end:
            break
        if ends > start < end:
            found.append(Place(block, max(start - begins, 0), min(end, ends) - begins))
    return found


def words_at(texts: Sequence[str], places: Sequence[Place]) -> str:
    """The words at these places, " … " between stretches; places that the document has not say nothing.

    >>> words_at(["Whisk the eggs."], [Place(0, 0, 5), Place(0, 10, 14)])
    'Whisk … eggs'
    """
    stretches = (texts[place.block][place.start : place.end] for place in places if place.block < len(texts))
    return " … ".join(words for one in stretches if (words := one.strip()))


def placed(own: ItemsSpec, records: Sequence[Mapping[str, Any]], blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """The records, each with the place where its words are found; as they are where the question has no place."""
    if own.place is None:
        return [dict(record) for record in records]
    bare = [{**record, own.place.key: ""} for record in records]
    found = found_places(own, bare, [block.text for block in blocks])
    return [{**record, own.place.key: at} for record, at in zip(bare, found, strict=True)]


# --- entries whose words are looked for -------------------------------------------------------------------------------


def found_places(own: ItemsSpec, records: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> list[str]:
    """The place of each record, as it says it, or where the words of its first field stand with those of the others
    of the same sentence, looked for behind the entry before and then from the document's beginning; "" for nowhere.
    """
    key = own.place.key if own.place else ""
    found: list[str] = []
    behind = (0, 0)
    for record in records:
        said = str(record.get(key, ""))
        if said:
            place = read_places(said)[0]
            behind = (place.block, place.start + 1)
            found.append(said)
            continue
        stretch = _found(own, record, texts, behind) or (
            _found(own, record, texts, (0, 0)) if behind > (0, 0) else None
        )
        found.append(written_places([stretch]) if stretch else "")
        if stretch:
            behind = (stretch.block, stretch.start + 1)
    return found


def _found(own: ItemsSpec, record: Mapping[str, Any], texts: Sequence[str], behind: tuple[int, int]) -> Place | None:
    first, *others = own.said
    wanted = _words(" ".join(_texts(record.get(first.key))))
    if not wanted:
        return None
    words = [word for field in others for text in _texts(record.get(field.key)) for word in _words(text)]
    for phrase in (wanted, wanted[:1]) if len(wanted) > 1 and others else (wanted,):
        for number, text in enumerate(texts):
            if number < behind[0]:
                continue
            spans = [(match.start(), match.end(), match[0].casefold()) for match in _WORD.finditer(text)]
            for at in range(len(spans) - len(phrase) + 1):
                if number == behind[0] and spans[at][0] < behind[1]:
                    continue
                if all(_is_form(spans[at + n][2], word) for n, word in enumerate(phrase)):
                    start, end = spans[at][0], spans[at + len(phrase) - 1][1]
                    stop = next((found.start() for found in _END.finditer(text, end)), len(text))
                    rest = [span for span in spans[at + len(phrase) :] if span[1] <= stop]
                    ends = (
                        next((span[1] for span in rest if _is_form(span[2], word)), end)
                        for word in (*wanted[len(phrase) :], *words)
                    )
                    return Place(number, start, max(end, *ends, end))
    return None


def _texts(field: Any) -> list[str]:
    return [field] if isinstance(field, str) else list(field or ())


def _words(text: str) -> list[str]:
    return [match[0].casefold() for match in _WORD.finditer(text)]


def _is_form(one: str, other: str) -> bool:
    """The same word, or one with an ending: egg and eggs, add and adding."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and long[len(short) :] in _ENDINGS
