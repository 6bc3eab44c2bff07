from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from recipes.ingredient_states.management import reading
from recipes.ingredient_states.probing import training
from recipes.ingredient_states.probing.parts import Part


class Command(BaseCommand):
    help = "Write training data of a study's recipes: after each step what there is, for `fine_tune`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        reading.add_arguments(parser, part=Part.TRAINING)
        parser.add_argument("--wording", type=Path, help="a file with the words of the prompt: $title $steps …")
        parser.add_argument("--pictures", action="store_true", help="as chats, each with its recipe's picture")

    def handle(
        self, *, study: str, out: Path, seed: int, part: str, rater: str, wording: Path | None, **options: Any
    ) -> None:
        recipes = reading.recipes(
            study, rater, part=part, seed=seed, split=options["split"], training=options["training"]
        )
        shown = reading.pictures(study, recipes) if options["pictures"] else None
        try:
            words = wording.read_text(encoding="utf-8").strip() if wording else training.WORDING
            made = list(training.examples(recipes, wording=words))
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        lines = [one.line if shown is None else training.chat(one, shown.get(one.recipe, "")) for one in made]
        self.stdout.write(reading.write(out, lines, "examples", study=study))
