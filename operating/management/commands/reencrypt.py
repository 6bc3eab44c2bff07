from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from operating import actions


class Command(BaseCommand):
    help = "Encrypt second factors and secrets of webhooks by SECRET_KEY, so that SECRET_KEY_FALLBACKS can be emptied."

    def handle(self, *args: Any, **options: Any) -> None:
        n, unread = actions.reencrypt()
        self.stdout.write(f"Secrets that lie encrypted by SECRET_KEY: {n}.")
        if unread:
            raise CommandError(
                f"None of SECRET_KEY and SECRET_KEY_FALLBACKS reads: {', '.join(unread)}. Where you have the key that "
                "they were made under, add it to SECRET_KEY_FALLBACKS and run this again. Else an owner takes a factor "
                "away on the person's page, and a manager makes a new secret for a webhook."
            )
        self.stdout.write("SECRET_KEY_FALLBACKS can be emptied.")
