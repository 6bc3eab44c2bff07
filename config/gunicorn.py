"""How the web server runs: `gunicorn -c config/gunicorn.py`. Its own options and WEB_CONCURRENCY go before these."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from environs import Env

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from base import environment, logs

environment.read(Path(__file__).resolve().parents[1])  # the settings, which do that too, are loaded later

wsgi_app = "config.wsgi"
workers = Env().int("WEB_CONCURRENCY", 3)  # what is no number is named; the settings know the range
threads = 4
timeout = 180  # seconds; an import of a large file is read inside its request

# Loaded once and shared by all workers: one that starts anew answers at once and takes no time from the others.
preload_app = True

# Nobody steers a running server, and its socket would be made in the home folder, which is read-only in the container.
control_socket_disable = True
# What a form's preview asks for stands in the address, such as the sheets that are ticked. More is not read at all.
limit_request_line = 8190

# What the processes count (operating.metrics) lies in files of this server's own, so that each of them can tell all.
# _METRICS_OF_OURS outlives a reload of this file, which finds the folder named already.
# Of servers that were killed the folders stayed. Each has a file that its server holds locked until it is gone.
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    for lock in Path(tempfile.gettempdir()).glob("palate-metrics-*/lock"):
        with suppress(OSError), lock.open() as held:  # another's, or that of a server at work
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)
    made_here = Path(tempfile.mkdtemp(prefix="palate-metrics-"))
    being_locked = os.open(made_here / "being-locked", os.O_CREAT)  # left open
    fcntl.flock(being_locked, fcntl.LOCK_EX)
    (made_here / "being-locked").rename(made_here / "lock")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = os.environ["_METRICS_OF_OURS"] = str(made_here)

# The server's own lines look like ours; `palate.requests` has a line a request.
if os.environ.get("LOG_FORMAT", "json") == "json" and os.environ.get("PALATE_ENV", "production") == "production":
    logconfig_dict = {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": logs.JsonLines}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {"gunicorn.error": {"handlers": [], "propagate": True, "level": "INFO"}},
    }


def child_exit(server: Any, worker: Any) -> None:
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:
    """The folder goes that was made here; one that the operator named stays."""
    if made := os.environ.get("_METRICS_OF_OURS"):
        shutil.rmtree(made, ignore_errors=True)


def when_ready(server: Any) -> None:
    """All views are loaded too, and what is loaded is no garbage: no worker looks through it again."""
    from django.db import connections
    from django.urls import get_resolver

    len(get_resolver().url_patterns)
    connections.close_all()  # each worker opens its own
    gc.collect()
    gc.freeze()
