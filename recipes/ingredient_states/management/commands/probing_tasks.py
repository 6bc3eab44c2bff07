from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from recipes.ingredient_states.management import reading
from recipes.ingredient_states.probing.parts import Part
from recipes.ingredient_states.probing.tasks import Task, chance_of, instances, jsonl


class Command(BaseCommand):
    help = "Write the instances of a probing task of a study's recipes; the same seed gives the same bytes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        reading.add_arguments(parser, part=Part.ALL)
        parser.add_argument("--task", choices=list(Task), required=True)
        parser.add_argument("--pictures", action="store_true", help="each instance with its recipe's picture")

    def handle(
        self, *, study: str, out: Path, seed: int, part: str, rater: str, task: str, pictures: bool, **options: Any
    ) -> None:
        recipes = reading.recipes(
            study, rater, part=part, seed=seed, split=options["split"], training=options["training"]
        )
        made = list(instances(recipes, Task(task), seed=seed))
        shown = reading.pictures(study, recipes) if pictures else {}
        self.stdout.write(reading.write(out, list(jsonl(made, shown)), "instances", study=study))
        chance = chance_of([one.candidates for one in made])
        assert chance is not None
        self.stdout.write(
            f"By chance {chance.of_each:.4f} are right (mean of 1 / candidates); "
            f"1 / mean number of candidates is {chance.of_mean:.4f}."
        )
