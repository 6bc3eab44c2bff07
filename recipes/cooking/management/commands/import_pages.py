from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.management.telling import problems_told, unless_archived
from judges.management.telling import study_called
from recipes.cooking import actions, exchange
from recipes.cooking.pages import Page, PageRefused, read_folder


class Command(BaseCommand):
    help = (
        "Add saved web pages as rows of a sheet, each whole or not at all: HTML files as a browser saves them, gzipped "
        "or not, ZIPs of them, or folders. Called again, only pages that are new go in."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="short name of the study, as in its address")
        parser.add_argument("sheet", help="its title")
        parser.add_argument("files", type=Path, nargs="+")

    def handle(self, *, study: str, sheet: str, files: list[Path], **options: Any) -> None:
        of = unless_archived(study_called(study))
        found = of.sheets.filter(title=sheet).first()
        if found is None:
            known = ", ".join(of.sheets.values_list("title", flat=True)) or "none yet"
            raise CommandError(f"There is no sheet “{sheet}”. Sheets: {known}.")
        if missing := [path for path in files if not path.exists()]:
            raise CommandError(f"There is no {missing[0]}. Nothing was imported.")
        with problems_told():
            result = actions.import_documents(sheet=found, pages=_pages(files))
        for sentence in result.refused + result.again:
            self.stderr.write(f"  {sentence}")
        said = [sentence for sentence in exchange.sentences(found, len(result.added)) if sentence]
        self.stdout.write(" ".join(said or ["No page was added."]))


def _pages(paths: list[Path]) -> Iterator[Page | PageRefused]:
    for path in paths:
        if path.is_dir():
            yield from read_folder(path)
        else:
            with path.open("rb") as stream:
                yield from exchange.pages_of([(path.name, stream)])
