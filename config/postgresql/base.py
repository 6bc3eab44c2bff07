"""PostgreSQL, with fewer questions to it, and tables that are emptied by nobody but who empties all."""

from __future__ import annotations

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base, operations
from django.db.backends.utils import CursorWrapper

_GUARDED = """\
SELECT pg_class.relname, tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
WHERE NOT tgisinternal AND tgtype & 32 <> 0 AND pg_table_is_visible(pg_class.oid)"""  # 32: BEFORE TRUNCATE


class DatabaseOperations(operations.DatabaseOperations):
    def sql_flush(self, style: Any, tables: Any, **options: Any) -> list[str]:
        """Empties tables, those too that a trigger keeps from being emptied by `TRUNCATE`: that is what it is for."""
        statements: list[str] = super().sql_flush(style, tables, **options)
        with self.connection.cursor() as cursor:
            cursor.execute(_GUARDED)
            guarded = [(self.quote_name(table), self.quote_name(trigger)) for table, trigger in cursor.fetchall()]
        return [
            *(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}" for table, trigger in guarded),
            *statements,
            *(f"ALTER TABLE {table} ENABLE TRIGGER {trigger}" for table, trigger in guarded),
        ]


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def is_usable(self) -> bool:
        """Whether the server has left the connection open since its last query; asked at the start of each request.

        Django asks the server, which takes as long as reading a label. But a server that ends a connection says so, and
        what it said, or the end of the stream, waits to be read. Only where something waits the server is asked.
        """
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection.fileno(), select.POLLIN)
        return not waiting.poll(0) or super().is_usable()

    def prepared_cursor(self) -> CursorWrapper:
        """A cursor that binds values in the database, which so keeps the plan of a query it has seen before.

        A plain one where connections are handed round by a pooler (`DISABLE_SERVER_SIDE_CURSORS`): nothing can be kept.
        """
        if self.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"):
            return self.cursor()
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            cursor: CursorWrapper = self._prepare_cursor(psycopg.Cursor(self.connection))  # type: ignore[attr-defined]
        return cursor
