"""Which recipes models are trained on, and which are left for the tasks. Pure.

Source: Toyooka, Aizawa and Yamakata, section 5.1.1: of 100 annotated recipes 60 for training and 40 for two of the
tasks; Appendix C: step references of all recipes, annotated or not, but these 60.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum

from base.sentences import gettext as _
from recipes.ingredient_states.probing.drawing import drawn
from recipes.ingredient_states.probing.tasks import Recipe


class Part(StrEnum):
    """`TEST`: the annotated recipes that are not for training; `UNTRAINED`: with them those that nobody annotated."""

    ALL = "all"
    TRAINING = "training"
    TEST = "test"
    UNTRAINED = "all-but-training"


class Split(StrEnum):
    """How the recipes for training are drawn.

    COUNTED: exactly 60 in 100 of the annotated ones, those that a hash of the seed and the recipe's name puts first.
    EACH: each recipe by itself, annotated or not, with a chance of 0.6, so that their number is left to chance. Studies
    and training data that were made before there was the other way have it; `TEST` is all the others then.
    """

    COUNTED = "counted"
    EACH = "each"


class UnknownRecipes(ValueError):
    """Names of recipes for training that no recipe has; `str()` names them."""


def part_of(
    recipes: Sequence[Recipe],
    part: Part,
    *,
    seed: int,
    split: Split = Split.COUNTED,
    training: Collection[str] = (),
) -> list[Recipe]:
    """The recipes of a part, in the order given.

    Args:
        training: the keys of those for training, as published splits name them; nothing is drawn where there are some.
    Raises:
        UnknownRecipes: none of the recipes has one of these keys.
    """
    if part == Part.ALL:
        return list(recipes)
    if unknown := sorted(set(training) - {recipe.key for recipe in recipes}):
        raise UnknownRecipes(_("There is no recipe “%(title)s”, which is to be for training.") % {"title": unknown[0]})
    trained = frozenset(training) or _drawn_for_training(recipes, seed, split)
    if part == Part.TRAINING:
        return [recipe for recipe in recipes if recipe.key in trained]
    any_will_do = part == Part.UNTRAINED or (split == Split.EACH and not training)
    return [recipe for recipe in recipes if recipe.key not in trained and (any_will_do or recipe.graph)]


def _drawn_for_training(recipes: Sequence[Recipe], seed: int, split: Split) -> frozenset[str]:
    if split == Split.EACH:
        return frozenset(recipe.key for recipe in recipes if drawn(seed, "part", recipe.key) < 0.6)
    keys = {recipe.key for recipe in recipes if recipe.graph}
    in_order = sorted(keys, key=lambda key: (drawn(seed, "part", key), key))
    return frozenset(in_order[: (6 * len(keys) + 5) // 10])
