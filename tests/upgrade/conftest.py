"""The database of an older version, brought up to date by `migrate`, in the place of the tests' own.

A module's `PUT` says what is put into it on the way: {(app, migration): a function of the models as they are then}, or
None where `migrate` stops and goes on, and nothing is put in.
"""

from __future__ import annotations

import json
import lzma
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker

from tests.upgrade import facts

DATA = Path(__file__).resolve().parent / "data"


def _read(name: str) -> str:
    return lzma.decompress((DATA / name).read_bytes()).decode()


@pytest.fixture(scope="session")
def then() -> dict[str, Any]:
    """What `facts.collected` said of the database at the old version."""
    said: dict[str, Any] = json.loads(_read(f"{connection.vendor}.json.xz"))
    return said


@pytest.fixture(scope="session")
def new(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> tuple[set[str], set[tuple[str, str]]]:
    """The schema of a new database, and its migrations."""
    with django_db_blocker.unblock():
        return facts.schema(), facts.migrations()


@pytest.fixture(scope="module")
def watched() -> None:
    """A module that looks at the migrations while they run puts its own in this place."""


@pytest.fixture(scope="module", autouse=True)
def _upgraded(
    request: pytest.FixtureRequest,
    watched: None,
    new: object,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """The tests of a module share it; each one's changes are rolled back, as everywhere."""
    sql = _read(f"{connection.vendor}.sql.xz")
    with django_db_blocker.unblock():
        kept = connection.connection, connection.settings_dict["NAME"]
        if connection.vendor == "sqlite":
            # Closing a database in memory would lose it: it waits without a wrapper.
            connection.connection = None
            name = str(tmp_path_factory.mktemp("old") / "old.sqlite3")
            with sqlite3.connect(name) as raw:
                raw.executescript(sql)
            raw.close()
        else:
            name = f"{kept[1]}_old"
            with connection._nodb_cursor() as cursor:
                cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
                cursor.execute(f'CREATE DATABASE "{name}"')
            connection.close()
        connection.settings_dict["NAME"] = settings.DATABASES["default"]["NAME"] = name
        try:
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.connection.execute(sql)  # past Django's cursor, for which a % would be a place of a value
                connection.close()
            _migrate(getattr(request.module, "PUT", {}))
        except BaseException:
            _put_back(*kept)
            raise
    yield
    with django_db_blocker.unblock():
        _put_back(*kept)
        if connection.vendor == "postgresql":
            with connection._nodb_cursor() as cursor:
                cursor.execute(f'DROP DATABASE "{name}"')


def _migrate(put: Mapping[tuple[str, str], Callable[[Any], None] | None]) -> None:
    for step, fill in put.items():
        call_command("migrate", *step, verbosity=0)
        if fill is not None:
            fill(MigrationExecutor(connection).loader.project_state(step).apps)
    call_command("migrate", verbosity=0)


def _put_back(raw: Any, name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = settings.DATABASES["default"]["NAME"] = name
    if connection.vendor == "sqlite":
        connection.connection = raw
