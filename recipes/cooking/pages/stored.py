"""A page that was imported, read once more: what it states for programs, and all that it shows."""

from __future__ import annotations

from recipes.cooking.pages import outline, structured
from recipes.cooking.pages.finding import main_recipe
from recipes.cooking.pages.head import Head
from recipes.cooking.pages.reading import decoded
from recipes.cooking.pages.structured import Extract


def stated_recipe(html: bytes) -> Extract | None:
    """The recipe that the page states as schema.org data; None where it states none, or several and no main one.

    Nothing is read off the page's text, and no scraper of its site is asked.
    """
    text = decoded(html)
    root = outline.parse(text)
    if root is None:
        return None
    stated = structured.find(root, outline.read(root), structured.json_nodes(root))
    extract = main_recipe(stated, structured.heading_of(root, Head(text)))
    return extract if extract is not None and (extract.ingredients or extract.steps) else None


def shown_lines(html: bytes) -> list[str]:
    """The lines that the page shows, navigation and the like left out."""
    root = outline.parse(decoded(html))
    return [line.text for line in outline.read(root).lines] if root is not None else []
