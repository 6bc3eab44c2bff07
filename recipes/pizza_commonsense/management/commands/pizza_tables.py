from __future__ import annotations

import dataclasses
import gzip
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.exchange.row_imports import ImportRefused
from annotation.management.telling import unless_archived
from annotation.models import Label, Rater, Study, User
from annotation.scheme.spec import load_scheme
from recipes.pizza_commonsense import actions, clusters, exchange, exporting, queries, records
from recipes.pizza_commonsense.corpus_tables import statistics_of
from recipes.pizza_commonsense.exporting import Wanted
from recipes.pizza_commonsense.forms import read_tables
from recipes.pizza_commonsense.records import TablesRefused, text_of
from recipes.pizza_commonsense.training import MOST_DEMONSTRATIONS, Masks
from reports.exports.files import TYPES, tables_file


class Command(BaseCommand):
    help = "Tables of recipes in and out of a study, and their split into parts for training and testing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(dest="what", required=True)
        into = what.add_parser("import", help="JSON lines (also .gz), CSV, XLSX or typed recipes into a study")
        into.add_argument("study", help="short name; made where it is missing")
        into.add_argument("files", type=Path, nargs="+")
        into.add_argument("--scheme", default=records.SCHEME, choices=[records.SCHEME, actions.LONG])
        into.add_argument("--rater", default="gold", help="whose answers these are (%(default)s)")
        into.add_argument("--example", action="store_true", help="“example” answers NA in first lines without food")
        into.add_argument("--replace", action="store_true", help="answers that differ replace those imported before")
        into.add_argument("--manager", metavar="USERNAME", help="of a new study; else administrators only see it")
        wrote = what.add_parser("system", help="what a system elsewhere wrote of a study's tables, into the study")
        wrote.add_argument("study")
        wrote.add_argument("files", type=Path, nargs="+", help="JSON lines (also .gz): id, as in requests, and output")
        wrote.add_argument("--system", required=True, metavar="NAME", help="who wrote it, as reports name it")
        wrote.add_argument("--replace", action="store_true", help="answers that differ replace those imported before")
        remove = what.add_parser("remove", help="answers of a system that came in files, out of the study")
        remove.add_argument("study")
        remove.add_argument("--system", required=True, metavar="NAME")
        remove.add_argument(
            "--noinput", "--no-input", action="store_false", dest="interactive", help="do not ask first"
        )
        out = what.add_parser("export", help="tables of a study into a file")
        out.add_argument("study")
        out.add_argument("file", type=Path)
        out.add_argument("--rater", default="gold", help="whose answers; “” for open tables (%(default)s)")
        out.add_argument("--form", choices=list(exporting.TYPES), help="else by the ending of the file")
        out.add_argument("--masks", choices=[*map(str, Masks), "none"], default="all")
        out.add_argument("--seed", type=int, default=1, help="of what is drawn: masks, demonstrations (%(default)s)")
        out.add_argument("--part", choices=[clusters.ALL, *clusters.PARTS], default=clusters.ALL, help="of the split")
        out.add_argument("--way", choices=clusters.WAYS, default=clusters.WITHIN, help="to split (%(default)s)")
        out.add_argument("--split-seed", type=int, default=1, help="of the split (%(default)s)")
        _add_given(out)
        out.add_argument(
            "--demonstrations",
            type=int,
            default=0,
            choices=range(MOST_DEMONSTRATIONS + 1),
            help="of requests: tables of the part “train” before each",
        )
        out.add_argument("--thinking", action="store_true", help="of requests: ask to think step by step first")
        parts = what.add_parser("split", help="ids of the recipes in each part, as JSON")
        parts.add_argument("study")
        parts.add_argument("file", type=Path)
        parts.add_argument("--way", choices=clusters.WAYS, default=clusters.WITHIN)
        parts.add_argument("--seed", type=int, default=1)

        sizes = what.add_parser("statistics", help="how large tables are, and what parts have in common, as a file")
        sizes.add_argument("study")
        sizes.add_argument("file", type=Path, help=f"its ending says what: {', '.join(TYPES)}")
        sizes.add_argument("--rater", default="gold", help="whose answers; “” for open tables (%(default)s)")
        sizes.add_argument("--way", choices=clusters.WAYS, default=clusters.WITHIN)
        sizes.add_argument("--seed", type=int, default=1)
        _add_given(sizes)

    def handle(self, *, what: str, **options: Any) -> None:
        try:
            getattr(self, f"_{what}")(options)
        except ImportRefused as refused:
            raise CommandError("\n".join([str(refused), *refused.problems])) from refused
        except (Refused, TablesRefused) as refused:
            raise CommandError(str(refused)) from refused

    @transaction.atomic
    def _import(self, options: dict[str, Any]) -> None:
        by = None
        if options["manager"] and (by := User.objects.filter(username=options["manager"]).first()) is None:
            raise CommandError(f"There is no user “{options['manager']}”. Nothing was imported.")
        if (study := Study.objects.filter(slug=options["study"]).first()) is not None:
            unless_archived(study)
        tables = []
        for file in options["files"]:
            try:
                read = read_tables(_content(file), file.name)
            except TablesRefused as refused:
                raise CommandError(f"{file}: {refused} Nothing was imported.") from refused
            tables += [dataclasses.replace(table, where=f"{file}, {table.where}") for table in read]
        if study is None:
            source = doors.shipped_schemes()[options["scheme"]].read_text(encoding="utf-8")
            scheme = annotating.store_scheme(spec=load_scheme(source), source=source)
            title = options["study"].replace("-", " ").capitalize()
            study = annotating.create_study(slug=options["study"], title=title, scheme=scheme, by=by)
        kind = Rater.Kind.GOLD if options["rater"] == "gold" else Rater.Kind.JUDGE
        how = {name: options[name] for name in ("rater", "example", "replace")}
        made = actions.import_tables(study=study, tables=tables, kind=kind, **how)
        self.stdout.write(f"{' '.join(exchange.sentences(made))} /studies/{study.slug}/")

    @transaction.atomic
    def _system(self, options: dict[str, Any]) -> None:
        study = unless_archived(_study(options["study"]))
        read = exporting.Predictions(queries.tables_of(study))
        for file in options["files"]:
            try:
                read.add(text_of(_content(file)), file=str(file))
            except TablesRefused as refused:
                raise CommandError(f"{file}: {refused} Nothing was imported.") from refused
        said = read.predicted()
        made = exchange.take_in(study=study, said=said, system=options["system"], replace=options["replace"])
        self.stdout.write(f"{', '.join(map(str, options['files']))}: {' '.join(exchange.sentences(made, said))}")

    def _remove(self, options: dict[str, Any]) -> None:
        study, code = unless_archived(_study(options["study"])), options["system"]
        n = Label.objects.filter(assignment__rater__in=queries.systems(study).filter(code=code)).count()
        if n and options["interactive"] and input(f"Remove {n} labels of “{code}” from “{study.slug}”? [y/N] ") != "y":
            raise CommandError("Nothing was removed.")
        n = actions.remove_system(study=study, code=code, by=None)
        self.stdout.write(exchange.told_removed(code, n))

    def _export(self, options: dict[str, Any]) -> None:
        form = options["form"] or options["file"].suffix.lstrip(".")
        if form not in exporting.TYPES:
            raise CommandError(f"Name the --form: {', '.join(exporting.TYPES)}.")
        study = _study(options["study"])
        _refuse_unknown(study, options["rater"])
        tables = queries.tables_of(study, rater=options["rater"])
        names = ("masks", "seed", "part", "way", "split_seed", "demonstrations", "thinking")
        parts = _given(options)
        made = clusters.given(tables, parts) if parts else None
        wanted = Wanted(form, **{name: options[name] for name in names}, made=made)
        content = exporting.exported(tables, wanted)
        annotating.note_export(by=None, study=study, what="pizza_tables")
        options["file"].write_bytes(content)
        n = len(clusters.in_part(tables, wanted.part, way=wanted.way, seed=wanted.split_seed, made=made))
        self.stdout.write(f"{n} tables in {options['file']}")

    def _split(self, options: dict[str, Any]) -> None:
        tables = queries.tables_of(_study(options["study"]))
        made = clusters.split(tables, seed=options["seed"], way=options["way"])
        options["file"].write_text(made.as_json(tables), encoding="utf-8")
        sizes = ", ".join(f"{part} {len(places)}" for part, places in made.parts.items())
        self.stdout.write(f"{sizes}; {len(set(made.clusters))} clusters: {options['file']}")

    def _statistics(self, options: dict[str, Any]) -> None:
        file, study = options["file"], _study(options["study"])
        if (ending := file.suffix.lstrip(".")) not in TYPES:
            raise CommandError(f"{file} should end in one of: {', '.join(TYPES)}.")
        _refuse_unknown(study, options["rater"])
        how = {name: options[name] for name in ("rater", "way", "seed")}
        found = statistics_of(study, **how, given=_given(options))
        content = tables_file(found.contents, ending)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.stdout.write(f"{found.corpus.n_recipes} tables: {file}")


