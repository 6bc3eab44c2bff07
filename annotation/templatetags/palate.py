from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from annotation import tabs
from annotation.models import Rater, Study, User
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
    if cell.note:
        locked += f' data-note="{cell.note}"'
    if cell.option is not None:
        preset = " data-preset" if cell.by_itself else ""
        sign, word = escape(cell.option.sign), escape(cell.option.label)
        return (
            f'<td class="t-{cell.option.colour}" data-option="{cell.option.key}" data-sign="{sign}"{preset}{locked}>'
            f"{word}</td>"
        )
    if cell.skip:
        reason = escape(cell.skip)
        word = _("cannot tell: %(reason)s") % {"reason": reason}
        return f'<td class="skip" data-skip="{reason}" data-sign="?" title="{reason}"{locked}>{word}</td>'
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
def duration(seconds: int) -> str:
    """Seconds of active time, in the words of the grid's script."""
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours:
        return _("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": minutes}
    return _("%(minutes)s min") % {"minutes": minutes}


@register.filter
def facet(facets: dict[str, str], name: str) -> str:
    return facets.get(name, "")


@register.inclusion_tag("annotation/_paused.html")
def paused(user: User, study: Study | None = None) -> dict[str, Any]:
    """Tells a person in which studies they are paused. One query."""
    raters = Rater.objects.filter(user=user.pk, active=True, paused_at__isnull=False).select_related("study")
    return {"raters": raters if study is None else raters.filter(study=study)}
