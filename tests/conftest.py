"""Fixtures for all. `DATABASE_URL` decides on which database the tests run; none of them knows which one it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client, override_settings
from django.utils import translation
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from annotation.models import User
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases


@pytest.hookimpl(tryfirst=True)  # before marks are chosen by
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what the database can make a difference to, so that it alone is run again on another one."""
    for item in items:
        if item.get_closest_marker("once"):
            continue
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & {"db", "transactional_db"} or item.get_closest_marker("django_db"):
            item.add_marker(pytest.mark.services)


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_looked_up_when_asked_for() -> Iterator[None]:
    """Else each new client reads the folders of all static files, and warns that none were collected."""
    with override_settings(WHITENOISE_AUTOREFRESH=True):
        yield


@pytest.fixture(autouse=True)
def _no_language_is_left_behind() -> Iterator[None]:
    """The test client answers in this thread, which keeps the language of its last answer."""
    yield
    translation.deactivate()


@pytest.fixture
def leases(db: None) -> Leases:
    """A small study with one person in each role; see `tests.builders`."""
    return builders.leases()


@pytest.fixture
def client_of() -> ClientOf:
    """A browser in which that user is logged in."""

    def logged_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return logged_in


@pytest.fixture
def api_of() -> ApiOf:
    """A program that has that user's token."""

    def with_token(user: User) -> APIClient:
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Token {Token.objects.get_or_create(user=user)[0].key}")
        return client

    return with_token
