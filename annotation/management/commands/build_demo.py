from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation import doors


class Command(BaseCommand):
    help = "Make the demo studies with their logins and labels, where they are missing; prints the logins."

    def handle(self, **options: Any) -> None:
        if settings.PALATE_ENV == "production":
            raise CommandError(
                "The logins of the demo have a password that everybody may know, and one of them is an owner's: they "
                "are made with PALATE_ENV=demo, in a database of its own."
            )
        for demo in doors.demos():
            demo.build()
            for name, what in demo.logins.items():
                self.stdout.write(f"    {name:<12} {demo.password}    {what}")
