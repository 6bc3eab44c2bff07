"""Posting to servers of this machine, kind ones and hostile ones. Nothing else is ever connected to."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from functools import partial

import pytest

from annotation.webhooks import posting
from annotation.webhooks.posting import Answer, NotPosted
from base.web import addresses
from tests.raw_servers import dripping, http, server

HERE = ("127.0.0.1",)
post = partial(posting.post, body=b"{}", headers={"webhook-id": "1"}, inside=HERE, seconds=1.5)


def refused(text: str, **given: object) -> NotPosted:
    with pytest.raises(NotPosted) as caught:
        post(text, **given)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    "address",
    [
        "https://127.0.0.1/",
        "https://2130706433/",  # 127.0.0.1 as one number
        "https://0x7f.1/",
        "https://[::ffff:127.0.0.1]/",
        "https://[fe80::1]/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[64:ff9b::7f00:1]/",
        "https://localhost/",
        "https://93.184.216.34:6379/",
        "http://93.184.216.34/",
        "https://user:word@93.184.216.34/",
        "gopher://127.0.0.1/",
    ],
)
def test_no_address_inside_is_called(address: str) -> None:
    """Nor one without TLS, or of a port that is none of the web's."""
    refused(address, inside=())


def test_a_name_that_leads_inside_is_refused_when_it_is_called() -> None:
    """Whatever it led to when the webhook was made; and whoever it leads to is who is called."""
    for found in (["10.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::1"]):
        failure = refused("https://hooks.example/", inside=(), resolve=lambda _host, _port, found=found: found)
        assert (failure.permanent, str(failure)) == (True, "The address leads to a machine that is not public.")


def test_a_name_is_looked_up_once_and_what_it_led_to_is_called() -> None:
    looks: list[str] = []

    def resolve(host: str, _port: int) -> list[str]:
        looks.append(host)
        return ["127.0.0.1"] if len(looks) == 1 else ["10.0.0.1"]

    with server(http(status="204 No Content")) as (at, asked):
        port = at.rpartition(":")[2]
        answer = post(f"http://inside.example:{port}/in?a=1#top", inside=("inside.example",), resolve=resolve)
    assert (answer, looks) == (Answer(204, ""), ["inside.example"])
    [sent] = asked
    assert sent.startswith(b"POST /in?a=1 HTTP/1.1\r\n")
    assert f"Host: inside.example:{port}\r\n".encode() in sent
    assert b"Content-Length: 2\r\n" in sent
    assert b"webhook-id: 1\r\n" in sent


def test_names_that_nobody_knows_and_name_servers_that_are_slow() -> None:
    def unknown(_host: str, _port: int) -> list[str]:
        raise addresses.HostUnknown(passing=False)

    def slow(_host: str, _port: int) -> list[str]:
        time.sleep(0.5)
        return []

    assert str(refused("https://hooks.example/", resolve=unknown)) == "There is no server of this name."
    began = time.monotonic()
    failure = refused("https://hooks.example/", resolve=slow, seconds=0.1)
    assert (str(failure), failure.permanent) == ("The name of the server could not be looked up.", False)
    assert time.monotonic() - began < 0.4


def test_of_an_answer_that_is_no_success_its_beginning_is_kept() -> None:
    body = "Ž\x00 <b>no\r\n\tsuch\u202e hook</b> ".encode() + b"\xff" * 9000
    with server(http(body, status="404 Not Found")) as (at, _asked):
        answer = post(at)
    assert answer.status == 404
    assert answer.said.startswith("Ž <b>no such hook</b> \ufffd")
    assert len(answer.said) == 161
    assert answer.sentence.startswith("The server answered 404 Not Found. “Ž")
    with server(http(b"lots of it", status="200 OK")) as (at, _asked):
        assert post(at) == Answer(200, "")  # nobody reads it
    with server(http(b"", status="302 Found", Location="http://127.0.0.1:1/")) as (at, asked):
        assert "it leads elsewhere" in post(at).sentence
    assert len(asked) == 1
    with server(b"HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n") as (at, _asked):
        assert post(at).sentence == "The server answered 799."


@pytest.mark.parametrize(
    "answer",
    [
        dripping(b"", b"HTTP/1.1 103 Early\r\n\r\n"),
        dripping(b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        lambda _connection: time.sleep(3),
    ],
    ids=["answers before the answer", "headers", "silence"],
)
def test_a_server_is_left_after_its_time(answer: Callable[[socket.socket], None]) -> None:
    beats: list[None] = []
    began = time.monotonic()
    with server(answer) as (at, _asked):
        failure = refused(at, beat=lambda: beats.append(None), seconds=0.6)
    assert time.monotonic() - began < 2
    assert (str(failure), failure.permanent) == ("The server did not answer in time.", False)
    assert beats


def test_a_body_that_drips_or_never_ends_does_not_hold_up_its_status() -> None:
    for head in (http(b"", status="500 Oops", Content_Length="999999"), b"HTTP/1.1 500 Oops\r\n\r\n"):
        began = time.monotonic()
        with server(dripping(head, b"x")) as (at, _asked):
            assert post(at, seconds=0.6).status == 500
        assert time.monotonic() - began < 2

    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 500 Oops\r\n\r\n")
        while True:
            connection.sendall(b"y" * 65536)

    with server(endless) as (at, _asked):
        assert post(at).said == "y" * 160 + "…"


def test_what_is_no_http_and_who_is_not_there() -> None:
    with server(b"220 mail ready\r\n") as (at, _asked):
        assert str(refused(at)) == "The server broke off in the middle of its answer."
    assert str(refused(at)) == "The server could not be connected to."  # it is gone
    with server(http()) as (at, _asked):
        assert "could not" in str(refused(at.replace("http://", "https://")))  # it speaks no TLS
