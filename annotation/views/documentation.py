"""Pages of the documentation, shown in the program."""

from __future__ import annotations

from collections.abc import Callable

from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

from base.markup import html_of


def parts_of(text: str, here: Callable[[str], str | None]) -> list[dict[str, str | SafeString]]:
    """A page's title with what stands before its first section, then its sections: "title", "anchor" and "html" of
    each. `here` as for `html_of`."""
    parts = [part.partition("\n") for part in text.removeprefix("# ").split("\n## ")]
    return [
        {"title": title, "anchor": slugify(title), "html": mark_safe(html_of(body, here))}  # noqa: S308 (it escapes all)
        for title, _end, body in parts
    ]
