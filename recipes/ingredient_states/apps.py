from __future__ import annotations

from recipes import packs


class IngredientStates(packs.Pack):
    name = "recipes.ingredient_states"
