"""The Celery application. Workers: `celery -A config worker -Q cpu` (and `-Q gpu` where a GPU is)."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, setup_logging
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Threads that spin while they wait slow down everything else on a busy machine; must be set before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

TRANSPORT_ALIASES["filesystem"] = "config.folder_queue:Transport"
app = Celery("palate")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add("config.beat:EndsWithBeat")


def _in_json(loglevel: int | None = None, **_signal: Any) -> None:
    """Our own lines, where Celery would set up its own; `-l` says from which level on."""
    import logging.config

    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)
    if loglevel is not None:
        logging.getLogger().setLevel(loglevel)


@celeryd_init.connect
def _choose_log(**_signal: Any) -> None:
    from django.conf import settings

    if settings.LOG_FORMAT == "json":
        setup_logging.connect(_in_json)  # Celery sets up nothing once somebody listens
