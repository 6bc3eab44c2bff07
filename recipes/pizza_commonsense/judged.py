"""What people's judgements of two systems' tables are, for the tables of reports (Table 3 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from recipes.pizza_commonsense import pairs
from recipes.pizza_commonsense.derivers import SIDES
from reports.numbers.report import QuestionReport, StudyReport
from reports.tables.base import ReportTable
from reports.tables.systems import Facets, Fault, Judged, Texts, system_tables

GOLD = "gold"  # the reference of rows that do not name it


def tables(report: StudyReport, question: QuestionReport) -> Iterator[ReportTable]:
    return system_tables(report, question, JUDGED)


def _sides(row: Facets) -> tuple[str, str]:
    """Who stands left and right; the facet is a list, as `facet_word` writes it."""
    left, _between, right = row.get("systems", "").partition("; ")
    return left, right


def _system(row: Facets, column: Facets) -> str:
    return _sides(row)[SIDES.index(column["side"])] if column.get("side") in SIDES else ""


def _reference(row: Facets) -> str:
    return row.get("reference") or GOLD


def _of_side(row: Facets, side: str) -> Texts:
    """Input and output of a side, each with what gold has there; an open cell is an empty text."""
    if not row.get("gold"):
        return {}
    said, right = pairs.apart(row.get(side, "")), pairs.apart(row["gold"])
    names = (_("Input"), _("Output"))
    return {name: (text, (gold,)) for name, text, gold in zip(names, said, right, strict=True) if gold}


def _texts(row: Facets, column: Facets) -> Texts:
    """Of a single side; the reference is not held against itself."""
    if column.get("side") not in SIDES or _system(row, column) == _reference(row):
        return {}
    return _of_side(row, column["side"].lower())


JUDGED = Judged(
    flags={f"side.{key}": "yes" for key in ("complete", "valid", "consistent")},
    faults={  # the classes of section 7; what is missing is what is not complete
        "side.wrong": Fault("yes", not_asked=1.0, title=gettext_lazy("Missing or wrong food")),
        "side.inedible": Fault("yes"),
        "side.vague": Fault("yes"),
    },
    beside={"better.preference": {"left": 1.0, "tie": 0.5, "right": 0.0}},
    system=_system,
    sides=_sides,
    reference=_reference,
    texts=_texts,
    left=lambda row: _of_side(row, "left"),
    right=lambda row: _of_side(row, "right"),
    separator=";",
)
