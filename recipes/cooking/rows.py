"""Whose rows are web pages: a study of anything else has no use for finding and importing them."""

from __future__ import annotations

from annotation.models import Study

_of_something_else: set[str] = set()


def register_other_rows(*schemes: str) -> None:
    """Rows under these schemes, by their keys, are texts, tables or names, and come from elsewhere."""
    _of_something_else.update(schemes)


def may_be_pages(study: Study) -> bool:
    """Out of its scheme; a scheme that nobody told otherwise, such as a user's own, may ask about web pages. One of a
    benchmark asks about what models wrote."""
    return study.scheme.slug not in _of_something_else and study.scheme.parsed.benchmark is None
