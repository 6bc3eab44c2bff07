"""A generated recipe in a small file: its name, ingredients, steps and task triples. Pure.

Its sentences are marked for translation here and translated where they are shown.

YAML:                                        or plain text:

    name: Coleslaw                               Coleslaw
    ingredients: [white cabbage, carrots]
    steps:                                       Ingredients
      - Shred the cabbage.                       - white cabbage
    tasks:                                       - carrots
      - task: shred
        tool: knife                              Steps
        ingredients: cabbage                     1. Shred the cabbage.

                                                 Tasks
                                                 shred | knife | cabbage
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from base import yaml_reading
from base.sentences import SentenceError, gettext_noop
from base.text import UNSTORABLE
from base.yaml_reading import YamlRefused

MAX_ITEMS = 200
MAX_LENGTH = 300


class RecipeRefused(SentenceError, ValueError):
    """The text is no recipe; `sentence` says what is missing."""


@dataclass(frozen=True)
class Task:
    """One action. A tool or ingredients that the recipe does not name are ""."""

    task: str
    tool: str = ""
    ingredients: str = ""


@dataclass(frozen=True)
class ParsedRecipe:
    name: str
    ingredients: tuple[str, ...]
    steps: tuple[str, ...]
    tasks: tuple[Task, ...]


def parse_recipe(text: str) -> ParsedRecipe:
    """Read a recipe in either form. The caller bounds the length of the text.

    Raises:
        RecipeRefused: no name, no ingredients, or a task that is no triple.
    """
    if UNSTORABLE.search(text):
        raise RecipeRefused(gettext_noop("The recipe holds characters that are no text. Save it as UTF-8 text."))
    try:
        data = yaml_reading.load(text)
    except YamlRefused as refused:
        if _YAML.search(text):
            raise RecipeRefused(
                gettext_noop("The recipe cannot be read as YAML, line %(line)s: %(reason)s."),
                line=refused.line,
                reason=refused.reason,
            ) from refused
        data = None
    if isinstance(data, dict) and {"name", "ingredients"} <= set(data):
        return _from_yaml(data)
    return _from_text(text)


# A key where prose has a heading: whoever wrote this meant YAML, also where it is broken.
_YAML = re.compile(r"^\{?\s?name\s?:", re.MULTILINE)


def _from_yaml(data: dict[str, Any]) -> ParsedRecipe:
    if unknown := set(data) - {"name", "ingredients", "steps", "tasks"}:
        raise RecipeRefused(
            gettext_noop("A recipe has name, ingredients, steps and tasks; “%(key)s” is none of them."),
            key=min(map(str, unknown))[:60],
        )
    tasks = []
    for number, item in enumerate(_list(data, "tasks"), 1):
        if not isinstance(item, dict) or not item.get("task") or set(item) - {"task", "tool", "ingredients"}:
            raise RecipeRefused(
                gettext_noop(
                    "Task %(number)s should have task, tool and ingredients; tool and ingredients may be empty."
                ),
                number=number,
            )
        used = item.get("ingredients") or ""
        task, tool, *rest = (
            _text(value, "tasks", number)
            for value in (item["task"], item.get("tool") or "", *(used if isinstance(used, list) else [used]))
        )
        tasks.append(Task(task, tool, ", ".join(rest)))
    return _checked(
        _text("" if data["name"] is None else data["name"], "name", 1),
        _texts(data, "ingredients"),
        _texts(data, "steps"),
        tasks,
    )


def _list(data: dict[str, Any], key: str) -> list[Any]:
    value = data.get(key) or []
    if not isinstance(value, list):
        raise RecipeRefused(gettext_noop("“%(key)s” should be a list."), key=key)
    return value


def _texts(data: dict[str, Any], key: str) -> list[str]:
    return [_text(item, key, number) for number, item in enumerate(_list(data, key), 1)]


def _text(value: Any, key: str, number: int) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RecipeRefused(
            gettext_noop(
                "Entry %(number)s of “%(key)s” should be plain text. Put it in quotes, also a single yes, no or date."
            ),
            number=number,
            key=key,
        )
    return str(value)


_HEADING = re.compile(r"#*\s*(ingredients?|steps?|directions|instructions|method|tasks?)\s*:?", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-–—*•]\s+|\d+[.)]\s+)")


def _from_text(text: str) -> ParsedRecipe:
    name, parts, current = "", {"i": list[str](), "s": list[str](), "t": list[str]()}, ""
    for line in (line.strip() for line in text.splitlines()):
        if not line:
            continue
        if heading := _HEADING.fullmatch(line):
            first = heading[1][0].lower()
            current = "s" if first in "sdm" or heading[1].lower() == "instructions" else first
        elif current:
            parts[current].append(_BULLET.sub("", line))
        elif not name:
            name = line.lstrip("# ").removeprefix("Name:").strip()
    return recipe_of(name, parts["i"], parts["s"], parts["t"])


def recipe_of(name: str, ingredients: Iterable[str], steps: Iterable[str], tasks: Iterable[str]) -> ParsedRecipe:
    """A recipe out of its lines; a line of `tasks` is `task | tool | ingredients`.

    Raises:
        RecipeRefused: as `parse_recipe`.
    """
    read = []
    for line in tasks:
        fields = [field.strip() for field in line.split("|")]
        if len(fields) > 3 or not fields[0]:
            raise RecipeRefused(
                gettext_noop("The task “%(line)s” should read: task | tool | ingredients."), line=line[:100]
            )
        read.append(Task(*("" if field in {"-", "—"} else field for field in fields)))
    return _checked(name, ingredients, steps, read)


def has_tasks(text: str) -> bool:
    """Whether a text has a part of its own for tasks, so that whoever wrote it knows their form."""
    headings = (_HEADING.fullmatch(line.strip()) for line in text.splitlines())
    return any(heading is not None and heading[1].lower().startswith("task") for heading in headings)


def _checked(name: str, ingredients: Iterable[str], steps: Iterable[str], tasks: Iterable[Task]) -> ParsedRecipe:
    recipe = ParsedRecipe(
        name=name.strip(),
        ingredients=tuple(text for item in ingredients if (text := item.strip())),
        steps=tuple(text for item in steps if (text := item.strip())),
        tasks=tuple(tasks),
    )
    if not recipe.name:
        raise RecipeRefused(gettext_noop("The recipe has no name: its first line, or “name:” in YAML."))
    if len(recipe.name) > 200:
        raise RecipeRefused(gettext_noop("The name of the recipe is longer than 200 characters."))
    if not recipe.ingredients:
        raise RecipeRefused(
            gettext_noop("“%(name)s” lists no ingredients under a heading “Ingredients”."), name=recipe.name
        )
    for too_many, items in (
        (gettext_noop("“%(name)s” has %(n)s ingredients; at most %(limit)s fit on a sheet."), recipe.ingredients),
        (gettext_noop("“%(name)s” has %(n)s tasks; at most %(limit)s fit on a sheet."), recipe.tasks),
    ):
        if len(items) > MAX_ITEMS:
            raise RecipeRefused(too_many, name=recipe.name, n=len(items), limit=MAX_ITEMS)
    texts = [*recipe.ingredients, *(text for task in recipe.tasks for text in (task.task, task.tool, task.ingredients))]
    if longest := max((text for text in texts if len(text) > MAX_LENGTH), key=len, default=""):
        raise RecipeRefused(
            gettext_noop("“%(start)s…” is too long for the head of a column (%(limit)s characters at most)."),
            start=longest[:60],
            limit=MAX_LENGTH,
        )
    if repeated := next((item for n, item in enumerate(recipe.ingredients) if item in recipe.ingredients[:n]), None):
        raise RecipeRefused(
            gettext_noop("“%(ingredient)s” stands twice among the ingredients of “%(name)s”."),
            ingredient=repeated,
            name=recipe.name,
        )
    return recipe
