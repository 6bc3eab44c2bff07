"""Answers of any kind: what is one, its code, how it is shown, written, read, compared. Pure; one module a kind."""

from __future__ import annotations

from annotation.answers.base import AnswerKind, AnswerRefused
from annotation.answers.choice import Choice
from annotation.answers.codes import Value, Wire, bare, digest, dumps, plain, skip_code, value_code, wire
from annotation.answers.flag import Flag
from annotation.answers.items import Items
from annotation.answers.number import Number
from annotation.answers.scale import Scale
from annotation.answers.text import Text
from annotation.answers.transitions import Transitions
from annotation.scheme.spec import Kind, QuestionSpec

KINDS: dict[Kind, AnswerKind] = {
    Kind.CHOICE: Choice(),
    Kind.SCALE: Scale(),
    Kind.FLAG: Flag(),
    Kind.NUMBER: Number(),
    Kind.TEXT: Text(),
    Kind.ITEMS: Items(),
    Kind.TRANSITIONS: Transitions(),
}

__all__ = [
    "KINDS",
    "AnswerKind",
    "AnswerRefused",
    "Value",
    "Wire",
    "bare",
    "canonical_code",
    "digest",
    "dumps",
    "entries_of_code",
    "kind_of",
    "plain",
    "shown_code",
    "skip_code",
    "value_code",
    "wire",
]


def kind_of(spec: QuestionSpec) -> AnswerKind:
    return KINDS[spec.kind]


def canonical_code(spec: QuestionSpec, code: str) -> str:
    """The code as this server writes it, of one that may be written otherwise: with blanks, another order of keys.

    Raises:
        AnswerRefused: it is no code of an answer to this question.
    """
    kind = KINDS[spec.kind]
    return kind.code(spec, kind.value(spec, code))


def entries_of_code(spec: QuestionSpec, code: str) -> list[str]:
    """An answer as a small list, out of a code that was stored; as it stands where the scheme has no such answer."""
    kind = KINDS[spec.kind]
    try:
        return kind.entries(spec, kind.value(spec, code))
    except AnswerRefused:
        return [code]


def shown_code(spec: QuestionSpec, code: str) -> str:
    """An answer on one line, out of a code that was stored; as it stands where the scheme has no such answer."""
    kind = KINDS[spec.kind]
    try:
        return kind.shown(spec, kind.value(spec, code))
    except AnswerRefused:
        return code
