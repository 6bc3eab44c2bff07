"""What recipe-scrapers finds in a page: by the scraper of the page's site, or by its reader of schema.org data.

Its lines stand as they are, but for white space, HTML entities and signs that nobody sees: they are what people cite as
the page's recipe.
Nothing is fetched: the scrapers get the page's own text.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable
from functools import cache, partial
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from recipes.cooking.pages import outline, structured
from recipes.cooking.pages.crowded import is_tangled
from recipes.cooking.pages.structured import Extract


def by_host(text: str, urls: Iterable[str]) -> Extract:
    """What the scraper of the page's site finds; empty if recipe-scrapers knows none of the addresses.

    Each list by itself: a scraper that fails on one of them still gives the other.
    """
    for url in urls:
        host = known_host(url)
        if host is None:
            continue
        if is_tangled(text):
            return Extract()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library's and its parsers' own deprecations say nothing about a page
            scraper = _attempt(partial(_loaded().SCRAPERS[host], html=text, url=url))
            if scraper is None:
                return Extract()
            title = _attempt(scraper.title)
            return Extract(
                ingredients=_lines(_attempt(scraper.ingredients)),
                steps=_lines(_attempt(scraper.instructions_list)),
                title=outline.fold(title) if isinstance(title, str) else "",
                parser=f"recipe-scrapers:{host}",
            )
    return Extract()


def by_schema(text: str) -> Extract:
    """What the library reads out of JSON-LD and microdata; empty where they hold no recipe that it understands."""
    if is_tangled(text):
        return Extract()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = _attempt(lambda: _loaded()._schemaorg.SchemaOrg(text))
        if schema is None:
            return Extract()
        title, steps = _attempt(schema.title), _attempt(schema.instructions)
        return Extract(
            ingredients=_lines(_attempt(schema.ingredients)),
            # The library's scrapers take markup out later, and glue the lines together that it stood between.
            steps=tuple(structured.split(steps)) if isinstance(steps, str) and "<" in steps else _lines(steps),
            title=outline.fold(title) if isinstance(title, str) else "",
            parser="schema.org",
        )


def known_host(url: str) -> str | None:
    """The name under which recipe-scrapers knows the site of `url`, sub-domains such as www. and m. aside."""
    labels = host_of(url).split(".")
    names = (".".join(labels[i:]) for i in range(len(labels) - 1))
    return next((name for name in names if name in _loaded().SCRAPERS), None)


def host_of(url: str) -> str:
    """The host of an address without www., "" if it has none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".").removeprefix("www.")
    except ValueError:
        return ""


@cache
def _loaded() -> ModuleType:
    """The library, loaded at the first page: its 600 modules take a while, and set up logging by themselves.

    They call `logging.basicConfig()`, which would give the application a second handler beside its own.
    """
    root = logging.getLogger()
    handlers = list(root.handlers)
    import recipe_scrapers

    for handler in root.handlers[:]:
        if handler not in handlers:
            root.removeHandler(handler)
    return recipe_scrapers  # type: ignore[no-any-return, unused-ignore]


def _attempt(call: Callable[[], Any]) -> Any:
    """What `call` returns, None if it fails.

    Broad on purpose: 600 scrapers, each written for the pages of its site at one time, meet any page here, and fail
    with whatever their code happens to run into (AttributeError, IndexError, KeyError, TypeError, their own families).
    """
    try:
        return call()
    except Exception:
        return None


def _lines(value: Any) -> tuple[str, ...]:
    """A list of lines as the library gives it; some of its scrapers give one string with line ends instead.

    A scraper that gives nothing (None) comes out of the library as the text "None".
    """
    items = value.split("\n") if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    folded = (outline.fold(item) for item in items if isinstance(item, str))
    lines = tuple(line for line in folded if line)
    return () if lines == ("None",) else lines
