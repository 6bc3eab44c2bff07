from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reports.data.label_table import UnknownFormat
from reports.frozen.recomputing import recompute
from reports.models import Report


class Command(BaseCommand):
    help = "Compute a frozen report again from its own labels, and say whether every number comes out the same."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("report", type=int, help="the number of the report, as in its address")

    def handle(self, *, report: int, **_options: Any) -> None:
        frozen = Report.objects.filter(pk=report).first()
        if frozen is None:
            raise CommandError(f"There is no report {report}.")
        try:
            again = recompute(frozen)
        except UnknownFormat as error:
            raise CommandError(f"The labels of report {report} cannot be read: {error}.") from error
        self.stdout.write(f"{frozen.title}, frozen {frozen.created_at:%Y-%m-%d} of the labels {frozen.data_digest}")
        if again.other_code:
            self.stdout.write("Code then: {}; now: {}.".format(*again.other_code))
        for name, then, now in again.other_libraries:
            self.stdout.write(f"{name} then: {then}; now: {now or 'not there'}.")
        if not again.labels_intact:
            raise CommandError("The frozen labels are not those of the report: somebody changed the database.")
        if again.equal:
            self.stdout.write(f"Equal: all {again.comparison.n_numbers} numbers, as bytes ({again.digest}).")
            return
        for change in again.comparison.changes:
            self.stdout.write(
                f"{change.table.key}, {change.row}, {change.head.full_title}: {change.first} → {change.second}"
            )
        n = len(again.comparison.changes)
        raise CommandError(
            f"{n} of {again.comparison.n_numbers} numbers differ." if n else "The numbers are equal, and words differ."
        )
