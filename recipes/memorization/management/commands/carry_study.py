from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.actions import note_export
from judges.management.telling import study_called
from recipes.memorization.carrying import carried


class Command(BaseCommand):
    help = "Write a study with its documents and what people said into one file, for `paper_models` on another machine."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="short name of the study, as in its address")
        parser.add_argument("file", type=Path, help="the ZIP to write")
        parser.add_argument("--sheets", nargs="+", default=(), metavar="TITLE", help="these alone")

    def handle(self, *, study: str, file: Path, sheets: Sequence[str], **_options: Any) -> None:
        of = study_called(study)
        if missing := set(sheets) - set(of.sheets.values_list("title", flat=True)):
            raise CommandError(f"The study has no sheet “{min(missing)}”.")
        note_export(by=None, study=of, what="carry_study")
        content = carried(of, sheets)
        try:
            file.write_bytes(content)
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"{file} is written: {len(content):,} bytes.")
