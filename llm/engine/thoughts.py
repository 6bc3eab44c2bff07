"""What a model thought aloud before it answered: `<think>…</think>`. Pure."""

from __future__ import annotations

import re

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPENED = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)


def without_thoughts(answer: str) -> str:
    """The answer without what a model thought aloud before it."""
    return _THOUGHTS.sub("", answer)


def only_thinks(answer: str) -> bool:
    """Whether an answer begins with a thought and has nothing behind it.

    >>> only_thinks("<think>\\nCould it be 4?"), only_thinks("<think>4?</think>4")
    (True, False)
    """
    return _OPENED.match(answer) is not None and not without_thoughts(answer).strip()
