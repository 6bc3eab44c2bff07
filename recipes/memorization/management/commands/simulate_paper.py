from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug

from annotation.actions import Refused
from recipes.memorization import paper_study


class Command(BaseCommand):
    help = (
        "Make the memorization paper's study at full size with simulated raters: its report prints the paper's tables"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--slug", default="simulated-paper", help="short name of the new study (%(default)s)")
        parser.add_argument("--seed", type=int, default=0, help="another seed gives other labels with the same counts")

    def handle(self, *, slug: str, seed: int, **options: Any) -> None:
        try:
            validate_slug(slug)
            study = paper_study.build(slug=slug, seed=seed)
        except ValidationError as error:
            raise CommandError(f"“{slug}” cannot be part of an address. {error.messages[0]}") from error
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        readers = paper_study.open_to_demo_users(study)
        self.stdout.write(f"{study.title}: /studies/{study.slug}/report/")
        if readers:
            self.stdout.write(f"{' and '.join(readers)} may read it.")
        else:
            self.stdout.write("Only administrators may read it so far: the demo's users are not here.")
