"""What browsers are told and may do, on all pages alike; docs/security.md names these tests by requirement."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from base.logs import JsonLines
from operating import queries, tables
from tests.builders import ClientOf, Leases
from tests.test_access import METHOD, REFUSED, TABLE, YES, furnish, visitors

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.once, pytest.mark.django_db]


@pytest.fixture
def anna(leases: Leases, client_of: ClientOf) -> Client:
    return client_of(leases.anna)


@pytest.mark.parametrize("page", ["login", "annotation:my-work", "api:root"])
def test_each_answer_says_what_a_browser_may_make_of_it(anna: Client, page: str) -> None:
    answer = anna.get(reverse(page), HTTP_ORIGIN="https://elsewhere.example")

    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert "Cookie" in answer["Vary"]
    assert [name for name in answer.headers if name.lower().startswith("access-control-")] == []


def test_no_other_site_reads_a_file_of_ours(client: Client) -> None:
    answer = client.get("/static/palate/base.css", HTTP_ORIGIN="https://elsewhere.example")

    assert b"".join(answer.streaming_content).startswith(b"/* Palate")
    assert [name for name in answer.headers if name.lower().startswith("access-control-")] == []


def test_no_script_reads_the_cookie_of_a_session(leases: Leases) -> None:
    client = Client()
    client.post(reverse("login"), {"username": "anna", "password": "anna"})

    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    assert cookie["httponly"] is True
    assert cookie["samesite"] == "Lax"


def test_each_page_has_the_way_out(leases: Leases, client_of: ClientOf) -> None:
    client, slug = client_of(leases.manager), [leases.study.slug]
    for page, args in (("annotation:my-work", []), ("annotation:board", slug), ("reports:report", slug)):
        shown = client.get(reverse(page, args=args)).content.decode()
        assert re.search(rf'<form[^>]* action="{reverse("logout")}"', shown), page


def test_nothing_of_a_request_comes_back_by_trace(anna: Client) -> None:
    answer = anna.trace(reverse("annotation:my-work"), HTTP_X_OF_MINE="a header of mine")

    assert answer.status_code == 405
    assert b"a header of mine" not in answer.content


def test_no_folder_is_listed(anna: Client) -> None:
    for address in ("/static/", "/static/palate/", "/media/", "/.git/", "/.env"):
        assert anna.get(address).status_code == 404, address


# Who has looked at what; and allauth's list of addresses, into which its page takes the one that an account has.
OF_LOOKS = {"annotation.look", "annotation.auditevent", "reports.testlook", "account.emailaddress"}


def test_reading_changes_nothing(leases: Leases, settings: Settings, tmp_path: Path) -> None:
    """Each address by GET, for a manager and an annotator: but for looks, every table is as it was."""
    settings.PALATE_EXPORTS = tmp_path
    world = furnish(leases)
    addresses = {
        reverse(name, args=url.args(world), query=url.query): url
        for name, url in TABLE.items()
        if url.get.superuser != METHOD
    }
    clients = {Client(): "manager", Client(): "annotator"}
    for client, kind in clients.items():
        client.force_login(visitors(world)[kind])  # type: ignore[arg-type]
    before = {name: queries.table_part(name) for name in tables.every()}

    for client, kind in clients.items():
        for address, url in addresses.items():
            if kind == "annotator" and getattr(url.get, kind) not in (YES, REFUSED):
                continue  # nothing is shown; a manager is refused some, too
            answer = client.get(address)
            if answer.streaming:
                b"".join(answer)

    changed = {name for name in before if queries.table_part(name) != before[name]}
    assert changed <= OF_LOOKS
    assert "annotation.look" in changed


def test_an_error_shows_nothing_of_itself(anna: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_args: object, **_options: object) -> None:
        raise ValueError("Simmer gently")

    monkeypatch.setattr("annotation.queries.my_sheets", fails)
    anna.raise_request_exception = False
    answer = anna.get(reverse("annotation:my-work"))

    assert answer.status_code == 500
    assert "Simmer" not in answer.content.decode()
    assert "ValueError" not in answer.content.decode()


def test_a_line_of_the_log_stays_one_line() -> None:
    record = logging.LogRecord("django.request", logging.INFO, "", 0, 'GET /a\n{"level": "INFO"}', None, None)
    line = JsonLines().format(record)

    assert "\n" not in line
    assert json.loads(line)["message"].startswith("GET /a\n")


def test_nowhere_is_a_certificate_left_unchecked() -> None:
    apps = ("accounts", "annotation", "base", "config", "judges", "llm", "operating", "recipes", "reports", "work")
    unchecked = re.compile(r"verify\s*=\s*False|CERT_NONE|_create_unverified|check_hostname\s*=\s*False")
    sources = [path for app in apps for path in (ROOT / app).rglob("*.py")]

    assert len(sources) > 200
    assert [str(path) for path in sources if unchecked.search(path.read_text(encoding="utf-8"))] == []


def test_single_sign_on_begins_by_a_button_alone() -> None:
    assert settings.SOCIALACCOUNT_LOGIN_ON_GET is False
