"""The code of an answer: one string that is equal exactly where two answers are. Pure.

    found            the key of an option
    :"flour; water"  a value, as canonical JSON: UTF-8, no blanks, the keys in the order of the scheme
    !cannot tell     skipped, and why
                     (the empty string) nothing

With "=" before it, it was preset and nobody chose it; with "~" it was drafted from another rater's answers, and its
person has not confirmed it yet. The page, its queue in the browser, the clipboard and the history know answers by it.
"""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import Any, NamedTuple

VALUE, SKIP, PRESET, DRAFT = ":", "!", "=", "~"

# An option's key, a number, a text, a list of records.
Value = str | int | float | list[dict[str, Any]]


class Wire(NamedTuple):
    """A code as the page sends it, taken apart; `code` is of an option or a value, and empty for a skip or nothing."""

    code: str = ""
    skip: str = ""
    preset: bool = False
    draft: bool = False

    def __str__(self) -> str:
        prefix = PRESET if self.preset else DRAFT if self.draft else ""
        return f"{prefix}{self.code}" if self.code else skip_code(self.skip)


def wire(text: str) -> Wire:
    """Take a code with its prefix apart; knows no question, so the code may still be none of its answers."""
    if text.startswith(SKIP):
        return Wire(skip=text[1:])
    if text.startswith((PRESET, DRAFT)):
        return Wire(text[1:], preset=text[0] == PRESET, draft=text[0] == DRAFT)
    return Wire(text)


def bare(text: str) -> str:
    """A code without the prefix that says how it came about."""
    return text[1:] if text.startswith((PRESET, DRAFT)) else text


def skip_code(reason: str) -> str:
    return f"{SKIP}{reason}" if reason else ""


def dumps(value: Any) -> str:
    """Canonical JSON of a canonical value.

    >>> dumps([{"task": "mix", "with": ["flour", "water"]}])
    '[{"task":"mix","with":["flour","water"]}]'
    >>> dumps(0.00001)
    '0.00001'
    """
    if isinstance(value, float):
        return plain(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def plain(number: int | float) -> str:
    """A number without an exponent, as it is written by hand.

    >>> plain(1e-7), plain(2.50), plain(-3)
    ('0.0000001', '2.5', '-3')
    """
    return format(Decimal(repr(number)), "f")


def value_code(value: Value) -> str:
    """The code of a value that is no option."""
    return VALUE + dumps(value)


def digest(code: str) -> str:
    """16 hexadecimal digits instead of a code of any length, for columns of files and indexes."""
    return hashlib.sha256(code.encode()).hexdigest()[:16]
