from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.actions import note_export
from annotation.exchange.exports import exported_labels, label_header, safe_lines
from annotation.models import Study


class Command(BaseCommand):
    help = "Write all labels of a study as CSV, one a line; import_labels reads them back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the address of the study, as in its links")
        parser.add_argument("--out", type=Path, help="a file; without it, the labels go to the standard output")

    def handle(self, *, study: str, out: Path | None, **options: Any) -> None:
        found = Study.objects.filter(slug=study).select_related("scheme").first()
        if found is None:
            raise CommandError(f"There is no study “{study}”.")
        note_export(by=None, study=found, what="export_labels")
        lines = safe_lines(label_header(found), exported_labels(found))
        if out is None:
            for line in lines:
                self.stdout.write(line, ending="")
            return
        try:
            # With the mark, or Excel takes the text for another encoding.
            with out.open("w", encoding="utf-8-sig", newline="") as file:
                file.writelines(lines)
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"{out} is written.")
