"""The Celery application. Workers: `celery -A config worker -Q cpu` (and `-Q gpu` where a GPU is)."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Threads that spin while they wait slow down everything else on a busy machine; must be set before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

app = Celery("palate")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
