from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template.defaultfilters import floatformat
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Study
from reports import doors, glossary
from reports.exports.marked import has_any, has_spans
from reports.figures.base import Figure
from reports.frozen.comparison import NumberChange
from reports.tables import Head, ReportTable, Value
from reports.tables.base import SMALLEST_P
from reports.tables.rounding import rounded
from reports.words import bracketed

register = template.Library()


@register.filter
def has_marks(study: Study) -> bool:
    """Whether it asks something that doccano and Prodigy know."""
    return has_any(spec for section in study.scheme.parsed.sections for spec in section.questions)


@register.filter
def has_marked_words(study: Study) -> bool:
    """Whether it asks something that INCEpTION and CoNLL know."""
    return has_spans(spec for section in study.scheme.parsed.sections for spec in section.questions)


MAX_LINES = 300  # of one table on the page; the downloads have them all


@dataclass(frozen=True)
class PageCell:
    """`behind`: the query by which the cells behind a count are found; `number`: by which the line is sorted, "" of a
    text."""

    text: str
    css: str
    behind: str = ""
    number: str = ""


@dataclass(frozen=True)
class PageRow:
    """A row of text; `part` marks a part of the row above it."""

    part: bool
    cells: tuple[PageCell, ...]


@dataclass(frozen=True)
class PageTable:
    """A table as text. `groups`: headings above the heads, each with the number of columns that it spans."""

    heads: tuple[Head, ...]
    groups: tuple[tuple[str, int], ...]
    lines: tuple[PageRow, ...]
    n_left_out: int
    named: bool = False  # its lines are statistics, each with an entry in the glossary


@dataclass(frozen=True)
class FigureAddresses:
    """A figure with the addresses of its forms."""

    figure: Figure
    light: str
    dark: str
    pdf: str
    csv: str


@register.simple_tag(takes_context=True)
def addresses_of(context: dict[str, Any], figure: Figure) -> FigureAddresses:
    """Where a figure of the page is drawn: of a frozen report by its key, else with the filters of the page too."""
    study, frozen, query = context["study"], context.get("frozen"), context.get("query", "")

    def address(ending: str, theme: str) -> str:
        if frozen:
            url = reverse("reports:frozen-figure", args=[study.slug, frozen.pk, figure.key, ending])
            return f"{url}?theme={theme}"
        url = reverse("reports:figure", args=[study.slug, figure.key, ending])
        return f"{url}?theme={theme}&v={context['digests'][figure.key]}{'&' if query else ''}{query}"

    return FigureAddresses(
        figure, address("svg", "light"), address("svg", "dark"), address("pdf", "light"), address("csv", "light")
    )


@register.inclusion_tag("reports/_pages.html", takes_context=True)
def report_pages(context: dict[str, Any], study: Study) -> dict[str, Any]:
    """The pages of the report, with the filters of this one."""
    here, query = context.get("here", ""), context.get("query", "")
    tail = f"?{query}" if query and query != "by=document" else ""  # which is what pages do by themselves
    items = [
        (page.label, reverse(page.url_name, args=[study.slug]) + tail, page.url_name == here)
        for page in doors.pages_for(study)
    ]
    return {"items": items}


@register.simple_tag(takes_context=True)
def at_table(context: dict[str, Any], key: str) -> str:
    """The address of the page that has the table of this key, with the filters of this page; a frozen report is one
    page."""
    if context.get("frozen"):
        return f"#{key}"
    query = context.get("query", "")
    url = reverse("reports:at", args=[context["study"].slug])
    return f"{url}?{urlencode({'table': key})}{'&' if query else ''}{query}"


@register.simple_tag(takes_context=True)
def csv_address(context: dict[str, Any], key: str) -> str:
    """Where a table of a report is taken along; "" on the pages of a pack, whose tables are of no report."""
    if not context.get("here", "").startswith("reports:"):
        return ""
    study, frozen, query = context["study"], context.get("frozen"), context.get("query", "")
    name, arguments = ("frozen-table", [study.slug, frozen.pk]) if frozen else ("table", [study.slug])
    tail = f"&{query}" if query and not frozen else ""
    return f"{reverse(f'reports:{name}', args=arguments)}?{urlencode({'table': key})}{tail}"


