"""What no code of ours can undo: the database itself refuses to change a frozen report.

Django has no constraint for it, so that a trigger is made after each migration, on SQLite and on PostgreSQL.
"""

from __future__ import annotations

from typing import Any

from django.db import connections


def guard_reports(using: str, **_signal: Any) -> None:
    guard(using, table="reports_report", trigger="report_is_frozen", says="A frozen report is never changed.")
    guard(using, table="reports_certificate", trigger="certificate_is_frozen", says="A certificate is never changed.")
    guard(using, table="reports_revocation", trigger="revocation_is_frozen", says="A revocation is never changed.")


def guard(using: str, *, table: str, trigger: str, says: str) -> None:
    """Have the database refuse each change of a table's rows; where the table is not made yet, nothing happens."""
    connection = connections[using]
    with connection.cursor() as cursor:
        if table not in connection.introspection.table_names(cursor):
            return
        if connection.vendor == "sqlite":
            cursor.execute(
                f"CREATE TRIGGER IF NOT EXISTS {trigger} BEFORE UPDATE ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{says}'); END"
            )
        elif connection.vendor == "postgresql":
            cursor.execute(
                f"CREATE OR REPLACE FUNCTION {trigger}() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN RAISE EXCEPTION '{says}'; END $$"
            )
            cursor.execute(
                f"CREATE OR REPLACE TRIGGER {trigger} BEFORE UPDATE ON {table} "
                f"FOR EACH ROW EXECUTE FUNCTION {trigger}()"
            )
