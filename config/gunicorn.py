"""How the web server runs: `gunicorn -c config/gunicorn.py`. Its own options and WEB_CONCURRENCY go before these."""

from __future__ import annotations

import gc
import os
from typing import Any

wsgi_app = "config.wsgi"
workers = int(os.environ.get("WEB_CONCURRENCY", "3"))
threads = 4
timeout = 180  # seconds; an import of a large file is read inside its request

# Loaded once and shared by all workers: one that starts anew answers at once and takes no time from the others.
preload_app = True


def when_ready(server: Any) -> None:
    """All views are loaded too, and what is loaded is no garbage: no worker looks through it again."""
    from django.db import connections
    from django.urls import get_resolver

    len(get_resolver().url_patterns)
    connections.close_all()  # each worker opens its own
    gc.collect()
    gc.freeze()
