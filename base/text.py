"""Text that can be stored, numbers that stand in it, and the order that follows from them. Pure."""

from __future__ import annotations

import re

# Control characters that are no white space, and halves of surrogate pairs: PostgreSQL refuses NUL, UTF-8 the halves.
UNSTORABLE = re.compile("[\x00-\x08\x0e-\x1b\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` without what a database or a page cannot hold."""
    return UNSTORABLE.sub("", text)


def whole_number(text: str) -> int | None:
    """“2”, “+2” and “2.0” are 2; anything else is None."""
    return int(match[1]) if (match := re.fullmatch(r"([+-]?\d{1,9})(?:\.0+)?", text)) else None


def natural(text: str) -> tuple[tuple[int, int | str], ...]:
    """A key to sort by: A2 before A10."""
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", text) if part)
