"""The documentation's own Markdown as HTML, by CommonMark and with tables.

Pure. No HTML in a text is HTML of its own; links into the documentation are their words alone, but for those to
what the page itself shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token


class _Pages(RendererHTML):
    """As Palate's pages write tables and code."""

    def table_open(self, *_of: Any) -> str:
        return '<div class="scroll"><table class="list">\n'

    def table_close(self, *_of: Any) -> str:
        return "</table></div>\n"

    def th_open(self, *_of: Any) -> str:
        return '<th scope="col">'

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


_MARKDOWN = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Pages).enable("table")


def html_of(text: str, here: Callable[[str], str | None] = lambda _href: None) -> str:
    """As HTML that may be put into a page as it is. `here` gives a link's address where the page itself shows what the
    link names, else None."""
    html: str = _MARKDOWN.render(text, {"here": here})
    return html
