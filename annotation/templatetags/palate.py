from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from annotation import tabs
from annotation.models import Study
from annotation.queries import Cell

register = template.Library()


@register.simple_tag
def cell(cell: Cell, oob: bool = False) -> SafeString:
    """A gridcell. Drawn by hand, since a page has thousands: a template for each would cost most of its time."""
    classes, sign, words = "cell", "", _("empty")
    extra = ""
    if cell.option is not None:
        classes += f" t-{cell.option.colour}"
        sign, words = escape(cell.option.sign), escape(cell.option.label)
        extra = f' data-option="{cell.option.key}"'
    elif not cell.asked:
        classes += " off"
        words = _("not asked")
        extra = ' aria-disabled="true"'
    elif cell.preset is not None:
        sign, words = escape(cell.preset.sign), escape(cell.preset.label)
        classes += " preset"
    if cell.locked:
        extra += ' aria-readonly="true"'
    swap = ' hx-swap-oob="true"' if oob else ""
    return mark_safe(  # noqa: S308 (every text that comes from a file is escaped above)
        f'<td role="gridcell" tabindex="-1" id="{cell.id}" class="{classes}"{extra}{swap}>'
        f'<span aria-hidden="true">{sign}</span><span class="vh">{words}</span></td>'
    )


@register.inclusion_tag("annotation/_tabs.html", takes_context=True)
def study_tabs(context: dict[str, Any], study: Study) -> dict[str, Any]:
    path = context["request"].path
    items = [(tab.label, reverse(tab.url_name, args=[study.slug])) for tab in tabs.for_member(study.roles)]
    current = max((url for _, url in items if path.startswith(url)), key=len, default="")
    return {"items": items, "current": current, "study": study}


@register.filter
def facet(facets: dict[str, str], name: str) -> str:
    return facets.get(name, "")
