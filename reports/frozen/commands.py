"""What `manage.py recompute_…` says, of whatever is frozen."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reports.data.label_table import UnknownFormat
from reports.frozen.recomputing import Recomputed
from reports.models import Frozen


class RecomputeCommand(BaseCommand):
    """Compute one again from its own labels, and say whether every number comes out the same; else which do not."""

    model: type[Frozen]
    what: str  # in a sentence, and the command's argument
    recompute: Callable[[Any], Recomputed]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(self.what, type=int, help="its number, as in its address")

    def handle(self, **options: Any) -> None:
        what, number = self.what, options[self.what]
        frozen = self.model._default_manager.filter(pk=number).first()
        if frozen is None:
            raise CommandError(f"There is no frozen {what} {number}.")
        try:
            again = self.recompute(frozen)
        except UnknownFormat as error:
            raise CommandError(f"The labels of {what} {number} cannot be read: {error}.") from error
        self.stdout.write(f"{frozen.title}, frozen {frozen.created_at:%Y-%m-%d} of the labels {frozen.data_digest}")
        if again.other_code:
            self.stdout.write("Code then: {}; now: {}.".format(*again.other_code))
        for name, then, now in again.other_libraries:
            self.stdout.write(f"{name} then: {then}; now: {now or 'not there'}.")
        if not again.labels_intact:
            raise CommandError(f"The frozen labels are not those of the {what}: somebody changed the database.")
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
