"""Whose request it is: sessions that ended and people who were deactivated are nobody, from the next request on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from tests.builders import Leases, user

pytestmark = pytest.mark.django_db

ClientOf = Callable[..., Client]


def is_in(client: Client) -> bool:
    return client.get("/").status_code == 200


@pytest.fixture
def anna(leases: Leases, client_of: ClientOf) -> Client:
    client = client_of(leases.anna)
    assert is_in(client)
    return client


def test_a_session_that_was_deleted_elsewhere(anna: Client) -> None:
    Session.objects.all().delete()
    assert not is_in(anna)


def test_a_session_past_its_time(anna: Client) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert not is_in(anna)


def test_a_deactivated_person(leases: Leases, anna: Client) -> None:
    leases.anna.is_active = False
    leases.anna.save()
    assert not is_in(anna)


def test_a_changed_password_ends_other_sessions(leases: Leases, anna: Client) -> None:
    leases.anna.set_password("another one")
    leases.anna.save()
    assert not is_in(anna)


def test_a_key_that_never_was(client: Client) -> None:
    client.cookies["sessionid"] = "a" * 32
    assert not is_in(client)


def test_two_people_in_turn_are_themselves(leases: Leases, client_of: ClientOf) -> None:
    clients = {one.username: client_of(one) for one in (leases.anna, leases.boris, user("cyril"))}
    for _time in range(2):
        for name, client in clients.items():
            assert client.get("/").context["user"].username == name
