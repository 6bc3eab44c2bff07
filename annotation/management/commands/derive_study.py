from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug
from django.db import transaction

from annotation.actions import Refused, scheme_called
from annotation.deriving import making
from annotation.deriving.actions import derive_study
from annotation.models import Scheme, Study, User


class Command(BaseCommand):
    help = "Make a study out of another one's chosen labels, with what each row and column rests on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the address of the study that is there, as in its links")
        parser.add_argument("deriver", help=", ".join(deriver.key for deriver in making.derivers()))
        parser.add_argument("slug", help="the address of the new study")
        parser.add_argument("--title", help="of the new study (else its address)")
        parser.add_argument(
            "--scheme",
            required=True,
            help="key of a scheme that is stored or comes with Palate; its newest version is taken",
        )
        parser.add_argument("--rater", default="", help="whose answer counts where there is no gold")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="a setting of the deriver; more than once for several values",
        )
        parser.add_argument("--manager", metavar="USERNAME", help="of the new study; else administrators only see it")

    def handle(self, *, study: str, deriver: str, slug: str, **options: Any) -> None:
        source = Study.objects.filter(slug=study).first()
        if source is None:
            raise CommandError(f"There is no study “{study}”.")
        by = User.objects.filter(username=options["manager"]).first() if options["manager"] else None
        if options["manager"] and by is None:
            raise CommandError(f"There is no user “{options['manager']}”.")
        settings: dict[str, list[str]] = {}
        for setting in options["set"]:
            key, equals, value = setting.partition("=")
            if not equals:
                raise CommandError(f"“{setting}” is no KEY=VALUE.")
            settings.setdefault(key, []).append(value)
        try:
            validate_slug(slug)
            with transaction.atomic():
                made = derive_study(
                    source=source,
                    deriver=deriver,
                    scheme=_scheme(options["scheme"]),
                    slug=slug,
                    title=options["title"] or slug,
                    rater=options["rater"],
                    settings=settings,
                    by=by,
                )
        except (Refused, ValidationError) as refused:
            raise CommandError(getattr(refused, "message", str(refused))) from refused
        told = made.derivation["made"]
        self.stdout.write(
            f"{told['sheets']} sheets, {told['rows']} rows and {told['columns']} columns: /studies/{made.slug}/"
        )
        if ties := made.derivation["ties"]["n"]:
            self.stdout.write(f"In {ties} cells no answer was chosen: as many people said one thing as another.")


def _scheme(key: str) -> Scheme:
    scheme = scheme_called(key)
    if scheme is None:
        raise CommandError(f"There is no scheme “{key}”.")
    return scheme
