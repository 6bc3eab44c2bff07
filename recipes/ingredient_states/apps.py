from __future__ import annotations

from recipes import packs


class IngredientStates(packs.Pack):
    name = "recipes.ingredient_states"

    def register(self) -> None:
        from recipes.ingredient_states.probing import registering

        registering.register()
