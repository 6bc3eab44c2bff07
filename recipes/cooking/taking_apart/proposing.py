"""What a recipe in any words comes to, as a proposal that a person reads over: names, steps and tasks. Pure.

The same rules take recipes apart elsewhere; they read English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from recipes.cooking.parsing import ParsedRecipe, Task
from recipes.cooking.taking_apart.ingredients import names_in
from recipes.cooking.taking_apart.outline import Line, Part, outline
from recipes.cooking.taking_apart.tasks import tasks_in


@dataclass(frozen=True)
class Proposal:
    """`ingredients`: each name, and the line that it was taken from where that says more (its amount, say), else ""."""

    name: str
    ingredients: tuple[tuple[str, str], ...]
    steps: tuple[str, ...]
    tasks: tuple[Task, ...]


_LONGEST_NAME = 80
_LEAD = re.compile(r"^(?:recipe|name|title)\s*:\s*", re.IGNORECASE)


def propose(text: str) -> Proposal:
    """Take the answer of a model, or any other text of one recipe, apart.

    >>> propose("# Slaw\\n\\nIngredients:\\n- 2 carrots, grated\\n\\nSteps:\\n1. Grate the carrots.").ingredients
    (('carrots', '2 carrots, grated'),)
    """
    blocks = [Block(PARAGRAPH, line.strip()) for line in text.splitlines() if line.strip()]
    lines = outline(blocks)
    first = min((line.block for line in lines), default=len(blocks))
    return _proposal(_name([block.text for block in blocks[:first]]), lines)


def propose_of(recipe: ParsedRecipe) -> Proposal:
    """The same of a recipe whose lists are known; tasks that it has stay as they are."""
    blocks = [
        *(Block(Part.INGREDIENT.value, line) for line in recipe.ingredients),
        *(Block(Part.STEP.value, line) for line in recipe.steps),
    ]
    made = _proposal(recipe.name, outline(blocks))
    return Proposal(made.name, made.ingredients, made.steps, recipe.tasks or made.tasks)


def _proposal(name: str, lines: Sequence[Line]) -> Proposal:
    named: dict[str, tuple[str, str]] = {}
    for line in lines:
        if line.part is not Part.INGREDIENT:
            continue
        written = line.text[line.start :].strip(" *_")
        for text in [one.text for one in names_in([line])] or [written]:
            named.setdefault(text.casefold(), (text, "" if written.casefold() == text.casefold() else written))
    said = [line.text[line.start :].strip() for line in lines if line.part is Part.STEP]
    steps = tuple(step for step in said if len(step.split()) > 1)  # “Enjoy!” is none
    tasks = tasks_in(lines, [one for one, _written in named.values()])
    return Proposal(
        name=name,
        ingredients=tuple(named.values()),
        steps=steps,
        tasks=tuple(Task(task.task, task.tool, ", ".join(task.ingredients)) for task in tasks),
    )


def _name(before: Sequence[str]) -> str:
    """Of the lines before the lists: the first heading, else the first short line that is no sentence."""
    marked = [line for line in before if line.startswith(("#", "**"))]
    for line in [*marked, *before]:
        bare = _LEAD.sub("", line.strip("#*_ ")).strip("*_ ")
        if bare and len(bare) <= _LONGEST_NAME and not bare.endswith((":", ".", "!", "?")) and not _is_heading(bare):
            return bare
    return ""


def _is_heading(text: str) -> bool:
    """Whether a line is the heading of a list and not the name of a dish."""
    return re.fullmatch(r"(?:ingredients?|instructions?|directions?|method|steps?)", text, re.IGNORECASE) is not None
