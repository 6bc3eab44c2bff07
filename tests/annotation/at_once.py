"""Two people at once, on a database that lets them."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from annotation.actions import Refused

postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has one writer at a time: nothing to be ordered"
)


def in_another_connection(act: Callable[[], object], said: list[object]) -> threading.Thread:
    """Do something in a thread of its own; what comes of it, or the refusal, is added to `said`."""

    def run() -> None:
        try:
            said.append(act())
        except Refused as refusal:
            said.append(refusal)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread
