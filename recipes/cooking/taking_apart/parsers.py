"""The rules as parsers that a judge without a model answers by: `lexical: {parser: recipe-tasks}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.answers.carrying import carried
from annotation.answers.places import words_at, written_places
from annotation.evidence.blocks import Block
from annotation.scheme.values import ItemsSpec
from judges import doors
from judges.doors import ItemParser, NothingStated
from recipes.cooking.taking_apart.ingredients import names_in
from recipes.cooking.taking_apart.outline import Line, Part, outline
from recipes.cooking.taking_apart.tasks import Task, tasks_in

Record = dict[str, Any]


def ingredients(own: ItemsSpec, blocks: Sequence[Block], language: str) -> list[Record]:
    """A record with the field `ingredient` for each name of the recipe's list."""
    lines = _lines(own, "ingredient", blocks, language)
    names = names_in(lines)
    if not names:
        raise NothingStated(_("There is no list of ingredients in the text."))
    return [_record(own, {"ingredient": name.text}, written_places([name.place])) for name in names]


def tasks(own: ItemsSpec, blocks: Sequence[Block], language: str) -> list[Record]:
    """A record with the fields `task`, `tool` and `ingredients` for each task, with what its own words name."""
    lines = _lines(own, "task", blocks, language)
    found = tasks_in(lines, [name.text for name in names_in(lines)])
    if not found:
        raise NothingStated(_("There are no steps in the text that say what to do."))
    return [_record(own, _said(task), written_places(task.places)) for task in found]


def carried_tasks(own: ItemsSpec, blocks: Sequence[Block], language: str) -> list[Record]:
    """The same, with the tool and the ingredients of earlier tasks where a task names none, as the scheme proposes."""
    records = tasks(own, blocks, language)
    lines = _lines(own, "task", blocks, language)
    texts = [block.text for block in blocks]
    words = [words_at(texts, task.places) for task in tasks_in(lines, [name.text for name in names_in(lines)])]
    return carried(own, records, words)


def _lines(own: ItemsSpec, field: str, blocks: Sequence[Block], language: str) -> list[Line]:
    if field not in [each.key for each in own.fields]:
        raise NothingStated(_("The question has no field “%(field)s”, which the rules fill.") % {"field": field})
    if language.split("-")[0].lower() != "en":
        raise NothingStated(
            _("The rules take recipes in English apart; this one is in “%(language)s”.") % {"language": language}
        )
    lines = outline(blocks)
    if not any(line.part is Part.STEP for line in lines) and field == "task":
        raise NothingStated(_("There are no steps in the text that say what to do."))
    return lines


def _said(task: Task) -> Record:
    return {"task": task.task, "tool": task.tool, "ingredients": list(task.ingredients)}


def _record(own: ItemsSpec, said: Record, place: str) -> Record:
    """With the fields that the question has."""
    record = {}
    for field in own.said:
        value = said.get(field.key, [] if field.is_list else "")
        record[field.key] = ", ".join(value) if isinstance(value, list) and not field.is_list else value
    return {**record, own.place.key: place} if own.place else record


def register() -> None:
    for parser in (
        ItemParser("recipe-ingredients", gettext_lazy("ingredients of a recipe's text"), ingredients),
        ItemParser("recipe-tasks", gettext_lazy("tasks of a recipe's text, with what their words name"), tasks),
        ItemParser(
            "recipe-tasks-carried",
            gettext_lazy("tasks of a recipe's text, with tools and ingredients carried into later ones"),
            carried_tasks,
        ),
    ):
        doors.register_item_parser(parser)
