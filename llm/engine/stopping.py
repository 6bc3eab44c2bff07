"""Strings at which an answer ends. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

_THOUGHT = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_WORD = re.compile(r"\S")


class Stop(NamedTuple):
    """Where an answer ends, and the string that ends it."""

    place: int
    string: str


def first(text: str, strings: Sequence[str]) -> Stop | None:
    """The first of these strings in an answer that is no part of a thought and has something before it.

    >>> first("\\n\\n4\\n\\nReason: none\\n\\n", ("\\n\\n", "Reason"))
    Stop(place=3, string='\\n\\n')
    >>> first("<think>4?\\n\\n5?", ("\\n\\n",)) is None
    True
    """
    begin = 0
    for thought in _THOUGHT.finditer(text):
        if thought.start() < begin:
            continue
        end = _END_OF_THOUGHT.search(text, thought.end())
        if end is None:
            return None
        begin = end.end()
    said = _WORD.search(text, begin)
    if said is None:
        return None
    found = [Stop(place, string) for string in strings if (place := text.find(string, said.end())) >= 0]
    return min(found, default=None)


class Watch:
    """Looks for the strings while an answer is written, token by token.

    A string may begin or end within a token, so it is looked for in the text of the last tokens that can hold it: each
    has a byte at least.
    """

    def __init__(self, strings: Sequence[str], decode: Callable[[Sequence[int]], str]) -> None:
        self._strings, self._decode = strings, decode
        # And some more: decoders take the space from before a first token, and spell what is half of a letter anew.
        self._window = max((len(string.encode()) for string in strings), default=0) + 8

    def ends(self, written: Sequence[int]) -> Stop | None:
        """Whether the last token of an answer has ended it."""
        if not self._strings:
            return None
        late = self._decode(written[-self._window :])
        if not any(string in late for string in self._strings):
            return None
        return first(self._decode(written), self._strings)
