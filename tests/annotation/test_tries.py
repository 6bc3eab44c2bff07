"""Tries at passwords and codes: exactly as many as are allowed, of however many processes."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction

from annotation import actions
from annotation.models import Attempt
from tests.annotation.at_once import in_another_connection, postgresql


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_try_that_is_not_committed_yet_is_counted() -> None:
    said: list[object] = []
    with transaction.atomic():
        assert actions.try_allowed([("code:1", 1)]) == 0
        other = in_another_connection(lambda: actions.try_allowed([("code:1", 1)]), said)
        other.join(timeout=1)
        assert said == []  # it waits
        elsewhere = in_another_connection(lambda: actions.try_allowed([("code:2", 1)]), said)
        elsewhere.join(timeout=20)
        assert said == [0]
    other.join(timeout=20)

    assert said[1:] != [0]
    assert len(said) == 2
    assert Attempt.objects.count() == 2


@postgresql
@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_as_many_pass_as_may() -> None:
    """Each under two names, in an order of its own."""
    said: list[object] = []
    start = threading.Barrier(12)

    def one(number: int) -> int:
        connection.ensure_connection()
        start.wait(timeout=20)
        limits = [("account", 5), (f"address:{number % 2}", 4)]
        return actions.try_allowed(limits if number % 3 else limits[::-1])

    threads = [in_another_connection(lambda number=number: one(number), said) for number in range(12)]  # type: ignore[misc]
    for thread in threads:
        thread.join(timeout=60)

    assert len(said) == 12
    assert said.count(0) == 5


@pytest.mark.django_db
def test_what_is_over_a_limit_is_not_counted() -> None:
    waits = [actions.try_allowed([("a", 2), ("b", 3)]) for _time in range(4)]

    assert waits[:2] == [0, 0]
    assert 0 < waits[2] <= 901
    assert waits[3] > 0
    assert actions.tries("a") == actions.tries("b") == 2
