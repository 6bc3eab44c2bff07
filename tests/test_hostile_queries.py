"""Whatever stands behind the question mark of an address, or in it: a page or a sentence, never a failure.

Each address of `tests.test_access` is asked for once, which tells the names that it reads from its query; then they get
what nobody would send by a form. PostgreSQL refuses what SQLite stores, so this runs on both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from django.db import connection, transaction
from django.http import QueryDict
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode

from annotation.models import User
from tests.test_access import TABLE, YES, Url, World, browser, visitors
from tests.test_access import furnished as furnished  # the fixtures
from tests.test_access import world as world

pytestmark = pytest.mark.django_db

NUL, HALF = "a\0b", "%ED%A0%80"  # half of a character cannot be written in UTF-8: these are its bytes
# Alone, since a form that refuses one field reads no further; and all names at once. Addresses take turns with two of
# the five.
BEYOND_THE_DATABASE, BEYOND_PYTHON = "9" * 30, "9" * 5000
TOGETHER = ["x" * 5000, "-1", "²", "1e999", "\u202e'\";--"]
PARTS = 4  # so that several processes share the addresses


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names that were read from a query since it was emptied."""
    names: set[str] = set()

    def watched(original: Callable[..., Any]) -> Callable[..., Any]:
        def reads(query: QueryDict, name: str, *more: Any, **rest: Any) -> Any:
            names.add(name)
            return original(query, name, *more, **rest)

        return reads

    for method in ("get", "getlist", "__getitem__", "__contains__"):
        monkeypatch.setattr(QueryDict, method, watched(getattr(QueryDict, method)))
    return names


def who_may(world: World, url: Url) -> User | None:
    may = [kind for kind, what in url.get._asdict().items() if what == YES]
    return visitors(world)["superuser" if "superuser" in may else may[-1]] if may else None


def asked(client: Client, address: str, query: str) -> HttpResponseBase:
    before = transaction.savepoint()
    response: HttpResponseBase = client.get(address, QUERY_STRING=query)
    if response.streaming:
        b"".join(response)  # type: ignore[call-overload]
    transaction.savepoint_rollback(before)
    return response


def hostile(names: set[str], usual: Mapping[str, str], turn: int) -> Iterator[str]:
    # What Python does not read does not come as far as a database: it is asked of one kind. Each name gets one of them
    # here, and the other at the next address that reads it.
    alone = [BEYOND_THE_DATABASE] if connection.vendor == "postgresql" else [BEYOND_THE_DATABASE, BEYOND_PYTHON]
    for place, name in enumerate(sorted(names)):
        yield urlencode({**usual, name: alone[(place + turn) % len(alone)]})
    for place in (turn, turn + 2) if names else ():
        yield urlencode(dict.fromkeys(names, TOGETHER[place % len(TOGETHER)]))
    if names or turn % 5 == 0:
        yield urlencode({**dict.fromkeys(names, NUL), NUL: NUL})
        yield "&".join(f"{name}={HALF}" for name in [*names, HALF])


# What comes as far as a database is asked of PostgreSQL each time.
on_sqlite_slow = pytest.mark.slow if connection.vendor == "sqlite" else pytest.mark.services


@on_sqlite_slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_address_fails_at_what_it_is_asked(world: World, read: set[str], part: int) -> None:
    failed, known = [], 0
    for turn, (name, url) in enumerate(list(TABLE.items())[part::PARTS]):
        if (user := who_may(world, url)) is None and YES not in url.get:
            continue
        before = transaction.savepoint()
        client = browser(world, user)
        address = reverse(name, args=url.args(world))
        read.clear()
        asked(client, address, urlencode(url.query))
        asked(
            client, address, urlencode(dict.fromkeys(read, "1"))
        )  # a form that is asked something reads all its fields
        names = set(read) | set(url.query)
        known += len(names)
        for query in hostile(names, url.query, turn):
            try:
                status = asked(client, address, query).status_code
            except Exception as error:
                status, said = 500, f"{type(error).__name__}: {error}"
            else:
                said = ""
            if status >= 500:
                failed.append(f"{name}?{query[:200]} {said[:200]}")
        transaction.savepoint_rollback(before)

    assert not failed, "\n".join(failed)
    assert known > 50, "the names that addresses read are not found"


@on_sqlite_slow
def test_no_address_fails_at_what_stands_in_it(world: World) -> None:
    failed, n = [], 0
    for name, url in TABLE.items():
        client = browser(world, who_may(world, url) or world.superuser)
        args = url.args(world)
        for place in range(len(args)):
            for value in (NUL, "x" * 5000, "9" * 30, "\u202e²"):
                try:
                    address = reverse(name, args=[*args[:place], value, *args[place + 1 :]])
                except NoReverseMatch:
                    continue
                n += 1
                if asked(client, address, "").status_code >= 500:
                    failed.append(address[:200])

    assert not failed, "\n".join(failed)
    assert n > 100


