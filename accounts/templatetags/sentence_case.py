"""Headings and buttons of allauth's own pages, written as ours are."""

from __future__ import annotations

import re

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

register = template.Library()

# A word behind the first, unless it is an abbreviation: Email, Sign-In, but neither IP nor PIN.
_LATER = re.compile(r"(?<=\w[ -])[A-Z](?=[a-z])")


@register.filter
def sentence_case(text: str) -> str:
    """“Password Reset” → “Password reset”. English alone; sentences are left as they are."""
    if not (get_language() or "").startswith("en") or text.strip().endswith((".", "?", "!")):
        return text
    lowered = _LATER.sub(lambda letter: letter.group().lower(), text)
    return mark_safe(lowered) if isinstance(text, SafeString) else lowered  # noqa: S308
