"""Answers that are values, as the numbers that statistics take: equal answers get one number. Pure: no database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.answers import kind_of
from annotation.scheme.spec import Kind, QuestionSpec
from reports.data.label_table import FloatArray
from reports.stats.answers import IntArray


@dataclass(frozen=True, eq=False)
class ValueWords:
    """The different answers to a question without options, by their numbers.

    key_of: the number of each of the table's `values`, shape (n_values,): two that are the same answer in the
    question's own sense have one. shown: each answer on one line, as the first of its spellings; examples: that one as
    a value; words: by which rules know it. numbers: what a `number` says, shape (n_answers,), else None.
    """

    key_of: IntArray
    shown: tuple[str, ...]
    examples: tuple[Any, ...]
    words: tuple[str, ...]
    numbers: FloatArray | None

    def __len__(self) -> int:
        return len(self.shown)


def value_words(spec: QuestionSpec, values: Sequence[str]) -> ValueWords:
    """
    Args:
        values: canonical JSON, sorted.
    """
    kind = kind_of(spec)
    number_of: dict[str, int] = {}
    key_of: list[int] = []
    examples: list[Any] = []
    for stored in values:
        value = json.loads(stored)
        key = kind.key(spec, value)
        if key not in number_of:
            number_of[key] = len(examples)
            examples.append(value)
        key_of.append(number_of[key])
    numbers = np.array(examples, dtype=np.float64) if spec.kind == Kind.NUMBER else None
    codes = [kind.code(spec, value) for value in examples]
    return ValueWords(
        key_of=np.array(key_of, dtype=np.int64),
        shown=tuple(kind.shown(spec, value) for value in examples),
        examples=tuple(examples),
        words=tuple(spec.word(code) for code in codes),
        numbers=numbers,
    )
