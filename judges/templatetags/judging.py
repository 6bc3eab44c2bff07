from __future__ import annotations

from django import template

from judges.generating import signs_told

register = template.Library()


@register.filter
def sign_told(sign: str) -> str:
    return str(signs_told.told(sign))


@register.filter
def as_percent(share: float | None) -> str:
    """A share in whole percent; a dash for none."""
    return "–" if share is None else f"{100 * share:.0f} %"
