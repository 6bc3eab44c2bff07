"""Search engines behind one protocol. Keys come from the environment, and are in no error, log, record or address.

| engine | variables |
|---|---|
| SearXNG, an instance of one's own with its JSON format switched on | `SEARXNG_URL` |
| Brave | `BRAVE_SEARCH_API_KEY` |
| Google, its Custom Search | `GOOGLE_SEARCH_API_KEY`, `GOOGLE_SEARCH_ENGINE_ID` |
| Bing | `BING_SEARCH_API_KEY`; `BING_SEARCH_URL` where another service answers as it did |
"""

from __future__ import annotations

import os
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

    def search(self, query: str, n: int, *, beat: Callable[[], None] = lambda: None) -> list[Result]:
        """The first `n` results, fewer where there are no more; each address once, with the rank of its first place.

        Raises:
            EngineError: it did not answer, refused, or answered something else.
        """
        found: list[Result] = []
        seen: set[str] = set()
        place = pages = 0
        with httpx.Client(timeout=_TIMEOUT_S, trust_env=False) as client:
            while place < min(n, self.most):
                beat()
                params, headers = self._asked(query, place, pages)
                pages += 1
                results = self._results(self._answer(client, params, headers))
                new = 0
                for at, title in results:
                    place += 1
                    if isinstance(at, str) and at not in seen and place <= n:
                        seen.add(at)
                        found.append(Result(place, at, title if isinstance(title, str) else ""))
                        new += 1
                if not new or (self.page and len(results) < self.page):
                    break
        return found

    def _answer(self, client: httpx.Client, params: Params, headers: Headers) -> Mapping[str, Any]:
        try:
            with client.stream("GET", self.url, params=params, headers=headers) as response:
                if response.status_code != 200:
                    raise self._refusal(response.status_code)
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

    def _refusal(self, status: int) -> EngineError:
        said = {"engine": self.label, "status": status, "variables": ", ".join(self.needs)}
        if status in {401, 403}:
            return EngineError(_("%(engine)s refused (%(status)s). Is what %(variables)s says right?") % said)
        if status == 429:
            return EngineError(_("%(engine)s was asked too often (%(status)s).") % said, passing=True)
        return EngineError(_("%(engine)s answered with the error %(status)s.") % said, passing=status >= 500)

    def _unreadable(self) -> EngineError:
        return EngineError(_("%(engine)s answered something that is no list of results.") % {"engine": self.label})


class SearXNG(Engine):
    """See docs.searxng.org/dev/search_api.html. How many results a page has is up to the instance."""

    name, label, needs, most, page = "searxng", "SearXNG", ("SEARXNG_URL",), 200, 0

    @classmethod
    def _made(cls, environment: Mapping[str, str]) -> Self:
        return cls(environment["SEARXNG_URL"].rstrip("/") + "/search")

    def _asked(self, query: str, start: int, pages: int) -> tuple[Params, Headers]:
        return {"q": query, "format": "json", "pageno": pages + 1}, {}

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
    """The engines that an environment, by default this process's, sets up; by their names."""
    there = os.environ if environment is None else environment
    made = (kind.of(there) for kind in ENGINES)
    return {engine.name: engine for engine in made if engine is not None}


def label_of(name: str) -> str:
    """What people call an engine; of one that is known by recorded results alone, its name."""
    known = {kind.name: kind.label for kind in ENGINES} | {"duckduckgo": "DuckDuckGo"}
    return known.get(name, name[:1].upper() + name[1:])


def _pairs(results: object, address: str, title: str) -> list[tuple[Any, Any]]:
    if not isinstance(results, list):
        return []
    return [(one.get(address), one.get(title)) for one in results if isinstance(one, dict)]
