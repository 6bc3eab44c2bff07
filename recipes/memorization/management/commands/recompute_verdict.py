from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from recipes.memorization.models import FrozenVerdict
from recipes.memorization.verdict.freezing import recompute
from reports.data.label_table import UnknownFormat


class Command(BaseCommand):
    help = "Compute a frozen verdict again from its own labels, and say whether every number comes out the same."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("verdict", type=int, help="its number, as in its address")

    def handle(self, *, verdict: int, **_options: Any) -> None:
        frozen = FrozenVerdict.objects.filter(pk=verdict).first()
        if frozen is None:
            raise CommandError(f"There is no frozen verdict {verdict}.")
        try:
            again = recompute(frozen)
        except UnknownFormat as error:
            raise CommandError(f"The labels of verdict {verdict} cannot be read: {error}.") from error
        self.stdout.write(f"{frozen.title}, frozen {frozen.created_at:%Y-%m-%d} of the labels {frozen.data_digest}")
        if again.other_code:
            self.stdout.write("Code then: {}; now: {}.".format(*again.other_code))
        for name, then, now in again.other_libraries:
            self.stdout.write(f"{name} then: {then}; now: {now or 'not there'}.")
        if not again.labels_intact:
            raise CommandError("The frozen labels are not those of the verdict: somebody changed the database.")
        if not again.equal:
            n = len(again.comparison.changes)
            raise CommandError(f"{n} of {again.comparison.n_numbers} numbers differ.")
        self.stdout.write(f"Equal: all {again.comparison.n_numbers} numbers, as bytes ({again.digest}).")
