"""The judge without a model: are an item's words in the evidence? What a language model has to beat.

An entry of a list is more than a name: "2 steel bolts, M8 (optional)". Words that name nothing (a domain's lexicon has
quantities, units and such) are set aside, and what is left, the naming words, is compared with the item's:

- `same`: the line, or one of the phrases that commas, brackets and "and" cut it into, names exactly the item: the
  same words in any order, singular or plural ("steel bolt" in "2 steel bolts, M8").
- `part`: they share a head, so that one may be a kind of the other ("steel bolt" in "stainless-steel bolt",
  "hex bolts" in "4 bolts"). Words count as shared when their stems are, so "notarised" meets "notarising". A word that
  names nothing is no head, unless the item has none but such.
- `none`: neither.

In running text there are no naming words to single out: there the item's words in a row are `same`, and its head is
`part`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import snowballstemmer

from judges.methods.lexicons import Lexicon

Match = Literal["same", "part", "none"]
NO_WORDS = Lexicon("")
_RANK: dict[Match, int] = {"none": 0, "part": 1, "same": 2}

# Letters; Python counts "½" and "²" among word characters.
_LETTERS = r"[^\W\d_¼½¾⅐-⅟²³¹]+"
_BREAK = re.compile(r"[,;:()\[\]/+&]|\b(?:and|or|plus|with|such as|like|from)\b", re.IGNORECASE)

# Where the noun comes before what describes it: "huile d'olive", "aceite de oliva".
_HEAD_FIRST = {"french", "spanish", "italian", "portuguese", "catalan", "romanian"}

_IRREGULAR = {
    "leaves": "leaf",
    "halves": "half",
    "loaves": "loaf",
    "knives": "knife",
    "shelves": "shelf",
    "calves": "calf",
    "feet": "foot",
    "geese": "goose",
}


@dataclass(frozen=True)
class LexicalVerdict:
    """How well the evidence names the item, the line that does it best, and where.

    `line` is an index into the lines, None for `none`; `words` are the (begin, end) characters of the line's words that
    the item shares.
    """

    match: Match
    line: int | None
    words: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Word:
    text: str  # folded: lower case, without accents
    singular: str
    stem: str
    span: tuple[int, int]


class LexicalJudge:
    """Looks items up in evidence lines, in one of the languages that Snowball stems.

    Raises KeyError for a language that Snowball does not know.
    """

    def __init__(self, language: str = "english", lexicon: Lexicon = NO_WORDS) -> None:
        stemmer: Any = snowballstemmer.stemmer(language)
        self._stem = lru_cache(maxsize=10_000)(
            stemmer.stemWord
        )  # the stemmer is slow, and documents repeat their words
        self._english = language == "english"
        self._head = 0 if language in _HEAD_FIRST else -1
        self._not_names = lexicon.words_of(language)
        self._word = re.compile("|".join([*lexicon.joined, f"{_LETTERS}(?:['’]{_LETTERS})?"]), re.IGNORECASE)

    def judge(self, item: str, lines: Sequence[str], *, running_text: bool = False) -> LexicalVerdict:
        """Where the item is found best: the better match first, then the more words shared, then the earlier line.

        `running_text`: the lines are sentences, not entries of a list.
        """
        wanted = self._words(item)
        best, best_key = LexicalVerdict("none", None, ()), (0, 0.0)
        if not wanted:
            return best
        for index, line in enumerate(lines):
            match, overlap = self._in_sentence(wanted, line) if running_text else self._in_entry(wanted, line)
            if (_RANK[match], overlap) > best_key:
                best_key = (_RANK[match], overlap)
                stems = {word.stem for word in wanted}
                best = LexicalVerdict(
                    match, index, tuple(word.span for word in self._words(line) if word.stem in stems)
                )
        return best

    def phrases(self, line: str) -> list[str]:
        """What commas, brackets and "and" cut a line into."""
        return [phrase.strip() for phrase in _BREAK.split(line) if phrase.strip()]

    def naming_words(self, text: str) -> str:
        """The words of a text that name something, folded, in their order."""
        return " ".join(word.text for word in self._names(self._words(text)))

    def _in_entry(self, wanted: list[_Word], line: str) -> tuple[Match, float]:
        # A word of the item is a name wherever it stands: "bars" is a unit, until bars are looked for.
        asked = {word.stem for word in wanted}
        names = self._names(wanted)
        best: tuple[Match, float] = ("none", 0.0)
        for phrase in (line, *_BREAK.split(line)):
            words = self._words(phrase)
            named = self._names(words)
            if names and not named:  # "chopped" alone is no chopped tomatoes
                continue
            whole = [word for word in words if word.stem in asked or word.text not in self._not_names]
            heads = {one[self._head].stem for one in (names or wanted, named or whole) if one}
            for item, entry in ((wanted, whole), (names, named)):
                candidate = self._compare(item, entry, heads)
                if (_RANK[candidate[0]], candidate[1]) > (_RANK[best[0]], best[1]):
                    best = candidate
        return best

    def _compare(self, item: list[_Word], entry: list[_Word], heads: set[str]) -> tuple[Match, float]:
        """The match of two names with these heads, as stems, and the share of their words that they have in common."""
        if not item or not entry:
            return "none", 0.0
        if Counter(word.singular for word in item) == Counter(word.singular for word in entry):
            return "same", 1.0
        stems, others = {word.stem for word in item}, {word.stem for word in entry}
        if heads & stems & others:
            return "part", len(stems & others) / len(stems | others)
        return "none", 0.0

    def _in_sentence(self, wanted: list[_Word], line: str) -> tuple[Match, float]:
        words = self._words(line)
        sought = [word.singular for word in wanted]
        found = [word.singular for word in words]
        if any(found[at : at + len(sought)] == sought for at in range(len(found))):
            return "same", 1.0
        stems, others = {word.stem for word in wanted}, {word.stem for word in words}
        if (self._names(wanted) or wanted)[self._head].stem in others:
            return "part", len(stems & others) / len(stems)
        return "none", 0.0

    def _names(self, words: list[_Word]) -> list[_Word]:
        return [word for word in words if word.text not in self._not_names]

    def _words(self, text: str) -> list[_Word]:
        words = []
        for match in self._word.finditer(text):
            lower = match[0].casefold().replace("’", "'").partition(" ")[0]
            stem = _without_accents(self._stem(lower))
            folded = _without_accents(lower)
            # Only English plurals are known by rule; elsewhere the stem is the next best thing.
            words.append(_Word(folded, _singular(folded) if self._english else stem, stem, match.span()))
        return words


def _without_accents(word: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))


def _singular(word: str) -> str:
    """A form that a word's singular and plural share; not always a word ("movy")."""
    word = _IRREGULAR.get(word, word)
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")):
        word = word[:-1]
    if len(word) <= 2:
        return word
    if word.endswith("ie"):
        return word[:-2] + "y"
    if word.endswith(("oe", "che", "she", "xe", "sse", "zze")):
        return word[:-1]
    return word
