"""Tags with more attributes than anybody writes. The parser's time for one grows with their square: a page of 8 MB that
is a single tag would hold a worker for half an hour."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

MOST_ATTRIBUTES = 2000
# Characters of a tag from which on its attributes are counted: a shorter one has too few to matter.
_LONG = 10_000
# A tag up to its end, by the rules of quotes; each character is read once.
_TAG = re.compile(r"""<[a-zA-Z](?:[^"'>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+|["'])*+""")


class _Counted:
    """What a parser that builds no tree tells."""

    def __init__(self) -> None:
        self.most = 0

    def start(self, _tag: str, attributes: Any) -> None:
        self.most = max(self.most, len(attributes))

    def close(self) -> int:
        return self.most


def is_crowded(text: str) -> bool:
    """Whether a tag has more attributes than `MOST_ATTRIBUTES`. The text is parsed only where one is so long."""
    if not any(match.end() - match.start() > _LONG for match in _TAG.finditer(text)):
        return False
    parser = etree.HTMLParser(target=_Counted(), encoding="utf-8", huge_tree=True)
    most: int = etree.fromstring(text.replace("\x00", "").encode("utf-8", "replace"), parser)
    return most > MOST_ATTRIBUTES
