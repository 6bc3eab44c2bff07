"""A page as the lines that a person sees, in order, with the element each stands in."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from lxml import etree
from lxml import html as lxml_html

from base.text import storable
from recipes.cooking.pages import words

_SKIPPED = {
    "script", "style", "template", "svg", "iframe", "select", "textarea", "noscript", "object", "video", "audio",
    "canvas", "nav", "footer", "head", "input", "img", "picture", "math", "figcaption", "ins",
    "amp-ad", "amp-sidebar", "amp-consent",
}  # fmt: skip
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_BLOCKS = {
    "html", "body", "div", "section", "article", "main", "aside", "header", "ul", "ol", "li", "dl", "dt", "dd", "table",
    "thead", "tbody", "tfoot", "tr", "td", "th", "p", "blockquote", "pre", "form", "fieldset", "legend", "figure",
    "details", "summary", "address", "center", "hr", "button", "caption", "label", *_HEADINGS,
}  # fmt: skip
_NESTED = ("li", "ul", "ol", "table", "h1", "h2", "h3", "h4", "h5", "h6")
_HEADING_LENGTH = 200  # a longer one is a page's mistake: an h3 around a whole recipe
_MAX_LINES = 10_000  # long recipe pages have 3 000; what follows more is read no further
_AMOUNT_LENGTH = 40  # a longer description of a term is no amount of an ingredient
_NAME_LENGTH = 60  # a longer line after a number is a step
_BOLD = {"b", "strong"}
# Between inline elements without white space: a space if letters or digits would run together (CSS sets them apart).
_JOINT = "\x00"
_JOINT_TAGS = {"span", "div", "data", "td", "th", "p", "dt", "dd", "h4", "h5"}
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\xad\u180e]")
_BULLET = re.compile(r"^[\s▢☐□◻▪■●○•·∙‣⁃✓✔☑\-–—*►▸+]+(?=\S)")


def unescaped(text: str) -> str:
    """`text` with HTML entities resolved, also doubly escaped ones."""
    for _ in range(3):
        plain = html.unescape(text)
        if plain == text:
            break
        text = plain
    return text


def fold(text: str) -> str:
    """`text` with HTML entities resolved, white space folded, none before a comma (where data are put together out of
    parts), invisible signs and what cannot be stored left out."""
    folded = " ".join(storable(visible(unescaped(text))).split())
    return folded.replace(" , ", ", ") if " , " in folded else folded


def visible(text: str) -> str:
    """`text` without what nobody sees and no word is found over: soft hyphens, zero-width spaces, byte order marks, and
    signs that turn the line round."""
    return _INVISIBLE.sub("", text)


@dataclass(slots=True)
class Line:
    """One line of a page. `level`: 1-6 in a heading, else 0; `strong`: all of it bold; `linked`: all of it in links."""

    text: str
    tag: str
    element: etree._Element
    level: int
    strong: bool
    linked: bool

    @property
    def like_heading(self) -> bool:
        return self.level > 0 or self.strong or self.tag in {"button", "dt", "summary", "legend", "th", "caption"}

    @property
    def section(self) -> words.Section | None:
        return words.section_of(self.text, heading=self.level > 0)


@dataclass(slots=True)
class Outline:
    """The lines of a page, and for each element the half-open span of lines in it."""

    lines: list[Line] = field(default_factory=list)
    spans: dict[etree._Element, tuple[int, int]] = field(default_factory=dict)

    def within(self, element: etree._Element) -> list[Line]:
        start, end = self.spans.get(element, (0, 0))
        return self.lines[start:end]


def parse(text: str) -> etree._Element | None:
    """The tree of an HTML page, or None if nothing in it is an element."""
    parser = lxml_html.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")
    try:
        # Bytes, since lxml refuses text that begins with an XML encoding declaration.
        return lxml_html.document_fromstring(text.replace("\x00", "").encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


def names_of(element: etree._Element) -> Iterator[str]:
    """The class and id names of an element, and those it has for tests of the site, casefolded."""
    yield from (element.get("class") or "").casefold().split()
    for attribute in ("id", "name", "data-testid", "data-test", "data-qa", "data-element"):
        if name := element.get(attribute):
            yield name.casefold()


def read(root: etree._Element) -> Outline:
    """The lines of the page under `root`.

    A list item, a table row and a heading are one line each; other blocks break at <br>. Navigation, footers, scripts,
    the comments of readers and nutrition tables are left out.
    """
    outline = Outline()
    pieces: list[tuple[str, bool, bool]] = []  # text, bold, linked
    whole: etree._Element | None = None  # the item, row or heading that stays one line
    owner = root
    bold = linked = 0
    starts: dict[etree._Element, int] = {}
    alike = Counter(element.get("class") for element in root.iter("div", "section", "article"))

    def flush() -> None:
        if not pieces:
            return
        text = words.without_disclosures(fold(_join([piece for piece, _, _ in pieces])))
        text = _BULLET.sub("", text)
        if text and owner.tag == "dd" and len(text) <= _AMOUNT_LENGTH and outline.lines:
            term = outline.lines[-1]
            if term.element is owner.getprevious() and not term.section:
                term.text, term.tag, text = f"{term.text} {text}", "dd", ""
        if text:
            seen = [(b, a) for piece, b, a in pieces if any(c.isalnum() for c in piece)]
            tag = str(owner.tag)
            outline.lines.append(
                Line(
                    text=text,
                    tag=tag,
                    element=owner,
                    level=_heading_level(owner) if len(text) <= _HEADING_LENGTH else 0,
                    strong=bool(seen) and all(b for b, _ in seen),
                    linked=bool(seen) and all(a for _, a in seen),
                )
            )
        pieces.clear()

    def add(text: str | None) -> None:
        if text:
            pieces.append((text, bold > 0, linked > 0))

    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        tag = element.tag if isinstance(element.tag, str) else ""
        block = tag in _BLOCKS
        if event == "start":
            if _skipped(element, tag, whole):
                walker.skip_subtree()
                starts[element] = -1
                continue
            if tag == "br":
                if whole is None:
                    flush()
                else:
                    add(" ")
            elif block and whole is None:
                flush()
                owner = element
                if _is_one_line(element, tag, alike):
                    whole = element
            elif block:
                add(" ")
            elif tag in _JOINT_TAGS:
                add(_JOINT)
            bold += tag in _BOLD
            linked += tag == "a"
            starts[element] = len(outline.lines)
            add(element.text)
            continue
        start = starts.pop(element)
        if start >= 0:
            bold -= tag in _BOLD
            linked -= tag == "a"
            if whole is element:
                whole = None
            if block and whole is None:
                flush()
                parent = element.getparent()
                owner = root if parent is None else parent
            elif block:
                add(" ")
            elif tag in _JOINT_TAGS:
                add(_JOINT)
            # An inline element's own text may not be flushed yet; it belongs to the line being built.
            outline.spans[element] = (start, len(outline.lines) + (0 if block and whole is None else 1))
        add(element.tail)
        if len(outline.lines) >= _MAX_LINES:
            break
    flush()
    _join_amounts(outline.lines)
    return outline


def _join_amounts(lines: list[Line]) -> None:
    """Amounts that stand in boxes of their own join the names that follow them; the lines of the names become empty.

    Only where that happens again close by, as it does in ingredient lists.
    """
    pairs = []
    for index, (line, following) in enumerate(pairwise(lines)):
        if not words.is_amount(line.text) or line.level:
            continue
        last = index + 1 + (words.is_unit(following.text) and index + 2 < len(lines))
        name = lines[last]
        if index and _shared(lines[index - 1].element, line.element) > _shared(line.element, name.element):
            continue  # it is the name before that the amount belongs to
        if not name.level and len(name.text) <= _NAME_LENGTH and not words.begins_with_quantity(name.text):
            pairs.append((index, last))
    starts = {start for start, _ in pairs}
    for start, last in pairs:
        if any(start + offset in starts for offset in (-4, -3, -2, 2, 3, 4)):
            lines[start].text = " ".join(line.text for line in lines[start : last + 1])
            for line in lines[start + 1 : last + 1]:
                line.text = ""


def _shared(first: etree._Element, second: etree._Element) -> int:
    """How many ancestors two elements have in common."""
    return len({*first.iterancestors(), first} & {*second.iterancestors(), second})


def _join(pieces: list[str]) -> str:
    text = "".join(pieces)
    text = re.sub(rf"(?<=[\w)½¼¾⅓⅔])[{_JOINT}]+(?=[\w(½¼¾⅓⅔])", " ", text)
    return text.replace(_JOINT, "")


def _heading_level(element: etree._Element) -> int:
    for ancestor in (element, *element.iterancestors()):
        if ancestor.tag in _HEADINGS:
            return _HEADINGS[str(ancestor.tag)]
        if ancestor.get("role") == "heading":
            level = ancestor.get("aria-level") or ""
            return int(level) if level in {"1", "2", "3", "4", "5", "6"} else 3
        if ancestor.tag in {"li", "div", "section", "body", "td"}:
            return 0
    return 0


def _skipped(element: etree._Element, tag: str, whole: etree._Element | None) -> bool:
    if not tag or (tag in _SKIPPED and tag not in {"nav", "footer"}):
        return True
    if tag == "button":
        # Accordions and tabs put their headings into buttons.
        aside = whole is not None or words.section_of("".join(element.itertext()), heading=False) is None
    else:
        aside = tag in {"nav", "footer"} or any(words.NOT_CONTENT.match(name) for name in names_of(element))
    # Where end tags are missing, a button or a menu swallows the whole page.
    return aside and next(element.iterdescendants("main", "h1"), None) is None


def _is_one_line(element: etree._Element, tag: str, alike: Mapping[str | None, int]) -> bool:
    if tag in _HEADINGS or tag in {"li", "dd", "summary", "dt", "button", "legend", "caption", "label"}:
        return next(element.iterdescendants(*_NESTED), None) is None
    if tag == "tr":
        return next(element.iterdescendants(*_NESTED, "p"), None) is None
    return tag in {"div", "section", "article"} and _is_row(element, alike)


def _is_row(element: etree._Element, alike: Mapping[str | None, int]) -> bool:
    """Whether a container is one of several alike that each lay a short line out in boxes (amount | name)."""
    names = element.get("class")
    if not names or not 2 <= len(element) <= 4 or alike[names] < 3:
        return False
    if next(element.iterdescendants(*_NESTED, "br"), None) is not None:
        return False
    parts = [child.get("class") for child in element]
    return len(set(parts)) == len(parts) and sum(len(text) for text in element.itertext()) <= 200
