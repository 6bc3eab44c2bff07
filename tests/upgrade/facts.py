"""What a database of an older version holds, as facts that a migration must keep.

Three kinds: each column of each table by a digest of its values (whatever is nowhere else looked at cannot be lost
unseen either), and the two things that people rely on in words: the export of the labels and the history.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from datetime import date
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

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


# --- of the tables alone ---------------------------------------------------------------------------------------------

_OF_POSTGRESQL = (
    """SELECT 'column', c.relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attstattarget,
              attcollation, pg_get_expr(adbin, adrelid)
       FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = c.oid AND adnum = attnum
       WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped""",
    """SELECT 'constraint', conrelid::regclass, conname, contype, pg_get_constraintdef(oid), condeferrable, condeferred
       FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 't'""",
    "SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "SELECT 'trigger', tgrelid::regclass, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
)


def schema() -> set[str]:
    """What there is in the database beside rows. Not said is what follows from the way alone: the order of columns, the
    names that no model gives, and how PostgreSQL writes a condition on a column that was shorter once."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            return {part for name, sql in cursor.fetchall() for part in _parts(name, sql)}
        metas = [model._meta for model in apps.get_models()]
        given = {of.name for meta in metas for of in (*meta.constraints, *meta.indexes)}
        said = set()
        for query in _OF_POSTGRESQL:
            cursor.execute(query)
            for kind, table, name, *rest in cursor.fetchall():
                of = " ".join(map(str, rest))
                if kind in ("constraint", "index") and name not in given:
                    of, name = of.replace(f" {name} ", " "), ""
                said.add(re.sub(r"::[a-z ]+(\[\])?|[()]", "", f"{kind} {table} {name} {of}"))
        return said


def _parts(name: str, sql: str) -> Iterable[str]:
    """`CREATE TABLE` by its columns and constraints: SQLite puts a column that is changed behind the others."""
    if not sql.startswith("CREATE TABLE"):
        return [sql]
    inside = sql[sql.index("(") + 1 : sql.rindex(")")]
    deep, parts = 0, [""]
    for sign in inside:
        deep += (sign == "(") - (sign == ")")
        if sign == "," and not deep:
            parts.append("")
        else:
            parts[-1] += sign
    return [f"{name}: {part.strip()}" for part in parts]


def migrations() -> set[tuple[str, str]]:
    """Those that are recorded as applied."""
    return set(MigrationRecorder(connection).applied_migrations())
