"""Whether a page lets texts of other languages run in their own direction."""

from __future__ import annotations

import re

from lxml import html

_RIGHT_TO_LEFT = re.compile("\\W*[\u0590-\u07ff]")  # what begins with other letters is a sentence of the page


def astray(page: str) -> list[str]:
    """Texts from right to left in headings and cells of tables which would run from left to right."""
    return [
        text
        for text in html.fromstring(page).xpath("//main//text()[ancestor::td or ancestor::th or ancestor::h1]")
        if _RIGHT_TO_LEFT.match(text) and not any(one.tag == "bdi" or one.get("dir") == "auto" for one in _around(text))
    ]


def _around(text: str) -> list[html.HtmlElement]:
    of = text.getparent()  # type: ignore[attr-defined]  # lxml's own kind of text
    of = of.getparent() if text.is_tail else of  # type: ignore[attr-defined]
    return [of, *of.iterancestors()]
