"""The labels that hiring rests on, and what makes answers equal there."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from annotation.answers import kind_of
from annotation.answers.codes import VALUE
from annotation.models import Question, Study
from annotation.scheme.spec import QuestionSpec
from reports.data.arrays import INCLUDE, Filters
from reports.data.label_table import LabelTable
from reports.queries import label_table


def study_table(study: Study, *, judges: Collection[str] = (), question: str = "") -> LabelTable:
    """The labels that hiring rests on: of work that is submitted, of all people and gold, and of these judges."""
    questions = (question,) if question else ()
    filters = Filters(judges=tuple(judges), questions=questions, submitted_only=True, apart=INCLUDE)
    return label_table(study, filters)


def question_name(question: Question) -> str:
    return f"{question.section.key}.{question.key}"


def answer_key(spec: QuestionSpec, option: str | None, value: Any) -> str:
    """What makes answers equal where judges are compared: the option under the merge for judges, or the value's key."""
    return kind_of(spec).key(spec, value) if option is None else spec.for_judges(option)


def key_of_code(spec: QuestionSpec, code: str) -> str:
    return (
        answer_key(spec, None, json.loads(code[len(VALUE) :]))
        if code.startswith(VALUE)
        else answer_key(spec, code, None)
    )
