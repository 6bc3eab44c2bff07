"""A recipe found in what a page shows: its headings, lists and paragraphs, and the names of its elements.

For pages whose site no library knows and that state nothing for machines. Candidates for the ingredient list and for
the steps come from three signs (names of elements, headings, runs of lines with quantities); each is scored by how its
lines read, and the pair that stands together best wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from re import Pattern

from lxml import etree

from recipes.cooking.pages import numbering, words
from recipes.cooking.pages.outline import Line, Outline, names_of
from recipes.cooking.pages.structured import Extract

_MAX_LINES = 120
_MAX_GROUPS = 200  # of each sign; bounds the work on a page made to be slow

_LATE = 3.0  # score that the last line of a page costs against the first
_KEPT = 8  # candidates of each kind that enter the choice of the pair


@dataclass(frozen=True)
class Candidate:
    """Lines (by index in the outline) that may be the ingredient list or the steps.

    `sign`: what spoke for it (0: nothing but the lines, 1: heading, 2: names of elements).
    """

    lines: tuple[int, ...]
    score: float
    sign: int


def find(outline: Outline) -> Extract:
    """The recipe in the lines of a page; empty if no part of it reads like an ingredient list."""
    ingredients = _ingredient_candidates(outline)
    if not ingredients:
        return Extract()
    steps = _step_candidates(outline, ingredients)
    pairs: list[tuple[Candidate, Candidate | None, float]] = [
        (first, second, together)
        for first in ingredients
        for second in steps
        if _is_recipe(outline, first, second, together := _together(first, second))
    ]
    # Lines with numbers that nothing names and no steps follow may be anything: a table, opening hours.
    pairs += [(first, None, 0.0) for first in ingredients if first.sign > 0 and _amounts(outline, first.lines) >= 3]
    if not pairs:
        return Extract()
    # Further recipes follow the page's own more often than they stand before it.
    late = _LATE / len(outline.lines)
    first, second, _ = max(
        pairs, key=lambda pair: pair[0].score + (pair[1].score if pair[1] else 0.0) + pair[2] - late * pair[0].lines[0]
    )
    told = [outline.lines[i] for i in numbering.without_names(outline, second.lines)] if second else []
    return Extract(
        ingredients=_texts(outline, first.lines),
        steps=tuple(
            numbering.numbered_off(
                [(words.without_step_label(line.text), numbering.has_number_box(line)) for line in told]
            )
        ),
        parser="text",
        signs=(first.sign, second.sign if second else 0),
    )


def _is_recipe(outline: Outline, ingredients: Candidate, steps: Candidate, together: float) -> bool:
    """Whether a list and the lines after it are a recipe and not, say, reasons to visit a town."""
    listed, ordered = _texts(outline, ingredients.lines), _texts(outline, steps.lines)
    units = any(words.has_unit(text) for text in listed)
    if ingredients.sign == 0:
        begun = sum(words.begins_with_quantity(text) for text in listed)
        return units and together >= 0.5 and len(listed) >= 3 and 2 * begun >= len(listed)
    if not _has_amounts(outline, ingredients.lines) or not _amounts(outline, ingredients.lines):
        return steps.sign > 0 and together >= 0.5 and _echoes(listed, ordered) >= 2
    return units or any(words.begins_with_order(text) for text in ordered) or _echoes(listed, ordered) > 0


def _echoes(listed: Iterable[str], ordered: Iterable[str]) -> int:
    """How many of the listed lines have a word, less its ending, that the steps use too."""
    told = " ".join(ordered).casefold()
    return sum(any(word[:4] in told for word in words.nouns(text)) for text in listed)


def count_recipes(outline: Outline) -> int:
    """How many different recipes the page shows in full: ingredients under their heading, then steps under theirs."""
    kept: list[set[str]] = []
    for group in _under_headings(outline, "ingredients"):
        lines = _clean_ingredients(outline, group)
        if _amounts(outline, lines) < 3:
            continue
        sections = (outline.lines[i].section for i in range(lines[-1] + 1, min(lines[-1] + 8, len(outline.lines))))
        if next((section for section in sections if section), None) != "steps":
            continue
        texts = {outline.lines[i].text.casefold() for i in lines}
        if all(len(texts & other) < 0.5 * min(len(texts), len(other)) for other in kept):
            kept.append(texts)
    return len(kept)


def _texts(outline: Outline, lines: Iterable[int]) -> tuple[str, ...]:
    return tuple(outline.lines[i].text for i in lines)


def _together(ingredients: Candidate, steps: Candidate) -> float:
    """How well the steps stand after their ingredients: up to 3, negative when they overlap or come first."""
    if set(ingredients.lines) & set(steps.lines):
        return -20.0
    gap = steps.lines[0] - ingredients.lines[-1]
    return 3.0 * math.exp(-gap / 25) if gap > 0 else -2.0


# --- candidates


def _ingredient_candidates(outline: Outline) -> list[Candidate]:
    groups = [(1, group) for group in _under_headings(outline, "ingredients")]
    groups += [(2, group) for group in _hinted(outline, words.INGREDIENT_HINT, words.STEP_HINT)]
    groups += [(0, group) for group in _runs(outline, lambda line: words.has_quantity(line.text) and not line.linked)]
    return [
        candidate
        for candidate in _ranked(outline, groups, _clean_ingredients, _ingredient_score, minimum=1.5)
        if _has_amounts(outline, candidate.lines) or candidate.sign > 0
    ]


def _amounts(outline: Outline, lines: Iterable[int]) -> int:
    return sum(words.has_quantity(outline.lines[i].text) and not outline.lines[i].linked for i in lines)


def amounts_in(lines: Iterable[str]) -> int:
    """How many lines begin with an amount or hold one with its unit."""
    return sum(map(words.has_quantity, lines))


def _has_amounts(outline: Outline, lines: tuple[int, ...]) -> bool:
    """Whether enough lines hold a number that a list of topics or of kinds of food is no ingredient list."""
    amounts = sum(not outline.lines[i].linked and any(c.isnumeric() for c in outline.lines[i].text) for i in lines)
    return amounts >= max(2, 0.25 * len(lines))


def _step_candidates(outline: Outline, ingredients: Sequence[Candidate]) -> list[Candidate]:
    groups = [(1, group) for group in _under_headings(outline, "steps")]
    groups += [(2, group) for group in _hinted(outline, words.STEP_HINT, words.INGREDIENT_HINT)]
    groups += [(0, group) for group in _runs(outline, lambda line: _step_score(line) > 1)]
    for candidate in ingredients:
        after = candidate.lines[-1] + 1
        groups.append((0, list(range(after, min(after + 40, len(outline.lines))))))
    return _ranked(outline, groups, _clean_steps, _step_score, minimum=0.8)


def _ranked(
    outline: Outline,
    groups: list[tuple[int, list[int]]],
    clean: Callable[[Outline, list[int]], list[int]],
    score: Callable[[Line], float],
    *,
    minimum: float,
) -> list[Candidate]:
    """The best groups as candidates, those without one good line left out."""
    best: dict[tuple[int, ...], Candidate] = {}
    for sign, group in groups:
        lines = tuple(_without_copy(outline, clean(outline, group[: 4 * _MAX_LINES])))[:_MAX_LINES]
        if not lines:
            continue
        total = sum(score(outline.lines[i]) for i in lines)
        if total < (minimum if sign == 0 else minimum / 2) or total / len(lines) < 0.2:
            continue
        # Beyond a full list more lines are hardly better; a list that the page names as such is.
        value = min(total, 8.0) + 0.1 * max(total - 8.0, 0.0) + (0.0, 2.0, 3.0)[sign]
        if lines not in best or best[lines].score < value:
            best[lines] = Candidate(lines, value, sign)
    return sorted(best.values(), key=lambda candidate: -candidate.score)[:_KEPT]


def _hinted(outline: Outline, hint: Pattern[str], other: Pattern[str]) -> list[list[int]]:
    """Lines in elements with a telling name: all elements of one name together, and each element by itself."""
    by_name: dict[str, list[tuple[int, int]]] = {}
    for element, (start, end) in outline.spans.items():
        if start == end or end - start > 0.8 * len(outline.lines) + 4:
            continue
        for name in names_of(element):
            if hint.search(name) and not other.search(name):
                by_name.setdefault(name, []).append((start, end))
    groups = []
    for spans in by_name.values():
        spans.sort(key=lambda span: (span[0], -span[1]))
        outer: list[tuple[int, int]] = []
        for span in spans:
            if not outer or span[0] >= outer[-1][1]:
                outer.append(span)
        groups.append([i for start, end in outer for i in range(start, end)])
        if len(outer) > 1:
            groups += [list(range(start, end)) for start, end in outer if end - start > 1]
            groups += _clusters(outer)
    return groups[:_MAX_GROUPS]


def _clusters(spans: list[tuple[int, int]]) -> list[list[int]]:
    """Neighbouring spans together, cut where the page shows more than 12 lines between two of them."""
    clusters: list[list[int]] = [[]]
    for start, end in spans:
        if clusters[-1] and start - clusters[-1][-1] > 12:
            clusters.append([])
        clusters[-1] += range(start, end)
    return clusters if len(clusters) > 1 else []


def _under_headings(outline: Outline, wanted: words.Section) -> list[list[int]]:
    """Lines below each heading of the wanted section, up to the next heading that is no sub-heading."""
    groups = []
    for index, line in enumerate(outline.lines):
        if line.section != wanted:
            continue
        group: list[int] = []
        for i in range(index + 1, min(index + 1 + _MAX_LINES, len(outline.lines))):
            below = outline.lines[i]
            if line.level and 0 < below.level <= line.level and (below.level < line.level or below.level < 3):
                break
            group.append(i)
        if group:
            groups.append(group)
        if len(groups) == _MAX_GROUPS:
            break
    return groups


def _runs(outline: Outline, wanted: Callable[[Line], bool]) -> list[list[int]]:
    """Stretches of lines of one kind of element in which at most two in a row are not wanted."""
    groups: list[list[int]] = []
    run: list[int] = []
    missed = 0
    for index, line in enumerate(outline.lines):
        if wanted(line):
            run.append(index)
            missed = 0
        elif run:
            missed += 1
            if missed > 2:
                groups.append(list(range(run[0], run[-1] + 1)))
                run, missed = [], 0
    if run:
        groups.append(list(range(run[0], run[-1] + 1)))
    whole = [_whole_list(outline, group) for group in groups[:_MAX_GROUPS]]
    return [group for group in whole if len(group) >= 3]


def _whole_list(outline: Outline, group: list[int]) -> list[int]:
    """With the further items of the list in which the group ends ("salt", without a quantity)."""
    last = outline.lines[group[-1]].element
    end = group[-1] + 1
    while (
        end < len(outline.lines)
        and last.tag in {"li", "tr"}
        and outline.lines[end].element.getparent() is last.getparent()
    ):
        end += 1
    return [*group, *range(group[-1] + 1, end)]


# --- cleaning


def _clean_ingredients(outline: Outline, group: list[int]) -> list[int]:
    """Without sub-headings, labels and buttons; ends where steps or another section begin, or prose does."""
    mostly_strong = 2 * sum(outline.lines[i].strong for i in group) > len(group)
    listed = _lists_of_amounts(outline, group)
    kept: list[int] = []
    prose = 0
    for i in group:
        line = outline.lines[i]
        section = line.section
        if section in {"steps", "other"}:
            if kept:
                break
            continue
        if section == "ingredients" or words.is_noise(line.text) or words.is_meta(line.text):
            continue
        if _is_subheading(line, strong_counts=not mostly_strong):
            continue
        if _ingredient_score(line) < 0 and (line.element.getparent() not in listed or words.count(line.text) > 60):
            prose += 1
            if prose >= 2 and kept:
                break
            continue
        prose = 0
        kept.append(i)
    return kept


def _lists_of_amounts(outline: Outline, group: list[int]) -> set[etree._Element | None]:
    """The lists of which many items are an amount and little more: their other items are ingredients too, with a whole
    sentence behind them ("1 can of beans, drained. Any kind will do.")."""
    items: dict[etree._Element | None, list[float]] = {}
    for i in group:
        line = outline.lines[i]
        if line.tag == "li" and line.section is None:
            items.setdefault(line.element.getparent(), []).append(_ingredient_score(line))
    return {
        parent for parent, scores in items.items() if sum(score >= 0.6 for score in scores) >= max(2, len(scores) / 3)
    }


def _is_subheading(line: Line, *, strong_counts: bool) -> bool:
    if line.level or words.names_a_part(line.text):
        return True
    if line.tag == "tr" and all(cell.tag == "th" for cell in line.element):
        return True
    if line.text.endswith((":", "：")) and len(line.text) < 80:
        return True
    return strong_counts and line.strong and not words.has_quantity(line.text)


def _clean_steps(outline: Outline, group: list[int]) -> list[int]:
    """Without labels and buttons; ends where another section begins.

    Titles of parts stay, as the names of schema.org's HowToSections do.
    """
    kept: list[int] = []
    items = 0
    for i in group:
        line = outline.lines[i]
        section = line.section
        if section in {"ingredients", "other"}:
            if kept:
                break
            continue
        if words.section_of(line.text, heading=False) == "steps":
            continue
        if line.tag == "li":
            items += 1
        elif (
            items >= 2
            and not (line.like_heading or outline.lines[i - 1].like_heading)
            and all(other.tag != "li" for other in outline.lines[i : i + 3])
        ):
            break  # the list is over
        if words.is_noise(line.text) or words.is_meta(line.text) or words.is_step_label(line.text):
            continue
        kept.append(i)
    while kept and _step_score(outline.lines[kept[-1]]) <= 0.2:
        kept.pop()
    return kept


def _without_copy(outline: Outline, lines: list[int]) -> list[int]:
    """Only the first of the copies in which a page shows a list (layouts, numbers of servings, systems of units)."""
    names = [_names(text) for text in _texts(outline, lines)]
    for start in range(2, len(names) // 2 + 1):
        if names[start] == names[0]:
            same = sum(first == second for first, second in zip(names, names[start : 2 * start], strict=False))
            if same >= 0.75 * start:
                return lines[:start]
    return lines


def _names(text: str) -> frozenset[str]:
    """The longer words of a line, which stay the same from one system of units to another."""
    return frozenset(word for word in text.casefold().split() if len(word) > 3 and word.isalpha())


# --- how a line reads


def _ingredient_score(line: Line) -> float:
    """1: a quantity and little more; about 0: any short phrase; -1: prose."""
    text = line.text
    count = words.count(text)
    if count > 40 or len(text) > 250:
        return -1.0
    if text.endswith(("?", "!")):
        return -0.5
    sentence = text.endswith((".", "。"))
    if words.has_quantity(text):
        return 1.0 if count <= 8 or (count <= 25 and not sentence) else -0.3 if sentence else 0.3
    if count > 14 or (count > 6 and sentence):
        return -0.6
    if any(character.isnumeric() for character in text) and not line.linked:
        return 0.6
    return -0.1 if line.linked else 0.2


def _step_score(line: Line) -> float:
    """About 1: a sentence, more if it begins as an order; 0: a short phrase; negative: an ingredient, a question."""
    text = line.text
    count = words.count(text)
    order = 0.6 if words.begins_with_order(text) else 0.0
    sentence = text.endswith((".", "!", "。", "؛"))
    if len(text) > 1800 or text.endswith("?"):
        return -0.5
    if line.linked:
        return -0.3
    if words.has_quantity(text) and not sentence and not order and count < 9:
        return -0.5
    if (count >= 6 and (sentence or text.endswith(")"))) or count >= 9 or len(text) > 60:
        return 0.9 + order
    return (0.5 if sentence and count >= 3 else 0.1) + order
