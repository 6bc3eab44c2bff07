from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from annotation.actions import Refused
from judges.management.telling import study_called
from recipes.ingredient_states import exports, queries, reading
from recipes.ingredient_states.recipe_files import RecipeFile
from recipes.ingredient_states.step_distances import Distances, distances_in, flat_sample, total
from reports.contents import Contents, ContentsPart
from reports.exports import report_csv
from reports.exports.latex import latex
from reports.tables import Head, ReportTable, Value


class Command(BaseCommand):
    help = (
        "How far back the steps of recipes refer (to the step before, to the one before that, …), and a sample of the "
        "recipes in which these distances are about as frequent as each other, for `graphs --bring`."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", type=Path, nargs="*", help="recipes as `graphs --bring` takes them, or folders")
        parser.add_argument("--study", metavar="STUDY", help="in place of files: the recipes of this study")
        parser.add_argument("--sample", type=int, default=0, metavar="N", help="how many recipes to draw")
        parser.add_argument("--seed", type=int, default=0, help="which of equally good recipes are drawn (%(default)s)")
        parser.add_argument(
            "--longest",
            type=int,
            default=0,
            metavar="N",
            help="count what is further as N; else as far as they go",
        )
        parser.add_argument("--out", type=Path, help="write the sample there, as JSON; it must not be there yet")
        parser.add_argument("--table", type=Path, help="write the distribution there, as .csv or .tex")

    def handle(
        self,
        *,
        files: list[Path],
        study: str | None,
        sample: int,
        seed: int,
        longest: int,
        out: Path | None,
        table: Path | None,
        **options: Any,
    ) -> None:
        if bool(files) == bool(study):
            raise CommandError("Say either files of recipes or a --study.")
        if sample < 0 or longest < 0:
            raise CommandError("--sample and --longest are no less than 0.")
        if out is not None and not sample:
            raise CommandError("Say how many recipes to draw: --sample N.")
        if table is not None and table.suffix not in (".csv", ".tex"):
            raise CommandError(f"{table} should end in .csv or .tex.")
        try:
            recipes = queries.recipe_files(study_called(study)) if study else self._read(files)
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        counts = distances_in([recipe.steps for recipe in recipes], longest=longest)
        everything, pooled = total(counts), longest > 0
        if not sum(everything.counts):
            raise CommandError("No step of these recipes refers to an earlier one.")
        places = flat_sample(counts, [recipe.title for recipe in recipes], sample, seed=seed) if sample else []
        if len(places) < sample:
            raise CommandError(f"Only {len(places)} of the recipes have a step that refers to an earlier one.")
        found = [(f"all {len(recipes)}", total(counts, pooled=pooled))]
        found += [(f"sample of {sample}", total(counts[places], pooled=pooled))] if sample else []
        self._tell(found)
        try:
            if table is not None:
                table.write_text(_written(found, table.suffix), encoding="utf-8")
            if out is not None:
                with out.open("x", encoding="utf-8", newline="\n") as file:
                    file.write(exports.written([recipes[place] for place in sorted(places)], "json"))
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be written: {error.strerror}.") from error

    def _read(self, paths: list[Path]) -> list[RecipeFile]:
        files = [file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
        try:
            read = reading.read((file.name, file.read_bytes()) for file in files if not file.is_dir())
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from error
        for sentence in read.refused:
            self.stderr.write(sentence)
        return read.recipes

    def _tell(self, found: list[tuple[str, Distances]]) -> None:
        for name, of in found:
            shares = zip(_names(of), of.counts, of.shares, strict=True)
            self.stdout.write(f"{name}: " + ", ".join(f"{far} {n} ({share:.1%})" for far, n, share in shares))
            self.stdout.write(f"  total variation distance from uniform: {of.from_uniform:.3f}")


def _names(of: Distances) -> list[str]:
    last = len(of.counts)
    return [f"{n}+" if of.pooled and n == last else str(n) for n in range(1, last + 1)]


def _written(found: list[tuple[str, Distances]], suffix: str) -> str:
    """A line a distance, and the last one says how far that is from uniform."""
    heads = [Head("distance", _("Steps back"))]
    for place, (name, _of) in enumerate(found):
        heads += [
            Head(f"n{place}", _("References"), "count", name),
            Head(f"share{place}", _("Share"), "number", name),
        ]
    rows: list[tuple[Value, ...]] = []
    for place, far in enumerate(_names(found[0][1])):
        rows.append((far, *(value for _name, of in found for value in (of.counts[place], of.shares[place]))))
    away = [value for _name, of in found for value in (sum(of.counts), of.from_uniform)]
    rows.append((_("all; total variation distance from uniform"), *away))
    made = ReportTable("step-distances", "", _("How far back steps refer"), tuple(heads), tuple(rows))
    if suffix == ".tex":
        return latex(made)
    return report_csv(Contents((), 0, (ContentsPart("step-distances", "", 0, (made,)),)))
