from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from recipes.memorization.faults import pieces

register = template.Library()


@register.filter
def marked(text: str, faults: Sequence[tuple[str, str]]) -> SafeString:
    """A line of a candidate in which the words of its faults are marked; the reason is said on hovering."""
    return format_html_join(
        "",
        "{}",
        (
            (format_html('<mark title="{}">{}</mark>', piece.reason, piece.text) if piece.reason else piece.text,)
            for piece in pieces(text, faults)
        ),
    )
