"""What no code of ours can undo: the database refuses to change an event of the audit log, or to delete a young one.

The triggers are made after each migration, as those of frozen reports are. Whoever owns the database can still take
them away, as `manage.py flush` does while it empties the whole of it.
"""

from __future__ import annotations

from typing import Any

from django.db import connections

from annotation.actions.trust import AUDIT_DAYS

TABLE = "annotation_auditevent"
SAYS = "The audit log is never changed."


def guard_audit(using: str, **_signal: Any) -> None:
    connection = connections[using]
    with connection.cursor() as cursor:
        if TABLE not in connection.introspection.table_names(cursor):
            return
        if connection.vendor == "sqlite":
            # Times are texts here, which sort as the times do.
            young = f"OLD.at > strftime('%Y-%m-%d %H:%M:%f', 'now', '-{AUDIT_DAYS} days')"
            for trigger, when in (("audit_unchanged", "BEFORE UPDATE"), ("audit_undeleted", "BEFORE DELETE")):
                condition = f"WHEN {young}" if "DELETE" in when else ""
                cursor.execute(
                    f"CREATE TRIGGER IF NOT EXISTS {trigger} {when} ON {TABLE} {condition} "
                    f"BEGIN SELECT RAISE(ABORT, '{SAYS}'); END"
                )
        elif connection.vendor == "postgresql":
            cursor.execute(
                "CREATE OR REPLACE FUNCTION audit_unchanged() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                f"IF TG_OP = 'DELETE' AND OLD.at <= now() - interval '{AUDIT_DAYS} days' THEN RETURN OLD; END IF; "
                f"RAISE EXCEPTION '{SAYS}'; END $$"
            )
            cursor.execute(
                f"CREATE OR REPLACE TRIGGER audit_unchanged BEFORE UPDATE OR DELETE ON {TABLE} "
                "FOR EACH ROW EXECUTE FUNCTION audit_unchanged()"
            )
            # TRUNCATE deletes no row of its own, and asks no trigger of rows.
            cursor.execute(
                "CREATE OR REPLACE FUNCTION audit_untruncated() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN RAISE EXCEPTION '{SAYS}'; END $$"
            )
            cursor.execute(
                f"CREATE OR REPLACE TRIGGER audit_untruncated BEFORE TRUNCATE ON {TABLE} "
                "FOR EACH STATEMENT EXECUTE FUNCTION audit_untruncated()"
            )
