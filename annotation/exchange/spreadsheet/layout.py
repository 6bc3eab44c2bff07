"""What both directions know of the workbook."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.answers import digest, kind_of, skip_code
from annotation.answers.codes import VALUE
from annotation.exchange.workbooks import plain
from annotation.queries import Cell
from annotation.scheme.spec import QuestionSpec

VERSION = 1
PLACES, MENUS = "palate", "menus"  # the hidden sheets
FIRST_COLUMN = 3  # C, as in the paper
_NOT_IN_TITLES = re.compile(r"[\[\]:*?/\\']")


@dataclass(frozen=True)
class Place:
    """A line of the hidden sheet: one cell to answer, where it stands, what stands beside it, and what it said."""

    cell: str
    assignment: int
    column: int
    question: int
    row_name: str
    beside: str  # the question's title, or the step's name; "" where nothing has to stand there
    code: str  # see `remembered`
    text: str  # the same as a person reads it


def worksheet_title(title: str) -> str:
    kept = " ".join(_NOT_IN_TITLES.sub(" ", plain(title)).split())[:31].strip()
    # Excel keeps the name History for itself; the hidden sheets have theirs.
    return _("Sheet") if not kept or kept.casefold() in {"history", PLACES, MENUS} else kept


def skipped(reason: str) -> str:
    """How a skipped cell reads."""
    return _("Skipped: %(reason)s") % {"reason": plain(reason)}


def code_of(cell: Cell) -> str:
    return cell.code or skip_code(cell.skip)


def remembered(code: str) -> str:
    """What the hidden sheet knows a code by: a value by its digest, all others as they are."""
    return digest(code) if code.startswith(VALUE) else code


def said(spec: QuestionSpec, cell: Cell) -> str:
    """The answer of a cell as the workbook says it; "" for none."""
    if cell.skip:
        return skipped(cell.skip)
    if not cell.code:
        return ""
    if cell.option:
        return plain(cell.option.label)
    kind = kind_of(spec)
    return plain(kind.written(spec, kind.value(spec, cell.code)))
