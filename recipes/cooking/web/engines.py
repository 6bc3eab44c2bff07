"""Search engines behind one protocol. Keys come from the environment, and are in no error, log, record or address.

| engine | variables |
|---|---|
| SearXNG, an instance of one's own with its JSON format switched on | `SEARXNG_URL` |
| each engine by itself that SearXNG asks, such as DuckDuckGo, which has no interface | and `SEARXNG_ENGINES` |
| Brave | `BRAVE_SEARCH_API_KEY` |
| Google, its Custom Search | `GOOGLE_SEARCH_API_KEY`, `GOOGLE_SEARCH_ENGINE_ID` |
| Bing | `BING_SEARCH_API_KEY`; `BING_SEARCH_URL` where another service answers as it did |
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import httpx

from base.sentences import gettext as _

Params = dict[str, str | int]
Headers = dict[str, str]

_TIMEOUT_S = 20.0
_MAX_ANSWER = 4 * 2**20  # bytes
# How often one page of results is asked for where the engine is asked too often, and the longest that is waited for it.
_TIMES, _LONGEST_WAIT_S = 4, 10.0


class Result(NamedTuple):
    """`rank` begins at 1."""

    rank: int
    url: str
    title: str


class EngineError(Exception):
    """The engine gave no results; `str()` is a sentence. `passing`: another time it may."""

    def __init__(self, sentence: str, *, passing: bool = False) -> None:
        self.passing = passing
        super().__init__(sentence)


class _TooOften(EngineError):
    """It was asked too often; `seconds` later it may be asked again."""

    def __init__(self, sentence: str, *, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(sentence, passing=True)


@dataclass(frozen=True)
class Engine(ABC):
    """A search engine. `url`: where it is asked; `key`: what it is told, never shown."""

    url: str
    key: str = field(default="", repr=False)

    name: ClassVar[str]  # in records and in the names of rows
    label: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]  # variables of the environment
    most: ClassVar[int]  # results that it gives for one query
    page: ClassVar[int]  # and for one request

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self | None:
        """The engine as an environment sets it up; None where a variable is missing."""
        if not all(environment.get(name) for name in cls.needs):
            return None
        return cls._made(environment)

    @classmethod
    @abstractmethod
    def _made(cls, environment: Mapping[str, str]) -> Self: ...

    @abstractmethod
    def _asked(self, query: str, start: int, pages: int) -> tuple[Params, Headers]:
        """Parameters and headers of the next request, when so many results and pages are there already."""

    @abstractmethod
    def _results(self, answer: Mapping[str, Any]) -> Sequence[tuple[Any, Any]]:
        """Address and title of each result in an answer."""

    def _has_more(self, answer: Mapping[str, Any]) -> bool:
        """Whether an answer leaves it open that there are further results. A page may be short of some without being
        the last one; where the engine says nothing, a page with nothing new ends them."""
        return True

    def search(self, query: str, n: int, *, beat: Callable[[], None] = lambda: None) -> list[Result]:
        """The first `n` results, fewer where there are no more; each address once, with its place among them.

        Raises:
            EngineError: it did not answer, refused, or answered something else.
        """
        n = min(n, self.most)
        found: dict[str, Result] = {}
        came = pages = 0
        with httpx.Client(timeout=_TIMEOUT_S, trust_env=False) as client:
            while len(found) < n and came < self.most and (not self.page or pages < self.most // self.page):
                answer = self._answer(client, *self._asked(query, came, pages), beat)
                pages += 1
                there = len(found)
                for at, title in self._results(answer):
                    came += 1
                    if isinstance(at, str) and at not in found:
                        found[at] = Result(len(found) + 1, at, title if isinstance(title, str) else "")
                if len(found) == there or not self._has_more(answer):
                    break
        return list(found.values())[:n]

    def _answer(
        self, client: httpx.Client, params: Params, headers: Headers, beat: Callable[[], None]
    ) -> Mapping[str, Any]:
        """What the engine answers. One that was asked too often is asked again when it says that it may be."""
        for _time in range(_TIMES - 1):
            beat()
            try:
                return self._asked_once(client, params, headers)
            except _TooOften as often:
                if often.seconds > _LONGEST_WAIT_S:
                    raise
                time.sleep(often.seconds)
        beat()
        return self._asked_once(client, params, headers)

    def _asked_once(self, client: httpx.Client, params: Params, headers: Headers) -> Mapping[str, Any]:
        try:
            with client.stream("GET", self.url, params=params, headers=headers) as response:
                if response.status_code != 200:
                    raise self._refusal(response)
                body = bytearray()
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > _MAX_ANSWER:
                        raise self._unreadable()
        except (httpx.TransportError, httpx.DecodingError):
            sentence = _("%(engine)s could not be reached.") % {"engine": self.label}
            raise EngineError(sentence, passing=True) from None
        except (httpx.InvalidURL, ValueError):
            raise EngineError(_("The address of %(engine)s is not valid.") % {"engine": self.label}) from None
        try:
            answer = httpx.Response(200, content=bytes(body)).json()
        except (ValueError, RecursionError):
            raise self._unreadable() from None
        if not isinstance(answer, dict):
            raise self._unreadable()
        return answer

    def _refusal(self, response: httpx.Response) -> EngineError:
        status = response.status_code
        said = {"engine": self.label, "status": status, "variables": ", ".join(self.needs)}
        if status in {401, 403}:
            return EngineError(_("%(engine)s refused (%(status)s). Is what %(variables)s says right?") % said)
        if status == 429:
            return _TooOften(_("%(engine)s was asked too often (%(status)s).") % said, seconds=_wait(response.headers))
        return EngineError(_("%(engine)s answered with the error %(status)s.") % said, passing=status >= 500)

    def _unreadable(self) -> EngineError:
        return EngineError(_("%(engine)s answered something that is no list of results.") % {"engine": self.label})


@dataclass(frozen=True)
class SearXNG(Engine):
    """See docs.searxng.org/dev/search_api.html. How many results a page has is up to the instance. `only`: the one of
    its engines that it asks; all of them without it."""

    only: str = ""

    name, label, needs, most, page = "searxng", "SearXNG", ("SEARXNG_URL",), 200, 0

    @classmethod
    def _made(cls, environment: Mapping[str, str]) -> Self:
        return cls(environment["SEARXNG_URL"].rstrip("/") + "/search")

    def _asked(self, query: str, start: int, pages: int) -> tuple[Params, Headers]:
        asked: Params = {"q": query, "format": "json", "pageno": pages + 1}
        return asked | ({"engines": self.only} if self.only else {}), {}

    def _results(self, answer: Mapping[str, Any]) -> Sequence[tuple[Any, Any]]:
        return _pairs(answer.get("results"), "url", "title")


class Brave(Engine):
    """See api-dashboard.search.brave.com/app/documentation. The offset counts pages, ten at most."""

    name, label, needs, most, page = "brave", "Brave", ("BRAVE_SEARCH_API_KEY",), 200, 20

    @classmethod
    def _made(cls, environment: Mapping[str, str]) -> Self:
        return cls("https://api.search.brave.com/res/v1/web/search", environment["BRAVE_SEARCH_API_KEY"])

    def _asked(self, query: str, start: int, pages: int) -> tuple[Params, Headers]:
        return {"q": query, "count": self.page, "offset": pages}, {"X-Subscription-Token": self.key}

    def _results(self, answer: Mapping[str, Any]) -> Sequence[tuple[Any, Any]]:
        web = answer.get("web")
        return _pairs(web.get("results") if isinstance(web, dict) else None, "url", "title")

    def _has_more(self, answer: Mapping[str, Any]) -> bool:
        query = answer.get("query")
        return not (isinstance(query, dict) and query.get("more_results_available") is False)


@dataclass(frozen=True)
class Google(Engine):
    """See developers.google.com/custom-search/v1. It gives a hundred results of a query, ten at a time."""

    engine_id: str = ""

    name, label, most, page = "google", "Google", 100, 10
    needs = ("GOOGLE_SEARCH_API_KEY", "GOOGLE_SEARCH_ENGINE_ID")

    @classmethod
    def _made(cls, environment: Mapping[str, str]) -> Self:
        return cls(
            "https://www.googleapis.com/customsearch/v1",
            environment["GOOGLE_SEARCH_API_KEY"],
            environment["GOOGLE_SEARCH_ENGINE_ID"],
        )

    def _asked(self, query: str, start: int, pages: int) -> tuple[Params, Headers]:
        asked: Params = {"q": query, "cx": self.engine_id, "num": self.page, "start": start + 1}
        return asked, {"X-Goog-Api-Key": self.key}

    def _results(self, answer: Mapping[str, Any]) -> Sequence[tuple[Any, Any]]:
        return _pairs(answer.get("items"), "link", "title")

    def _has_more(self, answer: Mapping[str, Any]) -> bool:
        queries = answer.get("queries")
        return not isinstance(queries, dict) or "nextPage" in queries


class Bing(Engine):
    """See learn.microsoft.com/bing/search-apis/bing-web-search. What the service answered until it was closed in 2025,
    and others answer still."""

    name, label, needs, most, page = "bing", "Bing", ("BING_SEARCH_API_KEY",), 200, 50

    @classmethod
    def _made(cls, environment: Mapping[str, str]) -> Self:
        url = environment.get("BING_SEARCH_URL") or "https://api.bing.microsoft.com/v7.0/search"
        return cls(url, environment["BING_SEARCH_API_KEY"])

    def _asked(self, query: str, start: int, pages: int) -> tuple[Params, Headers]:
        return {"q": query, "count": self.page, "offset": start}, {"Ocp-Apim-Subscription-Key": self.key}

    def _results(self, answer: Mapping[str, Any]) -> Sequence[tuple[Any, Any]]:
        pages = answer.get("webPages")
        return _pairs(pages.get("value") if isinstance(pages, dict) else None, "url", "name")


ENGINES: Sequence[type[Engine]] = (SearXNG, Brave, Google, Bing)


def ready(environment: Mapping[str, str] | None = None) -> dict[str, Engine]:
    """The engines that an environment, by default this process's, sets up; by their names. One that has a key of its
    own is not asked through SearXNG."""
    there = os.environ if environment is None else environment
    made = {engine.name: engine for kind in ENGINES if (engine := kind.of(there)) is not None}
    named = [name for word in there.get("SEARXNG_ENGINES", "").split(",") if (name := word.strip().casefold())]
    if named and (whole := made.pop(SearXNG.name, None)) is not None:
        made = {name: SearXNG(whole.url, only=name) for name in named} | made
    return made


def label_of(name: str) -> str:
    """What people call an engine; of one that is known by recorded results alone, its name."""
    known = {kind.name: kind.label for kind in ENGINES} | {"duckduckgo": "DuckDuckGo"}
    return known.get(name, name[:1].upper() + name[1:])


def _wait(headers: httpx.Headers) -> float:
    """Seconds after which an engine that was asked too often may be asked again, as it says; else one.

    Brave says of each of its windows what is left and when it is full again: `1;w=1, 15000;w=2592000` is one request a
    second, and so many a month.
    """
    if (after := headers.get("Retry-After", "").strip()).isdecimal():
        return float(after)
    left = _numbers(headers.get("X-RateLimit-Remaining", ""))
    full = _numbers(headers.get("X-RateLimit-Reset", ""))
    return max((seconds for n, seconds in zip(left, full, strict=False) if n == 0), default=1.0)


def _numbers(header: str) -> list[float]:
    parts = [part.strip() for part in header.split(",")]
    return [float(part) for part in parts] if all(part.isdecimal() for part in parts) else []


def _pairs(results: object, address: str, title: str) -> list[tuple[Any, Any]]:
    if not isinstance(results, list):
        return []
    return [(one.get(address), one.get(title)) for one in results if isinstance(one, dict)]
