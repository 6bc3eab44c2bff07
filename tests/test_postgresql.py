"""PostgreSQL is asked less than Django would ask it, and no less is noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Permission
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client

from annotation.plain_sql import Shape, Statement
from tests.builders import user

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="about PostgreSQL"),
]

permission = Shape(Permission)
permissions = Statement("SELECT {one} FROM {one.table} WHERE {one.codename} = %s", one=permission)


@pytest.fixture(autouse=True)
def _nothing_is_left_in_the_connection() -> Iterator[None]:
    yield
    connection.close()


@pytest.fixture
def other() -> Iterator[BaseDatabaseWrapper]:
    """A second connection to the same database."""
    made = connection.copy()
    yield made
    made.close()


def end_connection(other: BaseDatabaseWrapper) -> None:
    """As a restart of the server does."""
    connection.ensure_connection()
    number = connection.connection.info.backend_pid
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [number])
        while cursor.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [number]).fetchone():
            pass


def test_an_open_connection_is_usable_and_is_not_asked(other: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 'before'")
    assert connection.is_usable()
    with other.cursor() as cursor:
        cursor.execute("SELECT query FROM pg_stat_activity WHERE pid = %s", [connection.connection.info.backend_pid])
        assert cursor.fetchone() == ("SELECT 'before'",)


def test_a_connection_that_the_server_ended_is_not(other: BaseDatabaseWrapper) -> None:
    end_connection(other)
    assert not connection.is_usable()


def test_a_request_after_the_server_was_started_anew_is_answered(other: BaseDatabaseWrapper) -> None:
    client = Client()
    client.force_login(user("anna"))
    assert client.get("/").status_code == 200
    end_connection(other)
    connection.health_check_enabled, connection.health_check_done = True, False  # as the start of a request sets them
    assert client.get("/").status_code == 200


def test_without_the_look_the_same_request_fails(other: BaseDatabaseWrapper) -> None:
    """What the test before would show if the look were left out."""
    end_connection(other)
    connection.health_check_done = True
    with pytest.raises(OperationalError), connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def plans() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%auth_permission%'")
        counted: int = cursor.fetchone()[0]
    return counted


def test_the_plan_of_a_prepared_query_is_kept() -> None:
    for _time in range(4):
        assert [permission(one).codename for one in permissions("add_user")] == ["add_user"]
    assert plans() == 1


def test_but_not_behind_a_pooler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)
    for _time in range(4):
        assert [permission(one).codename for one in permissions("add_user")] == ["add_user"]
    assert plans() == 0
