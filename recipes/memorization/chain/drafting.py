"""A recipe's text taken apart by rules: a draft of its ingredients and tasks. English. Pure.

An ingredient is a line of the list that begins with an amount or stands below a heading of ingredients; a task is a
clause of the steps that begins with a verb, with the ingredients that it names and the first tool.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_MARK = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.):](?!\d))\s*")
_BOLD = re.compile(r"[*_#`]+")
_AMOUNT = re.compile(
    r"^(?:about |approximately )?(?:\d+[\d\s/.,–-]*|[½⅓⅔¼¾⅛]|an?|one|two|three|four|half)[\s-]*"
    r"(?:(?:cups?|tablespoons?|tbsps?|teaspoons?|tsps?|pounds?|lbs?|ounces?|oz|grams?|g|kg|kilograms?|ml|l|litres?|"
    r"liters?|cloves?|cans?|pinch(?:es)?|slices?|pieces?|large|medium|small|sticks?|bunch(?:es)?|packages?|heads?|"
    r"inch|sprigs?|handfuls?|dash(?:es)?)\b\.?\s*(?:\([^)]*\)\s*)?)*(?:of\s+)?",
    re.IGNORECASE,
)
_INGREDIENTS = re.compile(r"^(?:the )?ingredients?\b|^you(?:'ll| will)? need\b|^for the\b", re.IGNORECASE)
_STEPS = re.compile(r"^(?:instructions?|directions?|method|preparation|steps?|procedure|how to)\b", re.IGNORECASE)
_END = re.compile(r"^(?:notes?|tips?|enjoy|serving|nutrition|variations?)\b", re.IGNORECASE)
_VERBS = frozenset(
    re.findall(
        r"\S+",
        """
    add adjust allow arrange bake baste beat blanch blend boil break bring broil brown brush caramelize check
    chill chop coat combine cook cool cover cream crush cut deglaze dice dip discard dissolve divide drain
    dredge drizzle drop dry dust fill flatten flip fluff fold form fry garnish grate grease grill grind heat
    julienne keep knead ladle layer let line lower marinate mash measure melt mince mix move pat peel pinch pipe
    place poach pour preheat prepare press puree put reduce refrigerate remove repeat reserve rest return rinse
    roast roll rub sauté saute scoop scrape sear season separate serve set shape shred sift simmer skim slice
    smash soak spoon spread sprinkle squeeze steam stir strain stuff taste thicken thin toast top toss transfer
    trim turn use warm wash whip whisk wrap
    """,
    )
)
_PARTICLES = frozenset(
    re.findall(
        r"\S+",
        """
    in into on onto over up down out off aside together through with under
    """,
    )
)
_TOOLS = (
    "food processor", "baking sheet", "baking dish", "frying pan", "mixing bowl", "cutting board", "rolling pin",
    "paper towel", "oven", "saucepan", "skillet", "bowl", "pan", "pot", "wok", "whisk", "spoon", "fork", "knife",
    "blender", "mixer", "grater", "sieve", "colander", "plate", "dish", "foil", "griddle", "tray", "refrigerator",
)  # fmt: skip
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_CLAUSES = re.compile(r"(?<=[.;!?])\s+|,?\s+(?:and then|then)\s+|,\s+and\s+|,\s+|\s+and\s+")
_LEAD = re.compile(
    r"^(?:(?:first|next|then|finally|meanwhile|once|after that|carefully|gently|slowly|gradually|lightly|thoroughly|"
    r"now|afterwards?),?\s+)+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Task:
    task: str
    tool: str
    ingredients: tuple[str, ...]


@dataclass(frozen=True)
class Draft:
    ingredients: tuple[str, ...]
    tasks: tuple[Task, ...]


def draft(lines: Sequence[str]) -> Draft:
    """
    >>> draft(["Ingredients:", "- 2 cups flour", "- 1 egg", "1. Mix the flour and egg in a bowl."]).tasks[0]
    Task(task='mix', tool='bowl', ingredients=('flour', 'egg'))
    """
    ingredients: dict[str, None] = {}
    steps: list[str] = []
    part = ""
    for line in lines:
        bare = _BOLD.sub("", _MARK.sub("", line)).strip()
        if not bare:
            continue
        if _INGREDIENTS.match(bare):
            part = "ingredients"
        elif _STEPS.match(bare):
            part = "steps"
        elif _END.match(bare):
            part = "end"
        elif part == "end":
            continue
        elif _is_step(bare):
            part = "steps"
            steps.append(bare)
        elif part == "steps":
            steps.append(bare)
        elif ((part == "ingredients" and _MARK.match(line)) or _AMOUNT.match(bare)) and (name := _ingredient(bare)):
            ingredients.setdefault(name)
    names = tuple(ingredients)
    return Draft(names, tuple(task for step in steps for task in _tasks(step, names)))


def _is_step(line: str) -> bool:
    words = _WORD.findall(_LEAD.sub("", line.partition(":")[2] if ":" in line[:40] else line).lower())
    return bool(words) and words[0] in _VERBS and len(words) > 2


def _ingredient(line: str) -> str:
    """Its name alone: without amount, what is in brackets, and what is to be done to it."""
    name = _AMOUNT.sub("", re.sub(r"\([^)]*\)", "", line)).split(",")[0]
    name = re.split(r"\s+(?:for|to taste|or more|at room)\b", name)[0].strip(" .:;-").lower()
    return name if 0 < len(name) <= 60 and len(name.split()) <= 6 else ""


def _tasks(step: str, ingredients: Sequence[str]) -> list[Task]:
    """Clauses that begin with a verb; what stands before the next of them belongs to the last one."""
    text = step.partition(":")[2].strip() or step if ":" in step[:40] else step
    found: list[list[str]] = []
    for clause in _CLAUSES.split(text):
        bare = _LEAD.sub("", clause.strip())
        words = _WORD.findall(bare.lower())
        if words and words[0] in _VERBS:
            found.append([bare])
        elif found:
            found[-1].append(bare)
    return [_task(" ".join(of), ingredients) for of in found]


def _task(clause: str, ingredients: Sequence[str]) -> Task:
    lowered = clause.lower()
    words = _WORD.findall(lowered)
    verb = words[0] + (f" {words[1]}" if len(words) > 1 and words[1] in _PARTICLES else "")
    used = tuple(name for name in ingredients if _names(lowered, name))
    tool = next((tool for tool in _TOOLS if re.search(rf"\b{tool}s?\b", lowered)), "")
    return Task(verb, tool, used)


def _names(clause: str, ingredient: str) -> bool:
    """Whether a clause has an ingredient, by its whole name or its last word."""
    last = ingredient.split()[-1]
    return bool(re.search(rf"\b{re.escape(last.rstrip('s'))}(?:e?s)?\b", clause))
