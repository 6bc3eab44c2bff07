"""Documents that speak to whoever labels them: an order about answers, an imitation of a prompt or a chat. Pure.

No rule finds all of them, and what is found may be harmless; a person looks at it. docs/benchmarks/hostile.md has how
many of the attacks of `benchmarks.injections` are found, and how many real pages are flagged.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from llm import chat_tokens

# What has to be ignored, and what has to be said, by stems of some languages.
_IGNORE = (
    r"\bignor\w*\b.{0,40}\b(?:above|before|previous|instruction|alles|davor|précède|anterior|vše|výše)|忽略|игнорир"
)
_ANSWER = (
    r"(?:\b(?:answer|respond|reply|output|antwort\w*|répond\w*|respond\w*|odpov\w+)\b|отвеча?\w*|回答)"
    r".{0,60}(?:\b(?:every|all|each|any|always|only|anything|but|question|questions|correct|jede|jeder|toujours|chaque|"
    r"siempre|todas|každou|všechny|nur)\b|каждый|всегда|所有|只)"
)
_ALL_ANSWERED = (
    r"\b(?:every|all|each|any|always|only|only correct|jede|každou|chaque|todas)\b.{0,60}"
    r"\b(?:answers?|responses?|labels?|odpov\w+|antwort\w*)\b|каждый.{0,40}отвеч|所有.{0,20}回答"
)
_ANSWER_IS = r"\banswers? (?:is|are|will be|must be|should be)\b|\banswer[\"']?\s*[:=]"
_ROLES = (
    r"\byou are (?:\w+bot|an? (?:ai|assistant|language model|judge|annotator))\b|"
    r"\b(?:language model|annotators?|judge)\s*:"
)
_ALWAYS = r"\b(?:always|only) (?:answer|output|say|reply|respond)\b|\b(?:human|assistant|system)\s*:"
_ASKED = r"\bquestion\s*:.*\banswer\b"
_SAID = re.compile("|".join((_IGNORE, _ANSWER, _ALL_ANSWERED, _ANSWER_IS, _ROLES, _ALWAYS, _ASKED)), re.IGNORECASE)
_REPEATED = re.compile(r"\b(\w+)(?:\W+\1\b){5,}", re.IGNORECASE)
_MARKUP = re.compile(r"</[a-z]{3,20}>|<!--", re.IGNORECASE)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def speaks_to_readers(text: str) -> bool:
    """Whether a text looks as if it spoke to whoever answers questions about it."""
    plain = _plain(text)
    return any(sign.search(plain) for sign in (_SAID, _REPEATED, _MARKUP, chat_tokens.TURNS))


def has_word(text: str, beginnings: Iterable[str]) -> bool:
    """Whether a word of the text begins so, in whatever case; in scripts without cases, whether that is anywhere."""
    plain = _plain(text).casefold()
    return any(
        re.search(rf"\b{re.escape(start)}" if start.upper() != start else re.escape(start), plain)
        for start in map(str.casefold, beginnings)
    )


def first_that_speaks(lines: Iterable[str]) -> str:
    """The first such line of a document; "" where there is none."""
    return next((line for line in lines if speaks_to_readers(line)), "")


def _plain(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).split())
