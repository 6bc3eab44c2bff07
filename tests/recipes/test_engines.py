"""Each engine as its documentation says that it asks and answers, against a server of this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from recipes.cooking.web import engines
from recipes.cooking.web.engines import Bing, Brave, Engine, EngineError, Google, SearXNG

N_RESULTS = 130


class Service:
    """A server that has `N_RESULTS` results. It answers in each engine's own form, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[dict[str, str], dict[str, str]]] = []
        self.status = 200
        self.body: bytes | None = None
        self.headers: dict[str, str] = {}
        self.busy = 0  # how many requests are too often, from now on
        self.short = 0  # how many results of its page are missing in each answer
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
                service.asked.append((asked, {key.casefold(): value for key, value in self.headers.items()}))
                form = urlsplit(self.path).path.strip("/").split("/")[0]
                body = json.dumps(service.answer(form, asked)).encode() if service.body is None else service.body
                self.send_response(429 if service.busy else service.status)
                service.busy = max(0, service.busy - 1)
                for name, value in service.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def answer(self, form: str, asked: dict[str, str]) -> dict[str, Any]:
        def found(start: int, n: int, address: str, title: str) -> list[dict[str, str]]:
            places = range(start, min(start + n - self.short, N_RESULTS))
            return [{address: f"https://cakes.example/{place + 1}", title: f"Cake {place + 1}"} for place in places]

        if form == "searxng":
            return {"results": found(10 * (int(asked["pageno"]) - 1), 10, "url", "title")}
        if form == "brave":
            n = int(asked["count"])
            return {"web": {"results": found(n * int(asked["offset"]), n, "url", "title")}}
        if form == "google":
            return {"items": found(int(asked["start"]) - 1, int(asked["num"]), "link", "title")}
        return {"webPages": {"value": found(int(asked["offset"]), int(asked["count"]), "url", "name")}}


@pytest.fixture
def service() -> Iterator[Service]:
    running = Service()
    yield running
    running.server.shutdown()
    running.server.server_close()


def made(name: str, service: Service) -> Engine:
    url = f"{service.url}/{name}"
    return {
        "searxng": SearXNG(f"{url}/search"),
        "brave": Brave(url, "secret"),
        "google": Google(url, "secret", "engine-1"),
        "bing": Bing(url, "secret"),
    }[name]


NAMES = [kind.name for kind in engines.ENGINES]


@pytest.mark.parametrize("name", NAMES)
def test_results_come_page_by_page_with_their_ranks(service: Service, name: str) -> None:
    engine = made(name, service)
    found = engine.search("Käsekuchen recipe", 45)
    assert [(one.rank, one.url, one.title) for one in found] == [
        (n, f"https://cakes.example/{n}", f"Cake {n}") for n in range(1, 46)
    ]
    assert {asked["q"] for asked, _headers in service.asked} == {"Käsekuchen recipe"}
    assert len(service.asked) == {"searxng": 5, "brave": 3, "google": 5, "bing": 1}[name]
    # No more than there are, and no more than it gives.
    assert len(engine.search("cake", 1000)) == min(N_RESULTS, engine.most)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_that_lacks_some_results_is_not_the_last_one(service: Service, name: str) -> None:
    """“The actual number delivered may be less than requested”, say Brave and Bing."""
    service.short = 3
    found = made(name, service).search("cake", 45)
    assert len(found) == 45
    assert [one.rank for one in found] == [*range(1, 46)]


def test_results_that_a_page_repeats_leave_room_for_others(service: Service) -> None:
    """Pages of one query overlap: what was there before is no place, or a search would seem to be at its end."""
    service.answer = lambda _form, asked: {  # type: ignore[method-assign]
        "results": [{"url": f"https://cakes.example/{8 * int(asked['pageno']) + n}", "title": ""} for n in range(10)]
    }
    found = made("searxng", service).search("cake", 12)
    assert [(one.rank, one.url.rpartition("/")[2]) for one in found] == [(n, str(n + 7)) for n in range(1, 13)]


def test_an_engine_that_says_that_there_is_no_more_is_not_asked_again(service: Service) -> None:
    one = [{"url": "https://cakes.example/1", "title": "Cake"}]
    service.body = json.dumps({"web": {"results": one}, "query": {"more_results_available": False}}).encode()
    assert len(made("brave", service).search("cake", 45)) == 1
    service.body = json.dumps({"items": [{"link": "https://cakes.example/1"}], "queries": {"request": []}}).encode()
    assert len(made("google", service).search("cake", 45)) == 1
    assert len(service.asked) == 2


