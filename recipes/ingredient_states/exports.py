"""The graphs of a study as a file of one of three kinds."""

from __future__ import annotations

import json
from collections.abc import Sequence

from recipes.ingredient_states import graph_files
from recipes.ingredient_states.recipe_files import RecipeFile, graph_in, to_json

ENDINGS = {"json": "application/json", "graphml": "application/graphml+xml", "dot": "text/vnd.graphviz"}


def written(recipes: Sequence[RecipeFile], ending: str) -> str:
    """`ending` is one of `ENDINGS`."""
    if ending == "json":
        return json.dumps(to_json(recipes), ensure_ascii=False, indent=1) + "\n"
    graphs = [(recipe.title, one.rater, one.kind, graph_in(recipe, one)) for recipe in recipes for one in recipe.graphs]
    return graph_files.to_graphml(graphs) if ending == "graphml" else graph_files.to_dot(graphs)
