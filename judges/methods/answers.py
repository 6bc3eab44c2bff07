"""What the answers of models that write have in common, whatever is read in them. Pure."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

_ANSWER = re.compile(r"^[ \t>*_#]*answer[ \t:*_]*$", re.IGNORECASE | re.MULTILINE)


class Why(StrEnum):
    """Why nothing can be read in an answer."""

    EMPTY = "empty"
    NO_VERDICT = "no-verdict"  # the criterion is not named where a verdict would be
    OTHER_CRITERION = "other-criterion"  # others are answered, this one is not
    NO_NUMBER = "no-number"  # the criterion is named, and no number stands alone behind it
    NOT_OFFERED = "not-offered"
    AMBIGUOUS = "ambiguous"
    CUT_OFF = "cut-off"
    REFUSED = "refused"  # what stands there is no answer to the question; a sentence says why


class Scores(BaseModel):
    """What is stored with the label of a judge that writes.

    Attributes:
        answer: what it wrote, in which the label was read.
        cut: it had not finished.
        together: the names of all that was asked in that one answer; empty where nothing else was.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: str
    cut: bool
    together: tuple[str, ...] = ()

    def stored(self) -> dict[str, Any]:
        """As JSON."""
        return self.model_dump(mode="json", exclude_defaults=True)


def behind_answer(text: str) -> str | None:
    """What stands below the last line that is the word ANSWER alone, which ends what a model was asked to think first;
    None where there is no such line.

    >>> behind_answer("It is kneaded.\\n**ANSWER:**\\nOUTPUT: dough")
    'OUTPUT: dough'
    """
    lines = list(_ANSWER.finditer(text))
    return text[lines[-1].end() :].strip() if lines else None
