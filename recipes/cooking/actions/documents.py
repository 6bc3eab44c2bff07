"""Generated recipes become sheets, web pages become rows."""

from __future__ import annotations

import gzip
import hashlib
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING
from annotation.models import Row, Sheet, Study
from base.text import storable
from recipes.cooking.models import Document, Recipe
from recipes.cooking.pages import READER, Page, PageRefused
from recipes.cooking.pages.outline import visible
from recipes.cooking.parsing import ParsedRecipe
from recipes.cooking.vocabulary import INGREDIENT, STEP
from work.actions import is_passing

logger = logging.getLogger(__name__)


def takes_recipes(study: Study) -> bool:
    """Whether the study's scheme has the sections of recipes."""
    facets = {section.key: set(section.column.facets) for section in study.scheme.parsed.sections}
    return facets.get("ingredients") == {"ingredient"} and facets.get("tasks", set()) <= {"task", "tool", "ingredients"}


def asks_tasks(study: Study) -> bool:
    return "tasks" in {section.key for section in study.scheme.parsed.sections}


@transaction.atomic
def add_recipe(*, study: Study, recipe: ParsedRecipe, written: Mapping[str, str] | None = None) -> Sheet:
    """Make the sheet of a generated recipe: its ingredients and tasks are the columns.

    `written`: the line of an ingredient as it was written, by its name.

    Raises:
        Refused: the study's scheme has not the sections of recipes, or a sheet of that name.
    """
    if not takes_recipes(study):
        raise Refused(_("The scheme of this study has no section “ingredients” with the facet “ingredient”."))
    columns = {
        "ingredients": [{"ingredient": name} for name in recipe.ingredients],
        "tasks": [asdict(task) for task in recipe.tasks] if asks_tasks(study) else [],
    }
    if asks_tasks(study) and not recipe.tasks:
        raise Refused(_("“%(name)s” has no tasks, and this study asks about tasks.") % {"name": recipe.name})
    sheet = annotating.add_sheet(study=study, title=recipe.name, columns=columns)
    Recipe.objects.create(
        sheet=sheet,
        name=recipe.name,
        ingredients=list(recipe.ingredients),
        written=[(written or {}).get(name, "") for name in recipe.ingredients],
        steps=list(recipe.steps),
        tasks=[asdict(task) for task in recipe.tasks],
    )
    return sheet


@dataclass
class Import:
    """What came of an import: rows that are in, a sentence for each page that is not, and one for each that is in while
    another row has its address."""

    added: list[Row] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)


def import_documents(*, sheet: Sheet, pages: Iterable[Page | PageRefused]) -> Import:
    """Add pages as rows of a sheet, each whole or not at all; one that is refused does not stop the others.

    The same pages may come twice at the same moment: they are in once. What says nothing of a page, such as a database
    that is away, is raised: the pages before it are in, and the others can be imported again.
    """
    result = Import()
    for page in pages:
        if isinstance(page, PageRefused):
            result.refused.append(storable(str(page)))
            continue
        try:
            row = add_document(sheet=sheet, page=page).row
            result.added.append(row)
            result.again += _of_one_address(row)
        except SamePage as same:
            result.refused.append(str(same))
        except Exception as error:
            if is_passing(error):
                raise
            # Whatever is wrong with this page is not wrong with the next one.
            file = storable(page.source)
            logger.exception("%s could not be stored in sheet %s", file, sheet.pk)
            result.refused.append(
                _("%(file)s could not be stored; the other pages are in. The error was logged.") % {"file": file}
            )
    return result


def _of_one_address(row: Row) -> list[str]:
    """Whether another row of its sheet has the address of this one: a page changes, and is saved twice. One query."""
    others = Row.objects.filter(sheet=row.sheet_id, url=row.url).exclude(pk=row.pk).order_by("position")
    if not row.url or (other := others.first()) is None:
        return []
    said = _(
        "“%(row)s” has the address of “%(other)s”. It is in as a row of its own; withdraw one of them under “Plan”."
    )
    return [said % {"row": row.name, "other": other.name}]


