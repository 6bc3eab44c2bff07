from __future__ import annotations

from django import template

from judges.generating import signs_told

register = template.Library()


@register.filter
def sign_told(sign: str) -> str:
    return str(signs_told.told(sign))


@register.filter
def about(number: int) -> int:
    """To two figures, which is all that an estimate says."""
    digits = len(str(abs(int(number))))
    return round(int(number), 2 - digits) if digits > 2 else int(number)


@register.filter
def as_time(seconds: float) -> str:
    """Seconds below two minutes, else hours and minutes."""
    if seconds < 1:
        return "1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


@register.filter
def as_percent(share: float | None) -> str:
    """A share in whole percent; a dash for none."""
    return "–" if share is None else f"{100 * share:.0f} %"
