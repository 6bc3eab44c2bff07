"""A computed report as tables."""

from __future__ import annotations

from collections.abc import Iterator

from reports.numbers.report import QuestionReport, StudyReport
from reports.numbers.values import ValueReport
from reports.tables.agreement import agreement, pairs, section_tables
from reports.tables.arms import arms_tables
from reports.tables.base import Head, HeadKind, ReportTable, Value, words_of
from reports.tables.coefficients import coefficients, options
from reports.tables.coverage import coverage_tables
from reports.tables.groups import edit_table, group_table
from reports.tables.judge_details import detail_tables
from reports.tables.judges import accuracies, confusion, gold, unreadable
from reports.tables.missingness import missing
from reports.tables.models import model_tables
from reports.tables.overview import about, overview, raters
from reports.tables.selections import selections, weights
from reports.tables.values import value_tables

__all__ = [
    "Head",
    "HeadKind",
    "ReportTable",
    "Value",
    "about",
    "closing_tables",
    "overview",
    "question_tables",
    "raters",
    "section_tables",
    "tables",
]


def tables(report: StudyReport) -> Iterator[ReportTable]:
    """All tables of a report, in the order of the page."""
    yield overview(report)
    for section in report.sections:
        yield from section_tables(report, section)
        for question in section.in_order:
            yield from question_tables(report, question)
    yield from closing_tables(report)


def closing_tables(report: StudyReport) -> Iterator[ReportTable]:
    yield raters(report)
    if not report.filters.before_each and (of_reasons := missing(report)) is not None:
        yield of_reasons
    if report.edit_rates:
        yield edit_table(report)


def question_tables(report: StudyReport, question: QuestionReport | ValueReport) -> Iterator[ReportTable]:
    if isinstance(question, ValueReport):
        yield from value_tables(report, question)
        return
    for voice in question.voices:
        yield selections(question, voice)
        if voice.voice.weights:
            yield weights(question, voice)
    yield agreement(report, question)
    if question.agreement.kappa.rows:
        yield pairs(report, question)
    if question.agreement.among.n_shared:
        yield coefficients(question, words_of(report))
        yield options(question)
    if question.groups:
        yield group_table(report, question, question.groups)
    yield from coverage_tables(report, question)
    if question.judges:
        yield accuracies(report, question)
        yield from model_tables(question)
        if any(missing.why for missing in question.data.no_label.values()):
            yield unreadable(question)
        for judge in question.judges:
            if judge.confusion.n_comparisons:
                yield confusion(question, judge)
        yield from detail_tables(report, question)
        yield from arms_tables(report, question)
    for result in question.golds:
        yield gold(question, result, words_of(report))
