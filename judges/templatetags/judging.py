from __future__ import annotations

from django import template

from judges.generating import signs_told

register = template.Library()


@register.filter
def sign_told(sign: str) -> str:
    return str(signs_told.told(sign))
