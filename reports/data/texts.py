"""Answers as the texts that metrics compare. Pure: no database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from annotation.answers import kind_of
from annotation.scheme.spec import Kind, QuestionSpec
from reports.data.arrays import QuestionData
from reports.stats.answers import Answers

_LINE = "\n"  # between the records of a list


@dataclass(frozen=True, eq=False)
class Written:
    """What raters wrote, by code: `answers`, whose codes are places in `texts`. `separator`: between the parts of a
    list, "" where a text has none."""

    answers: Mapping[str, Answers]
    texts: tuple[str, ...]
    separator: str


def separator_of(spec: QuestionSpec) -> str:
    if spec.kind == Kind.ITEMS:
        return _LINE
    return spec.text.separator if spec.text is not None else ""


def written(data: QuestionData) -> Written:
    """A text as it was written; a list of records as a line a record, its fields one after another."""
    spec, kind = data.spec, kind_of(data.spec)
    texts = []
    for stored in data.spellings:
        value = json.loads(stored)
        if spec.kind == Kind.ITEMS:
            texts.append(_LINE.join(entry.replace(" · ", " ") for entry in kind.entries(spec, value)) if value else "")
        else:
            texts.append(str(value))
    return Written(data.written, tuple(texts), separator_of(spec))
