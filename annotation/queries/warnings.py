"""How much of what raters answered the scheme warns of."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.answers.table import Place, warnings
from annotation.models import Assignment, Column, Label, Rater, Row, Sheet, Study
from base.text import natural

_CHUNK = 2000


@dataclass(frozen=True)
class Warned:
    """Of a rater's `answers` that could be warned of, how many are, on each sheet that has any, and the first row with
    one."""

    rater: Rater
    by_sheet: tuple[tuple[Sheet, int, int], ...]
    answers: int

    @property
    def cells(self) -> int:
        return sum(cells for _sheet, cells, _row in self.by_sheet)


def can_warn(study: Study) -> bool:
    return any(not section.never_warns for section in study.scheme.parsed.sections)


def warned(study: Study) -> list[Warned]:
    """People, then judges, who answered something that could be warned of.

    Five queries, however many labels; the labels are read in parts.
    """
    specs = {section.key: section for section in study.scheme.parsed.sections if not section.never_warns}
    in_order = (
        Label.objects.filter(assignment__rater__study=study, question__section__key__in=specs)
        .exclude(assignment__state=Assignment.State.WITHDRAWN)
        .exclude(assignment__rater__kind=Rater.Kind.GOLD)
        .order_by("assignment", "question__section")
        .values_list(
            *("assignment_id", "assignment__rater_id", "assignment__row_id", "column__sheet_id"),
            *("question__section__key", "column__position", "question__key", "option__key", "value"),
        )
    )
    of_rows = Row.objects.filter(sheet__study=study).values_list("pk", "facets", "position")
    rows = {pk: (facets, position) for pk, facets, position in of_rows}
    columns: dict[tuple[int, str], dict[int, Mapping[str, str]]] = {}
    of_columns = Column.objects.filter(sheet__study=study, section__key__in=specs)
    for sheet, section, position, facets in of_columns.values_list("sheet_id", "section__key", "position", "facets"):
        columns.setdefault((sheet, section), {})[position] = facets
    cells: dict[int, Counter[int]] = {}
    first: dict[tuple[int, int], int] = {}  # rater, sheet -> the row
    answers: Counter[int] = Counter()
    labels = in_order.iterator(chunk_size=_CHUNK)
    for (_pk, rater, row, sheet, section), of_table in itertools.groupby(labels, key=lambda label: label[:5]):
        table: dict[Place, Any] = {}
        for *_key, position, question, option, value in of_table:
            table[position, question] = option if option is not None else value
        if not (warnable := sum(question in specs[section].warnable for _position, question in table)):
            continue
        answers[rater] += warnable
        facets, place = rows[row]
        found = warnings(specs[section], table, row=facets, columns=columns[sheet, section])
        cells.setdefault(rater, Counter())[sheet] += len(found)
        if found and place <= rows[first.setdefault((rater, sheet), row)][1]:
            first[rater, sheet] = row
    sheets = list(study.sheets.order_by("position"))
    raters = sorted(study.raters.all(), key=lambda rater: (rater.kind != Rater.Kind.PERSON, natural(rater.code)))
    return [
        Warned(
            rater,
            tuple((sheet, n, first[rater.pk, sheet.pk]) for sheet in sheets if (n := cells[rater.pk][sheet.pk])),
            answers[rater.pk],
        )
        for rater in raters
        if rater.pk in cells
    ]
