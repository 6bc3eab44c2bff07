"""What a server says, without the key that it was shown. Pure."""

from __future__ import annotations

import base64
import html
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any
from urllib.parse import quote

from base.text import storable

# Shorter parts of a key tell nobody anything: first letters that all keys of a provider have, or the last four.
_LEAST = 8
# A shorter key is a filler that a server without keys is given, such as “none”, and may be a word of an answer. Of a
# longer one so much is taken out of an answer wherever it stands.
_LEAST_IN_ANSWERS = 12
# What a model wrote, or the tokens of what it was asked: texts, and lists and objects that hold nothing else.
_WRITTEN = frozenset(
    {
        "text",
        "content",
        "reasoning_content",
        "reasoning",
        "logprobs",
        "prompt_logprobs",
        "completion_probabilities",
        "tokens",
    }
)
HIDDEN = "…"
# Up to so many parts are sought in a long text one by one; more are found sooner by cutting the text at each character.
_SOUGHT_ONE_BY_ONE = 1500
# What may stand between its characters and is not seen; line ends, at which long words are broken.
_UNSEEN = re.compile("[\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_UNSEEN_AND_ENDS = re.compile(rf"(?:{_UNSEEN.pattern}|[\r\n\u2028\u2029][ \t]*)")
_NONE: frozenset[str] = frozenset()


class Secret:
    """A key, and how it is taken out of what comes back. An empty one takes nothing out."""

    def __init__(self, key: str) -> None:
        self._key = key
        plain = {key, quote(key), quote(key, safe=""), html.escape(key), json.dumps(key)[1:-1]} - {""}
        forms = plain | _encoded(key) if len(key) >= _LEAST else plain
        self._forms = sorted(forms, key=len, reverse=True)
        # Some servers write a whole header in lower case, or in upper case.
        self._pattern = re.compile("|".join(map(re.escape, self._forms)), re.IGNORECASE if len(key) >= _LEAST else 0)
        self._small = [form.lower() for form in self._forms]
        self._name = lru_cache(maxsize=1024)(self._out_of_name)  # of long lists all objects have the same
        self._parts = {least: _by_length(_all_parts(key, least)) for least in (_LEAST, _LEAST_IN_ANSWERS)}

    def out_of(self, said: Any) -> Any:
        """Texts without the key, and lists and objects of JSON with such texts and names, at whatever depth. These are
        changed in place.

        Of a text that holds a part of the key, that part goes: it was cut or masked before it came here.
        """
        return self._out_of(said, spared=_NONE, written=_NONE, least=_LEAST)

    def out_of_answer(self, answer: Any) -> Any:
        """The same, but what a model has written is labels: a key of less than 12 characters stays in it, and so does a
        part that is as short."""
        spared, written = (_WRITTEN, _NONE) if len(self._key) < _LEAST_IN_ANSWERS else (_NONE, _WRITTEN)
        return self._out_of(answer, spared=spared, written=written, least=_LEAST)

    def _out_of(self, said: Any, *, spared: frozenset[str], written: frozenset[str], least: int) -> Any:
        """`spared`: what is left as it is, by its name; `written`: in what only longer parts go."""
        if not self._key:
            return said
        if isinstance(said, str):
            return self._out_of_text(said, least)
        if isinstance(said, list):
            for place, each in enumerate(said):
                said[place] = self._out_of(each, spared=spared, written=written, least=least)
        elif isinstance(said, dict):
            for name, value in said.items():
                if name not in spared:
                    of_it = _LEAST_IN_ANSWERS if name in written else least
                    said[name] = self._out_of(value, spared=spared, written=written, least=of_it)
            if any(self._name(name) != name for name in said):
                return {self._name(name): value for name, value in said.items()}
        return said

    def _out_of_name(self, name: str) -> str:
        """A filler such as “token” is a part of names that say what an answer holds."""
        return self._out_of_text(name, _LEAST) if len(self._key) >= _LEAST else name

    def _out_of_text(self, text: str, least: int) -> str:
        """Storable, since what is no text would be taken out of it later, and might leave the key."""
        text = storable(text)
        if len(text) < min(_LEAST, len(self._key)):
            return text
        held = self._held(text, least)
        for gaps in (_UNSEEN, _UNSEEN_AND_ENDS):
            if gaps.search(text):
                held += _across(gaps, text, lambda joined: self._held(joined, least))
        return _without(text, sorted(held)) if held else text

    def _held(self, text: str, least: int) -> list[tuple[int, int]]:
        """Where the key stands, and parts of it."""
        small = text.lower()
        as_it_is = not self._pattern.flags & re.IGNORECASE
        is_there = any(form in text for form in self._forms) if as_it_is else any(form in small for form in self._small)
        held = [found.span() for found in self._pattern.finditer(text)] if is_there else []
        held += (
            found.span()
            for parts in self._parts[least]
            for part in _standing(small, parts)
            for found in re.finditer(re.escape(part), text, re.IGNORECASE)
        )
        return held


def _across(gaps: re.Pattern[str], text: str, find: Callable[[str], list[tuple[int, int]]]) -> list[tuple[int, int]]:
    """What is found in a text without these gaps, where it stands in the text itself."""
    found = find(gaps.sub("", text))
    if not found:
        return []
    places: list[int] = []
    at = 0
    for gap in gaps.finditer(text):
        places += range(at, gap.start())
        at = gap.end()
    places += range(at, len(text))
    return [(places[begin], places[end - 1] + 1) for begin, end in found]


def _without(text: str, held: Sequence[tuple[int, int]]) -> str:
    """`held`: in order; those that meet leave one sign."""
    left: list[str] = []
    at = 0
    for begin, end in held:
        if begin > at or not left:
            left += [text[at:begin], HIDDEN]
        at = max(at, end)
    return "".join((*left, text[at:]))


def _all_parts(key: str, least: int) -> set[str]:
    return {part.lower() for form in (key, *_encoded(key)) for part in _parts(form, key, least)}


def _by_length(parts: Collection[str]) -> list[frozenset[str]]:
    return [frozenset(of_one) for _length, of_one in groupby(sorted(parts, key=len), key=len)]


def _standing(text: str, parts: frozenset[str]) -> Collection[str]:
    """Which of these parts of one length stand in a text: sought one by one where that is the shorter way."""
    length = len(next(iter(parts)))
    windows = len(text) - length + 1
    if len(parts) < min(windows, _SOUGHT_ONE_BY_ONE):
        return [part for part in parts if part in text]
    return parts.intersection(text[at : at + length] for at in range(windows))


def _parts(form: str, key: str, least: int) -> Iterator[str]:
    """All parts of the key, written in a form, that stand for so many of its characters."""
    if not key:
        return
    letters = math.ceil(least * len(form) / len(key))
    step = len(form) // len(key) if len(form) % len(key) == 0 else 1
    if len(form) > letters:
        yield from (form[at : at + letters] for at in range(0, len(form) - letters + 1, step))


def _encoded(key: str) -> set[str]:
    """The key as it stands where all of its characters are written otherwise."""
    letters = key.encode()
    forms = {
        letters.hex(),
        "".join(f"%{each:02x}" for each in letters),
        "".join(f"\\u{each:04x}" for each in letters),
        "".join(f"&#{each};" for each in letters),
        "".join(f"&#x{each:x};" for each in letters),
    }
    # In base64 it depends on what stands before, such as “Bearer ”; the first and last letters are of both.
    for ahead in range(3):
        for alphabet in (base64.b64encode, base64.urlsafe_b64encode):
            packed = alphabet(b"\0" * ahead + letters).decode().rstrip("=")
            inner = packed[(0, 2, 3)[ahead] :]
            forms.add(inner if (len(letters) + ahead) % 3 == 0 else inner[:-1])
    return {form for form in forms if len(form) >= _LEAST}
