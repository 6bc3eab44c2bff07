"""What tests share in their database and is made once: its tables, and what the tests of a module begin with."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from django.db import connection, transaction
from pytest_django import DjangoDbBlocker

T = TypeVar("T")
SIDE_BY_SIDE = "PYTEST_XDIST_WORKER" in os.environ


@contextmanager
def kept(make: Callable[[], T], blocker: DjangoDbBlocker) -> Iterator[T]:
    """What `make` makes, in a transaction around those of the tests: each undoes what it does itself."""
    undone = ExitStack()
    with blocker.unblock():
        undone.enter_context(transaction.atomic())
        try:
            made = make()
        except BaseException:
            transaction.set_rollback(True)
            undone.close()
            raise
    yield made
    with blocker.unblock():
        transaction.set_rollback(True)
        undone.close()


class Template:
    """The database as the migrations leave it, made by the first of the processes that run tests side by side; the
    others begin with a copy. A file of SQLite, or a database of PostgreSQL's with a file that says that it is there."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "migrated.sqlite3"
        self._name = f"migrated_for_tests_of_{connection.settings_dict['NAME']}"[:63]
        self._lock = ExitStack()
        self._is_ours = False

    @contextmanager
    def copied(self) -> Iterator[None]:
        """A database that Django makes for tests in here is migrated already, or all others wait until it is kept."""
        with self._lock, pytest.MonkeyPatch.context() as patch, ExitStack() as filled:
            fcntl.flock(self._lock.enter_context(self._file.with_suffix(".lock").open("w")), fcntl.LOCK_EX)
            self._is_ours = not self._file.exists()
            if not self._is_ours:
                self._lock.close()
                if connection.vendor == "sqlite":
                    make = connection.creation._create_test_db
                    patch.setattr(connection.creation, "_create_test_db", self._filling(make, filled))
                else:
                    patch.setitem(connection.settings_dict["TEST"], "TEMPLATE", self._name)
            yield

    def _filling(self, make: Callable[..., str], filled: ExitStack) -> Callable[..., str]:
        def made(*args: Any, **options: Any) -> str:
            name = make(*args, **options)
            # A database in memory is gone with its last connection.
            into = filled.enter_context(closing(sqlite3.connect(name, uri=True)))
            with closing(sqlite3.connect(self._file)) as file:
                file.backup(into)
            return name

        return made

    def keep(self) -> None:
        """Of the first process, once it has migrated: the others go on."""
        if not self._is_ours:
            return
        if connection.vendor == "sqlite":
            with closing(sqlite3.connect(self._file)) as file:
                connection.connection.backup(file)
        else:
            own = str(connection.settings_dict["NAME"])
            connection.close()  # a database that is used is no template
            with connection._nodb_cursor() as cursor:
                cursor.execute(f'DROP DATABASE IF EXISTS "{self._name}"')  # of a run that was killed
                cursor.execute(f'CREATE DATABASE "{self._name}" TEMPLATE "{own}"')
            self._file.touch()
        self._lock.close()

    def let_go(self) -> None:
        """Of a process that has none: whoever waits for it goes on."""
        self._is_ours = False
        self._lock.close()

    def drop(self) -> None:
        """Of the first process, at its end. Whoever might begin then migrates."""
        if self._is_ours and connection.vendor == "postgresql":
            self._file.unlink()
            with connection._nodb_cursor() as cursor:
                cursor.execute(f'DROP DATABASE "{self._name}"')