class SamePage(Refused):
    """The sheet has this page already, behind `row`."""

    def __init__(self, source: str, row: Row) -> None:
        self.row = row
        super().__init__(_("%(file)s is the same page as “%(row)s” of this sheet.") % {"file": source, "row": row.name})


@transaction.atomic
def add_document(
    *,
    sheet: Sheet,
    page: Page,
    name: str = "",
    evidence: Sequence[Block] = (),
    facets: Mapping[str, str] | None = None,
) -> Document:
    """Add a page as a row of a sheet.

    Args:
        name: of the row, if no other has it; else a number comes behind. Without one, that of the file or its site.
        evidence: in place of what the reader found.
        facets: those that the scheme declares for rows are kept.
    Raises:
        SamePage: the sheet has it already.
    """
    page = _storable(page)
    annotating.lock_study(sheet.study_id)
    # Looked up behind the lock: another import may have added this page, or a row of its name, a moment ago.
    digest = hashlib.sha256(page.html).hexdigest()
    same = Document.objects.filter(row__sheet=sheet, sha256=digest).select_related("row").defer("html_gz").first()
    if same is not None:
        raise SamePage(page.source, same.row)
    declared = sheet.study.scheme.parsed.row.keys
    row = annotating.add_row(
        sheet=sheet,
        name=_free_name(name or _name_of(page), sheet),
        title=page.title,
        url=page.url,
        language=page.language,
        evidence=evidence or evidence_of(page),
        facets={key: value for key, value in (facets or {}).items() if key in declared},
    )
    return Document.objects.create(
        row=row,
        source=page.source[:500],
        host=page.host[:255],
        parser=page.parser[:100],
        reader=READER,
        doubts=list(page.doubts),
        html_gz=gzip.compress(page.html),
        sha256=digest,
    )


def _storable(page: Page) -> Page:
    """`page` without what no database can hold, wherever it comes from; its lines without what nobody sees either."""
    return replace(
        page,
        source=storable(page.source),
        url=storable(page.url),
        host=storable(page.host),
        title=storable(page.title),
        language=storable(page.language),
        ingredients=tuple(text for line in page.ingredients if (text := storable(visible(line)).strip())),
        steps=tuple(text for line in page.steps if (text := storable(visible(line)).strip())),
    )


def evidence_of(page: Page) -> list[Block]:
    """The page as blocks. Its headings are data that judges read too: the same in every language of the interface."""
    return [
        Block(HEADING, "Ingredients"),
        *(Block(INGREDIENT, line) for line in page.ingredients),
        Block(HEADING, "Steps"),
        *(Block(STEP, line) for line in page.steps),
    ]


_ENGINE = re.compile(r"^(google|bing|duckduckgo|ddg)[-_ ]?(\d+)$", re.IGNORECASE)
_ENGINE_NAMES = {"google": "Google", "bing": "Bing", "duckduckgo": "DuckDuckGo", "ddg": "DuckDuckGo"}
_SUFFIXES = re.compile(r"(\.html?|\.xhtml|\.gz)+$", re.IGNORECASE)


def _name_of(page: Page) -> str:
    """“google-1.html” is Google 1, as in the paper's table; other files go by their site, or by their own name."""
    stem = _SUFFIXES.sub("", page.source.replace("\\", "/").rsplit("/", 1)[-1])
    if engine := _ENGINE.match(stem):
        return f"{_ENGINE_NAMES[engine[1].lower()]} {int(engine[2])}"
    return page.host.removeprefix("www.") or stem or _("Document")


def _free_name(name: str, sheet: Sheet) -> str:
    """A name that no row of the sheet has."""
    name, n = name[:180], 1
    base = name
    taken = set(sheet.rows.filter(name__startswith=base).values_list("name", flat=True))
    while name in taken:
        n += 1
        name = f"{base} ({n})"
    return name
