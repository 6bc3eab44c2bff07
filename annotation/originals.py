"""The stored page behind a row, where an app above keeps one: it says here where it can be looked at."""

from __future__ import annotations

from collections.abc import Callable

from annotation.models import Row

_finders: list[Callable[[Row], str | None]] = []


def register(find: Callable[[Row], str | None]) -> None:
    """`find` gives the address of a row's stored page, or None where there is none."""
    _finders.append(find)


def address(row: Row) -> str | None:
    return next((found for find in _finders if (found := find(row))), None)
