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
HIDDEN = "…"


class Secret:
    """A key, and how it is taken out of what comes back. An empty one takes nothing out."""

    def __init__(self, key: str) -> None:
        self._key = key
        written = {key, quote(key), quote(key, safe=""), html.escape(key), json.dumps(key)[1:-1]} - {""}
        self._forms = sorted(written, key=len, reverse=True)

    def out_of(self, said: Any) -> Any:
        """Texts without the key, and lists and objects of JSON with such texts, at whatever depth.

        Of a text that was cut before it came here, also what is left of the key at its end or beginning goes.
        """
        if not self._key:
            return said
        if isinstance(said, str):
            return self._out_of_text(said)
        if isinstance(said, list):
            return [self.out_of(each) for each in said]
        if isinstance(said, dict):
            return {key: self.out_of(value) for key, value in said.items()}
        return said

    def out_of_answer(self, answer: Any) -> Any:
        """The same for what a model has written, which is labels: a key of less than 12 characters stays in it."""
        return self.out_of(answer) if len(self._key) >= _LEAST_IN_ANSWERS else answer

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
