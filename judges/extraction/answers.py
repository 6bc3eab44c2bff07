"""What a model wrote when it was asked for a list of items, read by stated rules. No torch here.

The form is an XML-like list; an item is one text, or has fields:

    <clauses>                          <duties>
      <clause>Rent is due.</clause>      <duty><name>pay</name><party>tenant</party></duty>
    </clauses>                         </duties>

What is well-formed is read by lxml with everything switched off that could fetch or expand. What is not is read tag by
tag, and each thing that had to be mended or left out is counted by its `Repair`. What no rule covers is refused: no
text is ever made up, moved to another item, or taken from outside the list.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Literal, NamedTuple

from lxml import etree

from base.sentences import gettext, gettext_noop
from llm.engine.thoughts import only_thinks

MAX_CHARACTERS = 200_000
MAX_ITEMS = 500
MAX_ITEM_CHARACTERS = 1_000


class Repair(StrEnum):
    """What was mended."""

    CONTROLS = "controls"  # control characters are taken away
    THOUGHTS = "thoughts"  # <think>…</think> before the answer is left out
    FENCE = "fence"  # a Markdown fence around the list is taken away
    AROUND = "around"  # text before or after the list is left out
    BETWEEN = "between"  # text between the items, in none of them, is left out
    ENTITIES = "entities"  # a bare & or <, or an entity that XML does not know, is read as HTML does
    NO_LIST = "no-list"  # items without the list's own tags around them
    UNCLOSED = "unclosed"  # a tag that is not closed ends where the next item, or the list, does
    EXTRA_CLOSING = "extra-closing"  # a closing tag that closes nothing is passed over
    UNKNOWN_TAGS = "unknown-tags"  # tags that were not asked for are taken away, and their text stays
    REPEATED_FIELDS = "repeated-fields"  # of a field given twice both texts stand, with a comma
    SAME_LIST = "same-list"  # the same list given once more counts once
    SAME_ITEM = "same-item"  # an item right after itself counts once
    EMPTY_ITEMS = "empty-items"  # items without text are left out
    NAMELESS = "nameless"  # items without their first field are left out
    ECHOED = "echoed"  # items that only repeat the prompt's own words are left out
    CUT_OFF = "cut-off"  # the answer breaks off before the list ends; the item that it breaks off in is left out


Reason = Literal["too-long", "no-items", "too-many-items", "long-item", "declares", "two-lists", "no-answer"]


class ExtractionRefused(ValueError):
    """An answer that no rule can read as one list. `reason` is a code; `str()` says it in the reader's language."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(reason)

    def __str__(self) -> str:
        return gettext(_REASONS[self.reason]) % {
            "characters": MAX_CHARACTERS,
            "items": MAX_ITEMS,
            "long": MAX_ITEM_CHARACTERS,
        }


_REASONS: dict[Reason, str] = {
    "too-long": gettext_noop("The answer has more than %(characters)s characters."),
    "no-items": gettext_noop("The answer has no item in the form that was asked for."),
    "too-many-items": gettext_noop("The answer has more than %(items)s items."),
    "long-item": gettext_noop("An item of the answer has more than %(long)s characters."),
    "declares": gettext_noop("The answer declares a document type or entities, which no list needs."),
    "two-lists": gettext_noop("The answer has two lists that differ; which one is meant cannot be told."),
    "no-answer": gettext_noop("The model thought until it stopped, and wrote no list. Give it a longer answer."),
}


@dataclass(frozen=True)
class Shape:
    """What was asked for: `<item>` elements in an `<items>` one; without `fields` an item is one text."""

    item: str
    fields: tuple[str, ...] = ()

    @property
    def list(self) -> str:
        return f"{self.item}s"


# The texts of one item by field; of an item without fields by the item's own name. Empty fields are left out.
Item = dict[str, str]


@dataclass(frozen=True)
class Extracted:
    """The items, and how often each repair was needed, in the order of `Repair`."""

    items: tuple[Item, ...]
    repairs: dict[Repair, int]


def read(answer: str, shape: Shape) -> Extracted:
    """Read a model's answer.

    Raises:
        ExtractionRefused: with the reason.
    """
    if len(answer) > MAX_CHARACTERS:
        raise ExtractionRefused("too-long")
    repairs: Counter[Repair] = Counter()
    text = _framed(answer, shape, repairs)
    tokens = _well_formed(text)
    if tokens is None:
        tokens = list(_tag_by_tag(text, shape, repairs))
    reader = _Reader(shape, repairs)
    for token in tokens:
        reader.take(token)
    items = reader.end()
    return Extracted(items, {repair: repairs[repair] for repair in Repair if repairs[repair]})


