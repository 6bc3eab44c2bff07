"""Reads of the domain's own tables. Each says how many queries it costs."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext

from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING
from annotation.models import Assignment, Rater, Row, Sheet, Study
from recipes.cooking.models import Document, Recipe
from recipes.cooking.vocabulary import INGREDIENT, STEP


def stored_page(row: Row) -> str | None:
    """Where the page behind a row can be looked at, or None where none is kept. One query."""
    return reverse("recipes:stored-page", args=[row.pk]) if Document.objects.filter(row=row).exists() else None


def is_planned(sheet: Sheet) -> bool:
    """Whether people have documents of a sheet already. One query."""
    at_work = Assignment.objects.filter(row__sheet=sheet, rater__kind=Rater.Kind.PERSON)
    return at_work.exclude(state=Assignment.State.WITHDRAWN).exists()


def recipe_text(sheet: Sheet) -> list[Block]:
    """The generated recipe that a sheet's columns come from, as it was written. One query."""
    return text_of(Recipe.objects.filter(sheet=sheet).first())


def text_of(recipe: Recipe | None) -> list[Block]:
    if recipe is None:
        return []
    written = [*recipe.written, *[""] * len(recipe.ingredients)]
    lines = list(dict.fromkeys(line or name for name, line in zip(recipe.ingredients, written, strict=False)))
    blocks = [Block(HEADING, gettext("Ingredients")), *(Block(INGREDIENT, line) for line in lines)]
    if recipe.steps:
        blocks += [Block(HEADING, gettext("Steps")), *(Block(STEP, line) for line in recipe.steps)]
    return blocks


def readers_of(study: Study) -> dict[str, str]:
    """The versions of the page reader that made a study's documents; empty where it has none. One query."""
    versions = Document.objects.filter(row__sheet__study=study).order_by("reader").values_list("reader", flat=True)
    found = ", ".join(versions.distinct())
    return {"page reader": found} if found else {}
