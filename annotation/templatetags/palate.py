from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from annotation import tabs
from annotation.models import Study
from annotation.queries import Cell, Line

register = template.Library()


@register.simple_tag
def cells(line: Line) -> SafeString:
    """The gridcells of a line. Drawn by hand, since a page has thousands: a template for each would cost most of its time.

    The word of the answer is what a screen reader reads; `data-sign` is what stands there to be seen.
    """
    return mark_safe("".join(map(_cell, line.cells)))  # noqa: S308 (every text that comes from a file is escaped)


def _cell(cell: Cell) -> str:
    locked = ' aria-readonly="true"' if cell.locked else ""
    if cell.option is not None:
        preset = " data-preset" if cell.by_itself else ""
        sign, word = escape(cell.option.sign), escape(cell.option.label)
        return (
            f'<td class="t-{cell.option.colour}" data-option="{cell.option.key}" data-sign="{sign}"{preset}{locked}>'
            f"{word}</td>"
        )
    if not cell.asked:
        return f'<td class="off" aria-disabled="true"{locked}>{_("not asked")}</td>'
    if cell.preset is not None:
        return f'<td class="preset" data-sign="{escape(cell.preset.sign)}"{locked}>{escape(cell.preset.label)}</td>'
    return f"<td{locked}>{_('empty')}</td>"


@register.inclusion_tag("annotation/_tabs.html", takes_context=True)
def study_tabs(context: dict[str, Any], study: Study) -> dict[str, Any]:
    path = context["request"].path
    items = [(tab.label, reverse(tab.url_name, args=[study.slug])) for tab in tabs.for_member(study.roles)]
    current = max((url for _, url in items if path.startswith(url)), key=len, default="")
    return {"items": items, "current": current, "study": study}


@register.filter
def facet(facets: dict[str, str], name: str) -> str:
    return facets.get(name, "")