def test_an_engine_that_takes_one_request_a_second_is_asked_when_it_says(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brave's free plan: without a pause the second page of results would never come."""
    waited: list[float] = []
    monkeypatch.setattr(engines.time, "sleep", waited.append)
    service.headers = {"X-RateLimit-Remaining": "0, 1988", "X-RateLimit-Reset": "1, 1419704"}
    service.busy = 2
    assert len(made("brave", service).search("cake", 45)) == 45
    assert waited == [1.0, 1.0]
    service.headers, service.busy = {"Retry-After": "7"}, 1
    assert len(made("searxng", service).search("cake", 5)) == 5
    assert waited.pop() == 7.0
    # Whose month is used up is not waited for.
    service.headers, service.busy = {"X-RateLimit-Remaining": "1, 0", "X-RateLimit-Reset": "1, 1419704"}, 1
    with pytest.raises(EngineError, match="asked too often"):
        made("brave", service).search("cake", 5)
    assert len(waited) == 2


@pytest.mark.parametrize(
    ("name", "header"),
    [("brave", "x-subscription-token"), ("google", "x-goog-api-key"), ("bing", "ocp-apim-subscription-key")],
)
def test_a_key_travels_in_a_header_and_nowhere_else(service: Service, name: str, header: str) -> None:
    engine = made(name, service)
    engine.search("cake", 5)
    [(asked, headers)] = service.asked
    assert headers[header] == "secret"
    assert "secret" not in asked.values()
    assert "secret" not in repr(engine)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("status", "body", "passing", "said"),
    [
        (401, b"{}", False, "refused (401)"),
        (429, b"{}", True, "asked too often"),
        (500, b"{}", True, "the error 500"),
        (302, b"{}", False, "the error 302"),
        (200, b"<html>", False, "no list of results"),
        (200, b"[1]", False, "no list of results"),
        (200, b"[" * 100_000, False, "no list of results"),
        (200, b" " * (5 * 2**20), False, "no list of results"),
    ],
)
def test_what_is_no_list_of_results_is_said(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    status: int,
    body: bytes,
    passing: bool,
    said: str,
) -> None:
    monkeypatch.setattr(engines.time, "sleep", lambda _seconds: None)
    service.status, service.body = status, body
    with pytest.raises(EngineError) as caught:
        made(name, service).search("cake", 5)
    assert caught.value.passing == passing
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"results": None, "web": [], "items": {}, "webPages": 1},
        {"results": [1], "web": {"results": [None]}, "items": ["x"]},
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_an_answer_without_results_is_an_empty_list(service: Service, name: str, answer: dict[str, Any]) -> None:
    service.body = json.dumps(answer).encode()
    assert made(name, service).search("cake", 5) == []


def test_engines_are_there_whose_variables_are() -> None:
    keys = {
        "BRAVE_SEARCH_API_KEY": "k",
        "GOOGLE_SEARCH_API_KEY": "k",
        "BING_SEARCH_API_KEY": "",
        "SEARXNG_URL": "http://s/",
    }
    ready = engines.ready(keys)
    assert list(ready) == ["searxng", "brave"]
    assert ready["searxng"].url == "http://s/search"
    assert list(engines.ready(keys | {"GOOGLE_SEARCH_ENGINE_ID": "e"})) == ["searxng", "brave", "google"]


def test_the_engines_of_searxng_are_asked_each_by_itself(service: Service) -> None:
    """Six documents of each of Google, Bing and DuckDuckGo are the paper's design, and DuckDuckGo has no interface."""
    there = {
        "SEARXNG_URL": f"{service.url}/searxng",
        "SEARXNG_ENGINES": "Google, bing,duckduckgo,",
        "BING_SEARCH_API_KEY": "k",
    }
    ready = engines.ready(there)
    assert [(name, type(engine)) for name, engine in ready.items()] == [
        ("google", SearXNG), ("bing", Bing), ("duckduckgo", SearXNG),
    ]  # fmt: skip
    assert [engines.label_of(name) for name in ready] == ["Google", "Bing", "DuckDuckGo"]
    assert [one.rank for one in ready["duckduckgo"].search("cake", 12)] == [*range(1, 13)]
    assert {asked["engines"] for asked, _headers in service.asked} == {"duckduckgo"}
    assert list(engines.ready({"SEARXNG_ENGINES": "google"})) == []  # nobody to ask
