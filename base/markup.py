"""The documentation's own Markdown as HTML, by CommonMark and with tables, and as the plain words of its sections.

Pure. No HTML in a text is HTML of its own. Headings have the names that a code host gives them, so that the same links
lead to them here and there; links into the documentation are their words alone, but for those to what is shown here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token


class _Pages(RendererHTML):
    """As Palate's pages write headings, tables and code."""

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        tokens[idx].attrSet("id", anchor_of(_words(tokens[idx + 1])))
        return self.renderToken(tokens, idx, options, env)

    def table_open(self, *_of: Any) -> str:
        return '<div class="scroll"><table class="list">\n'

    def table_close(self, *_of: Any) -> str:
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], idx: int, *_of: Any) -> str:
        return '<th scope="col">' if tokens[idx + 1].content else "<td>"  # one without words heads nothing

    def th_close(self, tokens: Sequence[Token], idx: int, *_of: Any) -> str:
        return "</th>\n" if tokens[idx - 1].content else "</td>\n"

    def td_open(self, *_of: Any) -> str:
        return "<td>"

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        link = tokens[idx]
        link.attrs["href"] = _address(str(link.attrs["href"]), env) or ""
        return self.renderToken(tokens, idx, options, env) if link.attrs["href"] else ""

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        opening = next(token for token in reversed(tokens[:idx]) if token.type == "link_open")  # no link is in a link
        return self.renderToken(tokens, idx, options, env) if opening.attrs["href"] else ""


def _address(href: str, env: Any) -> str | None:
    return href if href.startswith("https://") else env["here"](href)


def _words(inline: Token) -> str:
    """What is read of a paragraph, a heading or a cell."""
    said = {"text", "code_inline"}
    return "".join(
        one.content if one.type in said else " " if one.type == "softbreak" else "" for one in inline.children or []
    )


_MARKDOWN = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Pages).enable("table")


def html_of(text: str, here: Callable[[str], str | None] = lambda _href: None) -> str:
    """As HTML that may be put into a page as it is. `here` gives a link's address where what it names can be shown,
    else None."""
    html: str = _MARKDOWN.render(text, {"here": here})
    return html


def anchor_of(heading: str) -> str:
    """What a link calls a heading.

    >>> anchor_of("Where systems go wrong: Tables 7 & 8")
    'where-systems-go-wrong-tables-7--8'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the plain words below it, up to the next one; `level`: 1 of the page's title."""

    level: int
    title: str
    words: str

    @property
    def anchor(self) -> str:
        return anchor_of(self.title)


def sections_of(text: str) -> list[Section]:
    """A page's sections in their order; each begins with a heading, as the page does.

    >>> [one.words for one in sections_of("# The *lens*\\n\\n`k` leads.\\n\\n## Keys\\n\\n- n\\n- p")]
    ['k leads.', 'n p']
    """
    found: list[tuple[int, str, list[str]]] = []
    level = 0
    for token in _MARKDOWN.parse(text):
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "inline" and level:
            found.append((level, _words(token), []))
            level = 0
        elif token.type in ("inline", "fence"):
            found[-1][2].append(_words(token) if token.type == "inline" else token.content)
    return [Section(level, title, " ".join(" ".join(words).split())) for level, title, words in found]