@register.simple_tag(takes_context=True)
def term(context: dict[str, Any], name: str, head: str = "") -> str:
    """The address of the glossary's entry for a heading, by its column's key too, or a line's name; "" where it has
    none."""
    entry = glossary.entry_of(name, head)
    return f"{reverse('reports:glossary', args=[context['study'].slug])}#{entry}" if entry else ""


@register.simple_tag
def changed(change: NumberChange, which: str) -> str:
    """A number of a comparison, with its interval; with a sign where it is the difference, which has none."""
    if which == "difference":
        if change.difference is None:
            return ""
        by = shown(abs(change.difference), change.head, "")
        if change.head.kind == "share":
            by = _("%(n)s points") % {"n": by.removesuffix(" %")}
        sign = "+" if change.difference > 0 else "−" if change.difference < 0 else ""
        return sign + by
    first = which == "first"
    if change.only_in == ("second" if first else "first"):
        return _("not in it")
    value, ends = (change.first, change.first_ends) if first else (change.second, change.second_ends)
    interval = bracketed(shown(end, change.head, "").removesuffix(" %") for end in ends) if ends else ""
    return interval if ends and value is None else f"{shown(value, change.head, '')} {interval}".strip()


@register.filter
def unlocalized(value: float) -> str:
    """A number as scripts read it."""
    return repr(value)


@register.filter
def unbroken(text: str) -> str:
    """Shares as they are read: no line ends between a number and its %."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


@register.filter
def laid_out(table: ReportTable) -> PageTable:
    """A table as it is drawn: a reason stands where the number would, and remarks that no row makes are left away."""
    kept = [
        place
        for place, head in enumerate(table.heads)
        if head.key != "because" and (head.kind != "note" or any(row[place] for row in table.rows))
    ]
    heads = tuple(table.heads[place] for place in kept)
    lines = tuple(
        PageRow(part=bool(whole), cells=_cells(table, row, kept, row_key))
        for row, whole, row_key in islice(
            zip(table.rows, table.wholes(), table.row_keys or [""] * len(table.rows), strict=True), MAX_LINES
        )
    )
    return PageTable(
        heads, _groups(heads), lines, max(len(table.rows) - MAX_LINES, 0), table.heads[0].key in ("statistic", "metric")
    )


def _cells(table: ReportTable, row: Sequence[Value], kept: Sequence[int], row_key: str) -> tuple[PageCell, ...]:
    line = list(zip(table.heads, row, strict=True))
    reason = next((str(value) for head, value in line if head.key == "because"), "")
    total = sum(value for head, value in line if head.group and isinstance(value, int))
    cells = []
    for head, value in (line[place] for place in kept):
        css = [] if head.kind in ("text", "note") else ["n"]
        if table.shaded and head.group and isinstance(value, int) and total:
            css.append(f"shade-{round(10 * value / total)}")
            css += ["same"] if head.title == row[0] else []
        behind = _behind(table, row_key, head) if row_key and value and head.kind == "count" else ""
        number = "" if value is None or isinstance(value, str) else repr(value)
        cells.append(PageCell(shown(value, head, reason), " ".join(css), behind, number))
        if value is None and head.kind == "number":
            reason = ""  # said once a row
    return tuple(cells)


def _behind(table: ReportTable, row_key: str, head: Head) -> str:
    chosen = head.key.removeprefix("judge.") if head.group else ""
    question = table.key.partition(".confusion.")[0]
    return urlencode(
        {"cell.question": question, "cell.judge": table.judge, "cell.person": row_key, "cell.chosen": chosen}
    )


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
            return f"{floatformat(rounded(value, 2, per_cent=True), 2)} %"
        case "number" if head.is_small(value):
            return f"< {floatformat(SMALLEST_P, 3)}"
        case "number":
            return str(floatformat(rounded(value, 3), 3))
        case _:
            return str(floatformat(value, "0g"))
