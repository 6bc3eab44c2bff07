"""Where the words of an item stand in a document, and how they match: an aid for the eye, never an answer.

Pure: no database. Four kinds of match, the better ones first:

    exact    all words of the item are in the block, each in some form of it (tomato: tomatoes; loaf: loaves)
    synonym  another phrase of the scheme's list of synonyms stands there instead (ground beef: minced beef)
    part     some of the words only (olive oil: oil), or a word inside a longer one (milk: buttermilk)
    near     a word that is spelled nearly so (zucchini: zuchini)

A word is looked for inside others, and after that in near spellings, only where the page has it in no form of its own.
In scripts without spaces between words (Japanese, Chinese, Thai) a word is found wherever its letters stand. Forms are
found by stem (Snowball, and a short list of irregular English words), accents do not count.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import snowballstemmer

from annotation.evidence.blocks import LANGUAGES, Block
from annotation.evidence.kinds import HEADING


class Match(StrEnum):
    EXACT = "exact"
    SYNONYM = "synonym"
    PART = "part"
    NEAR = "near"


class Hit(NamedTuple):
    """Characters start..end of block number `block` match the item.

    `share` is how much of the item is in that block, 0 to 1: the words found, each by the worth of its match.
    """

    block: int
    start: int
    end: int
    kind: Match
    share: float


# What a word of the item counts that is found in this way.
_WORTH = {Match.EXACT: 1.0, Match.SYNONYM: 0.9, Match.PART: 0.6, Match.NEAR: 0.5}
_LEAST_PART = 4  # letters of a word that is looked for inside others
_LEAST_REST = 3  # letters that the longer word has beside it: "rice" is no part of "price"
_LEAST_NEAR = 5  # letters of a word that may be spelled nearly so

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# Words too common to point at anything.
_STOP = frozenset(
    re.findall(
        r"\w+", "a an and as at be by for from in into is it its of on or the then this to until up with you your"
    )
)
# Forms that a stemmer of English does not bring together, without accents.
_IRREGULAR = {
    form: word
    for word, forms in {
        "beat": "beaten",
        "break": "broke broken",
        "bring": "brought",
        "calf": "calves",
        "foot": "feet",
        "freeze": "froze frozen",
        "goose": "geese",
        "half": "halves halve halved halving",
        "hold": "held",
        "keep": "kept",
        "knife": "knives",
        "leaf": "leaves",
        "leave": "left",
        "loaf": "loaves",
        "make": "made",
        "melt": "molten",
        "saute": "sauteed sauteing",
        "shake": "shook shaken",
        "stick": "stuck",
        "take": "took taken",
        "tear": "tore torn",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}


# Letters of scripts that have no spaces between words; and words that count or measure, which point at nothing.
_SPACELESS = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_STOP |= frozenset(re.findall(r"\w+", "個 本 枚 袋 片 束 丁 缶 大さじ 小さじ 適量 少々 各 人分 分"))


class _Place(NamedTuple):
    block: int
    ordinal: int  # of the word in its block
    start: int
    end: int


class WordIndex:
    """The words of a document, by which items are found in it.

    Args:
        kinds: kinds of block that count; empty means all but headings.
        synonyms: groups of phrases that mean the same.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        *,
        language: str = "en",
        kinds: Sequence[str] = (),
        synonyms: Iterable[Sequence[str]] = (),
    ) -> None:
        self._stem = _stemmer(language)
        self._texts = [block.text for block in blocks]
        self._places: dict[str, list[_Place]] = {}
        self._spellings: dict[str, dict[str, str]] = {}  # first letter -> {word as it is spelled: its stem}
        self._longer: dict[str, set[str]] = {}  # a part -> the stems that it is a part of
        self._found: dict[str, list[Hit]] = {}
        self._read_blocks: list[int] = []
        for number, block in enumerate(blocks):
            if block.kind in kinds if kinds else block.kind != HEADING:
                self._read(number, block.text)
        for stem in self._places:
            for part in _parts(stem):
                self._longer.setdefault(part, set()).add(stem)
        self._synonyms = [[stems for phrase in group if (stems := self._stems(phrase))] for group in synonyms]

    def _read(self, number: int, text: str) -> None:
        self._read_blocks.append(number)
        for ordinal, word in enumerate(_WORD.finditer(text)):
            spelled = _plain(word[0])
            stem = self._stem(spelled)
            self._places.setdefault(stem, []).append(_Place(number, ordinal, *word.span()))
            self._spellings.setdefault(_folded(spelled)[0], {})[_folded(spelled)] = stem

    def _stems(self, text: str) -> list[str]:
        return [self._stem(_plain(word)) for word in _WORD.findall(text)]

    def find(self, item: str) -> list[Hit]:
        """Where the words of the item stand, in reading order. Empty where none is on the page."""
        if item not in self._found:
            self._found[item] = self._hits(item)
        return self._found[item]

    def _hits(self, item: str) -> list[Hit]:
        words = [_plain(word) for word in _WORD.findall(item)]
        telling = [word for word in words if word not in _STOP] or words
        stems = {self._stem(word): word for word in telling}
        # {place: how it matches}, and which of the item's words each block has, at which worth
        kinds: dict[_Place, Match] = {}
        worth: dict[int, dict[str, float]] = {}

        def add(place: _Place, kind: Match, covered: Iterable[str]) -> None:
            if place not in kinds or _WORTH[kind] > _WORTH[kinds[place]]:
                kinds[place] = kind
            in_block = worth.setdefault(place.block, {})
            for stem in covered:
                in_block[stem] = max(_WORTH[kind], in_block.get(stem, 0.0))

        for stem, word in stems.items():
            exact = self._places.get(stem) or self._standing(word)
            inside = self._inside(stem) if not exact else set()
            for place in exact:
                add(place, Match.EXACT, [stem])
            for other in inside:
                for place in self._places[other]:
                    add(place, Match.PART, [stem])
            if not exact and not inside:
                for other in self._nearly(word):
                    for place in self._places[other]:
                        add(place, Match.NEAR, [stem])
        whole = {number for number, found in worth.items() if all(found.get(stem) == 1.0 for stem in stems)}
        for place in [place for place, kind in kinds.items() if kind == Match.EXACT and place.block not in whole]:
            kinds[place] = Match.PART
        for places, covered in self._instead([self._stem(word) for word in words]):
            for place in places:
                if place.block not in whole:
                    add(place, Match.SYNONYM, covered & stems.keys())
        share = {number: sum(found.values()) / len(stems) for number, found in worth.items()}
        return self._joined(sorted((place, kind) for place, kind in kinds.items()), share)

    def _standing(self, word: str) -> list[_Place]:
        """Where a word stands in a script that has no spaces between words, whatever stands around it."""
        if not _SPACELESS.match(word):
            return []
        found = []
        for number in self._read_blocks:
            text = self._texts[number].casefold()
            start = text.find(word)
            while start >= 0:
                found.append(_Place(number, start, start, start + len(word)))
                start = text.find(word, start + len(word))
        return found

    def _inside(self, stem: str) -> set[str]:
        """Stems of the page that contain this one, or that it contains."""
        longer = self._longer.get(stem, set()) if len(stem) >= _LEAST_PART else set()
        return longer | {part for part in _parts(stem) if part in self._places}

    def _nearly(self, word: str) -> set[str]:
        """Stems of words of the page that are spelled nearly as this one. The first letter has to be right."""
        spelled = _folded(word)
        if len(spelled) < _LEAST_NEAR:
            return set()
        return {
            stem
            for other, stem in self._spellings.get(spelled[0], {}).items()
            if len(other) >= _LEAST_NEAR
            and abs(len(other) - len(spelled)) <= (most := 1 if min(len(other), len(spelled)) < 8 else 2)
            and _distance(spelled, other) <= most
        }

    def _instead(self, item: list[str]) -> Iterable[tuple[list[_Place], set[str]]]:
        """Phrases of the page that stand for words of the item: (where, the item's stems they stand for)."""
        for group in self._synonyms:
            for phrase in group:
                if not _contains(item, phrase):
                    continue
                for other in group:
                    if other != phrase:
                        yield from ((places, set(phrase)) for places in self._phrase(other))

    def _phrase(self, phrase: list[str]) -> Iterable[list[_Place]]:
        """Where all words of a phrase stand close together, with one other word between them at most."""
        by_ordinal = {
            stem: {(place.block, place.ordinal): place for place in self._places.get(stem, ())} for stem in phrase
        }
        reach = len(phrase)
        for place in self._places.get(phrase[0], ()):
            around = [(place.block, place.ordinal + step) for step in range(-reach, reach + 1)]
            found = [next((by_ordinal[stem][at] for at in around if at in by_ordinal[stem]), None) for stem in phrase]
            if None not in found:
                yield [one for one in found if one is not None]

    def _joined(self, places: list[tuple[_Place, Match]], share: dict[int, float]) -> list[Hit]:
        """Words of one kind that stand side by side become one hit."""
        hits: list[Hit] = []
        for place, kind in places:
            last = hits[-1] if hits else None
            between = self._texts[place.block][last.end : place.start] if last and last.block == place.block else "."
            if last and last.kind == kind and not between.strip(" -'’\u00a0"):
                hits[-1] = last._replace(end=place.end)
            else:
                hits.append(Hit(place.block, place.start, place.end, kind, share[place.block]))
        return hits


