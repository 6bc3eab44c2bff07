"""The recipes of a study with everybody's graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.translation import gettext as _

from annotation import queries
from annotation.actions import Refused
from annotation.models import Assignment, Row, Sheet, Study
from annotation.queries import RaterGraph
from annotation.scheme.spec import QuestionSpec, SchemeSpec, SectionSpec
from recipes.ingredient_states.models import Picture
from recipes.ingredient_states.recipe_files import Graph, RecipeFile
from recipes.ingredient_states.recipe_files import Picture as PictureFile


class Place(NamedTuple):
    """Where a scheme asks for transitions; the facet of rows with the ingredients, that of columns with the step."""

    section: SectionSpec
    question: QuestionSpec
    ingredients: str
    step: str


def place_of(scheme: SchemeSpec) -> Place | None:
    for section in scheme.sections:
        for question in section.questions:
            if question.transitions and question.transitions.start and section.column.facets:
                return Place(section, question, question.transitions.start[0], section.column.facets[0])
    return None


def needed_place(study: Study) -> Place:
    """
    Raises:
        Refused: the scheme of the study asks for no transitions.
    """
    place = place_of(study.scheme.parsed)
    if place is None:
        raise Refused(_("The scheme of this study does not ask what a step makes of what."))
    return place


@dataclass(frozen=True)
class OneRecipe:
    """A row with its steps, and the graphs of those who have it, whether they have submitted it or not."""

    sheet: Sheet
    row: Row
    steps: tuple[str, ...]
    graphs: tuple[RaterGraph, ...]

    @property
    def ingredients(self) -> list[str]:
        return self.graphs[0].start if self.graphs else []


def recipes(study: Study, *, raters: frozenset[str] = frozenset()) -> Iterator[OneRecipe]:
    """Sheet by sheet; five queries each, and one. `raters`: their codes; none of them means all."""
    place = needed_place(study)
    coming = queries.coming_rows(study.pk)
    for sheet in study.sheets.order_by("position"):
        sheet.study = study
        assignments = list(
            Assignment.objects.filter(row__sheet=sheet)
            .exclude(state=Assignment.State.WITHDRAWN)
            .select_related("rater", "row")
            .order_by("row__position", "rater__code", "repeat")
        )
        if raters:
            assignments = [one for one in assignments if one.rater.code in raters]
        graphs = [
            one for one in queries.state_graphs(sheet, assignments) if one.table.question.key == place.question.key
        ]
        steps = tuple(
            column.facets[place.step]
            for column in sheet.columns.filter(section__key=place.section.key).order_by("position")
        )
        for row in sheet.rows.exclude(coming).order_by("position"):
            yield OneRecipe(sheet, row, steps, tuple(one for one in graphs if one.assignment.row_id == row.pk))


def picture_of(row: Row) -> Picture | None:
    """The picture of a recipe, also where the row was made of it in a derived study."""
    seen = {row.pk}
    while True:
        picture = Picture.objects.filter(row=row).first()
        before = None if picture else row.lineage.filter(row__isnull=False).select_related("row").first()
        if before is None or before.row is None or before.row.pk in seen:
            return picture
        row = before.row
        seen.add(row.pk)


def picture_address(row: Row) -> str | None:
    """Its picture as a data: address, as servers take one."""
    found = picture_of(row)
    return PictureFile(found.media_type, bytes(found.data)).address if found else None


def recipe_files(study: Study, *, raters: frozenset[str] = frozenset()) -> list[RecipeFile]:
    """The recipes as files have them, with all graphs in which anything is said."""
    place = needed_place(study)
    pictures = {one.row_id: one for one in Picture.objects.filter(row__sheet__study=study)}
    found = []
    for recipe in recipes(study, raters=raters):
        given = recipe.row.facets.get(place.ingredients, [])
        ingredients = tuple(given) if isinstance(given, list) else tuple(recipe.ingredients)
        picture = pictures.get(recipe.row.pk)
        found.append(
            RecipeFile(
                recipe.row.title or recipe.sheet.title,
                ingredients,
                recipe.steps,
                recipe.row.language,
                recipe.row.url,
                PictureFile(picture.media_type, bytes(picture.data)) if picture else None,
                tuple(
                    Graph(_code(one.assignment), one.answers, one.assignment.rater.kind)
                    for one in recipe.graphs
                    if any(answer is not None for answer in one.answers)
                ),
            )
        )
    return found


def _code(assignment: Assignment) -> str:
    code = assignment.rater.code
    return code if assignment.repeat == 1 else f"{code} ({assignment.repeat})"
