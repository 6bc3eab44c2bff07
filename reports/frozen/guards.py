"""What no code of ours can undo: the database itself refuses to change a frozen report.

Django has no constraint for it, so that a trigger is made after each migration, on SQLite and on PostgreSQL.
"""

from __future__ import annotations

from typing import Any

from django.db import connections

_TABLE, _TRIGGER = "reports_report", "report_is_frozen"
_SAYS = "A frozen report is never changed."


def guard_reports(using: str, **_signal: Any) -> None:
    connection = connections[using]
    with connection.cursor() as cursor:
        if _TABLE not in connection.introspection.table_names(cursor):
            return
        if connection.vendor == "sqlite":
            cursor.execute(
                f"CREATE TRIGGER IF NOT EXISTS {_TRIGGER} BEFORE UPDATE ON {_TABLE} "
                f"BEGIN SELECT RAISE(ABORT, '{_SAYS}'); END"
            )
        elif connection.vendor == "postgresql":
            cursor.execute(
                f"CREATE OR REPLACE FUNCTION {_TRIGGER}() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN RAISE EXCEPTION '{_SAYS}'; END $$"
            )
            cursor.execute(
                f"CREATE OR REPLACE TRIGGER {_TRIGGER} BEFORE UPDATE ON {_TABLE} "
                f"FOR EACH ROW EXECUTE FUNCTION {_TRIGGER}()"
            )
