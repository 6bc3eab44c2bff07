"""A computed report as tables."""

from __future__ import annotations

from collections.abc import Iterator

from reports.compute import QuestionReport, StudyReport
from reports.tables.agreement import agreement, pairs, section_tables
from reports.tables.base import Head, HeadKind, Table, Value, words_of
from reports.tables.coefficients import coefficients, options
from reports.tables.coverage import coverage_tables
from reports.tables.judged import judge_tables
from reports.tables.judges import confusion, gold, judges, unreadable
from reports.tables.models import model_tables
from reports.tables.overview import about, overview, raters
from reports.tables.selections import selections

__all__ = [
    "Head",
    "HeadKind",
    "Table",
    "Value",
    "about",
    "overview",
    "question_tables",
    "raters",
    "section_tables",
    "tables",
]


def tables(report: StudyReport) -> Iterator[Table]:
    """All tables of a report, in the order of the page."""
    yield overview(report)
    for section in report.sections:
        yield from section_tables(report, section)
        for question in section.questions:
            yield from question_tables(report, question)
    yield raters(report)


def question_tables(report: StudyReport, question: QuestionReport) -> Iterator[Table]:
    yield selections(question)
    yield agreement(report, question)
    if question.agreement.kappa.rows:
        yield pairs(report, question)
    if question.agreement.among.n_shared:
        yield coefficients(question, words_of(report))
        yield options(question)
    yield from coverage_tables(report, question)
    if question.judges:
        yield judges(report, question)
        yield from model_tables(question)
        if any(missing.why for missing in question.data.no_label.values()):
            yield unreadable(question)
        for judge in question.judges:
            if judge.confusion.n_comparisons:
                yield confusion(question, judge)
        yield from judge_tables(report, question)
    for result in question.golds:
        yield gold(question, result, words_of(report))
