"""Writes of this pack: recipes become sheets, and graphs made elsewhere become answers."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.actions import Refused
from annotation.answers import AnswerRefused, kind_of
from annotation.evidence.blocks import Block
from annotation.exchange import arrivals
from annotation.exchange.json_tables import open_labels
from annotation.exchange.label_imports import Doing, import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.new_sheets import NewSheet
from annotation.exchange.row_imports import Imported
from annotation.models import Row, Sheet, Study
from recipes.cooking.vocabulary import INGREDIENT, STEP
from recipes.ingredient_states.models import Picture
from recipes.ingredient_states.queries import Place, needed_place
from recipes.ingredient_states.recipe_files import Graph, RecipeFile


@dataclass
class ImportedRecipes:
    """What an import did. `added`: titles of what is new; `labels`: answers to steps that are new."""

    added: list[str] = field(default_factory=list)
    known: int = 0
    graphs: int = 0
    labels: int = 0

    def sentences(self) -> list[str]:
        added, known = len(self.added), self.known
        said = [ngettext("%(n)s recipe is new.", "%(n)s recipes are new.", added) % {"n": added}] if added else []
        if known:
            there = ngettext("%(n)s was in the study already.", "%(n)s were in the study already.", known)
            said.append(there % {"n": known})
        if self.graphs:
            said.append(
                ngettext("%(n)s graph, with %(m)s new answers.", "%(n)s graphs, with %(m)s new answers.", self.graphs)
                % {"n": self.graphs, "m": self.labels}
            )
        return said


def import_recipes(
    *,
    study: Study,
    recipes: Sequence[RecipeFile],
    replace: bool = False,
    doing: Doing | None = None,
    at_end: Callable[[ImportedRecipes], None] = lambda _done: None,
) -> ImportedRecipes:
    """Add recipes, each a sheet with one row, a column a step; and the answers of their graphs. All or nothing.

    A recipe that the study has already, with the same ingredients and steps, only brings its graphs. Raters are made
    where they are missing; nobody can log in as one of them, and a file never speaks for a person with a login. All is
    checked before anything is written; many recipes are written in parts that nobody sees before the end, as
    `import_labels` does it, unless the caller has begun a transaction.

    Args:
        replace: answers of imported raters that differ take the place of those before; else they are refused.
        doing: the run of which this is, if any; `at_end` is called in the transaction that makes everything seen.
    Raises:
        Refused: the scheme asks for no transitions; a title is taken by another recipe; an answer is none.
        ImportRefused, TableError: as from `import_labels`. Nothing is written in any of these cases.
    """
    place = needed_place(study)
    arrivals.tidy(study, owner=doing.owner if doing else "")  # or its sheets would count as known
    standing = {sheet.title: sheet for sheet in study.sheets.all()}
    done = ImportedRecipes()
    coming: dict[str, RecipeFile] = {}
    lines: list[dict[str, object]] = []
    for recipe in recipes:
        if (sheet := standing.get(recipe.title)) is not None:
            same, row = _is_same(sheet, place, recipe), sheet.rows.first()
        else:
            before = coming.setdefault(recipe.title, recipe)
            same, row = (before.ingredients, before.steps) == (recipe.ingredients, recipe.steps), None
        if not same:
            raise Refused(
                _("The study has another recipe called “%(title)s”: its ingredients or steps are others.")
                % {"title": recipe.title}
            )
        done.known += coming.get(recipe.title) is not recipe
        for graph in recipe.graphs:
            lines += _lines(row.name if row else _("Recipe"), place, recipe, graph)
            done.graphs += 1
    done.added = list(coming)
    new = [_new(place, recipe) for recipe in coming.values()]
    told = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines) or "sheet,row,rater,question,answer"
    table = open_labels(
        io.BytesIO(told.encode()), name=_("the graphs"), max_bytes=max(settings.PALATE_MAX_IMPORT_BYTES, 1)
    )

    def finish(imported: Imported) -> None:
        done.labels = imported.labels + imported.changed
        at_end(done)

    by = dataclasses.replace(doing, at_end=finish) if doing is not None else None
    how = LabelImport(create=True, replace=replace)
    imported = import_labels(study=study, table=table, how=how, doing=by, sheets=new)
    done.labels = imported.labels + imported.changed
    return done


def _new(place: Place, recipe: RecipeFile) -> NewSheet:
    return NewSheet(
        title=recipe.title,
        columns={place.section.key: [{place.step: text} for text in recipe.steps]},
        row=_("Recipe"),
        row_title=recipe.title,
        url=recipe.url if recipe.url.startswith(("http://", "https://")) else "",
        language=recipe.language,
        evidence=[
            *(Block(INGREDIENT, text) for text in recipe.ingredients),
            *(Block(STEP, text) for text in recipe.steps),
        ],
        facets={place.ingredients: list(recipe.ingredients)},
        beside=lambda row: (
            Picture(row=row, media_type=recipe.picture.media_type, data=recipe.picture.data) if recipe.picture else None
        ),
    )


def _is_same(sheet: Sheet, place: Place, recipe: RecipeFile) -> bool:
    row = sheet.rows.first()
    of_section = sheet.columns.filter(section__key=place.section.key).order_by("position")
    steps = [" ".join(column.facets[place.step].split()) for column in of_section]
    return row is not None and _ingredients(row, place) == list(recipe.ingredients) and steps == list(recipe.steps)


def _ingredients(row: Row, place: Place) -> list[str]:
    given = row.facets.get(place.ingredients, [])
    return list(given) if isinstance(given, list) else [given]


def _lines(row: str, place: Place, recipe: RecipeFile, graph: Graph) -> Iterable[dict[str, object]]:
    """The answers of a graph as `import_labels` reads them, one a step."""
    kind = kind_of(place.question)
    for number, answer in enumerate(graph.answers, start=1):
        if answer is None:
            continue
        try:
            value = kind.canonical(place.question, answer)
        except AnswerRefused as refused:
            raise Refused(
                _("“%(title)s” by %(rater)s, step %(n)s: %(why)s")
                % {"title": recipe.title, "rater": graph.rater, "n": number, "why": refused}
            ) from refused
        yield {
            "sheet": recipe.title,
            "row": row,
            "rater": graph.rater,
            "rater_kind": graph.kind,
            "section": place.section.key,
            "question": place.question.key,
            "column_number": number,
            "answer": kind.written(place.question, value),
        }
