"""What is frozen with a verdict beside its labels, and the verdict computed again from both."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.utils import translation

from recipes.memorization.verdict import queries
from recipes.memorization.verdict.contents import contents_of
from recipes.memorization.verdict.queries import Examination, Origin, VerdictData
from reports.contents import Contents
from reports.data.arrays import Filters
from reports.data.cells import study_data
from reports.data.label_table import LabelTable, canonical_json, unpacked
from reports.frozen.recomputing import Recomputed, held_against
from reports.frozen.versions import code_version as report_code_version

if TYPE_CHECKING:
    from recipes.memorization.models import FrozenVerdict

_HERE = Path(__file__).resolve().parent
_SOURCES = ("contents.py", "freezing.py", "outcomes.py", "queries.py")


def beside(verdict: VerdictData) -> str:
    """The examination, the origins of the recipes and what documents are reserved, as canonical JSON."""
    of = verdict.examination
    told: dict[str, Any] = {
        "examination": None
        if of is None
        else {
            "title": of.title,
            "said": sorted([*key, sensible, reason] for key, (sensible, reason) in of.said.items()),
            "whole": sorted([sheet, sensible, reason] for sheet, (sensible, reason) in of.whole.items()),
            "n_ties": of.n_ties,
            "whole_is_shown": True,  # as it was not in verdicts frozen before
        },
        "origins": [dict(origin.words) for origin in verdict.origins],
        "closest_is_shown": True,  # nor single documents
    }
    if verdict.reserved:  # verdicts frozen before have none
        told["reserved"] = sorted([place, *kinds] for place, kinds in verdict.reserved.items())
    return canonical_json(told).decode()


def verdict_from(table: LabelTable, beside: str, filters: Filters) -> VerdictData:
    """A verdict from nothing but what is frozen."""
    told = json.loads(beside)
    of = told["examination"]
    examination = of and Examination(
        of["title"],
        dict(map(_said, of["said"])),
        {sheet: (sensible, reason) for sheet, sensible, reason in of["whole"] if of.get("whole_is_shown")},
        of["n_ties"],
    )
    origins = [Origin(None, words) for words in told["origins"]]
    reserved = {place: kinds for place, *kinds in told.get("reserved", [])}
    shown = told.get("closest_is_shown", False)
    return queries.of_labels(study_data(table, filters), filters, examination, origins, reserved, has_closest=shown)


def _said(entry: list[Any]) -> tuple[tuple[str, str, str, int], tuple[bool, str]]:
    """What was frozen before has one answer for all items of a name."""
    sheet, section, column, *which, sensible, reason = entry
    return (sheet, section, column, which[0] if which else queries.EVERY), (sensible, reason)


def contents_from(table: LabelTable, beside: str, filters: Filters, language: str) -> Contents:
    with translation.override(language):
        return contents_of(verdict_from(table, beside, filters), seed=filters.seed)


def digest_of(table: LabelTable, beside: str) -> str:
    return hashlib.sha256(f"{table.digest} {beside}".encode()).hexdigest()


def recompute(frozen: FrozenVerdict) -> Recomputed:
    """As `reports.frozen.recomputing.recompute`. Raises `label_table.UnknownFormat` as that."""
    table = unpacked(bytes(frozen.labels))
    contents = contents_from(table, frozen.beside, Filters.from_json(frozen.filters), frozen.language)
    return held_against(frozen, contents, digest=digest_of(table, frozen.beside), code=code_version())


@cache
def code_version() -> str:
    """That of reports, and a digest of the files that a verdict's numbers and words come from."""
    digest = hashlib.sha256()
    for name in _SOURCES:
        digest.update(name.encode() + b"\0" + (_HERE / name).read_bytes() + b"\0")
    return f"{report_code_version()}.{digest.hexdigest()[:12]}"
