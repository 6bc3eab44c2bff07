"""Files of recipes and of graphs, whichever they are: JSON, saved web pages, ZIP archives of pages, GraphML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from annotation.answers.states import transitions_of
from annotation.exchange.row_imports import translated
from base.sentences import Sentence, gettext_noop
from recipes.cooking.pages import PageRefused, read_files
from recipes.ingredient_states import graph_files
from recipes.ingredient_states.graph_files import GraphRefused
from recipes.ingredient_states.recipe_files import FileRefused, Graph, RecipeFile, read_json, tell_apart, untaken


@dataclass
class ReadFiles:
    """`refused`: a sentence for each file, page or graph that is none."""

    recipes: list[RecipeFile] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def read(files: Iterable[tuple[str, bytes]], *, known: Iterable[RecipeFile] = ()) -> ReadFiles:
    """The recipes of some files.

    Args:
        files: names and contents.
        known: recipes that graphs of GraphML, which has no steps, may be of, by their titles.
    """
    found = ReadFiles()
    graphs: list[tuple[str, bytes]] = []
    known = list(known)
    taken = {recipe.title: recipe for recipe in known}
    for name, data in files:
        start = data[:400].removeprefix(b"\xef\xbb\xbf").lstrip()
        if start[:1] in (b"{", b"["):
            _take_json(found, name, data)
        elif b"graphml" in start:
            graphs.append((name, data))
        else:
            _take_pages(found, name, data, taken)
    by_title = {recipe.title: recipe for recipe in (*known, *found.recipes)}
    for name, data in graphs:
        _take_graphs(found, name, data, by_title)
    return found


def _take_json(found: ReadFiles, name: str, data: bytes) -> None:
    try:
        found.recipes += read_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        found.refused.append(_said(name, gettext_noop("This is not UTF-8 text.")))
    except FileRefused as refused:
        found.refused.append(f"{name}: {translated(refused.sentence)}")


def _take_pages(found: ReadFiles, name: str, data: bytes, taken: dict[str, RecipeFile]) -> None:
    for page in read_files([(name, data)]):
        if isinstance(page, PageRefused):
            found.refused.append(str(page))
        elif not page.steps or not page.ingredients:
            found.refused.append(_said(page.source, gettext_noop("no steps, or no ingredients, were found.")))
        else:
            title = " ".join((page.title or page.source).split())[:200]
            ingredients, steps = (
                [" ".join(text.split()) for text in texts] for texts in (page.ingredients, page.steps)
            )
            recipe = RecipeFile(title, tell_apart(ingredients), tuple(steps), page.language[:12], page.url)
            found.recipes.append(untaken(recipe, taken))


def _take_graphs(found: ReadFiles, name: str, data: bytes, by_title: dict[str, RecipeFile]) -> None:
    try:
        graphs = graph_files.read_graphml(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, GraphRefused) as refused:
        found.refused.append(f"{name}: {refused}")
        return
    for title, rater, kind, graph in graphs:
        recipe = by_title.get(title)
        why = ""
        if recipe is None:
            why = gettext_noop("there is no recipe “%(title)s”.")
        elif not rater:
            why = gettext_noop("the graph of “%(title)s” names no rater.")
        elif [s.name for s in graph.initial] != list(recipe.ingredients) or graph.steps != len(recipe.steps):
            why = gettext_noop("the graph of “%(title)s” has other ingredients or steps.")
        if recipe is None or why:
            found.refused.append(_said(name, why, title=title))
        else:
            one = Graph(rater, [*transitions_of(graph)], kind)
            found.recipes.append(replace(recipe, graphs=(one,), picture=None))


def _said(name: str, template: str, **values: str) -> str:
    """A sentence about a file, in the reader's language."""
    return f"{name}: {translated(Sentence(template, tuple(values.items())))}"
