"""Steps as a page shows them, without the names and the numbers that stand beside them."""

from __future__ import annotations

import re
from itertools import pairwise

from recipes.cooking.pages import words
from recipes.cooking.pages.outline import Line, Outline

_NUMBERED = re.compile(r"(\d{1,2})\s+(?=[^\W\d])")
_NUMBER_ALONE = re.compile(r"\s*\d{1,2}\s*")


def without_names(outline: Outline, lines: tuple[int, ...]) -> list[int]:
    """Without the names of steps: headings that each stand over one paragraph; titles of parts stand over more."""
    named = {i for i in lines if _is_name(outline.lines[i])}
    told = [i for i in lines if i not in named]
    if len(named) < 2 or len(told) < 2:
        return list(lines)
    single = sum(here not in named and before in named for before, here in pairwise(lines))
    return told if single >= 0.7 * len(told) else list(lines)


def _is_name(line: Line) -> bool:
    return (line.level > 0 or line.strong) and words.count(line.text) <= 8 and line.text[-1:] not in ".。"


def has_number_box(line: Line) -> bool:
    """Whether the number of a step stands in an element of its own: what an author types stays ("1. Whisk …")."""
    first = next((text for text in line.element.itertext() if text.strip()), "")
    return bool(_NUMBER_ALONE.fullmatch(first))


def numbered_off(steps: list[tuple[str, bool]]) -> list[str]:
    """Steps without the numbers that stood in boxes of their own ("1 Whisk …"), counted anew in each part.

    `steps`: the texts, and whether each one's element begins with a number in a box.
    """
    bare, last, changed, sure = [], 0, 0, False
    for step, boxed in steps:
        match = _NUMBERED.match(step)
        if match and int(match[1]) in {1, last + 1}:
            last, changed, sure = int(match[1]), changed + 1, sure or boxed
            bare.append(step[match.end() :])
        else:
            # One whose number stands in a line by itself counts too; a title does not.
            last += words.count(step) > 4
            bare.append(step)
    texts = [step for step, _ in steps]
    told = sum(words.count(step) > 4 for step in texts)
    return bare if sure or (changed > 1 and 2 * changed > min(told, len(texts))) else texts
