from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reports.data.label_table import UnknownFormat
from reports.hiring.recomputing import recompute
from reports.models import Certificate


class Command(BaseCommand):
    help = "Compute a judge's certificate again from its own labels, and say whether it comes out as the same bytes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("certificate", help="its name, the first letters of its digest, as in its address")

    def handle(self, *, certificate: str, **_options: Any) -> None:
        found = list(Certificate.objects.filter(digest__startswith=certificate)[:2])
        if len(found) != 1:
            raise CommandError(f"There is no certificate {certificate}." if not found else "Say more letters of it.")
        try:
            again = recompute(found[0])
        except UnknownFormat as error:
            raise CommandError(f"The labels of certificate {certificate} cannot be read: {error}.") from error
        if not again.labels_intact:
            raise CommandError("The frozen labels are not those of the certificate: somebody changed the database.")
        if not again.equal:
            raise CommandError(f"It differs: {found[0].digest} was given, {again.digest} comes out now.")
        self.stdout.write(f"Equal, as bytes: {again.digest}.")
