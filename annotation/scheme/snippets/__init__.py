"""Questions to begin from, a file each, as a scheme's list of questions has them. Pure.

`beginning.yaml` is what stands before the first question of a scheme.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from annotation.scheme.questions import QuestionSpec
from base.sentences import gettext as _
from base.sentences import gettext_noop

# A file's name -> what its button says.
LABELS = {
    "choice": gettext_noop("One option"),
    "several": gettext_noop("Several options"),
    "flag": gettext_noop("Yes or no"),
    "scale": gettext_noop("Scale"),
    "number": gettext_noop("Number"),
    "text": gettext_noop("Text"),
    "records": gettext_noop("Records"),
    "marked": gettext_noop("Marked words"),
    "transitions": gettext_noop("What becomes of what"),
    "depending": gettext_noop("Only after an answer"),
}


class Snippet(NamedTuple):
    """`text`: one question or more, without indentation, its last line ended."""

    label: str
    text: str


def snippets() -> list[Snippet]:
    """All of them, in the order of their buttons, with labels in the language of whoever reads."""
    return [Snippet(_(label), text_of(name)) for name, label in LABELS.items()]


@cache
def text_of(name: str) -> str:
    return Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8")


def within(name: str) -> str:
    """A scheme that asks what a snippet asks, and nothing else."""
    return text_of("beginning") + "".join(f"      {line}" for line in text_of(name).splitlines(keepends=True))


def kind_name(question: QuestionSpec) -> str:
    """What the button says that a question like this one comes from."""
    if question.items is None:
        return _(LABELS.get(question.kind, question.kind))
    if question.items.place:
        return _(LABELS["marked"])
    fields = question.items.fields
    return _(LABELS["several" if len(fields) == 1 and fields[0].options else "records"])
