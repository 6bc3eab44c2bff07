"""What extractors may read of a recipe page: registered with the judges' floor when this app is loaded."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Row
from base.text import storable
from judges import doors
from judges.doors import NothingStated, Parser
from recipes.cooking.models import Document
from recipes.cooking.pages import readable, stored
from recipes.cooking.vocabulary import INGREDIENT, STEP

PROMPT = Path(__file__).resolve().parent / "prompts" / "extraction" / "recipe.yaml"


def _html(row: Row) -> bytes | None:
    packed = Document.objects.filter(row=row).values_list("html_gz", flat=True).first()
    return gzip.decompress(packed) if packed is not None else None


def stated(row: Row) -> Mapping[str, Sequence[str]]:
    """The ingredient lines and steps that the page states as schema.org data."""
    html = _html(row)
    if html is None:
        raise NothingStated(_("There is no saved page behind this row: it came from a table."))
    recipe = stored.stated_recipe(html)
    if recipe is None:
        raise NothingStated(_("The page states no recipe as structured data (schema.org)."))
    return {INGREDIENT: recipe.ingredients, STEP: recipe.steps}


def shown(row: Row) -> list[str]:
    html = _html(row)
    return [storable(line) for line in stored.shown_lines(html)] if html is not None else []


def markup(row: Row) -> list[str]:
    html = _html(row)
    return [storable(line) for line in readable("page.html", html).splitlines() if line.strip()] if html else []


def register() -> None:
    kinds = (INGREDIENT, STEP)
    doors.register_parser(Parser("schema-org", gettext_lazy("structured data (schema.org)"), kinds, stated))
    doors.register_page_reader(shown)
    doors.register_html_reader(markup)
    doors.suggest_prompt(PROMPT.read_text(encoding="utf-8"))
