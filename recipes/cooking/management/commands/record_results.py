from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from annotation.management.telling import problems_told, unless_archived
from judges.management.telling import study_called
from recipes.cooking import exchange


class Command(BaseCommand):
    help = (
        "Store results of searches that were made elsewhere: CSV with query, url, rank and engine, or JSON as SearXNG "
        "answers it. All of the files, or nothing. `retrieve` fetches them then."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="short name of the study, as in its address")
        parser.add_argument("files", type=Path, nargs="+")

    @transaction.atomic
    def handle(self, *, study: str, files: list[Path], **options: Any) -> None:
        found = unless_archived(study_called(study))
        told = []
        for path in files:
            with problems_told(), path.open("rb") as file:
                result = exchange.take_results(study=found, file=file, name=path.name, by=None)
            told += [f"{path}: {sentence}" for sentence in exchange.told_of_results(result) if sentence]
        self.stdout.write("\n".join(told))
