"""What extractors may read of a recipe page: registered with the judges' floor when this app is loaded."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.evidence import BlockKind
from annotation.models import Row
from annotation.text import storable
from judges import documents
from judges.documents import NothingStated, Parser
from recipes.documents import stored
from recipes.models import Document

PROMPT = Path(__file__).resolve().parent / "prompts" / "extraction" / "recipe.yaml"


def _html(row: Row) -> bytes | None:
    packed = Document.objects.filter(row=row).values_list("html_gz", flat=True).first()
    return gzip.decompress(packed) if packed is not None else None


def stated(row: Row) -> Mapping[BlockKind, Sequence[str]]:
    """The ingredient lines and steps that the page states as schema.org data."""
    html = _html(row)
    if html is None:
        raise NothingStated(_("There is no saved page behind this row: it came from a table."))
    recipe = stored.stated_recipe(html)
    if recipe is None:
        raise NothingStated(_("The page states no recipe as structured data (schema.org)."))
    return {BlockKind.INGREDIENT: recipe.ingredients, BlockKind.STEP: recipe.steps}


def shown(row: Row) -> list[str]:
    html = _html(row)
    return [storable(line) for line in stored.shown_lines(html)] if html is not None else []


def register() -> None:
    kinds = (BlockKind.INGREDIENT, BlockKind.STEP)
    documents.register_parser(Parser("schema-org", gettext_lazy("structured data (schema.org)"), kinds, stated))
    documents.register_page_reader(shown)
    documents.suggest_prompt(PROMPT.read_text(encoding="utf-8"))