def _plain(word: str) -> str:
    return word.casefold().replace("’", "'")


@lru_cache(maxsize=50_000)
def _folded(word: str) -> str:
    """Without accents, so that sauté is found under saute."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)) or word


def _parts(stem: str) -> list[str]:
    """Beginnings and ends of a word that are long enough to be words of their own, as in buttermilk."""
    lengths = range(_LEAST_PART, len(stem) - _LEAST_REST + 1)
    return [stem[:n] for n in lengths] + [stem[-n:] for n in lengths]


def _contains(words: list[str], phrase: list[str]) -> bool:
    return any(words[i : i + len(phrase)] == phrase for i in range(len(words) - len(phrase) + 1))


def _distance(a: str, b: str) -> int:
    """Letters to add, drop, change or swap with their neighbour to make one word of the other.

    >>> _distance("zucchini", "zuchini"), _distance("vinegar", "vineagr")
    (1, 1)
    """
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        here = [i]
        for j, y in enumerate(b, 1):
            cost = min(last[j] + 1, here[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            here.append(cost)
        before, last = last, here
    return last[-1]


def stem(word: str, *, language: str = "en") -> str:
    """The stem of a word in lower case."""
    return _stemmer(language)(word)


@lru_cache(maxsize=32)
def _stemmer(language: str) -> Callable[[str], str]:
    """Stems words of a language. A Snowball stemmer keeps state while it works, so each thread has one of its own."""
    code = language.split("-")[0].lower()
    name = LANGUAGES.get(code, "english")
    english = name == "english"
    of_thread = threading.local()

    @lru_cache(maxsize=50_000)
    def stem(word: str) -> str:
        if not hasattr(of_thread, "stemmer"):
            of_thread.stemmer = snowballstemmer.stemmer(name)
        if english:  # where accents come with other languages' words, and a stemmer would stumble over them
            word = _folded(word)
            word = _IRREGULAR.get(word, word)
        return _folded(str(of_thread.stemmer.stemWord(word)))

    return stem
