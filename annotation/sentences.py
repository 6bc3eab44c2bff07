"""Sentences for people out of modules that know no Django: marked for translation there, translated where shown."""

from __future__ import annotations

from dataclasses import dataclass


def gettext_noop(sentence: str) -> str:
    """Mark a sentence for makemessages."""
    return sentence


@dataclass(frozen=True)
class Sentence:
    """A sentence with its numbers: `translate(template) % (words | numbers)` where it is shown, `str()` for English.

    The words are what a study calls its rows.
    """

    template: str
    numbers: tuple[tuple[str, int | float | str], ...] = ()

    def __str__(self) -> str:
        return self.template % {"row": "document", "rows": "documents", **dict(self.numbers)}
