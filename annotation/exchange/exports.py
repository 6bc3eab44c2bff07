"""Labels in long form, one a line, as `label_imports` beside this reads them back.

docs/import.md lists the columns.
"""

from __future__ import annotations

import csv
import io
import itertools
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from annotation.answers import kind_of
from annotation.exchange.tables import safe_cells
from annotation.models import Assignment, Column, Label, Row, Skip, Study
from annotation.queries import background as backgrounds
from annotation.queries.gold import with_decider

COLUMNS = (
    "sheet",
    "row",
    "rater",
    "rater_kind",
    "simulated",
    "repeat",
    "section",
    "column",
    "column_number",
    "question",
    "answer",
    "answer_label",
    "preset",
    "note",
    "state",
    "updated_at",
    "exposed",
    "drafted_from",
    "confirmed",
    "skipped",
    "row_title",
    "row_url",
)
_CHUNK = 2000


def facet_names(study: Study) -> tuple[str, ...]:
    """All facets of the study's sections, in their order, each once."""
    return tuple(dict.fromkeys(f for section in study.scheme.parsed.sections for f in section.column.facets))


def label_header(study: Study) -> tuple[str, ...]:
    """The headings of `exported_labels`: `COLUMNS`, a column `facet_…` for each facet of the scheme, and
    "scheme_version" where its wording was ever changed under answers."""
    versions = ("scheme_version",) if study.scheme.earlier else ()
    return (*COLUMNS, *(f"facet_{name}" for name in facet_names(study)), *versions)


def exported_labels(study: Study, only: Q | None = None) -> Iterator[tuple[str, ...]]:
    """All labels of a study in the order of the sheets, then its skipped cells, which have a reason and no answer.

    Withdrawn work is left out, and what does not fit `only`, a condition of labels and of skipped cells. Two queries,
    read in parts, and three for what is said of rows, of columns and of wordings.

    Raters go by their codes; who the person behind one is stands nowhere. Gold that was decided in the lens is exposed:
    whoever decided saw what others, judges too, had said. The cells are not yet made harmless for
    spreadsheets: `safe_lines` does that.
    """
    known = _Known(study)
    specs = {(section.key, spec.key): spec for section in study.scheme.parsed.sections for spec in section.questions}
    section_at, question_at = _CELL.index("column__section__key"), _CELL.index("question__key")
    record: Any  # values of many types
    labels = with_decider(_in_order(Label.objects.filter(only or Q()), study)).values_list(
        *_CELL,
        *("option__key", "option__label", "value", "preset", "note", "updated_at", "exposed", "decided_by"),
        *("drafted_from__code", "confirmed_at"),
    )
    for record in labels.iterator(chunk_size=_CHUNK):
        cell, (option, label, value, preset, note, at, exposed, decided_by, drafted, confirmed) = (
            record[: len(_CELL)],
            record[len(_CELL) :],
        )
        if option is None:
            spec = specs[cell[section_at], cell[question_at]]
            option, label = kind_of(spec).written(spec, value), kind_of(spec).shown(spec, value)
        answer = (option, label, _yes(preset), note)
        draft = (drafted, _yes(confirmed is not None)) if drafted else ("", "")
        seen = exposed or decided_by is not None
        yield _line(cell, answer, at=at, how=(_yes(seen), *draft, ""), known=known)
    skips = _in_order(Skip.objects.filter(only or Q()), study).values_list(*_CELL, "reason", "at")
    for record in skips.iterator(chunk_size=_CHUNK):
        cell, (reason, at) = record[: len(_CELL)], record[len(_CELL) :]
        how = (_yes(False), "", "", reason)
        yield _line(cell, ("", "", _yes(False), ""), at=at, how=how, known=known)


class _Known:
    """What is said of rows and columns: read once, and not again with each label."""

    def __init__(self, study: Study) -> None:
        """Three queries."""
        self._now, self._earlier = study.scheme.version, study.scheme.earlier
        self._facets = facet_names(study)
        rows = Row.objects.filter(sheet__study=study).exclude(title="", url="").order_by()
        described = rows.values_list("pk", "title", "url").iterator(chunk_size=_CHUNK)
        self._rows = {pk: (title, url) for pk, title, url in described}
        columns = Column.objects.filter(sheet__study=study).order_by().values_list("pk", "facets")
        self._columns = {pk: self._said(facets) for pk, facets in columns.iterator(chunk_size=_CHUNK)}

    def row(self, pk: int) -> tuple[str, str]:
        """Its title and address."""
        return self._rows.get(pk, _NEITHER)

    def column(self, pk: int) -> tuple[str, ...]:
        """Its facets; a column that has come since is asked for."""
        if pk not in self._columns:
            self._columns[pk] = self._said(Column.objects.values_list("facets", flat=True).get(pk=pk))
        return self._columns[pk]

    def version(self, at: datetime) -> tuple[str, ...]:
        """By which version of the scheme something was given; nothing where it has had one wording."""
        if not self._earlier:
            return ()
        after = bisect_right(self._earlier, at, key=lambda end: end[1])
        return (str(self._earlier[after][0] if after < len(self._earlier) else self._now),)

    def _said(self, facets: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(str(facets.get(name, "")) for name in self._facets)


_NEITHER = ("", "")
_CELL = (
    "assignment__row__sheet__title",
    "assignment__row__name",
    "assignment__rater__code",
    "assignment__rater__kind",
    "assignment__rater__simulated",
    "assignment__repeat",
    "column__section__key",
    "column__name",
    "column__position",
    "question__key",
    "assignment__state",
    "assignment__row_id",
    "column_id",
)


def _in_order(cells: QuerySet[Any], study: Study) -> QuerySet[Any]:
    return (
        cells.filter(assignment__row__sheet__study=study)
        .exclude(assignment__state=Assignment.State.WITHDRAWN)
        .order_by(
            "assignment__row__sheet__position",
            "assignment__row__position",
            "assignment__rater__code",
            "assignment__repeat",
            "column__section__position",
            "column__position",
            "question__position",
        )
    )


def _line(
    cell: Any,
    answer: tuple[str, str, str, str],
    *,
    at: datetime,
    how: tuple[str, str, str, str],
    known: _Known,
) -> tuple[str, ...]:
    """`how`: exposed, drafted from whom, confirmed, skipped."""
    sheet, row, rater, kind, simulated, repeat, section, column, position, question, state, row_id, column_id = cell
    return (
        *(sheet, row, rater, kind, _yes(simulated), str(repeat)),
        *(section, column, str(position + 1), question, *answer),
        *(state, at.isoformat(timespec="seconds"), *how),
        *known.row(row_id),
        *known.column(column_id),
        *known.version(at),
    )


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


class _Echo:
    """A file for the csv module that hands back what is written."""

    def write(self, line: str) -> str:
        return line


def safe_lines(header: Iterable[str], records: Iterable[Iterable[str]]) -> Iterator[str]:
    """Lines of CSV for a file or a streamed download; what a spreadsheet would take for a formula is made harmless."""
    writer = csv.writer(_Echo())
    for record in itertools.chain([header], records):
        yield writer.writerow(safe_cells(record))


def background_lines(study: Study) -> Iterator[str]:
    """CSV: what annotators told about themselves, a line a person under their code; none where nothing is asked."""
    for line in backgrounds.table(study):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow(safe_cells(line))
        yield out.getvalue()
