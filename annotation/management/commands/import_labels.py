from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.exchange.json_tables import open_labels
from annotation.exchange.label_imports import import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.new_studies import study_from_labels
from annotation.exchange.records import EVERY_FIELDS, LABEL_FIELDS
from annotation.exchange.row_imports import Imported
from annotation.management.telling import problems_told, unless_archived
from annotation.models import Study, User


class Command(BaseCommand):
    help = (
        "Add labels made elsewhere (CSV, TSV, a workbook, JSON lines, Label Studio, doccano, Prodigy, INCEpTION, brat, "
        "CoNLL), to a study or (--new-study) to a new one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the address of the study, as in its links")
        parser.add_argument("file", type=Path)
        for name in LABEL_FIELDS:
            option = f"--{name.replace('_', '-')}"
            parser.add_argument(option, metavar="COL", help=f"heading of the {name}; '' if the file has none")
        for name in EVERY_FIELDS:
            parser.add_argument(f"--every-{name}", metavar="NAME", help=f"the {name} of all lines")
        parser.add_argument("--ignore", metavar="COL", action="append", default=[], help="a heading not to be read")
        parser.add_argument("--wide", action="store_true", help="one line an item, one column a rater")
        parser.add_argument("--create", action="store_true", help="make sheets, rows, columns, raters that are missing")
        parser.add_argument("--pseudonyms", action="store_true", help="call the raters R1, R2, …")
        parser.add_argument("--replace", action="store_true", help="answers that differ replace imported ones")
        parser.add_argument(
            "--new-study", metavar="TITLE", help="make the study too: one question, its options or labels as found"
        )
        parser.add_argument("--nominal", action="store_true", help="with --new-study: numbers are names, not a scale")
        parser.add_argument("--manager", metavar="USER", help="with --new-study: its manager and researcher")

    def handle(self, *, study: str, file: Path, new_study: str | None, manager: str | None, **options: Any) -> None:
        how = LabelImport(
            headings={name: options[name] for name in LABEL_FIELDS if options[name] is not None},
            every={name: said for name in EVERY_FIELDS if (said := options[f"every_{name}"])},
            ignore=tuple(options["ignore"]),
            **{name: options[name] for name in ("wide", "create", "pseudonyms", "replace", "nominal")},
        )
        with problems_told(), file.open("rb") as stream:
            table = open_labels(stream, name=file.name, max_bytes=settings.PALATE_MAX_IMPORT_BYTES)
            imported: Imported
            if new_study is not None:
                by = _user(manager) if manager else None
                _made, imported = study_from_labels(slug=study, title=new_study, table=table, how=how, by=by)
            else:
                imported = import_labels(study=_study(study), table=table, how=how)
        self.stdout.write(" ".join(imported.sentences()))
        if new_study is not None and not manager:
            self.stdout.write("Nobody is in the study yet; give it a manager in the administration (Memberships).")


def _study(slug: str) -> Study:
    if study := Study.objects.filter(slug=slug).first():
        return unless_archived(study)
    raise CommandError(f"There is no study “{slug}”. --new-study TITLE makes it.")


def _user(name: str) -> User:
    if user := User.objects.filter(username=name).first():
        return user
    raise CommandError(f"There is no account “{name}”.")
