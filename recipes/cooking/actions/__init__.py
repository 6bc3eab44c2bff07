"""All writes of the recipes floor: recipes become sheets, web pages become rows, engines are asked, pages fetched."""

from __future__ import annotations

from recipes.cooking.actions.documents import (
    Import,
    add_recipe,
    asks_tasks,
    evidence_of,
    import_documents,
    takes_recipes,
)
from recipes.cooking.actions.mending import mend, put_back
from recipes.cooking.actions.retrieving import (
    MAX_DOCUMENTS,
    Given,
    Recording,
    cancel_retrieval,
    decide,
    fetch_next,
    record_results,
    resume_retrieval,
    search_for_items,
    start_retrieval,
)
from recipes.cooking.actions.visiting import VISITING
