"""The sections of a scheme with their questions and options, read once a process: a stored scheme never changes."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import lru_cache

from annotation.models import Column, Scheme, Section


def whole_sections(columns: Collection[Column]) -> dict[int, Section]:
    """{id: section} of some columns, each with its scheme, questions and options.

    One query for what is new to this process, and none where the columns come with section and scheme.
    """
    if all(map(_comes_with_scheme, columns)):
        schemes = {(column.section.scheme_id, column.section.scheme.created_at) for column in columns}
    else:
        ids = {column.section_id for column in columns}
        schemes = set(Section.objects.filter(pk__in=ids).order_by().values_list("scheme_id", "scheme__created_at"))
    return {pk: section for scheme in schemes for pk, section in _sections(*scheme).items()}


def _comes_with_scheme(column: Column) -> bool:
    return "section" in column._state.fields_cache and "scheme" in column.section._state.fields_cache


@lru_cache(maxsize=64)
def _sections(scheme_id: int, created_at: datetime) -> dict[int, Section]:
    """Its time of creation tells a scheme from another one that gets its number in a database that is made anew."""
    scheme = Scheme.objects.get(pk=scheme_id)
    return {section.pk: section for section in scheme.sections.prefetch_related("questions__options")}
