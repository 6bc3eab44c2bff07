"""A prepared query finds what the query that it was made from finds, each time with the values of that time."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Assignment, Column, LabelEvent
from annotation.prepared import MOST_KEPT, Prepared
from tests.builders import Leases, label

pytestmark = pytest.mark.django_db


def of_states(ids: list[int], state: str) -> list[Assignment]:
    return _of_states(ids=ids, state=state)


_of_states = Prepared(
    lambda ids, state: Assignment.objects.filter(pk__in=ids, state=state).select_related("row__sheet").order_by("pk")
)


def test_it_finds_by_the_values_of_each_call(leases: Leases) -> None:
    first, second = leases.annas
    Assignment.objects.filter(pk=second.pk).update(state="started")
    assert of_states([first.pk, second.pk], "open") == [first]
    assert of_states([first.pk, second.pk], "started") == [second]
    assert of_states([leases.boriss[0].pk, second.pk], "started") == [second]


def test_what_it_finds_are_whole_objects_with_what_belongs_to_them(leases: Leases) -> None:
    found = of_states([leases.annas[0].pk], "open")[0]
    with CaptureQueriesContext(connection) as asked:
        assert found.row.sheet == leases.sheet
        assert found.sections == []  # JSON, read as JSON
    assert not asked
    found.active_seconds = 5
    found.save()
    assert Assignment.objects.get(pk=found.pk).active_seconds == 5


def test_objects_of_an_earlier_call_stay_as_they_were(leases: Leases) -> None:
    first = of_states([leases.annas[0].pk], "open")
    of_states([leases.annas[1].pk], "open")
    assert first == [leases.annas[0]]


@pytest.mark.parametrize("length", [0, 1, MOST_KEPT, MOST_KEPT + 1])
def test_a_list_may_have_any_length(leases: Leases, length: int) -> None:
    own = [one.pk for one in leases.annas]
    others = [10**9 + number for number in range(length)]
    assert {one.pk for one in of_states([*own, *others], "open")} == set(own)
    assert of_states(others, "open") == []


def test_its_sql_is_made_once_and_long_lists_are_not_kept(leases: Leases) -> None:
    made = []

    def build(ids: object) -> object:
        made.append(ids)
        return Column.objects.filter(pk__in=ids).order_by()

    prepared: Prepared[Column] = Prepared(build)  # type: ignore[arg-type]
    for length in (1, 1, 2, 1):
        prepared(ids=[0] * length)
    assert len(made) == 2
    for _time in range(2):
        prepared(ids=[0] * (MOST_KEPT + 1))
    assert len(made) == 4


def test_times_and_keys_are_bound_as_the_database_stores_them(leases: Leases) -> None:
    by_key = Prepared(lambda key: LabelEvent.objects.filter(key=key).order_by(), key=LabelEvent._meta.get_field("key"))
    ended = Prepared(lambda at: Session.objects.filter(expire_date__lt=at), at=Session._meta.get_field("expire_date"))
    label(leases.annas[0])
    event = LabelEvent.objects.latest("pk")
    Session.objects.create(session_key="s", session_data="", expire_date=timezone.now())

    assert event in by_key(key=event.key)
    assert by_key(key=uuid.uuid4()) == []
    assert [one.session_key for one in ended(at=timezone.now() + timedelta(seconds=1))] == ["s"]
    assert ended(at=timezone.now() - timedelta(seconds=1)) == []


def test_each_call_is_one_query_that_is_logged_as_any_other(leases: Leases) -> None:
    of_states([leases.annas[0].pk], "open")
    with CaptureQueriesContext(connection) as asked:
        of_states([leases.annas[0].pk], "open")
    assert len(asked) == 1
    assert "annotation_assignment" in asked[0]["sql"]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the tests' SQLite is in memory, for one thread alone")
@pytest.mark.django_db(transaction=True)
def test_threads_do_not_take_each_others_answers(leases: Leases) -> None:
    everyone = [*leases.annas, *leases.boriss, *leases.judges]

    def look(number: int) -> bool:
        one = everyone[number % len(everyone)]
        right = all(of_states([one.pk], "open") == [one] for _time in range(20))
        connection.close()
        return right

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(look, range(24)))
