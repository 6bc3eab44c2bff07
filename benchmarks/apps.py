"""Sets Django up when it is imported, for benchmarks that use its applications."""

from __future__ import annotations

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()