@pytest.mark.parametrize(
    ("query", "charset", "status"),
    [
        ("q=a%00b", "", 400),
        ("%00=a", "", 400),
        ("q=%ED%A0%80", "", 200),  # is read as signs that say that it was no text
        ("q=%5Cud800", "unicode_escape", 400),
        ("q=%FF", "latin-1", 200),
        ("q=%C3%A9", "utf8", 200),
        ("q=%C3%A9", "nonsense", 200),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(world: World, query: str, charset: str, status: int) -> None:
    client = Client()
    client.force_login(world.superuser)
    how = {"QUERY_STRING": query, "CONTENT_TYPE": f"text/plain; charset={charset}"}

    page = client.get(reverse("accounts:owner-people"), **how)  # type: ignore[arg-type]
    answer = client.get(reverse("api:studies"), **how)  # type: ignore[arg-type]

    assert (page.status_code, answer.status_code) == (status, status)
    if status == 400:
        assert page.content.decode().endswith(".")
        [said] = answer.json().values()  # by the name, as the API's own refusals
        assert page.content.decode() in (said, *said)


@pytest.mark.parametrize("charset", ["hex", "idna", "undefined", "unicode_escape"])
@pytest.mark.parametrize("address", ["/login/", "/api/v1/token/", "/language/"])
def test_a_charset_of_no_text_is_refused_where_the_request_is_made(
    world: World, over_wsgi: None, charset: str, address: str
) -> None:
    from config.wsgi import application

    said = []
    environ: dict[str, Any] = {"PATH_INFO": address, "QUERY_STRING": "next=%FFa"}
    environ["CONTENT_TYPE"] = f"text/plain; charset={charset}"
    setup_testing_defaults(environ)

    answer = b"".join(application(environ, lambda status, _headers: said.append(status)))

    assert said == ["400 Bad Request"]
    assert b"UTF-8" in answer


def test_the_sentence_is_in_the_language_of_who_asks(world: World) -> None:
    page = Client(HTTP_ACCEPT_LANGUAGE="cs").get("/login/?next=%00")

    assert page.content.decode() == "To, co je v adrese za „?“, není text."


def test_a_form_in_no_text_is_refused(world: World) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="username"\r\n\r\n\\ud800\r\n--x--\r\n'

    sent = Client().generic("POST", "/login/", body, "multipart/form-data; boundary=x; charset=unicode_escape")

    assert sent.status_code == 400


@pytest.mark.parametrize(
    ("charset", "status"), [("utf8", 302), ("UTF-8", 302), ("ascii", 302), ("latin-1", 400), ("utf-16", 400)]
)
@pytest.mark.parametrize("address", ["/login/", "/api/v1/token/"])
def test_a_form_is_in_utf_8_by_whichever_name(world: World, address: str, charset: str, status: int) -> None:
    """Django fails at any other, and then at the page that says so."""
    stranger = world.leases.stranger
    stranger.set_password("a word of mine")
    stranger.save()
    client = Client(enforce_csrf_checks=True)
    client.get("/login/")
    token = client.cookies["csrftoken"].value
    body = f"username={stranger.username}&password=a+word+of+mine&csrfmiddlewaretoken={token}"

    sent = client.generic("POST", address, body, f"application/x-www-form-urlencoded; charset={charset}")

    assert sent.status_code == (200 if status == 302 and "api" in address else status)


@pytest.mark.parametrize("body", ["[" * 100_000, '{"username":' * 100_000])
def test_json_that_is_nested_too_deep_is_refused_in_a_sentence(world: World, body: str) -> None:
    sent = Client().post("/api/v1/token/", body, content_type="application/json")

    assert (sent.status_code, sent.json()) == (400, {"detail": "The JSON is nested too deep."})


def test_a_request_that_is_too_large_is_refused_by_the_api_in_its_own_way(world: World) -> None:
    body = '{"username": "' + "x" * 3_000_000 + '"}'

    sent = Client().post("/api/v1/token/", body, content_type="application/json")

    assert sent.status_code == 400
    assert sent.json()["detail"].endswith(".")


def test_who_is_logged_in_is_not_led_from_the_login_to_the_login(world: World) -> None:
    client = Client()
    client.force_login(world.leases.anna)

    for there in ("/login/", "/login/?next=/login/", "http://testserver/login/"):
        assert client.get("/login/", {"next": there}).headers["Location"] == "/"


def test_a_page_that_was_open_too_long_says_what_to_do(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.leases.anna)

    said = client.post("/language/", {"language": "cs"})

    assert said.status_code == 403
    assert "Load it anew and try again." in said.content.decode()
    assert "DEBUG" not in said.content.decode()


@pytest.mark.parametrize("cookie", ['"\\000aaaaaaaaaaaaaaaa"', "a" * 5000, "²" * 10, "'; --; aaaaaa"])
def test_a_cookie_that_is_no_key_of_a_session_is_none(world: World, cookie: str) -> None:
    asked_for = Client().get("/", HTTP_COOKIE=f"sessionid={cookie}")

    assert asked_for["Location"].startswith(reverse("login"))