def write(items: Sequence[Item], shape: Shape) -> str:
    """The list in the form that `read` reads without a repair."""
    root = etree.Element(shape.list)
    for item in items:
        element = etree.SubElement(root, shape.item)
        if shape.fields:
            for field in shape.fields:
                if text := item.get(field, ""):
                    etree.SubElement(element, field).text = text
        else:
            element.text = item[shape.item]
    etree.indent(root)
    return str(etree.tostring(root, encoding="unicode"))


# --- from the answer to a list of tags and texts ----------------------------------------------------------------------

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_DECLARES = re.compile(r"<!\s*(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)\b", re.IGNORECASE)
_XML_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)((?:\s[^<>]*)?)>")
_CDATA = re.compile(r"<!\[CDATA\[|\]\]>")


class _Token(NamedTuple):
    kind: Literal["open", "close", "text"]
    value: str


def _framed(answer: str, shape: Shape, repairs: Counter[Repair]) -> str:
    """The part of the answer from the first tag of the list or an item to its last one."""
    text, n_controls = _CONTROLS.subn("", answer.replace("\r\n", "\n").replace("\r", "\n"))
    repairs[Repair.CONTROLS] += n_controls
    _before, thought, after = text.rpartition("</think>")
    if thought:
        repairs[Repair.THOUGHTS] += 1
        text = after
    elif only_thinks(text):
        raise ExtractionRefused("no-answer")
    if _DECLARES.search(text):
        raise ExtractionRefused("declares")
    text, n_fences = _FENCE.subn("", text)
    repairs[Repair.FENCE] += bool(n_fences)
    known = [tag for tag in _TAG.finditer(text) if tag[2].casefold() in (shape.list, shape.item)]
    if not any(not tag[1] for tag in known):
        raise ExtractionRefused("no-items")
    start = next(tag.start() for tag in known if not tag[1])
    # What comes after the last closing tag is talk. After an opening one it is the beginning of an item.
    end = known[-1].end() if known[-1][1] else len(text)
    outside = _skipped(text[:start]) + text[end:]
    repairs[Repair.AROUND] += bool(outside.strip())
    return text[start:end]


