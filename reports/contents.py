"""What a report says: texts and numbers alone. Page, downloads, API, and what is frozen, are all made of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from django.utils import translation

from reports.arrays import Filters, study_data
from reports.compute import QuestionReport, StudyReport, compute
from reports.drawn import question_figures
from reports.figures import Figure
from reports.label_table import LabelTable, canonical_json
from reports.tables import Head, Table, about, overview, question_tables, raters, section_tables

# Sums in another order, as another machine's processor makes them, differ in the sixteenth digit.
_DIGITS = 10


@dataclass(frozen=True)
class Part:
    """A stretch of a report under one heading; `level` 0 has none, 1 is a section, 2 a question of several."""

    key: str
    title: str
    level: int
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Contents:
    """`about` says what the report is of: its study, and each filter that leaves something out."""

    about: tuple[tuple[str, str], ...]
    n_labels: int
    parts: tuple[Part, ...]

    @property
    def tables(self) -> Iterator[Table]:
        return (table for part in self.parts for table in part.tables)

    @property
    def figures(self) -> Iterator[Figure]:
        return (figure for part in self.parts for figure in part.figures)

    @cached_property
    def content(self) -> bytes:
        """As canonical JSON, numbers to ten digits: equal labels and filters give equal bytes on any machine."""
        return canonical_json(_rounded(asdict(self)))

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def contents_of(report: StudyReport) -> Contents:
    parts = [Part("at-a-glance", "", 0, (overview(report),))]
    for section in report.sections:
        alone = len(section.questions) == 1
        first = [*section_tables(report, section)]
        if alone:
            first += question_tables(report, section.questions[0])
        figures = question_figures(report, section.questions[0]) if alone else ()
        parts.append(Part(section.key, section.title, 1, tuple(first), tuple(figures)))
        parts.extend(_part(report, question) for question in (() if alone else section.questions))
    parts.append(Part("who", "", 0, (raters(report),)))
    return Contents(tuple(about(report)), report.data.n_labels, tuple(parts))


def _part(report: StudyReport, question: QuestionReport) -> Part:
    return Part(
        question.data.name,
        question.spec.title,
        2,
        tuple(question_tables(report, question)),
        tuple(question_figures(report, question)),
    )


def contents_from(table: LabelTable, filters: Filters, language: str) -> Contents:
    """The contents of a report, from nothing but its label table and its filters, in that language."""
    with translation.override(language):
        return contents_of(compute(study_data(table, filters), filters))


def read_contents(content: str) -> Contents:
    """What `Contents.content` was made of, numbers to ten digits."""
    data = json.loads(content)
    return Contents(
        about=tuple((name, text) for name, text in data["about"]),
        n_labels=data["n_labels"],
        parts=tuple(
            Part(
                key=part["key"],
                title=part["title"],
                level=part["level"],
                tables=tuple(_table(table) for table in part["tables"]),
                figures=tuple(Figure(**figure) for figure in part["figures"]),
            )
            for part in data["parts"]
        ),
    )


def _table(data: Mapping[str, Any]) -> Table:
    heads = tuple(Head(**head) for head in data["heads"])
    rows = tuple(tuple(row) for row in data["rows"])
    return Table(**{**data, "heads": heads, "rows": rows, "row_keys": tuple(data["row_keys"])})


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(of) for of in value]
    return value
