"""Sentences for people out of modules that know no Django.

Errors say theirs with `gettext`, in the language of whoever asked. What outlives a request is kept as a `Sentence`,
marked for translation where it is written and translated where it is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_translate: Callable[[str], str] = str


def translate_with(translate: Callable[[str], str]) -> None:
    """Let `gettext` translate; called once when Django starts."""
    global _translate
    _translate = translate


def gettext(sentence: str) -> str:
    """The sentence in the language of this request; English where no Django runs."""
    return _translate(sentence)


def gettext_noop(sentence: str) -> str:
    """Mark a sentence for makemessages."""
    return sentence


@dataclass(frozen=True)
class Sentence:
    """A sentence with its numbers: `translate(template) % (words | numbers)` where it is shown, `str()` for English.

    The words are what a study calls its sheets and rows.
    """

    template: str
    numbers: tuple[tuple[str, int | float | str], ...] = ()

    def __str__(self) -> str:
        words = {"sheet": "sheet", "sheets": "sheets", "row": "document", "rows": "documents"}
        return self.template % {**words, **dict(self.numbers)}


class SentenceError(Exception):
    """What is wrong, as a `sentence` for people; its text is the English one."""

    def __init__(self, template: str, **numbers: int | float | str) -> None:
        self.sentence = Sentence(template, tuple(numbers.items()))
        super().__init__(str(self.sentence))
