"""The pages of `docs/`: which there are, in which order, what they say, and where they say something. Pure."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import NamedTuple

from base.markup import Section, sections_of

CONTENTS = "README"  # the page that leads to the others
_LINK = re.compile(r"\[([^\]]+)\]\(([\w/-]+)\.md\)")
_AROUND = 110  # characters of an excerpt on each side of the first word that was looked for


@dataclass(frozen=True)
class Page:
    """A page; `name` is its path below `docs/` without `.md`, such as "judges/runs"."""

    name: str
    text: str

    @cached_property
    def sections(self) -> Sequence[Section]:
        return sections_of(self.text)

    @property
    def title(self) -> str:
        return self.sections[0].title

    @cached_property
    def unmarked(self) -> Sequence[tuple[Section, str, str]]:
        """Each section with its title and its words, as `_unmarked`."""
        return [(section, _unmarked(section.title), _unmarked(section.words)) for section in self.sections]


class Group(NamedTuple):
    """A heading of the contents with the pages below it, each with what the contents call it."""

    title: str
    pages: Sequence[tuple[str, str]]  # name, what it is called


class Hit(NamedTuple):
    """A section that has all words that were looked for; `excerpt`: its words in pieces, and which of them were."""

    page: Page
    section: Section
    excerpt: Sequence[tuple[str, bool]]


@cache
def pages_in(folder: Path) -> dict[str, Page]:
    """All pages below a folder, {name: page}; they are read once a process."""
    paths = {path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.glob("**/*.md"))}
    return {name: Page(name, path.read_text(encoding="utf-8")) for name, path in paths.items()}


@cache
def groups_in(folder: Path) -> list[Group]:
    """The contents, as their page has them."""
    parts = pages_in(folder)[CONTENTS].text.split("\n## ")[1:]
    return [
        Group(part.partition("\n")[0], [(name, said[0].upper() + said[1:]) for said, name in _LINK.findall(part)])
        for part in parts
    ]


def place_of(page: str, href: str) -> tuple[str, str]:
    """What a link on a page names: another page, by its name, and the heading there, empty where it names none.

    >>> place_of("judges/runs", "../plan.md#the-board"), place_of("grid", "#ranges")
    (('plan', 'the-board'), ('grid', 'ranges'))
    """
    path, _hash, anchor = href.partition("#")
    return normpath(join(dirname(page), path.removesuffix(".md"))) if path else page, anchor


def found(pages: Iterable[Page], query: str, most: int = 40) -> list[Hit]:
    """The sections with all words of a query: first those that have them in their titles, then those that have them
    more often for their length. A word is found by how it begins, in whatever case and with or without the marks of its
    letters; a Greek letter by its name too."""
    composed = unicodedata.normalize("NFC", query)
    words = [_beginning(word) for word in dict.fromkeys(_unmarked(composed.casefold()).split())]
    if not words:
        return []
    ranked = []
    for page in pages:
        of_page = page.unmarked[0][1]
        for section, title, text in page.unmarked:
            said = f"{of_page}\n{title}\n{text}"
            if all(word.search(said) for word in words):
                own = sum(bool(word.search(title)) for word in words)
                titled = sum(bool(word.search(of_page)) for word in words)
                density = sum(len(word.findall(text)) for word in words) / (60 + len(text.split()))
                ranked.append(((-own, -titled, -density), page, section, text))
    first = sorted(ranked, key=itemgetter(0))[:most]
    return [Hit(page, section, _excerpt(section.words, text, words)) for _rank, page, section, text in first]


def _unmarked(text: str) -> str:
    """As long as it was, each letter without its marks.

    >>> _unmarked("Candès: řádek, κ")
    'Candes: radek, κ'
    """
    return "".join(sign if sign.isascii() else unicodedata.normalize("NFD", sign)[0] for sign in text)


def _beginning(word: str) -> re.Pattern[str]:
    """A word from its beginning on; of signs, such as “--every-rater”, what they are."""
    either = rf"(?<!\w){re.escape(word)}" if re.match(r"\w", word) else re.escape(word)
    with contextlib.suppress(KeyError):  # most words are no letters
        either += "|" + unicodedata.lookup(f"GREEK SMALL LETTER {word}")
    return re.compile(either, re.IGNORECASE)


def _excerpt(text: str, unmarked: str, words: Sequence[re.Pattern[str]]) -> list[tuple[str, bool]]:
    any_word = re.compile("|".join(word.pattern for word in words), re.IGNORECASE)
    first = any_word.search(unmarked)
    at = first.start() if first else 0
    begin = text.rfind(" ", 0, max(at - _AROUND, 0)) + 1 if at > _AROUND else 0
    end = text.find(" ", at + 2 * _AROUND)
    end = len(text) if end < 0 else end
    pieces, last = [("… " if begin else "", False)], begin
    for hit in any_word.finditer(unmarked, begin, end):
        pieces += [(text[last : hit.start()], False), (text[hit.start() : hit.end()], True)]
        last = hit.end()
    return [*pieces, (text[last:end] + (" …" if end < len(text) else ""), False)]
