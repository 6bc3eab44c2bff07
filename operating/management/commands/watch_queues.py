from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from operating import actions


class Command(BaseCommand):
    help = "Say which queues stand still, and e-mail PALATE_ALARM_EMAIL; ends with 1 if one does."

    def handle(self, *args: Any, **options: Any) -> None:
        found = actions.watch_queues()
        for queue in found:
            self.stdout.write(queue.sentence)
        if found:
            sys.exit(1)
