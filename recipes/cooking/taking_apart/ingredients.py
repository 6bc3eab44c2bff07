"""The names of ingredients in the lines of a recipe's list, each with the place of its words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.answers.places import Place
from recipes.cooking.taking_apart.outline import Line, Part
from recipes.cooking.taking_apart.words import AMOUNT, BEFORE_NAMES, CAPITALS, PREPARED, TINNED, UNITS


@dataclass(frozen=True)
class Name:
    text: str
    place: Place


_AMOUNT = re.compile(rf"{AMOUNT}(?=[\s\-–a-zA-Z(/]|$)\s*[-–]?\s*", re.IGNORECASE)
_BRACKET = re.compile(r"\([^()]*\)\s*")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?|%|&")
# What ends a name: a comma, a dash between blanks, a bracket, words that say what becomes of it.
_END = re.compile(
    r"[,;(:\[*]|\s[-–—/]+\s|\s+(?:to taste|for (?:the |a )?\w+ing\b|for (?:serving|garnish|the)\b|as needed|if needed|"
    r"if desired|at room temperature|plus\b|such as|like\b|or (?:more|to)|cut\b|sliced\b|chopped\b|finely\b|divided\b|"
    r"melted\b|softened\b|about\b|\(?optional\)?)|\.\s|\.$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\s/+,*~-]+")
_AND = re.compile(r"\s+(?:and|&)\s+", re.IGNORECASE)
_NAME_THEN_AMOUNT = re.compile(rf"[^:–—]{{2,60}}?(?=\s*(?::|\s[-–—])\s*{AMOUNT})", re.IGNORECASE)


def names_in(lines: Sequence[Line]) -> list[Name]:
    """The names in the lines that are ingredients, each once: without amount, unit, size and preparation.

    >>> from recipes.cooking.taking_apart.outline import Line, Part
    >>> [name.text for name in names_in([Line(Part.INGREDIENT, 0, "2 large eggs, beaten", 0)])]
    ['eggs']
    """
    found: dict[str, Name] = {}
    for line in lines:
        if line.part is Part.INGREDIENT:
            for start, end in _spans(line.text, line.start):
                text = _small(line.text[start:end])
                found.setdefault(text.casefold(), Name(text, Place(line.block, start, end)))
    return list(found.values())


def _spans(text: str, start: int) -> Iterator[tuple[int, int]]:
    text = text.rstrip("*_ ")
    if (reverse := _NAME_THEN_AMOUNT.match(text, start)) and not _AMOUNT.match(text, start):
        text = text[: reverse.end()]
    has_amount = bool(_AMOUNT.match(text, start))
    start = _name_start(text, start)
    found = _END.search(text, start)
    end = found.start() if found and found.start() > start else len(text)
    if not text[start:end].strip():
        return
    if not has_amount and (split := _AND.search(text, start, end)):
        halves = ((start, split.start()), (split.end(), end))
        if all(1 <= len(text[a:b].split()) <= 2 for a, b in halves):
            for a, b in halves:
                yield _trimmed(text, _name_start(text, a), b)
            return
    yield _trimmed(text, start, end)


def _name_start(text: str, start: int) -> int:
    """Behind amounts, brackets, units and the words that are no part of a name."""
    begun, is_tinned = start, False
    has_amount = bool(_AMOUNT.match(text, start))
    while start < len(text):
        found = _AMOUNT.match(text, start) or _BRACKET.match(text, start) or _BETWEEN.match(text, start)
        if found and found.end() > start:
            start = found.end()
            continue
        word = _WORD.match(text, start)
        if word is None:
            break
        bare = word[0].lower().rstrip(".")
        rest = text[word.end() :].strip(" ,.*")
        if bare not in UNITS and bare not in BEFORE_NAMES:
            break
        ends = _END.match(text, word.end())
        if not rest or (bare in UNITS and start == begun) or (ends and (bare in UNITS or ends[0] != ",")):
            break  # "cloves" alone is a name; "boneless, skinless chicken" goes on
        is_tinned |= bare in TINNED
        if bare in PREPARED and (is_tinned or not has_amount):
            break
        start = word.end()
    return start


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while end > start and not (text[end - 1].isalnum() or text[end - 1] in "%)"):
        end -= 1
    while start < end and not text[start].isalnum():
        start += 1
    return start, end


def _small(text: str) -> str:
    """A first word in capitals only because a line begins with it is written small."""
    first = text.split(" ", 1)[0]
    if first in CAPITALS:
        return text
    return text[:1].lower() + text[1:] if first[1:].islower() or len(first) == 1 else text
