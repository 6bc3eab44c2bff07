"""The recipes of a study with everybody's graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.translation import gettext as _

from annotation import queries
from annotation.actions import Refused
from annotation.models import Assignment, Column, Row, Sheet, Study
from annotation.queries import RaterGraph
from annotation.scheme.spec import QuestionSpec, SchemeSpec, SectionSpec
from recipes.ingredient_states.models import Picture
from recipes.ingredient_states.recipe_files import Graph, RecipeFile
from recipes.ingredient_states.recipe_files import Picture as PictureFile

SCHEME = "ingredient-states"
_AT_ONCE = 100  # sheets that are read together


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


def recipes(
    study: Study, *, raters: frozenset[str] = frozenset(), sheets: Sequence[Sheet] | None = None
) -> Iterator[OneRecipe]:
    """In the order of sheets and rows; two queries, and five for each `_AT_ONCE` sheets. `raters`: their codes; none
    of them means all. `sheets`: of the study, else all of them."""
    place = needed_place(study)
    coming = queries.coming_rows(study.pk)
    of_study = list(study.sheets.order_by("position")) if sheets is None else sheets
    for begin in range(0, len(of_study), _AT_ONCE):
        together = {sheet.pk: sheet for sheet in of_study[begin : begin + _AT_ONCE]}
        assignments = (
            Assignment.objects.filter(row__sheet__in=together)
            .exclude(state=Assignment.State.WITHDRAWN)
            .select_related("rater", "row")
            .order_by("rater__code", "repeat")
        )
        if raters:
            assignments = assignments.filter(rater__code__in=raters)
        graphs: dict[int, list[RaterGraph]] = defaultdict(list)
        for one in queries.state_graphs(study, assignments):
            if one.table.question.key == place.question.key:
                graphs[one.assignment.row_id].append(one)
        steps: dict[int, list[str]] = defaultdict(list)
        for column in Column.objects.filter(sheet__in=together, section__key=place.section.key).order_by("position"):
            steps[column.sheet_id].append(column.facets[place.step])
        for row in Row.objects.filter(sheet__in=together).exclude(coming).order_by("sheet__position", "position"):
            row.sheet = together[row.sheet_id]
            yield OneRecipe(row.sheet, row, tuple(steps[row.sheet_id]), tuple(graphs[row.pk]))


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
