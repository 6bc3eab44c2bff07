from __future__ import annotations

from recipes import packs


class PizzaCommonsense(packs.Pack):
    name = "recipes.pizza_commonsense"
