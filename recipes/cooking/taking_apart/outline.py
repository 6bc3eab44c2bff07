"""Which lines of a recipe's text are its ingredients, and which its steps. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING
from recipes.cooking.taking_apart.words import AMOUNT, VERBS


class Part(StrEnum):
    INGREDIENT = "ingredient"
    STEP = "step"


@dataclass(frozen=True)
class Line:
    """Block number `block`, from the character `start` on, where the sign of a list and its number end."""

    part: Part
    block: int
    text: str
    start: int


_MARK = re.compile(
    r"\s*(?:#+\s*)?(?:[-*•+–·‣▪●◦☐]\s+|\(?\d{1,2}[.)]\s+|step\s+\d{1,2}\s*[:.)–-]?\s*)?\**\s*", re.IGNORECASE
)
_LISTED = re.compile(r"\s*(?:[-*•+–·‣▪●◦☐]\s+)")
_NUMBERED = re.compile(r"\s*\**(?:\(?\d{1,2}[.)]\s+|step\s+\d)", re.IGNORECASE)
_STARTS_WITH_AMOUNT = re.compile(rf"{AMOUNT}\b", re.IGNORECASE)
_INGREDIENTS = re.compile(r"\b(?:ingredients?|you(?:'|’)?(?:ll| will)? need|shopping list)\b", re.IGNORECASE)
_STEPS = re.compile(
    r"\b(?:instructions?|directions?|methods?|steps?|preparation|procedure|how to (?:make|cook|prepare)|cooking|"
    r"process)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:notes?|tips?|variations?|nutrition|storage|equipment|tools?|servings?|yields?|origin|history|suggestions?|"
    r"substitutions?|makes|prep(?:aration)? time|cook(?:ing)? time|total time)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LONGEST_HEADING = 60


def outline(blocks: Sequence[Block]) -> list[Line]:
    """The lines of a recipe that are an ingredient or a step, in their order.

    Blocks of these kinds are what they say. Of other text, headings say what follows; where there are none, a line of
    a list without a verb or with an amount is an ingredient, and one that begins with a verb a step.
    """
    found: list[Line] = []
    under: Part | None = None
    is_over = False  # notes and tips, in which nothing counts
    for number, block in enumerate(blocks):
        if block.kind in tuple(Part):
            start = _start(block.text)
            found.append(Line(Part(block.kind), number, block.text, start))
            continue
        text = block.text
        if not text.strip():
            continue
        if (headed := _headed(block)) is not None:
            is_over = headed == ""
            under = Part(headed) if headed else (None if is_over else under)
            continue
        if is_over or _is_subheading(block):
            continue
        part = _part(text, under)
        if part is not None:
            found.append(Line(part, number, text, _start(text)))
    return found


def _headed(block: Block) -> str | None:
    """What a heading says that follows: a part, "" for what is none; None where it is no such heading."""
    text = block.text.strip().strip("#*_ ").strip()
    bare = text.rstrip(":").strip("*_ ")
    if len(bare) > _LONGEST_HEADING or re.search(r"[.!?]$", bare):
        return None
    is_heading = block.kind == HEADING or text.endswith(":") or block.text.strip().startswith(("#", "**"))
    words = _WORD.findall(bare)
    if not is_heading and len(words) > 2:
        return None
    if _LISTED.match(block.text) and not text.endswith(":"):
        return None
    if _INGREDIENTS.search(bare):
        return Part.INGREDIENT
    if _STEPS.search(bare) and not (len(words) > 4 and words[0].lower() in VERBS):
        return Part.STEP
    if _OTHER.search(bare) and is_heading:
        return ""
    return None


def _is_subheading(block: Block) -> bool:
    """“For the sauce:” names a part of the list."""
    text = block.text.strip()
    return block.kind == HEADING or (text.rstrip("*_ ").endswith(":") and len(text) <= _LONGEST_HEADING)


def _part(text: str, under: Part | None) -> Part | None:
    rest = text[_start(text) :]
    if under is Part.INGREDIENT:
        if _NUMBERED.match(text) and _begins_with_verb(rest):
            return Part.STEP
        return Part.INGREDIENT if len(rest) <= 140 and not rest.rstrip().endswith(("!", "?")) else None
    if under is Part.STEP:
        return Part.STEP
    is_listed = bool(_LISTED.match(text))
    if is_listed and (_STARTS_WITH_AMOUNT.match(rest) or not _begins_with_verb(rest)):
        return Part.INGREDIENT if len(rest) <= 140 else None
    if _begins_with_verb(rest) or _NUMBERED.match(text):
        return Part.STEP
    return None


def _begins_with_verb(text: str) -> bool:
    first = _WORD.search(text)
    return first is not None and first.start() == 0 and first[0].lower() in VERBS


def _start(text: str) -> int:
    found = _MARK.match(text)
    return found.end() if found else 0
