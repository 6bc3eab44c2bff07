"""The documentation's Markdown, as pages show it."""

from __future__ import annotations

import pytest

from base.markup import html_of


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("*Try it* asks `lexical`.", "<p><em>Try it</em> asks <code>lexical</code>.</p>"),
        (
            "See [*hiring*](hiring.md) and [a page](https://a.example/x).",
            '<p>See <em>hiring</em> and <a href="https://a.example/x">a page</a>.</p>',
        ),
        ("[x](javascript:alert(1)) <https://a.example>", '<p>[x](javascript:alert(1)) <a href="https://a.example">'),
        ("<script>alert(1)</script> <b>", "&lt;script&gt;alert(1)&lt;/script&gt; &lt;b&gt;"),
        ('[x](https://a.example/"onclick=")', '<a href="https://a.example/%22onclick=%22">x</a>'),
        ("```yaml\na: <b>\n```", '<pre><code class="language-yaml">a: &lt;b&gt;\n</code></pre>'),
        (
            "| a |\n|--:|\n| `x\\|y` |",
            '<div class="scroll"><table class="list">\n<thead>\n<tr>\n<th scope="col">a</th>',
        ),
        ("| a |\n|--:|\n| `x\\|y` |", "<td><code>x|y</code></td>\n</tr>\n</tbody>\n</table></div>\n"),
    ],
    ids=["words", "links", "addresses", "escaped", "quoted", "code", "head of a table", "body of a table"],
)
def test_what_is_written_is_shown(text: str, html: str) -> None:
    assert html in html_of(text)


def test_a_column_without_a_heading_has_no_empty_one() -> None:
    shown = html_of("| | n |\n|---|---|\n| a | 1 |")
    assert '<tr>\n<td></td>\n<th scope="col">n</th>\n</tr>' in shown


def test_headings_are_called_as_links_call_them() -> None:
    assert (
        html_of("## Numbers & *units*, `x_y`")
        == '<h2 id="numbers--units-x_y">Numbers &amp; <em>units</em>, <code>x_y</code></h2>\n'
    )


def test_a_link_to_what_the_page_shows_itself_leads_there() -> None:
    shown = html_of("[runs](judges/runs.md), [api](api.md)", {"judges/runs.md": "#runs"}.get)
    assert shown == '<p><a href="#runs">runs</a>, api</p>\n'
