"""Writes of this pack: recipes become sheets, and graphs made elsewhere become answers."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.answers import AnswerRefused, kind_of
from annotation.evidence.blocks import Block
from annotation.exchange.json_tables import open_labels
from annotation.exchange.label_imports import import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.models import Row, Sheet, Study
from recipes.cooking.vocabulary import INGREDIENT, STEP
from recipes.ingredient_states.models import Picture
from recipes.ingredient_states.queries import Place, needed_place
from recipes.ingredient_states.recipe_files import Graph, RecipeFile


@dataclass
class ImportedRecipes:
    """What an import did. `labels`: answers to steps that are new."""

    added: list[Sheet] = field(default_factory=list)
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


@transaction.atomic
def import_recipes(
    *,
    study: Study,
    recipes: Sequence[RecipeFile],
    replace: bool = False,
    told: Callable[[int, int], None] = lambda _done, _of: None,
) -> ImportedRecipes:
    """Add recipes, each a sheet with one row, a column a step; and the answers of their graphs. All or nothing.

    A recipe that the study has already, with the same ingredients and steps, only brings its graphs. Raters are made
    where they are missing; nobody can log in as one of them, and a file never speaks for a person with a login.

    Args:
        replace: answers of imported raters that differ take the place of those before; else they are refused.
        told: called with how many recipes are made, of how many.
    Raises:
        Refused: the scheme asks for no transitions; a title is taken by another recipe; an answer is none.
        ImportRefused, TableError: as from `import_labels`. Nothing is written in any of these cases.
    """
    place = needed_place(study)
    annotating.lock_study(study.pk)
    done = ImportedRecipes()
    lines: list[dict[str, object]] = []
    for n, recipe in enumerate(recipes):
        told(n, len(recipes))
        sheet = Sheet.objects.filter(study=study, title=recipe.title).first()
        if sheet is None:
            sheet = _add(study, place, recipe)
            done.added.append(sheet)
        elif _is_same(sheet, place, recipe):
            done.known += 1
        else:
            raise Refused(
                _("The study has another recipe called “%(title)s”: its ingredients or steps are others.")
                % {"title": recipe.title}
            )
        for graph in recipe.graphs:
            lines += _lines(sheet, place, recipe, graph)
            done.graphs += 1
    if lines:
        stream = io.BytesIO("\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode())
        table = open_labels(stream, name=_("the graphs"), max_bytes=max(settings.PALATE_MAX_IMPORT_BYTES, 1))
        imported = import_labels(study=study, table=table, how=LabelImport(create=True, replace=replace))
        done.labels = imported.labels + imported.changed
    return done


def _add(study: Study, place: Place, recipe: RecipeFile) -> Sheet:
    columns = {place.section.key: [{place.step: text} for text in recipe.steps]}
    sheet = annotating.add_sheet(study=study, title=recipe.title, columns=columns)
    blocks = [Block(INGREDIENT, text) for text in recipe.ingredients] + [Block(STEP, text) for text in recipe.steps]
    row = annotating.add_row(
        sheet=sheet,
        name=_("Recipe"),
        title=recipe.title,
        url=recipe.url if recipe.url.startswith(("http://", "https://")) else "",
        language=recipe.language,
        evidence=blocks,
        facets={place.ingredients: list(recipe.ingredients)},
    )
    if recipe.picture:
        Picture.objects.create(row=row, media_type=recipe.picture.media_type, data=recipe.picture.data)
    return sheet


def _is_same(sheet: Sheet, place: Place, recipe: RecipeFile) -> bool:
    row = sheet.rows.first()
    of_section = sheet.columns.filter(section__key=place.section.key).order_by("position")
    steps = [" ".join(column.facets[place.step].split()) for column in of_section]
    return row is not None and _ingredients(row, place) == list(recipe.ingredients) and steps == list(recipe.steps)


def _ingredients(row: Row, place: Place) -> list[str]:
    given = row.facets.get(place.ingredients, [])
    return list(given) if isinstance(given, list) else [given]


def _lines(sheet: Sheet, place: Place, recipe: RecipeFile, graph: Graph) -> Iterable[dict[str, object]]:
    """The answers of a graph as `import_labels` reads them, one a step."""
    kind, row = kind_of(place.question), sheet.rows.get()
    of_section = sheet.columns.filter(section__key=place.section.key).order_by("position")
    for number, (column, answer) in enumerate(zip(of_section, graph.answers, strict=True), start=1):
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
            "sheet": sheet.title,
            "row": row.name,
            "rater": graph.rater,
            "rater_kind": graph.kind,
            "section": place.section.key,
            "question": place.question.key,
            "column": column.name,
            "column_number": number,
            "answer": kind.written(place.question, value),
        }
