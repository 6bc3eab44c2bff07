"""A stored page for people to read: its text, lists and tables; nothing that runs, loads or leads elsewhere."""

from __future__ import annotations

import re

from lxml import html as lxml_html

from recipes.cooking.pages import outline
from recipes.cooking.pages.reading import text_of

_GONE = re.findall(
    r"\w+",
    "script style link meta base title noscript template iframe frame object embed applet svg math canvas img picture "
    "video audio source track map input button select textarea dialog",
)
_KEPT = frozenset(
    re.findall(
        r"\w+",
        "html head body main article section aside header footer nav div p span br hr h1 h2 h3 h4 h5 h6 ul ol li dl dt "
        "dd table caption colgroup col thead tbody tfoot tr th td b strong i em u s small sub sup mark abbr time "
        "blockquote q pre code figure figcaption address details summary ruby rt bdi bdo wbr",
    )
)
_ATTRIBUTES = frozenset({"lang", "dir", "colspan", "rowspan", "start", "value", "open"})


def readable(name: str, data: bytes) -> str:
    """The page as plain HTML. Styles are gone too: only the order and the kind of each text are kept.

    >>> readable("a.html", b'<p onclick="x()">Stir <a href="https://a.example">it</a>.<script>y()</script></p>')
    '<div><p>Stir <span>it</span>.</p></div>'
    """
    root = outline.parse(text_of(name, data))
    if root is None:
        return ""
    for element in root.xpath(" | ".join(f"//{tag}" for tag in _GONE)):
        element.drop_tree()
    body = root.find("body")
    top = root if body is None else body
    for element in top.iter():
        if element.tag not in _KEPT:
            element.tag = "span"
        for attribute in set(element.attrib) - _ATTRIBUTES:
            del element.attrib[attribute]
    top.tag = "div"
    return str(lxml_html.tostring(top, encoding="unicode", with_tail=False))
