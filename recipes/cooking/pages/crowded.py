"""What nobody writes and readers of pages take long over.

Tags with very many attributes: the parser's time for one grows with their square, and a page of 8 MB that is a single
tag would hold a worker for half an hour. Microdata that are very deep: for 47 KB of them the library takes 40 seconds.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

MOST_ATTRIBUTES = 2000
# Things in things (a recipe has steps in sections in a list), or properties in properties; and references, each to all
# properties.
_MOST_NESTED = 8
_MOST_REFERRED = 20_000
# Characters of a tag from which on its attributes are counted: a shorter one has too few to matter.
_LONG = 10_000
# A tag up to its end, by the rules of quotes; each character is read once.
_TAG = re.compile(r"""<[a-zA-Z](?:[^"'>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+|["'])*+""")


_MICRODATA = re.compile("item(?:scope|prop)", re.IGNORECASE)


class _Counted:
    """What a parser that builds no tree tells."""

    def __init__(self) -> None:
        self.most = 0

    def start(self, _tag: str, attributes: Any) -> None:
        self.most = max(self.most, len(attributes))

    def close(self) -> int:
        return self.most


class _Nesting:
    """How deep microdata stand in each other, told by a parser that builds no tree."""

    def __init__(self) -> None:
        self._open: list[tuple[bool, bool]] = []
        self._scopes = self._within = 0
        self.deepest = self.properties = self.references = 0

    def start(self, _tag: str, attributes: Any) -> None:
        scope, named = "itemscope" in attributes, "itemprop" in attributes
        self._open.append((scope, named))
        self._scopes += scope
        self._within += named
        self.deepest = max(self.deepest, self._scopes, self._within)
        self.properties += named
        self.references += len((attributes.get("itemref") or "").split())

    def end(self, _tag: str) -> None:
        scope, named = self._open.pop()
        self._scopes -= scope
        self._within -= named

    def close(self) -> _Nesting:
        return self


def is_tangled(text: str) -> bool:
    """Whether microdata stand deeper in each other, or refer to each other more often, than anybody writes."""
    if not _MICRODATA.search(text):
        return False
    parser = etree.HTMLParser(target=_Nesting(), encoding="utf-8", huge_tree=True)
    found: _Nesting = etree.fromstring(text.replace("\x00", "").encode("utf-8", "replace"), parser)
    return found.deepest > _MOST_NESTED or found.references * found.properties > _MOST_REFERRED


def is_crowded(text: str) -> bool:
    """Whether a tag has more attributes than `MOST_ATTRIBUTES`. The text is parsed only where one is so long."""
    if not any(match.end() - match.start() > _LONG for match in _TAG.finditer(text)):
        return False
    parser = etree.HTMLParser(target=_Counted(), encoding="utf-8", huge_tree=True)
    most: int = etree.fromstring(text.replace("\x00", "").encode("utf-8", "replace"), parser)
    return most > MOST_ATTRIBUTES
