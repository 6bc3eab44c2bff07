"""Writers of SQLite wait in a queue of their own, which ends with the transaction however that ends."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.db.utils import ConnectionHandler

pytestmark = pytest.mark.django_db


@pytest.fixture
def databases(tmp_path: Path) -> ConnectionHandler:
    """A file of its own; each thread gets a connection of its own to it."""
    options = {"transaction_mode": "IMMEDIATE", "timeout": 0.05, "init_command": "PRAGMA journal_mode=WAL"}
    here = {"ENGINE": "config.sqlite", "NAME": str(tmp_path / "own.sqlite3"), "OPTIONS": options}
    handler = ConnectionHandler({"default": here})
    with handler["default"].cursor() as cursor:
        cursor.execute("CREATE TABLE counted (n INTEGER)")
        cursor.execute("INSERT INTO counted VALUES (0)")
    return handler


def begin(connection: Any) -> None:
    connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def is_taken(connection: Any) -> bool:
    with Path(f"{connection.settings_dict['NAME']}-turn").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(lambda connection: connection.commit(), id="commit"),
        pytest.param(lambda connection: connection.rollback(), id="rollback"),
        pytest.param(lambda connection: connection.close(), id="closed"),
    ],
)
def test_the_turn_ends_with_the_transaction(databases: ConnectionHandler, end: Callable[[Any], None]) -> None:
    connection = databases["default"]
    begin(connection)
    assert is_taken(connection)
    end(connection)
    assert not is_taken(connection)


def test_who_cannot_begin_does_not_keep_the_turn(databases: ConnectionHandler) -> None:
    """Another program, which knows nothing of the queue, is writing."""
    connection = databases["default"]
    other = connection.get_new_connection(connection.get_connection_params())
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="locked"):
        begin(connection)
    assert not is_taken(connection)
    other.close()


def test_all_writers_get_their_turn(databases: ConnectionHandler) -> None:
    """More at once than SQLite's own 50 ms of patience would let in."""

    def count(_writer: int) -> None:
        connection = databases["default"]
        for _time in range(10):
            begin(connection)
            with connection.cursor() as cursor:
                n = cursor.execute("SELECT n FROM counted").fetchone()[0]
                time.sleep(0.002)  # long enough for all others to come
                cursor.execute("UPDATE counted SET n = %s", [n + 1])
            connection.commit()
            connection.set_autocommit(True)
        connection.close()

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(count, range(12)))
    with databases["default"].cursor() as cursor:
        assert cursor.execute("SELECT n FROM counted").fetchone()[0] == 120
