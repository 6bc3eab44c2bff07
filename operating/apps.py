from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings


class OperatingConfig(AppConfig):
    name = "operating"

    def ready(self) -> None:
        if settings.SENTRY_DSN:
            from operating import sentry

            sentry.start(settings.SENTRY_DSN, environment=settings.PALATE_ENV)
