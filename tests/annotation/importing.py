"""Imports into a study, what they leave behind, and what they are refused for."""

from __future__ import annotations

import io
from typing import Any

import pytest

from annotation.exchange.label_imports import import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.row_imports import Imported, ImportRefused
from annotation.exchange.rows_and_columns import import_rows
from annotation.exchange.tables import FileTable, open_table
from annotation.models import Assignment, Column, Label, LabelEvent, Rater, Row, Sheet, Study

QUESTIONS = """\
key: clause-questions
version: 1
title: Questions to contracts
words: {sheet: contract, sheets: contracts, row: clause, rows: clauses}
sections:
  - key: questions
    title: Questions
    column: {title: Question, facets: [question]}
    questions:
      - key: answered
        title: Does the clause answer it?
        options:
          - {key: answers, label: Answers}
          - {key: partly, label: Answers in part}
          - {key: silent, label: Silent}
"""
ACTS = "rater,row,section,column,question,answer\n"
NUMBER_OF = (Sheet, Row, Column, Rater, Assignment, Label, LabelEvent)


def table(text: str, name: str = "file.csv") -> FileTable:
    return open_table(io.BytesIO(text.encode()), name=name, max_bytes=2**20)


def rows_in(study: Study, rows: str | None, columns: str | None = None) -> Imported:
    return import_rows(
        study=study,
        rows=table(rows, "rows.csv") if rows else None,
        columns=table(columns, "columns.csv") if columns else None,
    )


def labels_in(study: Study, text: str, **how: Any) -> Imported:
    return import_labels(study=study, table=table(text), how=LabelImport(**{"create": True, **how}))


def problems_of(study: Study, text: str, **how: Any) -> list[str]:
    """The sentences of a refused import, that nothing was written included."""
    before = counts()
    with pytest.raises(ImportRefused) as refused:
        labels_in(study, text, **how)
    assert counts() == before
    return refused.value.problems


def counts() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in NUMBER_OF}


def answers(study: Study) -> set[tuple[str, ...]]:
    """All labels of a study by names: sheet, row, rater, column, question, option, note, preset and exposed or not."""
    labels = Label.objects.filter(assignment__rater__study=study).values_list(
        "column__sheet__title",
        "assignment__row__name",
        "assignment__rater__code",
        "column__name",
        "question__key",
        "option__key",
        "note",
        "preset",
        "exposed",
    )
    return {tuple(str(value) for value in label) for label in labels}
