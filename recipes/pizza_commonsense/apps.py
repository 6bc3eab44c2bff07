from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from recipes import packs

if TYPE_CHECKING:
    from reports.numbers.report import QuestionReport, StudyReport
    from reports.numbers.values import ValueReport
    from reports.tables.base import ReportTable


class PizzaCommonsense(packs.Pack):
    name = "recipes.pizza_commonsense"

    def register(self) -> None:
        from annotation import doors
        from annotation.deriving.making import Deriver, asks
        from annotation.models import Role
        from annotation.queries import setup
        from recipes.cooking import rows
        from recipes.pizza_commonsense import actions, derivers, exchange, queries, records
        from reports import doors as report_doors

        exchange.register()
        rows.register_other_rows(records.SCHEME, actions.LONG, derivers.SYSTEMS)
        doors.register_documentation("pizza_commonsense", "pizza")
        doors.register_tab(
            position=16,
            label=_("Tables"),
            url_name="pizza_commonsense:tables",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=lambda study: study.scheme.slug in (records.SCHEME, actions.LONG),
        )
        doors.register_setup_step(
            doors.SetupStep(
                position=5,
                label=_("Tables"),
                words=_("Add the recipes, typed or from a file, with answers or without."),
                url_name="pizza_commonsense:tables",
                is_done=setup.has_rows,
                fits=lambda study: study.scheme.slug in (records.SCHEME, actions.LONG),
            )
        )
        doors.register_raters_apart(queries.examples_apart)
        doors.register_deriver(
            Deriver(
                key="atomic-instructions",
                title=_("Atomic instructions become tables"),
                help=_(
                    "Each recipe becomes a table whose lines are its instructions as they were split. One that nobody "
                    "split becomes a line as it is."
                ),
                make=derivers.atomic_instructions,
                into=records.SCHEME,
                fits=asks(derivers.PARTS),
            )
        )
        doors.register_deriver(
            Deriver(
                key="two-systems",
                title=_("Two systems’ tables side by side"),
                help=_(
                    "Each line of the tables that both answered becomes a row with their input and output, left and "
                    "right drawn by lot. Who wrote them is kept, and hidden from who judges."
                ),
                make=derivers.two_systems,
                reads_chosen=False,
                into=derivers.SYSTEMS,
                fits=derivers.has_tables,
                asks=derivers.two_systems_ask,
                also=("seed",),
                reads_raters=True,
            )
        )
        report_doors.register_part(schemes={derivers.SYSTEMS}, tables=_of_systems)
        report_doors.register_part(schemes={records.SCHEME}, values=_of_scores)


def _of_systems(report: StudyReport, question: QuestionReport) -> Iterable[ReportTable]:
    from recipes.pizza_commonsense import judged  # statistics are loaded with the first report

    return judged.tables(report, question)


def _of_scores(report: StudyReport, question: ValueReport) -> Iterable[ReportTable]:
    from recipes.pizza_commonsense import scored  # statistics are loaded with the first report

    return scored.tables(report, question)