def _well_formed(text: str) -> list[_Token] | None:
    """The tokens of a text that is an XML element, else None. Nothing is fetched, no entity known but XML's five."""
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, recover=False, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(text.strip().encode(), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    return list(_of_element(root))


def _of_element(root: etree._Element) -> Iterator[_Token]:
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            yield _Token("open", str(element.tag))
            yield _Token("text", element.text or "")
        else:
            yield _Token("close", str(element.tag))
            if element is not root:
                yield _Token("text", element.tail or "")


def _tag_by_tag(text: str, shape: Shape, repairs: Counter[Repair]) -> Iterator[_Token]:
    """The tokens of a text that is no XML."""
    text = _CDATA.sub("", _skipped(text))
    at = 0
    for tag in chain(_TAG.finditer(text), [None]):
        piece = text[at : tag.start() if tag else len(text)]
        if tag is None and (broken := re.search(r"<[^<>]*$", piece)):
            # The answer breaks off in a tag: what stands before it is the item's, and the tag says nothing.
            piece = piece[: broken.start()]
        if piece:
            yield _Token("text", _unescaped(piece, repairs))
        if tag is None:
            return
        at = tag.end()
        name, closed = tag[2], tag[3].rstrip().endswith("/")
        if name.casefold() in (shape.list, shape.item, *shape.fields):
            name = name.casefold()
        yield _Token("close" if tag[1] else "open", name)
        if closed and not tag[1]:
            yield _Token("close", name)


def _skipped(text: str) -> str:
    """Without comments and processing instructions, by looking at each character once."""
    for start, end in (("<!--", "-->"), ("<?", "?>")):
        kept, at = [], 0
        while (begin := text.find(start, at)) >= 0 and (close := text.find(end, begin)) >= 0:
            kept.append(text[at:begin])
            at = close + len(end)
        text = "".join((*kept, text[at:]))
    return text


def _unescaped(text: str, repairs: Counter[Repair]) -> str:
    repairs[Repair.ENTITIES] += len(re.findall("[&<]", _XML_ENTITY.sub("", text)))
    return html.unescape(text)


# --- from tags and texts to items -------------------------------------------------------------------------------------


class _Reader:
    """Takes the tokens one by one and holds what is open: a list, in it an item, in it a field."""

    def __init__(self, shape: Shape, repairs: Counter[Repair]) -> None:
        self._shape = shape
        self._repairs = repairs
        self._lists: list[list[Item]] = []
        self._listed = False  # inside the list's own tags
        self._item: dict[str, list[str]] | None = None
        self._field: str | None = None
        self._unknown: list[str] = []  # open tags that were not asked for

    def take(self, token: _Token) -> None:
        if token.kind == "text":
            self._text(token.value)
        elif token.kind == "open":
            self._open(token.value)
        else:
            self._close(token.value)

    def end(self) -> tuple[Item, ...]:
        if self._item is not None or self._listed:
            # Nothing says that this was all of it.
            self._repairs[Repair.CUT_OFF] += 1
        lists = [items for items in self._lists if items]
        if not lists:
            raise ExtractionRefused("no-items")
        if any(items != lists[0] for items in lists[1:]):
            raise ExtractionRefused("two-lists")
        self._repairs[Repair.SAME_LIST] += len(lists) - 1
        return tuple(lists[0])

    def _text(self, text: str) -> None:
        if self._item is None:
            self._repairs[Repair.BETWEEN] += bool(text.strip())
            return
        if self._shape.fields and self._field is None:
            self._repairs[Repair.BETWEEN] += bool(text.strip())
            return
        self._item[self._field or self._shape.item][-1] += text

    def _open(self, name: str) -> None:
        shape = self._shape
        # A field may have the list's name, as the parties of a list of parties; inside an item the name is the field's.
        if self._item is not None and name in shape.fields:
            if self._field is not None:
                self._repairs[Repair.UNCLOSED] += 1
            self._field = name
            self._unknown.clear()
            texts = self._item.setdefault(name, [])
            self._repairs[Repair.REPEATED_FIELDS] += bool(texts)
            texts.append("")
        elif name == shape.list:
            self._leave_list(unclosed=self._listed)
            self._listed = True
            self._lists.append([])
        elif name == shape.item:
            if self._item is not None:
                self._finish_item(unclosed=True)
            if not self._lists:
                self._lists.append([])
            self._repairs[Repair.NO_LIST] += not self._listed and not self._lists[-1]
            self._item = {} if shape.fields else {shape.item: [""]}
        else:
            self._repairs[Repair.UNKNOWN_TAGS] += 1
            self._unknown.append(name)
            self._break()

    def _close(self, name: str) -> None:
        shape = self._shape
        if self._unknown and name in self._unknown:
            del self._unknown[self._unknown.index(name) :]
            self._break()
        elif self._item is not None and name == self._field:
            self._field = None
        elif name == shape.item and self._item is not None:
            self._finish_item(unclosed=self._field is not None)
        elif name == shape.list and self._listed:
            self._leave_list(unclosed=self._item is not None)
        else:
            self._repairs[Repair.EXTRA_CLOSING] += 1

    def _break(self) -> None:
        """What stood in tags of its own stays apart: words by a space, in a field (a list of things) by a comma."""
        if self._item is not None and (not self._shape.fields or self._field is not None):
            self._item[self._field or self._shape.item].append("")

    def _leave_list(self, *, unclosed: bool) -> None:
        if self._item is not None:
            self._finish_item(unclosed=False)
        self._repairs[Repair.UNCLOSED] += unclosed
        self._listed = False

    def _finish_item(self, *, unclosed: bool) -> None:
        assert self._item is not None
        self._repairs[Repair.UNCLOSED] += unclosed
        join = ", " if self._shape.fields else " "
        texts = {name: join.join(filter(None, map(_folded, parts))) for name, parts in self._item.items()}
        item = {name: text for name in (self._shape.fields or (self._shape.item,)) if (text := texts.get(name, ""))}
        self._item = self._field = None
        self._unknown.clear()
        if any(len(text) > MAX_ITEM_CHARACTERS for text in item.values()):
            raise ExtractionRefused("long-item")
        items = self._lists[-1]
        if not item:
            self._repairs[Repair.EMPTY_ITEMS] += 1
        elif self._shape.fields and self._shape.fields[0] not in item:
            self._repairs[Repair.NAMELESS] += 1
        elif items and items[-1] == item:
            self._repairs[Repair.SAME_ITEM] += 1
        elif len(items) == MAX_ITEMS:
            raise ExtractionRefused("too-many-items")
        else:
            items.append(item)


def _folded(text: str) -> str:
    return " ".join(text.split())
