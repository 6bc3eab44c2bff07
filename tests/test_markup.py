"""The documentation's Markdown, as pages show it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from base.markup import html_of


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "*Try it* asks **one** cell of\n`lexical`.",
            "<p><em>Try it</em> asks <strong>one</strong> cell of <code>lexical</code>.</p>",
        ),
        (
            "See [hiring](hiring.md) and [a page](https://a.example/x).",
            '<p>See hiring and <a href="https://a.example/x">a page</a>.</p>',
        ),
        ("First:\n1. one\n   goes on\n2. two", "<p>First:</p><ol><li>one goes on</li><li>two</li></ol>"),
        ("**`serve`** runs.", "<p><strong><code>serve</code></strong> runs.</p>"),
        ("- a * b * c\n- `*x*`", "<ul><li>a * b * c</li><li><code>*x*</code></li></ul>"),
        ("```yaml\na: <b>\n\nc: *d*\n```", "<pre>a: &lt;b&gt;\n\nc: *d*</pre>"),
        ("    manage.py *", "<pre>manage.py *</pre>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ('[x](https://a.example/"onclick=")', '<p><a href="https://a.example/&quot;onclick=&quot;">x</a></p>'),
        (
            "| a | b |\n|---|---|\n| `x\\|y` | 1 |",
            '<div class="scroll"><table class="list"><thead><tr><th scope="col">a</th><th scope="col">b</th></tr>'
            "</thead><tbody><tr><td><code>x|y</code></td><td>1</td></tr></tbody></table></div>",
        ),
    ],
    ids=["words", "links", "numbered", "code set off", "bullets", "fence", "indented", "escaped", "address", "table"],
)
def test_what_is_written_is_shown(text: str, html: str) -> None:
    assert html_of(text) == html


def test_the_page_about_judges_has_no_signs_left() -> None:
    shown = html_of((Path(__file__).parent.parent / "docs" / "judges.md").read_text(encoding="utf-8"))
    words = re.sub(r"<pre>.*?</pre>|<code>.*?</code>", "", shown, flags=re.DOTALL)
    assert [sign for sign in ("**", "](", "|--") if sign in words] == []
    assert words.count("<td>") > 20
