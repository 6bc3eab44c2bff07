from __future__ import annotations

from django.apps import AppConfig


class WorkConfig(AppConfig):
    name = "work"
