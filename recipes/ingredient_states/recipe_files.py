"""Recipes with their graphs, as files have them: JSON in and out, and web pages that state a recipe. Pure.

    {"recipes": [{
        "title": "Pancakes", "language": "en", "url": "", "picture": "data:image/png;base64,…",
        "ingredients": ["200 g flour", …], "steps": ["Mix …", …],
        "graphs": [{"rater": "A1", "transitions": [[{"from": ["200 g flour"], "to": ["batter"]}], null, …]}]
    }]}

`title`, `ingredients` and `steps` are needed. A graph has its transitions, a list for each step and null for a step
without an answer, or in place of these `states` and `edges` as `annotation.answers.states` has them; where it has both,
the transitions count.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.answers.states import StateGraph, graph_of, transitions_of
from base.sentences import SentenceError, gettext_noop
from recipes.ingredient_states import graph_files

Answers = list[list[dict[str, list[str]]] | None]
MOST_STEPS = 200
MOST_RECIPES = 30_000
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp"}
MAX_PICTURE_BYTES = 4 * 2**20


class FileRefused(SentenceError, ValueError):
    """A file that cannot be read; its text says why, and where in the file."""


@dataclass(frozen=True)
class Graph:
    """What one rater says of a recipe; `answers` has as many entries as the recipe has steps."""

    rater: str
    answers: Answers
    kind: str = "person"


@dataclass(frozen=True)
class Picture:
    media_type: str
    data: bytes

    @property
    def address(self) -> str:
        """As a data: address."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"


@dataclass(frozen=True)
class RecipeFile:
    title: str
    ingredients: tuple[str, ...]
    steps: tuple[str, ...]
    language: str = ""
    url: str = ""
    picture: Picture | None = None
    graphs: tuple[Graph, ...] = field(default_factory=tuple)


def read_json(text: str) -> list[RecipeFile]:
    """The recipes of a file: a list of them, an object with a list, or one alone.

    Raises:
        FileRefused: the text is no JSON, or something in it is no recipe; the sentence names it.
    """
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileRefused(gettext_noop("This is no JSON: %(why)s."), why=str(error)) from None
    if isinstance(told, Mapping):
        told = told.get("recipes", [told])
    if not isinstance(told, list) or not told:
        raise FileRefused(gettext_noop("There is no recipe in it. It has a list “recipes”, or is one recipe."))
    if len(told) > MOST_RECIPES:
        raise FileRefused(gettext_noop("A file has at most %(most)s recipes."), most=MOST_RECIPES)
    return [_recipe(one, number) for number, one in enumerate(told, start=1)]


def _recipe(told: Any, number: int) -> RecipeFile:
    if not isinstance(told, Mapping):
        raise FileRefused(gettext_noop("Recipe %(n)s is no object with a title, ingredients and steps."), n=number)
    title = " ".join(str(told.get("title") or "").split())[:200]
    if not title:
        raise FileRefused(gettext_noop("Recipe %(n)s has no title."), n=number)
    ingredients, steps = (_texts(told.get(key), title, key) for key in ("ingredients", "steps"))
    if len(steps) > MOST_STEPS:
        raise FileRefused(gettext_noop("“%(title)s” has more than %(most)s steps."), title=title, most=MOST_STEPS)
    graphs = told.get("graphs") or []
    if not isinstance(graphs, list):
        raise FileRefused(gettext_noop("The graphs of “%(title)s” are no list."), title=title)
    return RecipeFile(
        title,
        tell_apart(ingredients),
        steps,
        str(told.get("language") or "")[:12],
        str(told.get("url") or "")[:2000],
        _picture(told.get("picture"), title),
        tuple(_graph(one, title, len(steps)) for one in graphs),
    )


def tell_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Names of which no two are the same: the second salt of a list is “salt (2)”.

    >>> tell_apart(["salt", "flour", "Salt"])
    ('salt', 'flour', 'Salt (2)')
    """
    seen: dict[str, int] = {}
    found = []
    for name in names:
        folded = name.casefold()
        seen[folded] = seen.get(folded, 0) + 1
        found.append(name if seen[folded] == 1 else f"{name} ({seen[folded]})")
    return tuple(found)


def untaken(recipe: RecipeFile, taken: dict[str, RecipeFile]) -> RecipeFile:
    """A recipe with a number behind its title where another one, of other ingredients or steps, has that; pages of one
    dish often have one name. It is put among those that are taken.

    >>> known = {"Pancakes": RecipeFile("Pancakes", ("flour",), ("Mix.",))}
    >>> untaken(RecipeFile("Pancakes", ("flour",), ("Mix.",)), known).title
    'Pancakes'
    >>> untaken(RecipeFile("Pancakes", ("oats",), ("Mix.",)), known).title
    'Pancakes (2)'
    """
    number, title = 1, recipe.title
    while (other := taken.get(title)) and (other.ingredients, other.steps) != (recipe.ingredients, recipe.steps):
        number += 1
        title = f"{recipe.title[:190]} ({number})"
    taken[title] = replace(recipe, title=title)
    return taken[title]


def _texts(told: Any, title: str, key: str) -> tuple[str, ...]:
    found = [" ".join(str(one).split()) for one in told if isinstance(one, str)] if isinstance(told, list) else []
    if not (found := [text for text in found if text]):
        raise FileRefused(gettext_noop("“%(title)s” has no %(key)s."), title=title, key=key)
    return tuple(found)


def _picture(told: Any, title: str) -> Picture | None:
    if not told:
        return None
    head, _comma, body = str(told).partition(",")
    try:
        data = base64.b64decode(body, validate=True) if head.startswith("data:image/") else b""
    except ValueError:  # binascii's own error, and another where a letter is not of ASCII
        data = b""
    if (found := picture_of(data)) is None:
        raise FileRefused(
            gettext_noop(
                "The picture of “%(title)s” is no data: address of a PNG, JPEG or WebP picture of at most 4 MB."
            ),
            title=title,
        )
    return found


def picture_of(data: bytes) -> Picture | None:
    """A picture, if its first bytes and its size say that it is one that pages show."""
    kind = next((kind for sign, kind in _PICTURES.items() if data.startswith(sign)), None)
    return Picture(kind, data) if kind and len(data) <= MAX_PICTURE_BYTES else None


def _graph(told: Any, title: str, n_steps: int) -> Graph:
    rater = str(told.get("rater") or "").strip() if isinstance(told, Mapping) else ""
    if not isinstance(told, Mapping) or not rater:
        raise FileRefused(gettext_noop("A graph of “%(title)s” does not say its rater."), title=title)
    kind = told.get("kind") if told.get("kind") in ("person", "judge", "gold") else "person"
    transitions = told.get("transitions")
    if transitions is None and "states" in told:
        try:
            graph = graph_files.from_states(told["states"], told.get("edges") or [], n_steps)
        except graph_files.GraphRefused as refused:
            raise FileRefused(
                gettext_noop("“%(title)s” by %(rater)s: %(why)s"), title=title, rater=rater, why=str(refused)
            ) from None
        return Graph(rater, [*transitions_of(graph)], str(kind))
    if not isinstance(transitions, list) or len(transitions) != n_steps:
        raise FileRefused(
            gettext_noop(
                "The graph of “%(title)s” by %(rater)s has not one list of transitions for each of %(n)s steps."
            ),
            title=title,
            rater=rater,
            n=n_steps,
        )
    return Graph(rater, [_step(one, title, rater) for one in transitions], str(kind))


def _step(told: Any, title: str, rater: str) -> list[dict[str, list[str]]] | None:
    if told is None:
        return None
    found = []
    for one in told if isinstance(told, list) else [told]:
        sides: dict[str, Any] = {"from": None}  # as it was read
        if isinstance(one, Mapping):
            sides = {side: one.get(side, []) for side in ("from", "to")}
        if not all(isinstance(names, list) and all(isinstance(n, str) for n in names) for names in sides.values()):
            raise FileRefused(
                gettext_noop("A step of “%(title)s” by %(rater)s is no list of transitions with “from” and “to”."),
                title=title,
                rater=rater,
            )
        found.append({side: [str(name) for name in names] for side, names in sides.items()})
    return found


# --- out --------------------------------------------------------------------------------------------------------------


def to_json(recipes: Sequence[RecipeFile]) -> dict[str, Any]:
    """What `read_json` reads, with the states, the edges and the world after each step of each graph."""
    return {"recipes": [_told(recipe) for recipe in recipes]}


def _told(recipe: RecipeFile) -> dict[str, Any]:
    told: dict[str, Any] = {"title": recipe.title, "language": recipe.language, "url": recipe.url}
    told |= {"ingredients": list(recipe.ingredients), "steps": list(recipe.steps), "graphs": []}
    if recipe.picture:
        told["picture"] = recipe.picture.address
    for one in recipe.graphs:
        graph = graph_of(recipe.ingredients, one.answers)
        told["graphs"].append(
            {"rater": one.rater, "kind": one.kind, "transitions": one.answers} | graph_files.to_states(graph)
        )
    return told


def graph_in(recipe: RecipeFile, graph: Graph) -> StateGraph:
    return graph_of(recipe.ingredients, graph.answers)
