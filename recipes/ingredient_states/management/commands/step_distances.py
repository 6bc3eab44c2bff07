from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from annotation.actions import Refused, note_export
from judges.management.telling import study_called
from recipes.ingredient_states import exports, queries, reading
from recipes.ingredient_states.recipe_files import RecipeFile
from recipes.ingredient_states.step_distances import Distances, distances_in, flat_sample, total
from reports.contents import Contents, ContentsPart
from reports.exports.files import TYPES, tables_file
from reports.figures.base import Figure
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
        parser.add_argument("--table", type=Path, help=f"write the distribution there, as .{', .'.join(TYPES)}")
        parser.add_argument("--figure", type=Path, help="draw the distribution there, as .svg or .pdf")

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
        figure: Path | None,
        **options: Any,
    ) -> None:
        if bool(files) == bool(study):
            raise CommandError("Say either files of recipes or a --study.")
        if sample < 0 or longest < 0:
            raise CommandError("--sample and --longest are no less than 0.")
        if out is not None and not sample:
            raise CommandError("Say how many recipes to draw: --sample N.")
        if table is not None and table.suffix.lstrip(".") not in TYPES:
            raise CommandError(f"{table} should end in one of: {', '.join(TYPES)}.")
        if figure is not None and figure.suffix not in (".svg", ".pdf"):
            raise CommandError(f"{figure} should end in .svg or .pdf.")
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
                content = tables_file(_contents(found), table.suffix.lstrip("."))
                table.write_bytes(content if isinstance(content, bytes) else content.encode())
            if figure is not None:
                figure.write_bytes(_drawn(found, figure.suffix.lstrip(".")))
            if out is not None:
                if study:
                    note_export(by=None, study=study_called(study), what="step_distances")
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


def _contents(found: list[tuple[str, Distances]]) -> Contents:
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
    return Contents((), 0, (ContentsPart("step-distances", "", 0, (made,)),))


def _drawn(found: list[tuple[str, Distances]], form: Any) -> bytes:
    from reports.figures.svg import draw  # matplotlib comes with it

    names = _names(found[0][1])
    nothing = [None] * len(names)
    data = {
        "names": names,
        "series": [{"name": name, "values": of.shares, "low": nothing, "high": nothing} for name, of in found],
        "bands": [],
        "line": 1 / len(names),
        "line_title": _("uniform"),
        "x_title": _("Share of the references, by how many steps back they go"),
        "x_low": 0,
        "x_high": 1,
    }
    return draw(Figure("step-distances", "dots", "", _("How far back steps refer"), data, "", ""), form)
