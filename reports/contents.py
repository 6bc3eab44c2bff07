"""What a report says: texts and numbers alone. Page, downloads, API, and what is frozen, are all made of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, cached_property
from itertools import chain
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from reports import doors
from reports.data.arrays import Filters
from reports.data.cells import study_data
from reports.data.label_table import LabelTable, canonical_json
from reports.figures.base import Figure
from reports.figures.comparison import comparison_figures
from reports.figures.ratings import ratings_figures
from reports.figures.report import question_figures
from reports.figures.values import value_figures
from reports.numbers.report import QuestionReport, StudyReport, compute
from reports.numbers.values import ValueReport
from reports.tables import Head, ReportTable, about, closing_tables, overview, question_tables, section_tables
from reports.tables.comparison import comparison_tables
from reports.tables.ratings import ratings_tables
from reports.tables.rounding import kept
from reports.words import part_name, said_as


@dataclass(frozen=True)
class ContentsPart:
    """A stretch of a report under one heading; `level` 0 has none, 1 is a section, 2 a question of several."""

    key: str
    title: str
    level: int
    tables: tuple[ReportTable, ...]
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Contents:
    """`about` says what the report is of: its study, and each filter that leaves something out."""

    about: tuple[tuple[str, str], ...]
    n_labels: int
    parts: tuple[ContentsPart, ...]

    @property
    def tables(self) -> Iterator[ReportTable]:
        return (table for part in self.parts for table in part.tables)

    @property
    def figures(self) -> Iterator[Figure]:
        return (figure for part in self.parts for figure in part.figures)

    @property
    def rounded(self) -> Contents:
        """The same with numbers to ten digits, as it would be read if it were frozen now."""
        parts = (_part(part.key, part.title, part.level, part.tables, part.figures) for part in self.parts)
        return replace(self, parts=tuple(parts))

    @cached_property
    def content(self) -> bytes:
        """As canonical JSON, numbers to ten digits: equal labels and filters give equal bytes on any machine."""
        return b"".join(_canonical(self))

    def indented(self) -> Iterator[str]:
        """The same to be read by people."""
        return _indented(self)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def contents_of(report: StudyReport) -> Contents:
    """What a computed report says, numbers to ten digits: as it would be read if it were frozen now."""
    with said_as(report.filters, report.data.scheme):
        return _contents_of(report)


def _contents_of(report: StudyReport) -> Contents:
    parts = [_part("at-a-glance", "", 0, (overview(report),))]
    for rated in report.ratings:
        title = _("Ratings: %(section)s") % {"section": rated.section.title}
        parts.append(_part(f"{rated.section.key}.benchmark", title, 1, ratings_tables(rated), ratings_figures(rated)))
    for section in report.sections:
        in_order = section.in_order
        alone = in_order[0] if len(in_order) == 1 else None
        tables: Iterator[ReportTable] = iter(section_tables(report, section))
        figures: Iterator[Figure] = iter(())
        if alone:
            tables, figures = chain(tables, _tables(report, alone)), _figures(report, alone)
        parts.append(_part(section.key, part_name(section.title, alone), 1, tables, figures))
        parts.extend(
            _part(question.data.name, question.spec.title, 2, _tables(report, question), _figures(report, question))
            for question in (() if alone else in_order)
        )
    parts.append(_part("who", "", 0, closing_tables(report)))
    return Contents(tuple(about(report)), report.data.n_labels, tuple(parts))


def _part(
    key: str, title: str, level: int, tables: Iterable[ReportTable], figures: Iterable[Figure] = ()
) -> ContentsPart:
    """Rounded one by one as they are made: a table of many pairs of raters is not there twice for longer than that."""
    return ContentsPart(
        key,
        title,
        level,
        tuple(
            replace(table, rows=tuple(tuple(_rounded(value) for value in row) for row in table.rows))
            for table in tables
        ),
        tuple(replace(figure, data=_rounded(figure.data)) for figure in figures),
    )


def _tables(report: StudyReport, question: QuestionReport | ValueReport) -> Iterator[ReportTable]:
    if isinstance(question, QuestionReport):
        yield from comparison_tables(report, question)  # what such a study is made for
    yield from question_tables(report, question)
    if isinstance(question, QuestionReport):
        yield from doors.tables_of(report, question)
    else:
        yield from doors.value_tables_of(report, question)


def _figures(report: StudyReport, question: QuestionReport | ValueReport) -> Iterator[Figure]:
    if isinstance(question, QuestionReport):
        yield from comparison_figures(report, question)
        yield from question_figures(report, question)
        yield from doors.figures_of(report, question)
    else:
        yield from value_figures(question)


def contents_from(table: LabelTable, filters: Filters, language: str) -> Contents:
    """The contents of a report, from nothing but its label table and its filters, in that language."""
    with translation.override(language), filters.as_then():
        return contents_of(compute(study_data(table, filters), filters))


def read_contents(content: str) -> Contents:
    """What `Contents.content` was made of, numbers to ten digits."""
    data = json.loads(content)
    return Contents(
        about=tuple((name, text) for name, text in data["about"]),
        n_labels=data["n_labels"],
        parts=tuple(
            ContentsPart(
                key=part["key"],
                title=part["title"],
                level=part["level"],
                tables=tuple(_table(table) for table in part["tables"]),
                figures=tuple(Figure(**figure) for figure in part["figures"]),
            )
            for part in data["parts"]
        ),
    )


def _table(data: Mapping[str, Any]) -> ReportTable:
    heads = tuple(Head(**head) for head in data["heads"])
    rows = tuple(tuple(row) for row in data["rows"])
    return ReportTable(**{**data, "heads": heads, "rows": rows, "row_keys": tuple(data["row_keys"])})


def _canonical(value: Any) -> Iterator[bytes]:
    """Canonical JSON in pieces, so that a long table is never there a second and a third time."""
    if is_dataclass(value) and not isinstance(value, type):
        value = _fields(value)
    if isinstance(value, dict):
        for n, key in enumerate(sorted(value)):
            yield (b"," if n else b"{") + canonical_json(key) + b":"
            yield from _canonical(value[key])
        yield b"}" if value else b"{}"
    elif isinstance(value, list | tuple):
        yield b"["
        if value and is_dataclass(value[0]):
            for n, one in enumerate(value):
                yield b"," if n else b""
                yield from _canonical(one)
        else:
            for start in range(0, len(value), _AT_ONCE):
                some = canonical_json(_rounded(value[start : start + _AT_ONCE]))
                yield (b"," if start else b"") + some[1:-1]
        yield b"]"
    else:
        yield canonical_json(_rounded(value))


def _indented(value: Any, deep: int = 0) -> Iterator[str]:
    """As `json.dumps(…, indent=1)` writes canonical JSON."""
    line = "\n" + " " * (deep + 1)
    if is_dataclass(value) and not isinstance(value, type):
        value = _fields(value)
    if isinstance(value, dict) and value:
        for n, key in enumerate(sorted(value)):
            yield f"{',' if n else '{'}{line}{_in_json(key)}: "
            yield from _indented(value[key], deep + 1)
        yield line[:-1] + "}"
    elif isinstance(value, list | tuple) and value and isinstance(value[0], str | int | float | None):
        yield f"[{line}{_between(line)(_rounded(value))[1:-1]}{line[:-1]}]"
    elif isinstance(value, list | tuple) and value:
        for n, one in enumerate(value):
            yield ("," if n else "[") + line
            yield from _indented(one, deep + 1)
        yield line[:-1] + "]"
    else:
        yield _in_json(_rounded(value))


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


_AT_ONCE = 1000
_in_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


@cache
def _between(line: str) -> Callable[[Any], str]:
    """What writes a list of texts and numbers with this after each comma: value by value takes four times as long."""
    return json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(f",{line}", ": ")).encode


def _rounded(value: Any) -> Any:
    kind = type(value)
    if kind is float:
        return kept(value)
    if kind is str or kind is int or value is None:  # most there is
        return value
    if isinstance(value, float):
        return kept(value)
    if isinstance(value, dict):
        return {key: _rounded(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(of) for of in value]
    return value
