"""Why a reading may be wrong, as marks that are stored with a document, and the sentences for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from base.sentences import gettext as _
from base.sentences import gettext_noop
from recipes.cooking.pages import foods, words

SENTENCES = {
    "no-ingredients": gettext_noop("No list of ingredients was found."),
    "no-steps": gettext_noop("No list of steps was found."),
    "one-ingredient": gettext_noop("The list of ingredients has one line only."),
    "one-step": gettext_noop("The steps stand in one long line."),
    "short-steps": gettext_noop("The steps are hardly sentences."),
    "no-amounts": gettext_noop("Hardly any ingredient has an amount."),
    "prose": gettext_noop("Many lines of the list of ingredients read like sentences."),
    "repeated-ingredients": gettext_noop("Several ingredients are listed more than once."),
    "repeated-steps": gettext_noop("Several steps are there more than once."),
    "mixed": gettext_noop("The steps hold lines that read like ingredients."),
    "many": gettext_noop("The lists are longer than those of a recipe mostly are."),
    "code": gettext_noop("Some lines are words of a program."),
    "no-food": gettext_noop("No line names a food that the reader knows."),
    "disagreeing-ingredients": gettext_noop("The page states other ingredients for programs than it shows."),
    "disagreeing-steps": gettext_noop("The page states other steps for programs than it shows."),
    "scripts": gettext_noop("The lines were taken out of the data of the page's scripts; the page itself shows none."),
    "unnamed": gettext_noop("No heading and no name in the page says that these lines are a recipe."),
    "several": gettext_noop("The page holds several recipes; the reader took the one that its title names."),
}
_MANY_INGREDIENTS, _MANY_STEPS = 60, 60
_LONG = 600  # characters; a single step of a short recipe has fewer
_CODE = re.compile(
    r"[A-Z]{3,8}|\w+(?:[./:\\_-]+[\w{}<>*]+)+/?|[a-z]+[A-Z]\w*|[{}\[\]<>();=/$#@]{2,}.*|.*[{};]\s*|https?://\S+"
)


def sentences(doubts: Iterable[str]) -> list[str]:
    """The marks as sentences for people; one that is not known any more stands as it is."""
    return [_(SENTENCES[doubt]) if doubt in SENTENCES else doubt for doubt in doubts]


def is_code(line: str) -> bool:
    """Whether a line is a word of a program ("GET", "recipe.title", "fontSize"), not of a kitchen."""
    return " " not in line and bool(_CODE.fullmatch(line)) and not words.has_quantity(line)


def of(ingredients: Sequence[str], steps: Sequence[str], language: str = "") -> list[str]:
    """What the two lists by themselves give reason to doubt."""
    found = [*_of_ingredients(ingredients), *_of_steps(ingredients, steps)]
    if any(map(is_code, [*ingredients, *steps])):
        found.append("code")
    whole = [*ingredients, *steps]
    if foods.is_covered(language, whole) and not foods.count(ingredients) and foods.count(steps) < 2:
        found.append("no-food")
    if len(ingredients) > _MANY_INGREDIENTS or len(steps) > _MANY_STEPS:
        found.append("many")
    return found


def _of_ingredients(lines: Sequence[str]) -> list[str]:
    if not lines:
        return ["no-ingredients"]
    if len(lines) == 1:
        return ["one-ingredient"]
    found = []
    if sum(any(c.isnumeric() for c in line) or words.has_quantity(line) for line in lines) < max(1, 0.2 * len(lines)):
        found.append("no-amounts")
    if sum(words.count(line) > 25 or (words.count(line) > 10 and line.endswith(".")) for line in lines) > 0.3 * len(
        lines
    ):
        found.append("prose")
    if _repeated(lines) > 0.3:
        found.append("repeated-ingredients")
    return found


def _of_steps(ingredients: Sequence[str], steps: Sequence[str]) -> list[str]:
    if not steps:
        return ["no-steps"]
    found = []
    if len(steps) == 1 and len(steps[0]) > _LONG:
        found.append("one-step")
    elif max(map(words.count, steps)) < 4 or (len(steps) == 1 and words.count(steps[0]) < 8):
        found.append("short-steps")
    if len(steps) > 2 and _repeated(steps) > 0.2:
        found.append("repeated-steps")
    listed = {line.casefold() for line in ingredients}
    amounts = [words.begins_with_quantity(line) and words.count(line) < 6 and line[-1:] != "." for line in steps]
    if sum(line.casefold() in listed for line in steps) > 1 or sum(amounts) > max(2, 0.4 * len(steps)):
        found.append("mixed")
    return found


def _repeated(lines: Sequence[str]) -> float:
    """The share of lines that were there before."""
    return 1 - len({" ".join(line.casefold().split()) for line in lines}) / len(lines)
