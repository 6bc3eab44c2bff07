from __future__ import annotations

from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.exchange.json_tables import open_columns, open_rows
from annotation.exchange.rows_and_columns import import_rows
from annotation.exchange.workbooks import has_columns_too
from annotation.management.telling import problems_told, unless_archived
from annotation.models import Study


class Command(BaseCommand):
    help = "Add rows, and with --columns what is looked for in them, from CSV or TSV files, or workbooks."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the address of the study, as in its links")
        parser.add_argument("rows", type=Path, help="columns: row; optional: sheet, title, url, language, evidence…")
        parser.add_argument("--columns", type=Path, help="columns: sheet, section, and the facets of the scheme")

    def handle(self, *, study: str, rows: Path, columns: Path | None, **options: Any) -> None:
        found = Study.objects.filter(slug=study).first()
        if found is None:
            raise CommandError(f"There is no study “{study}”.")
        limit = settings.PALATE_MAX_IMPORT_BYTES
        with problems_told(), ExitStack() as stack:
            if columns is None and has_columns_too(stack.enter_context(rows.open("rb"))):
                columns = rows
            tables = [
                opened(stack.enter_context(path.open("rb")), name=path.name, max_bytes=limit)
                for path, opened in ((rows, open_rows), (columns, open_columns))
                if path is not None
            ]
            imported = import_rows(study=unless_archived(found), rows=tables[0], columns=tables[1] if columns else None)
        self.stdout.write(" ".join(imported.sentences()))
