from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from recipes import demo_study


class Command(BaseCommand):
    help = "Make the demo study, its three logins and its labels, where they are missing; prints the logins."

    def handle(self, **options: Any) -> None:
        demo_study.build()
        for name, what in demo_study.USERS.items():
            self.stdout.write(f"    {name:<12} {demo_study.PASSWORD}    {what.hint}")
