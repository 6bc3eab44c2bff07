"""What a server says, without the key that it was shown. Pure."""

from __future__ import annotations

import html
import json
from typing import Any
from urllib.parse import quote

# A text that is cut may end, or begin, in a part of a key; shorter parts tell nobody anything.
_LEAST = 8
# A shorter key is a filler that a server without keys is given, such as “none”, and may be a word of an answer.
_LEAST_IN_ANSWERS = 12
# What a model wrote, or the tokens of what it was asked: texts, and lists and objects that hold nothing else.
_WRITTEN = frozenset(
    {"text", "content", "reasoning_content", "logprobs", "prompt_logprobs", "completion_probabilities", "tokens"}
)
HIDDEN = "…"


class Secret:
    """A key, and how it is taken out of what comes back. An empty one takes nothing out."""

    def __init__(self, key: str) -> None:
        self._key = key
        written = {key, quote(key), quote(key, safe=""), html.escape(key), json.dumps(key)[1:-1]} - {""}
        self._forms = sorted(written, key=len, reverse=True)

    def out_of(self, said: Any) -> Any:
        """Texts without the key, and lists and objects of JSON with such texts and names, at whatever depth.

        Of a text that was cut before it came here, also what is left of the key at its end or beginning goes.
        """
        return self._out_of(said, spared=frozenset())

    def out_of_answer(self, answer: Any) -> Any:
        """The same, but what a model has written is labels: a key of less than 12 characters stays in it."""
        return self._out_of(answer, spared=_WRITTEN if len(self._key) < _LEAST_IN_ANSWERS else frozenset())

    def _out_of(self, said: Any, *, spared: frozenset[str]) -> Any:
        if not self._key:
            return said
        if isinstance(said, str):
            return self._out_of_text(said)
        if isinstance(said, list):
            return [self._out_of(each, spared=spared) for each in said]
        if isinstance(said, dict):
            return {
                self._out_of_name(name): value if name in spared else self._out_of(value, spared=spared)
                for name, value in said.items()
            }
        return said

    def _out_of_name(self, name: str) -> str:
        """A filler such as “token” is a part of names that say what an answer holds."""
        return self._out_of_text(name) if len(self._key) >= _LEAST else name

    def _out_of_text(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        longest = min(len(text), len(self._key) - 1)
        for n in range(longest, _LEAST - 1, -1):
            if text.endswith(self._key[:n]):
                text = text[:-n] + HIDDEN
                break
        for n in range(min(len(text), longest), _LEAST - 1, -1):
            if text.startswith(self._key[-n:]):
                return HIDDEN + text[n:]
        return text
