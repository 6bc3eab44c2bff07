"""The labels that hiring rests on, and what makes answers equal there."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from annotation.answers import kind_of
from annotation.answers.codes import VALUE
from annotation.models import Label, Question, Rater, Study
from annotation.queries.gold import with_decider
from annotation.scheme.spec import QuestionSpec
from reports.data.arrays import INCLUDE, Filters
from reports.data.label_table import LabelTable
from reports.queries import label_table


def study_table(study: Study, *, judges: Collection[str] = (), question: str = "") -> LabelTable:
    """The labels that hiring rests on: of work that is submitted, of all people and gold, and of these judges.
    Gold that somebody decided in the lens is exposed there: they saw what others, judges too, had said."""
    questions = (question,) if question else ()
    filters = Filters(judges=tuple(judges), questions=questions, submitted_only=True, apart=INCLUDE)
    return with_decided(label_table(study, filters), study)


def with_decided(table: LabelTable, study: Study) -> LabelTable:
    """The table with that gold as exposed. One query where it has labels of the gold."""
    golden = [place for place, rater in enumerate(table.raters) if rater.kind == Rater.Kind.GOLD]
    of_gold = np.flatnonzero(np.isin(table.assignments.rater[table.labels[:, 0]], golden))
    if not of_gold.size:
        return table
    gold = Label.objects.filter(assignment__rater__study=study, assignment__rater__kind=Rater.Kind.GOLD).order_by()
    where = ("assignment__row__sheet__title", "assignment__row__name", "column__section__key", "column__position")
    rows = {(table.sheets[row.sheet], row.name): place for place, row in enumerate(table.rows)}
    columns = {(table.sheets[one.sheet], one.section, one.position): n for n, one in enumerate(table.columns)}
    questions = {f"{section.key}.{spec.key}": place for place, (section, spec) in enumerate(table.questions)}
    in_the_lens = with_decider(gold).filter(decided_by__isnull=False)
    decided = {
        (rows.get((sheet, row)), columns.get((sheet, section, position)), questions.get(f"{section}.{key}"))
        for sheet, row, section, position, key in in_the_lens.values_list(*where, "question__key")
    }
    if not decided:
        return table
    labels = table.labels.copy()
    of_row = table.assignments.row
    for place in of_gold.tolist():
        assignment, column, question = labels[place, :3].tolist()
        if (int(of_row[assignment]), column, question) in decided:
            labels[place, 5] = 1
    return replace(table, labels=labels)


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
