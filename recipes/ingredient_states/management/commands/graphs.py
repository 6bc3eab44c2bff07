from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.exchange.row_imports import ImportRefused, problems_text
from annotation.exchange.tables import TableError
from annotation.management.telling import unless_archived
from annotation.models import Study, User
from annotation.scheme.spec import load_scheme
from recipes.ingredient_states import actions, exports, queries, reading


class Command(BaseCommand):
    help = (
        "Recipes and graphs of states of a study: brings in recipes (JSON, web pages, ZIP), graphs (JSON, GraphML), or "
        "writes all of them to a file (.json, .graphml, .dot)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the address of the study, as in its links")
        parser.add_argument("--bring", type=Path, nargs="+", metavar="FILE", help="files, or folders of them")
        parser.add_argument("--out", type=Path, help="a file, whose ending says what it holds")
        parser.add_argument("--rater", action="append", default=[], help="only this one's graphs; can be repeated")
        parser.add_argument("--new", metavar="TITLE", help="make the study, by the shipped scheme")
        parser.add_argument("--manager", metavar="USERNAME", help="of a new study; else administrators only see it")
        parser.add_argument("--skip", action="store_true", help="leave out pages that are no recipes, and name them")
        parser.add_argument("--replace", action="store_true", help="answers that differ replace those imported before")

    def handle(
        self,
        *,
        study: str,
        bring: list[Path] | None,
        out: Path | None,
        rater: list[str],
        new: str | None,
        manager: str | None,
        skip: bool,
        replace: bool,
        **options: Any,
    ) -> None:
        if not bring and out is None:
            raise CommandError("Say what to bring in (--bring) or where to write (--out).")
        if out is not None and out.suffix.removeprefix(".") not in exports.ENDINGS:
            raise CommandError(f"{out} should end in {', '.join('.' + ending for ending in exports.ENDINGS)}.")
        try:
            with transaction.atomic():
                found = _study(study, new, manager)
                if bring:
                    self._bring(unless_archived(found), bring, skip=skip, replace=replace)
            if out is not None:
                _refuse_unknown(found, rater)
                annotating.note_export(by=None, study=found, what="graphs")
                recipes = queries.recipe_files(found, raters=frozenset(rater))
                out.write_text(exports.written(recipes, out.suffix.removeprefix(".")), encoding="utf-8")
                self.stdout.write(f"{out} is written.")
        except ImportRefused as refused:
            raise CommandError(problems_text(refused)) from refused
        except (Refused, TableError) as refused:
            raise CommandError(str(refused)) from refused
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from error

    def _bring(self, study: Study, paths: list[Path], *, skip: bool, replace: bool) -> None:
        files = [file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
        read = reading.read(
            ((file.name, file.read_bytes()) for file in files if file.is_file()), known=queries.recipe_files(study)
        )
        for sentence in read.refused:
            self.stderr.write(sentence)
        if read.refused and not skip:
            raise CommandError("Nothing was imported. Mend these files, or leave them out with --skip.")
        done = actions.import_recipes(study=study, recipes=read.recipes, replace=replace)
        for sentence in done.sentences():
            self.stdout.write(sentence)


def _refuse_unknown(study: Study, raters: list[str]) -> None:
    """A file without any graph would say that they drew none."""
    known = set(study.raters.values_list("code", flat=True))
    if unknown := [rater for rater in raters if rater not in known]:
        raise CommandError(f"The study has no rater “{unknown[0]}”.")


def _study(slug: str, title: str | None, manager: str | None) -> Study:
    found = Study.objects.filter(slug=slug).select_related("scheme").first()
    if found is not None:
        return found
    if title is None:
        raise CommandError(f"There is no study “{slug}”. --new TITLE makes it.")
    by = User.objects.filter(username=manager).first() if manager else None
    if manager and by is None:
        raise CommandError(f"There is no user “{manager}”.")
    source = doors.shipped_schemes()[queries.SCHEME].read_text(encoding="utf-8")
    scheme = annotating.store_scheme(spec=load_scheme(source), source=source)
    return annotating.create_study(slug=slug, title=title, scheme=scheme, by=by)
