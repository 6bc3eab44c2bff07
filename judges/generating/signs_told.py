"""The signs that a text is not what was asked for, in the words of the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from llm.generating.signs import Sign

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

_TOLD = {
    Sign.EMPTY: _("empty"),
    Sign.REFUSAL: _("refusal"),
    Sign.PREFIX: _("prompt taken as a prefix"),
    Sign.LOOP: _("endless loop"),
}


def told(sign: str) -> StrPromise | str:
    return _TOLD.get(Sign(sign), sign)


def choices() -> list[tuple[str, StrPromise]]:
    """By what texts are chosen: one of the signs, that they were cut, or none of it."""
    return [
        *((str(sign), title) for sign, title in _TOLD.items()),
        ("cut", _("cut at the limit")),
        ("none", _("no sign")),
    ]
