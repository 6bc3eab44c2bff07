"""Redis is away: pages go on without their cache, people log in, and no code counts twice."""

from __future__ import annotations

import logging
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core import mail
from django.core.cache import cache, caches
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.models import AuditEvent, Study
from config import redis_cache
from config.redis_cache import RedisCache
from tests.accounts.test_getting_in import code_now, is_in, log_in, set_up_totp
from tests.builders import ClientOf, Leases, label


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


@pytest.fixture
def port() -> Iterator[int]:
    """Where nobody listens."""
    yield free_port()
    redis_cache._resting.clear()


@pytest.fixture
def away(port: int, settings: Settings) -> int:
    """All that an installation keeps in Redis is kept at a port where nobody listens."""
    there = {"BACKEND": "config.redis_cache.RedisCache", "LOCATION": f"redis://127.0.0.1:{port}/0"}
    settings.CACHES = settings.CACHES | {"default": there, "figures": there | {"KEY_PREFIX": "figures"}}
    return port


def test_nothing_is_in_it_and_nothing_fails(port: int, caplog: pytest.LogCaptureFixture) -> None:
    one = RedisCache(f"redis://127.0.0.1:{port}/0", {})
    begin = time.monotonic()

    with caplog.at_level(logging.WARNING, "config.redis_cache"):
        one.set("a", 1)
        assert one.get("a", "nothing") == "nothing"
        assert one.get_or_set("a", lambda: "made") == "made"
        assert one.add("a", 1)
        assert one.get_many(["a"]) == {}
        assert one.set_many({"a": 1}) == ["a"]
        assert not one.has_key("a")
        assert "a" not in one
        assert not one.touch("a")
        assert not one.delete("a")
        one.delete_many(["a"])
        one.clear()
        with pytest.raises(ValueError, match="not found"):
            one.incr("a")
        for _time in range(100):
            one.get("a")

    assert time.monotonic() - begin < redis_cache.RESTING
    assert [record.getMessage() for record in caplog.records] == [
        "Redis does not answer (ConnectionError): pages go on without their cache"
    ]


def test_a_server_that_says_nothing_is_not_waited_for_each_time(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    monkeypatch.setattr(redis_cache, "ANSWERING", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", port))
        silent.listen()
        one = RedisCache(f"redis://127.0.0.1:{port}/0", {})
        begin = time.monotonic()
        assert [one.get("a") for _time in range(50)] == [None] * 50
        assert time.monotonic() - begin < 3


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs redis-server")
def test_once_it_answers_again_it_is_used_again(
    monkeypatch: pytest.MonkeyPatch, port: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(redis_cache, "RESTING", 0.0)
    one = RedisCache(f"redis://127.0.0.1:{port}/0", {})
    with caplog.at_level(logging.WARNING, "config.redis_cache"):
        for _time in range(2):
            assert one.get("a") is None
            server = subprocess.Popen(
                ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)],
                stdout=subprocess.DEVNULL,
            )
            try:
                until = time.monotonic() + 20
                while not one.has_key("a"):
                    assert time.monotonic() < until
                    one.set("a", "kept")
                assert one.get("a") == "kept"
                assert not one.add("a", "other")
            finally:
                server.kill()
                server.wait()
    said = [record.getMessage().split(" (")[0] for record in caplog.records]
    assert said == ["Redis does not answer", "Redis answers again"] * 2


@pytest.mark.django_db
def test_the_report_and_its_figures_are_shown(leases: Leases, client_of: ClientOf, away: int) -> None:
    for assignments in (leases.annas, leases.boriss, leases.judges):
        label(assignments[0])
    reader = client_of(leases.researcher)

    page = reader.get(url(leases.study, "whole"))

    assert page.status_code == 200
    [figure, *_others] = re.findall(r'"([^"]+/figures?/[^"]+\.?svg[^"]*)"', page.content.decode())
    drawn = reader.get(figure.replace("&amp;", "&"))
    assert (drawn.status_code, drawn["Content-Type"]) == (200, "image/svg+xml")


def url(study: Study, name: str) -> str:
    return reverse(f"reports:{name}", args=[study.slug])


@pytest.mark.django_db
def test_who_has_an_authenticator_logs_in_and_no_code_counts_twice(leases: Leases, client: Client, away: int) -> None:
    log_in(client, "anna", "anna")
    secret = set_up_totp(client, "anna")
    code = code_now(secret)
    outcomes = []

    for typed in (code, code, f" {code[:3]}-{code[3:]} "):
        other = Client()
        log_in(other, "anna", "anna")
        answer = other.post(reverse("mfa_authenticate"), {"code": typed})
        assert answer.status_code < 500
        outcomes.append(is_in(other))

    assert outcomes == [True, False, False]
    assert AuditEvent.objects.filter(kind="second-factor", what="wrong code").count() == 2


@pytest.mark.django_db
def test_a_code_counts_once_though_the_cache_forgets(leases: Leases, client: Client) -> None:
    """The cache is emptied after it was used, as Redis is by a start."""
    log_in(client, "anna", "anna")
    code = code_now(set_up_totp(client, "anna"))
    outcomes = []

    for _time in range(2):
        other = Client()
        log_in(other, "anna", "anna")
        other.post(reverse("mfa_authenticate"), {"code": code})
        outcomes.append(is_in(other))
        cache.clear()

    assert outcomes == [True, False]


@pytest.mark.django_db
def test_a_forgotten_password_is_mailed_for(leases: Leases, client: Client, away: int, settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example.org"

    answer = client.post(reverse("account_reset_password"), {"email": "anna@example.org"})

    assert answer.status_code == 302
    assert [mailed.to for mailed in mail.outbox] == [["anna@example.org"]]
    assert isinstance(caches["default"], RedisCache)
