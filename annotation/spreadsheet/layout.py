"""What both directions know of the workbook."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.utils.translation import gettext as _
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

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
    question_title: str
    code: str  # an option's key, or a skip's code, or ""
    text: str  # the same as a person reads it


def plain(text: str) -> str:
    """A text as a cell can hold it."""
    return str(ILLEGAL_CHARACTERS_RE.sub("", text))


def worksheet_title(title: str) -> str:
    kept = " ".join(_NOT_IN_TITLES.sub(" ", plain(title)).split())[:31].strip()
    # Excel keeps the name History for itself; the hidden sheets have theirs.
    return _("Sheet") if not kept or kept.casefold() in {"history", PLACES, MENUS} else kept


def skipped(reason: str) -> str:
    """How a skipped cell reads."""
    return _("Skipped: %(reason)s") % {"reason": plain(reason)}
