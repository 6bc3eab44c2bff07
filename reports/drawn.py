"""Which figures a computed report has."""

from __future__ import annotations

from collections.abc import Iterator

from reports.compute import QuestionReport, StudyReport
from reports.figures import Figure


def question_figures(report: StudyReport, question: QuestionReport) -> Iterator[Figure]:
    yield from ()
