from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from django import template
from django.template.defaultfilters import floatformat
from django.utils.translation import gettext as _

from reports.tables import Head, Table, Value

register = template.Library()

MAX_LINES = 300  # of one table on the page; the downloads have them all


@dataclass(frozen=True)
class Cell:
    text: str
    css: str


@dataclass(frozen=True)
class Line:
    """A row of text; `part` marks a part of the row above it."""

    part: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Layout:
    """A table as text. `groups`: headings above the heads, each with the number of columns that it spans."""

    heads: tuple[Head, ...]
    groups: tuple[tuple[str, int], ...]
    lines: tuple[Line, ...]
    n_left_out: int


@register.filter
def laid_out(table: Table) -> Layout:
    """A table as it is drawn: a reason stands where the number would, and remarks that no row makes are left away."""
    kept = [
        place
        for place, head in enumerate(table.heads)
        if head.key != "because" and (head.kind != "note" or any(row[place] for row in table.rows))
    ]
    heads = tuple(table.heads[place] for place in kept)
    lines = tuple(
        Line(part=bool(whole), cells=_cells(table, row, kept))
        for row, whole in islice(zip(table.rows, table.wholes(), strict=True), MAX_LINES)
    )
    return Layout(heads, _groups(heads), lines, max(len(table.rows) - MAX_LINES, 0))


def _cells(table: Table, row: Sequence[Value], kept: Sequence[int]) -> tuple[Cell, ...]:
    line = list(zip(table.heads, row, strict=True))
    reason = next((str(value) for head, value in line if head.key == "because"), "")
    total = sum(value for head, value in line if head.group and isinstance(value, int))
    cells = []
    for head, value in (line[place] for place in kept):
        css = [] if head.kind in ("text", "note") else ["n"]
        if table.shaded and head.group and isinstance(value, int) and total:
            css.append(f"shade-{round(10 * value / total)}")
            css += ["same"] if head.title == row[0] else []
        cells.append(Cell(shown(value, head, reason), " ".join(css)))
        if value is None and head.kind == "number":
            reason = ""  # said once a row
    return tuple(cells)


def _groups(heads: tuple[Head, ...]) -> tuple[tuple[str, int], ...]:
    if not any(head.group for head in heads):
        return ()
    spans: list[tuple[str, int]] = []
    for head in heads:
        if spans and spans[-1][0] == head.group:
            spans[-1] = (head.group, spans[-1][1] + 1)
        else:
            spans.append((head.group, 1))
    return tuple(spans)


def shown(value: Value, head: Head, reason: str) -> str:
    """A value as people read it; what is not defined is no number."""
    if value is None:
        return _("not defined: %(reason)s") % {"reason": reason} if reason and head.kind == "number" else "–"
    if isinstance(value, str):
        return value.strip()
    match head.kind:
        case "share":
            return f"{floatformat(100 * value, 2)} %"
        case "number":
            return str(floatformat(value, 3))
        case _:
            return str(floatformat(value, "0g"))
