"""SQLite, with writers who queue.

SQLite lets one transaction write at a time. Who finds it busy sleeps and looks again, up to 100 ms later each time, and
whoever looks at the right moment goes first: with ten annotators some saves waited for seconds while nobody wrote. Here
they wait for a lock on a file beside the database instead, which the system hands on at once, in the order of coming,
and takes away from a process that ends. SQLite's own lock stays: a program that knows nothing of this one is safe too.
"""

from __future__ import annotations

import fcntl
import os
from typing import Any

from django.db.backends.sqlite3 import base, operations


class DatabaseOperations(operations.DatabaseOperations):
    def sql_flush(self, style: Any, tables: Any, **options: Any) -> list[str]:
        """Empties tables as PostgreSQL's TRUNCATE does, which no trigger that refuses deletions stops."""
        statements: list[str] = super().sql_flush(style, tables, **options)
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = [(name, sql) for name, table, sql in cursor.fetchall() if table in set(tables)]
        return [
            *(f"DROP TRIGGER {self.quote_name(name)}" for name, _sql in triggers),
            *statements,
            *(sql for _name, sql in triggers),
        ]


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turn: int | None = None  # descriptor of the file while this connection has its lock

    def _start_transaction_under_autocommit(self) -> None:
        if not self.is_in_memory_db():
            self._turn = os.open(f"{self.settings_dict['NAME']}-turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._turn, fcntl.LOCK_EX)
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # a hook that the stubs leave out
        except BaseException:
            self._hand_on()
            raise

    def _hand_on(self) -> None:
        if self._turn is not None:
            os.close(self._turn)
            self._turn = None

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]  # a hook that the stubs leave out
        self._hand_on()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]  # a hook that the stubs leave out
        finally:
            self._hand_on()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]  # a hook that the stubs leave out
        finally:
            self._hand_on()