def _add_given(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--given",
        nargs="+",
        metavar="PART=FILE",
        help=f"a published split: the tables of each part ({', '.join(clusters.PARTS)}), in place of a drawn one",
    )


def _given(options: dict[str, Any]) -> dict[str, list[records.Table]] | None:
    if not options["given"]:
        return None
    files = {part: Path(file) for part, _sign, file in (one.partition("=") for one in options["given"])}
    if unknown := sorted(set(files) - set(clusters.PARTS)):
        raise CommandError(f"“{unknown[0]}” is none of the parts: {', '.join(clusters.PARTS)}.")
    if clusters.TRAIN not in files:
        raise CommandError(f"Name the file of the part “{clusters.TRAIN}”, which the others are held against.")
    return {part: read_tables(_content(files[part]), files[part].name) for part in clusters.PARTS if part in files}


def _refuse_unknown(study: Study, rater: str) -> None:
    if rater and not study.raters.filter(code=rater).exists():
        raise CommandError(f"“{study.slug}” has no rater “{rater}”.")


def _content(file: Path) -> bytes:
    try:
        data = file.read_bytes()
        return gzip.decompress(data) if file.suffix == ".gz" else data
    except (OSError, EOFError) as error:
        raise CommandError(f"{file}: {error}. Nothing was imported.") from error


def _study(slug: str) -> Study:
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        raise CommandError(f"There is no study “{slug}”.")
    return study
