"""What a page states about itself in its head: its addresses, its title and its language.

A head is some hundred elements in any order, asked for by name and attribute: BeautifulSoup's tree is made for that,
with lxml as its parser. The body is walked as lxml's own tree (`outline`): BeautifulSoup's takes 60 ms to build where
lxml's takes 6, the mean of the benchmark's pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from bs4 import BeautifulSoup, Tag
from bs4.filter import SoupStrainer

_STATEMENTS = SoupStrainer(["title", "base", "link", "meta"])
_DECLARATION = re.compile(r"\s*<\?xml[^>]*>")
# A script may write such a tag, so the surest end is looked for first; a page without a head ends with its first block.
_ENDS = (
    re.compile(r"</head\s*>\s*(?:<!--.*?-->\s*)*<body\b", re.IGNORECASE | re.DOTALL),
    re.compile(r"</head\s*>|<body\b", re.IGNORECASE),
    re.compile(r"<(?:h1|main|article|section|p|div|table|ul)\b", re.IGNORECASE),
)


class Head:
    """The head of a page that is given as text; parsed when something is first asked of it."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _soup(self) -> BeautifulSoup:
        begin = match.end() if (match := _DECLARATION.match(self._text)) else 0
        end = next((match.end() for pattern in _ENDS if (match := pattern.search(self._text))), len(self._text))
        return BeautifulSoup(
            self._text[begin:end].replace("\x00", ""),
            "lxml",
            parse_only=_STATEMENTS,
            multi_valued_attributes=None,
        )

    def _stated(self, name: str, attribute: str, wanted: Callable[[Tag], bool] = bool) -> list[str]:
        """That attribute of the wanted elements of a name, in page order; empty ones left out."""
        return [str(element[attribute]) for element in self._soup(name) if element.get(attribute) and wanted(element)]

    @cached_property
    def addresses(self) -> list[str]:
        """Those that the page calls its own."""
        names = {"og:url", "twitter:url"}
        return [
            *self._stated("link", "href", lambda link: _is(link, "rel", "canonical")),
            *self._stated(
                "meta", "content", lambda meta: meta.get("property") == "og:url" or meta.get("name") in names
            ),
        ]

    @cached_property
    def bases(self) -> list[str]:
        """What its relative addresses are relative to."""
        return self._stated("base", "href")

    @cached_property
    def other_addresses(self) -> list[str]:
        """Those of the page in other languages, and its short ones."""
        return [
            *self._stated("link", "href", lambda link: link.get("rel") == "alternate" and link.has_attr("hreflang")),
            *self._stated("link", "href", lambda link: link.get("rel") == "shortlink"),
        ]

    @cached_property
    def titles(self) -> list[str]:
        """For others to show, then for the browser's window."""
        return [
            *self._stated("meta", "content", lambda meta: meta.get("property") == "og:title"),
            *(title.text for title in self._soup("title")),
        ]

    @cached_property
    def languages(self) -> list[str]:
        """Language tags beside that of the page's first element, the most trustworthy first ("en-GB", "en_US")."""
        return [
            *self._stated("meta", "content", lambda meta: _is(meta, "http-equiv", "content-language")),
            *self._stated("meta", "content", lambda meta: meta.get("property") == "og:locale"),
        ]


def _is(element: Tag, attribute: str, value: str) -> bool:
    return str(element.get(attribute, "")).casefold() == value
