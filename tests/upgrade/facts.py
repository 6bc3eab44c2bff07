"""What a database of an older version holds, as facts that a migration must keep.

Three kinds: each column of each table by a digest of its values (whatever is nowhere else looked at cannot be lost
unseen either), and the two things that people rely on in words: the export of the labels and the history.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import date
from typing import Any

from django.db import connection

from annotation.exchange.exports import exported_labels, label_header, safe_lines
from annotation.models import LabelEvent, Study
from reports.models import Report

# Of the frame itself: what stands there follows from the code that is installed.
NOT_OURS = {"django_migrations", "django_content_type", "auth_permission", "sqlite_sequence"}


def collected() -> dict[str, Any]:
    """All facts of the database that the default connection is to."""
    return {
        "tables": tables(),
        "exports": {study.slug: export(study) for study in Study.objects.order_by("slug")},
        "history": history(),
        "reports": {str(report.pk): report.results_digest for report in Report.objects.order_by("pk")},
    }


def tables() -> dict[str, Any]:
    """{table: {"rows": how many, "columns": {name: digest of its values, in the order of the key}}}"""
    with connection.cursor() as cursor:
        names = sorted(set(connection.introspection.table_names(cursor)) - NOT_OURS)
        return {name: _table(cursor, name) for name in names}


def _table(cursor: Any, name: str) -> dict[str, Any]:
    of_it = connection.introspection.get_table_description(cursor, name)
    key = connection.introspection.get_primary_key_column(cursor, name)
    columns = sorted(column.name for column in of_it)
    said = ", ".join(map(connection.ops.quote_name, columns))
    cursor.execute(f"SELECT {said} FROM {connection.ops.quote_name(name)} ORDER BY {connection.ops.quote_name(key)}")
    rows = cursor.fetchall()
    return {
        "rows": len(rows),
        "columns": {column: digest(_plain(row[place]) for row in rows) for place, column in enumerate(columns) if rows},
    }


def _plain(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, memoryview | bytes):
        return bytes(value).hex()
    return str(value)


def digest(lines: Iterable[str]) -> str:
    return hashlib.sha256(json.dumps(list(lines)).encode()).hexdigest()[:20]


def export(study: Study) -> list[str]:
    """The long form of all labels, line by line."""
    return list(safe_lines(label_header(study), exported_labels(study)))


def history() -> list[list[str | None]]:
    """All that the history pages say, event by event."""
    of_all = LabelEvent.objects.order_by("pk").values_list(
        "assignment__row__sheet__title",
        "assignment__row__name",
        "assignment__rater__code",
        "column__name",
        "question__key",
        "before__key",
        "after__key",
        "skip_before",
        "skip_after",
        "note",
        "preset",
        "by__username",
        "restored_to",
        "at",
        "key",
    )
    return [[None if value is None else _plain(value) for value in event] for event in of_all]
