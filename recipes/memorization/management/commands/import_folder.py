from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.management.telling import unless_archived
from annotation.models import Scheme, Sheet, Study, User
from annotation.scheme.spec import SchemeError, load_scheme
from recipes.cooking import actions
from recipes.cooking.pages import read_folder
from recipes.cooking.parsing import ParsedRecipe, RecipeRefused, parse_recipe
from recipes.memorization import demo_study

RECIPE_SUFFIXES = (".yaml", ".yml", ".txt")


class Command(BaseCommand):
    help = (
        "Import a folder that has one folder of web pages a dish. Each dish becomes a sheet, by the recipe of the same "
        "name. The study and its sheets are made where they are missing, and so are the judges that come with Palate. "
        "Called again, only pages that are new go in."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="short name of the study")
        parser.add_argument("folder", type=Path)
        parser.add_argument(
            "--scheme", default="recipe-memorization", help="of a new study: a shipped scheme, or a file (%(default)s)"
        )
        parser.add_argument(
            "--recipes",
            type=Path,
            default=demo_study.ROOT / "demo" / "recipes",
            metavar="FOLDER",
            help="recipes, one file a dish: pancakes.yaml for pancakes/ (default: the demo's)",
        )
        parser.add_argument("--manager", metavar="USERNAME", help="of a new study; else administrators only see it")

    def handle(
        self, *, study: str, folder: Path, scheme: str, recipes: Path, manager: str | None, **options: Any
    ) -> None:
        # All that can be wrong with what was typed is found before anything is written.
        dishes = _dishes(folder)
        parsed = {dish.name: _recipe(recipes, dish.name) for dish in dishes}
        by = _user(manager) if manager else None
        try:
            with transaction.atomic():
                into = Study.objects.filter(slug=study).first() or annotating.create_study(
                    slug=study, title=study.replace("-", " ").capitalize(), scheme=_scheme(scheme), by=by
                )
                unless_archived(into)
                sheets = {dish: _sheet(into, recipe) for dish, recipe in parsed.items()}
                demo_study.shipped_judges()
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        n_added = n_refused = 0
        for dish in dishes:
            result = actions.import_documents(sheet=sheets[dish.name], pages=read_folder(dish))
            self.stdout.write(f"{sheets[dish.name].title}: {len(result.added)} pages")
            for sentence in result.refused:
                self.stderr.write(f"  {dish.name}/{sentence}")
            for sentence in result.again:
                self.stderr.write(f"  {sentence}")
            n_added, n_refused = n_added + len(result.added), n_refused + len(result.refused)
        self.stdout.write(f"{n_added} pages are in, {n_refused} were refused: /studies/{into.slug}/")


def _dishes(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise CommandError(f"There is no folder {folder}.")
    dishes = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not dishes:
        raise CommandError(f"{folder} has no folders in it. Put the pages of each dish into a folder of its own.")
    return dishes


def _recipe(folder: Path, dish: str) -> ParsedRecipe:
    files = [folder / f"{dish}{suffix}" for suffix in RECIPE_SUFFIXES]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise CommandError(
            f"There is no recipe for “{dish}”: {files[0]} is missing. --recipes names the folder of recipes. "
            "Nothing was imported."
        )
    try:
        return parse_recipe(file.read_text(encoding="utf-8"))
    except (RecipeRefused, UnicodeDecodeError) as error:
        raise CommandError(f"{file}: {error} Nothing was imported.") from error


def _user(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is no user “{name}”. Nothing was imported.")
    return user


def _scheme(name: str) -> Scheme:
    shipped = doors.shipped_schemes()
    file = shipped.get(name, Path(name))
    if not file.is_file():
        raise CommandError(f"There is no scheme “{name}”. Shipped: {', '.join(shipped)}; or name a file.")
    source = file.read_text(encoding="utf-8")
    try:
        return annotating.store_scheme(spec=load_scheme(source), source=source)
    except SchemeError as error:
        raise CommandError(f"{file}: {error}") from error


def _sheet(study: Study, recipe: ParsedRecipe) -> Sheet:
    found = study.sheets.filter(title=recipe.name).first()
    return found or actions.add_recipe(study=study, recipe=recipe)
