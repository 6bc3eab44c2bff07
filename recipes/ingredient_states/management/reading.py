"""What the commands of this pack share."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from django.core.management.base import CommandError

from annotation.actions import note_export
from annotation.deriving import queries
from annotation.deriving.making import DerivingRefused
from annotation.models import Row
from judges.management.telling import study_called
from recipes.ingredient_states.probing.derivers import recipes_of
from recipes.ingredient_states.probing.parts import Part, Split, part_of
from recipes.ingredient_states.probing.tasks import Recipe
from recipes.ingredient_states.queries import picture_address


def add_arguments(parser: ArgumentParser, *, part: Part) -> None:
    parser.add_argument("study", help="short name of the study that annotates states")
    parser.add_argument("out", type=Path, help="the file to write, one JSON object a line; it must not be there yet")
    parser.add_argument("--seed", type=int, default=0, help="what chance is drawn by (%(default)s)")
    parser.add_argument("--part", choices=list(Part), default=part, help="which recipes (%(default)s)")
    parser.add_argument(
        "--split",
        choices=list(Split),
        default=Split.COUNTED,
        help="counted: 60 in 100 of the annotated recipes; each: as before, each by itself (%(default)s)",
    )
    parser.add_argument(
        "--training",
        type=Path,
        metavar="FILE",
        help="names of the recipes for training, one a line, in place of a drawn split",
    )
    parser.add_argument("--rater", default="", help="whose answers count where there is no gold; else what most said")


def recipes(
    study: str, rater: str, *, part: str, seed: int, split: str = Split.COUNTED, training: Path | None = None
) -> list[Recipe]:
    """The recipes of a part of a study."""
    found = study_called(study)
    if rater and not found.raters.filter(code=rater).exists():
        raise CommandError(f"The study has no rater “{rater}”.")
    try:
        told = [one.recipe for one in recipes_of(queries.chosen(found, rater=rater).source)]
        named = training.read_text(encoding="utf-8").splitlines() if training else []
        names = [name for line in named if (name := line.strip())]
        if training and not names:
            raise CommandError(f"{training} names no recipes.")
        return part_of(told, Part(part), seed=seed, split=Split(split), training=names)
    except (DerivingRefused, OSError, ValueError) as refused:
        raise CommandError(str(refused)) from refused


def pictures(study: str, recipes: Sequence[Recipe]) -> dict[str, str]:
    """The pictures of recipes as data: addresses, by the recipes' keys."""
    found = {}
    wanted = {recipe.key for recipe in recipes}
    for told in recipes_of(queries.chosen(study_called(study)).source):
        row = Row.objects.get(pk=told.row.number)
        if told.recipe.key in wanted and (address := picture_address(row)):
            found[told.recipe.key] = address
    if not found:
        raise CommandError("No recipe of the study has a picture.")
    return found


def write(out: Path, lines: list[str], what: str, *, study: str) -> str:
    """Lines of a study, noted in the audit log. Returns a sentence."""
    if not lines:
        raise CommandError(f"There are no {what}: no recipe has an answer that counts at each of its steps.")
    note_export(by=None, study=study_called(study), what=what)
    try:
        with out.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
    except OSError as error:
        raise CommandError(f"{out} cannot be written: {error.strerror}.") from error
    return f"{len(lines)} {what} in {out}"
