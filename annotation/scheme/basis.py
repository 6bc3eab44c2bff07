"""What the parts of a scheme share: words of the file, and what their models have in common. Pure."""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from base.sentences import gettext as _

KEY = r"^[a-z0-9][a-z0-9-]*$"
FACET = r"^[a-z][a-z0-9_]*$"
HOTKEY = r"^[0-9-]$"
QUESTION = r"^[^.]+\.[^.]+$"  # of a section
OFFERING = r"^((row|column)\.)?[a-z0-9][a-z0-9_-]*$"  # where words that are offered come from
SOURCE = r"^(above|row|column|line)\.[a-z0-9][a-z0-9_-]*$"  # where the parts of an answer may come from
Key = Annotated[str, Field(pattern=KEY, max_length=60)]
Facet = Annotated[str, Field(pattern=FACET, max_length=40)]
Text = Annotated[str, Field(min_length=1, max_length=4000)]


class Misplaced(ValueError):
    """Something is wrong deeper in the file than where it is noticed. `at`: the keys and positions from there; of those
    the file has not, the last that it has is where it is told."""

    def __init__(self, message: str, *at: str | int) -> None:
        super().__init__(message)
        self.at = at


def _tidy(word: str) -> str:
    tidied = " ".join(unicodedata.normalize("NFC", word).split())
    if not tidied:
        raise ValueError(_("this should not be empty"))
    return tidied


# A short text that answers are compared with: the key of an option, a special value, a completion.
Word = Annotated[str, Field(max_length=200), AfterValidator(_tidy)]


class Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


class Level(StrEnum):
    """What comes of an answer that breaks a rule: it is not taken, or it is taken and the rule is shown."""

    REFUSE = "refuse"
    WARN = "warn"


def first_repeated(values: list[str]) -> str | None:
    """
    >>> first_repeated(["a", "b", "a", "b"]), first_repeated(["a"])
    ('a', None)
    """
    seen: set[str] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def repeated_at(values: list[str]) -> int:
    """Where the value of `first_repeated` stands the second time.

    >>> repeated_at(["a", "b", "a", "b"])
    2
    """
    return next(at for at, value in enumerate(values) if value in values[:at])


def facet_text(value: object) -> str:
    """A facet of a row, which is a text or a list of texts, on one line.

    >>> facet_text(["flour", "water"]), facet_text(None)
    ('flour, water', '')
    """
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)
