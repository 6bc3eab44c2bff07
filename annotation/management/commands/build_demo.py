from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from annotation import doors


class Command(BaseCommand):
    help = "Make the demo studies with their logins and labels, where they are missing; prints the logins."

    def handle(self, **options: Any) -> None:
        for demo in doors.demos():
            demo.build()
            for name, what in demo.logins.items():
                self.stdout.write(f"    {name:<12} {demo.password}    {what}")
