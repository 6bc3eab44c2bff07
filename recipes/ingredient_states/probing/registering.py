"""What the probing tasks register at the doors of the floors below."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from reports.doors import Told
    from reports.numbers.report import QuestionReport, StudyReport
    from reports.numbers.values import ValueReport
    from reports.tables.base import ReportTable


def register() -> None:
    from annotation import doors
    from annotation.deriving.making import Deriver, asks_for
    from annotation.scheme.spec import Kind
    from recipes.ingredient_states.probing import derivers
    from recipes.ingredient_states.queries import place_of
    from reports import doors as report_doors

    doors.register_deriver(
        Deriver(
            key="probing-tasks",
            title=_("Graphs of states become probing tasks"),
            help=_(
                "Each recipe becomes a sheet, and each question about it a row: which step a masked number names, "
                "whether an ingredient is still untouched, or what contains it. The scheme says which. The right "
                "answers are kept, and hidden from who labels. A choice among steps leaves out questions with one "
                "candidate or more than ten."
            ),
            make=derivers.probing_tasks,
            fits=asks_for(Kind.TRANSITIONS),
            asks=derivers.asks,
            also=("training",),
        )
    )
    report_doors.register_page(
        position=35,
        label=_("Models and tasks"),
        url_name="ingredient_states:probing",
        fits=lambda study: study.scheme.slug in derivers.FORMS or place_of(study.scheme.parsed) is not None,
    )
    report_doors.register_part(schemes=set(derivers.FORMS), tables=_tables, values=_tables, first=_told)


def _tables(report: StudyReport, question: QuestionReport | ValueReport) -> Iterable[ReportTable]:
    from recipes.ingredient_states.probing import tables  # statistics are loaded with the first report

    return tables.tables(report, question)


def _told(report: StudyReport) -> Told | None:
    from recipes.ingredient_states.probing import telling

    return telling.told(report)
