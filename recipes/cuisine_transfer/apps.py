from __future__ import annotations

from recipes import packs


class CuisineTransfer(packs.Pack):
    name = "recipes.cuisine_transfer"
