"""Graphs of states: what raters say in a table of transitions, put together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from annotation.answers import AnswerRefused, kind_of, transitions
from annotation.answers.states import StateGraph, graph_of
from annotation.models import Assignment, Column, Label, Question, Section, Study
from annotation.queries.schemes import whole_scheme
from annotation.scheme.spec import SchemeSpec


class TableOfStates(NamedTuple):
    """One question of transitions of one sheet: each of its columns is a step."""

    section: Section
    question: Question
    columns: tuple[Column, ...]


class RaterGraph(NamedTuple):
    """What one assignment says in one such table; `answers` as `graph_of` takes them."""

    assignment: Assignment
    table: TableOfStates
    start: list[str]
    answers: list[list[transitions.Transition] | None]
    graph: StateGraph


def has_states(scheme: SchemeSpec) -> bool:
    """Whether a scheme asks for transitions anywhere."""
    return any(question.transitions for section in scheme.sections for question in section.questions)


def state_graphs(study: Study, assignments: Iterable[Assignment]) -> list[RaterGraph]:
    """The graphs of some assignments of a study, each with its row, in their order. Two queries, and one more where
    the scheme's sections are not loaded."""
    assignments = list(assignments)
    tables = _tables_of_states(study, {assignment.row.sheet_id for assignment in assignments})
    asked = {table.question.pk for of_sheet in tables.values() for table in of_sheet}
    labels = Label.objects.filter(assignment__in=assignments, question__in=asked, value__isnull=False)
    said = {
        (assignment, column, question): value
        for assignment, column, question, value in labels.order_by().values_list(
            "assignment_id", "column_id", "question_id", "value"
        )
    }
    found = []
    for assignment in assignments:
        for table in tables[assignment.row.sheet_id]:
            if not assignment.asks(table.section):
                continue
            spec = table.section.spec.question(table.question.key)
            kind = kind_of(spec)
            answers: list[list[transitions.Transition] | None] = []
            for column in table.columns:
                value = said.get((assignment.pk, column.pk, table.question.pk))
                try:
                    answers.append(None if value is None else kind.canonical(spec, value))  # type: ignore[arg-type]
                except AnswerRefused:  # stored under other settings of the question
                    answers.append(None)
            start = transitions.start(spec, assignment.row.facets)
            found.append(RaterGraph(assignment, table, start, answers, graph_of(start, answers)))
    return found


def _tables_of_states(study: Study, sheets: set[int]) -> dict[int, list[TableOfStates]]:
    """By the sheet's number. One query, and one more where the scheme's sections are not loaded."""
    sections = {section.pk: section for section in whole_scheme(study.scheme).sections.all()}
    columns: dict[tuple[int, int], list[Column]] = defaultdict(list)
    for column in Column.objects.filter(sheet__in=sheets, section__in=sections).order_by("position"):
        columns[column.sheet_id, column.section_id].append(column)
    return {
        sheet: [
            TableOfStates(section, question, tuple(columns[sheet, pk]))
            for pk, section in sections.items()
            for question in section.questions.all()
            if section.spec.question(question.key).transitions and columns[sheet, pk]
        ]
        for sheet in sheets
    }
