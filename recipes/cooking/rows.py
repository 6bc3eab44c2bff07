"""Whose rows are web pages of recipes: a study of anything else has no use for finding and importing them."""

from __future__ import annotations

from annotation.models import Study
from recipes.cooking.actions import takes_recipes
from recipes.cooking.vocabulary import INGREDIENT, STEP

_of_something_else: set[str] = set()


def register_other_rows(*schemes: str) -> None:
    """Rows under these schemes, by their keys, are texts, tables or names, and come from elsewhere."""
    _of_something_else.update(schemes)


def may_be_pages(study: Study) -> bool:
    """Out of its scheme; a scheme that nobody told otherwise, such as a user's own, may ask about such pages. One of a
    benchmark asks about what models wrote."""
    return study.scheme.slug not in _of_something_else and study.scheme.parsed.benchmark is None


def are_pages(study: Study) -> bool:
    """The scheme has the sections of recipes, or looks for its items in what such pages are made of."""
    if not may_be_pages(study):
        return False
    looks_in = {kind for section in study.scheme.parsed.sections for kind in section.evidence}
    return takes_recipes(study) or not looks_in.isdisjoint((INGREDIENT, STEP))
