"""What tests share in their database and is made once: its tables, and what the tests of a module begin with."""

from __future__ import annotations

import copy
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from django.core.cache import caches
from django.db import connection, transaction
from pytest_django import DjangoDbBlocker

T = TypeVar("T")
_MAKERS: dict[Callable[..., Any], Callable[[], Any]] = {}  # of fixtures
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


class MadeOnce:
    """What tests begin with, kept in a transaction around those that want it one after the other: each undoes what it
    does itself, and making it anew takes longer than most of them."""

    wanted: Callable[[], Any] | None = None  # what makes it for the test that is to run

    def __init__(self, blocker: DjangoDbBlocker) -> None:
        self._blocker = blocker
        self._make: Callable[[], Any] | None = None
        self._made: Any = None
        self._undone = ExitStack()

    def fit(self) -> None:
        """Make it, or undo it, as the next test wants. Within a transaction of somebody else's nothing is kept."""
        make = MadeOnce.wanted
        if make is self._make:
            return
        self.undo()
        if make is not None and not connection.in_atomic_block:
            self._made = self._undone.enter_context(kept(make, self._blocker))
            self._make = make

    def of(self, make: Callable[[], T]) -> T:
        """A copy, of which a test may change each part. No report is kept: another test's of equal rows of the same
        moment would be taken for this one's."""
        for cache in ("reports", "pages"):
            caches[cache].clear()
        return copy.deepcopy(cast(T, self._made)) if make is self._make else make()

    def undo(self) -> None:
        self._make = self._made = None
        self._undone.close()


def made_once(make: Callable[[], T]) -> Any:
    """A fixture of what `make` makes with the database alone: see `MadeOnce`."""

    def fixture(kept_for_tests: MadeOnce, db: None) -> T:
        return kept_for_tests.of(make)

    fixture.__doc__ = make.__doc__
    _MAKERS[fixture] = make
    return pytest.fixture(fixture)


def begins_with(item: pytest.Item) -> Callable[[], Any] | None:
    """What makes that with which a test begins; of several the one that it names last, which is most its own."""
    fixtures = getattr(item, "_fixtureinfo").name2fixturedefs  # noqa: B009 - the plugins' own way to it, and not typed
    makers = [_MAKERS[found] for found in (each[-1].func for each in fixtures.values()) if found in _MAKERS]
    return makers[-1] if makers else None


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
