"""The arbiter: what a page states for programs and what it shows to people are two readings, and each list is weighed.

Rules, in their order, for a list that both have: one line that holds all lines of the other loses; words of programs
lose; a list without amounts loses against the same names with amounts; a list that ends early loses against one that
goes on. Otherwise the stated list stands, as sites and libraries cite it. Copies, and titles among ingredients, go
first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from recipes.cooking.pages import doubts, words
from recipes.cooking.pages.outline import Outline
from recipes.cooking.pages.structured import Extract

Lines = tuple[str, ...]

_SAME = 0.6  # of the words of the shorter line
_ALIKE = 0.75  # of lines that have their counterpart in the other list
_SURE = 1  # a heading or the names of elements spoke for a shown list (`fallback.Candidate.sign`)
_NAME_WORDS = 6


@dataclass(frozen=True)
class Judgement:
    """The recipe that stands, and why it may be wrong (keys of `doubts.SENTENCES`).

    `routes`: by what the ingredients were found, and the steps.
    """

    extract: Extract
    doubts: Lines = field(default=())
    routes: tuple[str, str] = ("", "")


def weigh(stated: Extract, shown: Extract, outline: Outline) -> Judgement:
    """The better of two readings of one page, list by list; either may be empty.

    Args:
        stated: what the page's data say.
        shown: what stands in its text, with the signs that spoke for each list in `shown.signs`.
        outline: the page's lines, to tell titles from ingredients.
    """
    titles = _titles(outline)
    ingredients = once(_without_titles(stated.ingredients, titles))
    ingredients = _without_unshown_titles(ingredients, shown.ingredients, outline)
    steps = once(tuple(line for line in stated.steps if line))
    marks: list[str] = []
    first = _list(ingredients, shown.ingredients, shown.signs[0], _ingredients_lose)
    second = _list(steps, shown.steps, shown.signs[1], _steps_lose)
    pairs = (("ingredients", ingredients, shown.ingredients, first), ("steps", steps, shown.steps, second))
    for (name, mine, other, taken), sign in zip(pairs, shown.signs, strict=True):
        unlike = mine and len(other) > 1 and max(covered(mine, other), covered(other, mine)) < 0.4
        if unlike and sign >= _SURE and not (taken is other and is_poor(name, mine)):
            marks.append(f"disagreeing-{name}")
    routes = (
        stated.parser if first and first == ingredients else shown.parser,
        stated.parser if second and second == steps else shown.parser,
    )
    used = [route for route, lines in zip(routes, (first, second), strict=True) if lines and route]
    title, parser = stated.title or shown.title, " + ".join(dict.fromkeys(used))
    return Judgement(replace(stated, ingredients=first, steps=second, title=title, parser=parser), tuple(marks), routes)


def _list(stated: Lines, shown: Lines, sign: int, loses: Callable[[Lines, Lines, int], bool]) -> Lines:
    if not stated or not shown:
        return stated or shown
    return shown if loses(stated, shown, sign) else stated


def _ingredients_lose(stated: Lines, shown: Lines, sign: int) -> bool:
    if _is_code(stated) or runs_together(stated, shown):
        return True
    if len(shown) < 2:
        return False
    if is_poor("ingredients", stated) and (sign >= _SURE or _amounts(shown) >= 2):
        return True
    alike = covered(stated, shown)
    mine, theirs = _amounts(stated), _amounts(shown)
    if alike >= _ALIKE and mine <= 0.3 * len(stated) and theirs >= max(2, 2 * mine, 0.4 * len(shown)):
        return True
    if sign < _SURE or alike < 0.9 or len(shown) <= len(stated):
        return False
    more = [line for line in shown if not _has_counterpart(line, stated)]
    return len(more) >= 2 and _amounts(more) >= 0.5 * len(more)


def _steps_lose(stated: Lines, shown: Lines, sign: int) -> bool:
    if _is_code(stated) or runs_together(stated, shown):
        return True
    if len(shown) < 2 or sign < _SURE:
        return False
    if is_poor("steps", stated) or (len(stated) == 1 and _length(stated) < 0.5 * _length(shown)):
        return True
    more = [line for line in shown if not _has_counterpart(line, stated)]
    told = [line for line in more if words.count(line) >= 5]
    return (
        covered(stated, shown) >= 0.9 and len(told) >= 2 and len(told) >= 0.7 * len(more) and len(shown) > len(stated)
    )


def is_poor(name: str, lines: Lines) -> bool:
    """Whether a list is hardly one: a category in place of ingredients, a remark in place of steps."""
    if not lines:
        return True
    if name == "ingredients":
        return len(lines) == 1 and not _amounts(lines)
    return max(map(words.count, lines), default=0) < 4 or (len(lines) == 1 and words.count(lines[0]) < 12)


def runs_together(stated: Lines, shown: Lines) -> bool:
    """Whether few stated lines hold all, or nearly all, of the shown ones."""
    if not stated or len(shown) < 2 or 2 * len(stated) > len(shown):
        return False
    whole = "".join(map(bare, stated))
    parts = [part for line in shown if len(part := bare(line)) > 2]
    return len(parts) > 1 and sum(part in whole for part in parts) >= 0.6 * len(parts)


def once(lines: Lines) -> Lines:
    """A list that comes twice (for screens, for units), once: the whole of it again, or each line behind itself."""
    half = len(lines) // 2
    if len(lines) < 4:
        return lines
    if len(lines) % 2 == 0:
        if all(bare(a) == bare(b) for a, b in zip(lines[:half], lines[half:], strict=True)):
            return lines[:half]
        if all(bare(a) == bare(b) for a, b in zip(lines[::2], lines[1::2], strict=True)):
            return lines[::2]
    if half >= 4 and len(lines) % 2 == 0:
        pairs = [sorted((names(a), names(b)), key=len) for a, b in zip(lines[:half], lines[half:], strict=True)]
        alike = [bool(fewer) and fewer <= more for fewer, more in pairs]
        if all(alike) and all(words.begins_with_quantity(line) for line in lines[:2]):
            return lines[:half]
    return lines


def covered(lines: Sequence[str], by: Sequence[str]) -> float:
    """The share of `lines` that have a counterpart among others."""
    return sum(_has_counterpart(line, by) for line in lines) / len(lines) if lines else 0.0


def _has_counterpart(line: str, others: Sequence[str]) -> bool:
    mine, plain = names(line), bare(line)
    for other in others:
        theirs = names(other)
        if plain and plain == bare(other):
            return True
        if mine and theirs and len(mine & theirs) >= _SAME * min(len(mine), len(theirs)):
            return True
    return False


def bare(line: str) -> str:
    """The letters and digits of a line, and nothing else."""
    return "".join(re.findall(r"\w+", unicodedata.normalize("NFKC", line).casefold()))


def names(line: str) -> frozenset[str]:
    """The words of a line that stay from one way of writing it to another."""
    return frozenset(words.nouns(line))


def _amounts(lines: Sequence[str]) -> int:
    return sum(any(c.isnumeric() for c in line) for line in lines)


def _length(lines: Lines) -> int:
    return sum(map(len, lines))


def _is_code(lines: Lines) -> bool:
    return sum(map(doubts.is_code, lines)) >= 0.5 * len(lines)


def _titles(outline: Outline) -> frozenset[str]:
    """What the page shows as a heading or all in bold, and nowhere else."""
    as_title = {bare(line.text) for line in outline.lines if line.level or line.strong}
    return frozenset(as_title - {bare(line.text) for line in outline.lines if not line.level and not line.strong})


def _without_titles(lines: Lines, titles: frozenset[str]) -> Lines:
    """Where more of them would be titles than a recipe has parts, they are names in bold."""
    kept = tuple(line for line in lines if not _is_title(line, titles))
    return kept if len(kept) >= 0.6 * len(lines) else lines


def _without_unshown_titles(lines: Lines, shown: Lines, outline: Outline) -> Lines:
    """Without words that the page shows nowhere: between two ingredients that follow each other there, or before its
    first one. Titles of parts that the data alone have ("Dough")."""
    if len(shown) < 3 or covered(shown, lines) < 0.9:
        return lines
    place = {bare(line): n for n, line in enumerate(shown)}
    at = [place.get(bare(line)) for line in lines]
    anywhere = {bare(line.text) for line in outline.lines}
    titles = set()
    for n, line in enumerate(lines[:-1]):
        before, after = at[n - 1] if n else -1, at[n + 1]
        between = before is not None and after is not None and after == before + 1
        if at[n] is None and between and words.count(line) <= _NAME_WORDS and not words.has_quantity(line):
            titles.add(n)
    titles -= {n for n in titles if bare(lines[n]) in anywhere}
    return tuple(line for n, line in enumerate(lines) if n not in titles)


def _is_title(line: str, titles: frozenset[str]) -> bool:
    if words.has_quantity(line) or words.count(line) > _NAME_WORDS:
        return False
    return words.names_a_part(line) or line.endswith((":", "：")) or bare(line) in titles
