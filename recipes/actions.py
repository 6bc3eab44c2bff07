"""All writes of the recipes floor: generated recipes become sheets, web pages become rows."""

from __future__ import annotations

import gzip
import hashlib
import logging
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import actions as annotation
from annotation.actions import Refused
from annotation.evidence import Block, BlockKind
from annotation.models import Row, Sheet, Study
from annotation.text import storable
from recipes.documents import Page, PageRefused
from recipes.models import Document, Recipe
from recipes.parsing import ParsedRecipe

logger = logging.getLogger(__name__)


@transaction.atomic
def add_recipe(*, study: Study, recipe: ParsedRecipe) -> Sheet:
    """Make the sheet of a generated recipe: its ingredients and tasks are the columns.

    Raises:
        Refused: the study's scheme has not the sections of recipes, or a sheet of that name.
    """
    facets = {section.key: set(section.column.facets) for section in study.scheme.parsed.sections}
    if facets.get("ingredients") != {"ingredient"} or not facets.get("tasks", set()) <= {"task", "tool", "ingredients"}:
        raise Refused(_("The scheme of this study has no section “ingredients” with the facet “ingredient”."))
    columns = {
        "ingredients": [{"ingredient": name} for name in recipe.ingredients],
        "tasks": [asdict(task) for task in recipe.tasks] if "tasks" in facets else [],
    }
    if "tasks" in facets and not recipe.tasks:
        raise Refused(_("“%(name)s” has no tasks, and this study asks about tasks.") % {"name": recipe.name})
    sheet = annotation.add_sheet(study=study, title=recipe.name, columns=columns)
    Recipe.objects.create(
        sheet=sheet,
        name=recipe.name,
        ingredients=list(recipe.ingredients),
        steps=list(recipe.steps),
        tasks=[asdict(task) for task in recipe.tasks],
    )
    return sheet


@dataclass
class Import:
    """What came of an import: rows that are in, and a sentence for each page that is not."""

    added: list[Row] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def import_documents(*, sheet: Sheet, pages: Iterable[Page | PageRefused]) -> Import:
    """Add pages as rows of a sheet, each whole or not at all; one that is refused does not stop the others.

    The same pages may come twice at the same moment: they are in once.
    """
    result = Import()
    for page in pages:
        if isinstance(page, PageRefused):
            result.refused.append(storable(str(page)))
            continue
        try:
            result.added.append(_add_document(sheet=sheet, page=_storable(page)))
        except _SamePage as same:
            result.refused.append(str(same))
        except Exception:
            # Whatever is wrong with this page is not wrong with the next one.
            file = storable(page.source)
            logger.exception("%s could not be stored in sheet %s", file, sheet.pk)
            result.refused.append(
                _("%(file)s could not be stored; the other pages are in. The error was logged.") % {"file": file}
            )
    return result


class _SamePage(Refused):
    """The sheet has this page already."""


@transaction.atomic
def _add_document(*, sheet: Sheet, page: Page) -> Row:
    annotation.lock_study(sheet.study_id)
    # Looked up behind the lock: another import may have added this page, or a row of its name, a moment ago.
    digest = hashlib.sha256(page.html).hexdigest()
    same = Document.objects.filter(row__sheet=sheet, sha256=digest).select_related("row").defer("html_gz").first()
    if same is not None:
        raise _SamePage(
            _("%(file)s is the same page as “%(row)s” of this sheet.") % {"file": page.source, "row": same.row.name}
        )
    row = annotation.add_row(
        sheet=sheet,
        name=_row_name(page, sheet),
        title=page.title,
        url=page.url,
        language=page.language,
        evidence=evidence_of(page),
    )
    Document.objects.create(
        row=row,
        source=page.source[:500],
        host=page.host[:255],
        parser=page.parser[:100],
        html_gz=gzip.compress(page.html),
        sha256=digest,
    )
    return row


def _storable(page: Page) -> Page:
    """`page` without what no database can hold, wherever its texts come from."""
    return replace(
        page,
        source=storable(page.source),
        url=storable(page.url),
        host=storable(page.host),
        title=storable(page.title),
        language=storable(page.language),
        ingredients=tuple(text for line in page.ingredients if (text := storable(line).strip())),
        steps=tuple(text for line in page.steps if (text := storable(line).strip())),
    )


def evidence_of(page: Page) -> list[Block]:
    """The page as blocks. Its headings are data that judges read too: the same in every language of the interface."""
    return [
        Block(BlockKind.HEADING, "Ingredients"),
        *(Block(BlockKind.INGREDIENT, line) for line in page.ingredients),
        Block(BlockKind.HEADING, "Steps"),
        *(Block(BlockKind.STEP, line) for line in page.steps),
    ]


_ENGINE = re.compile(r"^(google|bing|duckduckgo|ddg)[-_ ]?(\d+)$", re.IGNORECASE)
_ENGINE_NAMES = {"google": "Google", "bing": "Bing", "duckduckgo": "DuckDuckGo", "ddg": "DuckDuckGo"}
_SUFFIXES = re.compile(r"(\.html?|\.xhtml|\.gz)+$", re.IGNORECASE)


def _row_name(page: Page, sheet: Sheet) -> str:
    """A name that no row of the sheet has.

    “google-1.html” is Google 1, as in the paper's table; other files go by their site, or by their own name.
    """
    stem = _SUFFIXES.sub("", page.source.replace("\\", "/").rsplit("/", 1)[-1])
    if engine := _ENGINE.match(stem):
        name = f"{_ENGINE_NAMES[engine[1].lower()]} {int(engine[2])}"
    else:
        name = page.host.removeprefix("www.") or stem or _("Document")
    name, n = name[:180], 1
    base = name
    taken = set(sheet.rows.filter(name__startswith=base).values_list("name", flat=True))
    while name in taken:
        n += 1
        name = f"{base} ({n})"
    return name
