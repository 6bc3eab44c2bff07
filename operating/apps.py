from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class OperatingConfig(AppConfig):
    name = "operating"

    def ready(self) -> None:
        from operating import checks  # noqa: F401 - they register themselves

        if settings.SENTRY_DSN:
            from operating import sentry

            try:
                sentry.start(settings.SENTRY_DSN, environment=settings.PALATE_ENV)
            except ValueError as error:  # BadDsn is one
                raise ImproperlyConfigured(f'Environment variable "SENTRY_DSN" invalid: {error}') from error
