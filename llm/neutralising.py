"""What others wrote, made harmless to a prompt's form. Pure.

A judge reads documents that anybody may have written, and columns that a model generated. Their texts must not be taken
for a part of the prompt: a line of its own, an answer, the end of the document, a turn of a chat. What they say in
plain words stays what they say; docs/benchmarks/hostile.md has how far that turns a judge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from llm import chat_tokens

# A prompt's own line: what stands before its colon begins nothing inside a document.
_LINE_BEGINNING = re.compile(r"^[ \t]*([^\s$:][^$:\n]{0,59}):", re.MULTILINE)
# Whatever a prompt's wording is, models know these from other prompts.
_USUAL = (
    "question", "answer", "correct answer", "user", "human", "assistant", "system", "instruction", "instructions",
    "input", "output", "response",
)  # fmt: skip
_COLON = "[:\uff1a\ufe55\ufe13\u02d0\ua789\u2236]"
_NO_LETTERS = r"[\s*_~`\"'“”]*"  # "**Answer** :" is a line beginning too
# Letters that are drawn like others, for use in formulas or among Chinese signs.
_FANCY = re.compile("[\uff01-\uff5e\U0001d400-\U0001d7ff]+")
# What is not seen: formatting signs, variants, tags; joiners only beside ASCII, as other scripts are spelt with them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
    "|(?<=[!-~])[\u200c\u200d]|[\u200c\u200d](?=[!-~])"
)


def beginnings(templates: Iterable[str]) -> frozenset[str]:
    """What begins a line of these templates, as far as a colon ends it: "answer" of "Answer:"."""
    found = (match[1] for template in templates for match in _LINE_BEGINNING.finditer(template))
    return frozenset(" ".join(words.casefold().split()) for words in found)


def inert(text: str, *, beginnings: Iterable[str] = (), tags: Iterable[str] = (), answers: Iterable[str] = ()) -> str:
    """`text` in one line, without what could be taken for the prompt's own.

    Args:
        beginnings: of the prompt's lines; where the text has one, its colon becomes a dash, also in other letter case
            and with other colons. Some are always among them.
        tags: names of tags that the prompt marks documents or items with; in the text their "<" becomes "‹".
        answers: as the prompt says them; in the text they are in small letters, so that repeating what stands there
            is not yet an answer.
    """
    text = _plain(text)
    text = chat_tokens.TURNS.sub(chat_tokens.broken, text)
    text = _line_beginnings(tuple(sorted({*_USUAL, *beginnings}))).sub(lambda found: f"{found[1]} –", text)
    names = tuple(sorted(set(tags)))
    text = _opening_of(names).sub("‹", text) if names else text
    said = tuple(sorted(set(answers)))
    return _whole(said).sub(lambda found: found[0].lower(), text) if said else text


def without(text: str, words: Iterable[str]) -> str:
    """`text` in one line without these words, in whatever letter case and however their letters are drawn; "" where
    nothing but signs is left."""
    said = tuple(sorted({word for word in words if word}))
    if not said:
        return text
    left = " ".join(_whole(said, re.IGNORECASE).sub("", _plain(text)).split())
    return left if any(map(str.isalnum, left)) else ""


def _plain(text: str) -> str:
    """In one line, its letters in their usual forms, without what is not seen."""
    text = _FANCY.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return " ".join(_INVISIBLE.sub("", text).split())


@lru_cache(maxsize=64)
def _line_beginnings(words: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    known = "|".join(r"[\s*_]+".join(map(re.escape, each.split())) for each in longest_first)
    return re.compile(rf"\b({known}){_NO_LETTERS}{_COLON}", re.IGNORECASE)


@lru_cache(maxsize=64)
def _opening_of(names: Sequence[str]) -> re.Pattern[str]:
    known = "|".join(map(re.escape, names))
    return re.compile(rf"<(?=\s*[/!?]?\s*(?:{known})\b)", re.IGNORECASE)


@lru_cache(maxsize=64)
def _whole(answers: Sequence[str], flags: int = 0) -> re.Pattern[str]:
    known = "|".join(map(re.escape, sorted(answers, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{known})(?!\w)", flags)
