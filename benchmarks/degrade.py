"""Changes to real recipe pages that take one kind of sign from them, for `benchmarks.documents --degrade`.

Each takes the tree of a page and that of another page and changes the first in place.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from lxml import etree

_MACHINE = ("itemprop", "itemtype", "itemscope", "typeof", "property", "vocab")
# Heading words of the (English) pages in another language; what is not there stays English.
_GERMAN = {
    "ingredients": "Zutaten",
    "instructions": "Zubereitung",
    "directions": "Zubereitung",
    "method": "Zubereitung",
    "preparation": "Zubereitung",
    "notes": "Hinweise",
    "nutrition": "Nährwerte",
    "equipment": "Utensilien",
}
_RUSSIAN = dict(
    zip(
        _GERMAN,
        ("Ингредиенты", *["Приготовление"] * 4, "Примечания", "Пищевая ценность", "Инвентарь"),
        strict=True,
    )
)


def no_json_ld(root: etree._Element, _: etree._Element) -> None:
    for script in list(root.iter("script")):
        if "ld+json" in (script.get("type") or ""):
            script.drop_tree()


def no_attributes_for_machines(root: etree._Element, _: etree._Element) -> None:
    """Neither microdata nor RDFa."""
    for element in root.iter():
        for name in _MACHINE:
            element.attrib.pop(name, None)


def shown_only(root: etree._Element, _: etree._Element | None = None) -> None:
    """No scripts, no microdata, no RDFa."""
    for script in list(root.iter("script")):
        script.drop_tree()
    no_attributes_for_machines(root, root)


def shown_unnamed(root: etree._Element, _: etree._Element) -> None:
    """As `shown_only`, and no element has a class, an identity or a data attribute."""
    shown_only(root)
    for element in root.iter():
        for name in list(element.attrib):
            if name in {"class", "id", "name", "role"} or name.startswith(("data-", "aria-")):
                del element.attrib[name]


def _translated(words: dict[str, str]) -> Callable[[etree._Element, etree._Element], None]:
    pattern = re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)

    def change(root: etree._Element, _: etree._Element) -> None:
        shown_unnamed(root, root)
        for element in root.iter("h1", "h2", "h3", "h4", "h5", "h6", "strong", "b", "button", "span", "p", "div", "a"):
            if element.text and len(element.text) < 60:
                element.text = pattern.sub(lambda found: words[found[0].casefold()], element.text)

    return change


def shown_without_headings(root: etree._Element, _: etree._Element) -> None:
    """As `shown_only`, and each heading is a plain paragraph."""
    shown_only(root)
    for heading in root.iter("h1", "h2", "h3", "h4", "h5", "h6"):
        heading.tag = "p"


def shown_without_lists(root: etree._Element, _: etree._Element) -> None:
    """As `shown_only`, and lists and their items are div."""
    shown_only(root)
    for element in root.iter("ul", "ol", "li"):
        element.tag = "div"


def shown_in_one_kind(root: etree._Element, _: etree._Element) -> None:
    """As `shown_unnamed`, and lists and headings are div: nothing is left but the words and their order."""
    shown_unnamed(root, root)
    for element in root.iter("ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6"):
        element.tag = "div"


def escaped_twice(root: etree._Element, _: etree._Element) -> None:
    """Every text that the page states or shows is escaped once more, as careless systems do."""
    for element in root.iter():
        if element.tag == "script":
            if "ld+json" in (element.get("type") or "") and element.text:
                element.text = element.text.replace("&", "&amp;")
        elif isinstance(element.tag, str):
            element.text = html.escape(element.text, quote=False) if element.text else element.text
        element.tail = html.escape(element.tail, quote=False) if element.tail else element.tail


def before_another(root: etree._Element, other: etree._Element) -> None:
    """The whole content of another page follows, as on sites that load the next recipe below."""
    _follow(root, other)


def shown_before_another(root: etree._Element, other: etree._Element) -> None:
    shown_only(root)
    shown_only(other)
    _follow(root, other)


def shown_between_cards(root: etree._Element, other: etree._Element) -> None:
    """As `shown_only`, with twelve cards of other recipes before and after, each with some of its ingredients."""
    shown_only(root)
    body = root.find("body")
    assert body is not None
    cards = "".join(
        f"<article><h3><a href='/{n}'>Soup number {n}</a></h3><p>{n} leeks, 2 carrots, 1 l stock</p>"
        f"<ul><li>{n} leeks</li><li>2 carrots</li></ul></article>"
        for n in range(12)
    )
    for place in (0, len(body)):
        block = etree.fromstring(f"<div><h2>You may also like</h2>{cards}</div>", parser=etree.HTMLParser())
        body.insert(place, block[0][0])


def _follow(root: etree._Element, other: etree._Element) -> None:
    body, following = root.find("body"), other.find("body")
    if body is None or following is None:
        return
    following.tag = "div"
    body.append(following)


CHANGES: dict[str, Callable[[etree._Element, etree._Element], None]] = {
    "no JSON-LD": no_json_ld,
    "no microdata or RDFa": no_attributes_for_machines,
    "escaped twice": escaped_twice,
    "before another": before_another,
    "shown": shown_only,
    "shown, before another": shown_before_another,
    "shown, between cards": shown_between_cards,
    "shown, no names": shown_unnamed,
    "shown, no names, German": _translated(_GERMAN),
    "shown, no names, Russian": _translated(_RUSSIAN),
    "shown, no headings": shown_without_headings,
    "shown, no lists": shown_without_lists,
    "shown, words alone": shown_in_one_kind,
}
NEED_ANOTHER = {"before another", "shown, before another"}
