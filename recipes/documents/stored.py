"""A page that was imported, read once more: what it states for programs, and all that it shows."""

from __future__ import annotations

from lxml import etree

from recipes.documents import outline, structured
from recipes.documents.reading import decoded, main_recipe
from recipes.documents.structured import Extract


def stated_recipe(html: bytes) -> Extract | None:
    """The recipe that the page states as schema.org data; None where it states none, or several and no main one.

    Nothing is read off the page's text, and no scraper of its site is asked.
    """
    root = _tree(html)
    if root is None:
        return None
    extract = main_recipe(structured.find(root, outline.read(root)), structured.heading_of(root))
    return extract if extract is not None and (extract.ingredients or extract.steps) else None


def shown_lines(html: bytes) -> list[str]:
    """The lines that the page shows, navigation and the like left out."""
    root = _tree(html)
    return [line.text for line in outline.read(root).lines] if root is not None else []


def _tree(html: bytes) -> etree._Element | None:
    return outline.parse(decoded(html))
