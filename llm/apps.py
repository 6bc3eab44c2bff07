from __future__ import annotations

from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "llm"
    verbose_name = "Language models"

    def ready(self) -> None:
        from django.conf import settings
        from django.core import checks

        from llm import encoders, registry

        encoders.register(settings.PALATE_ENCODERS)
        checks.register(registry.problems)
