"""A server of several processes that is killed while choices are on their way to it, and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from playwright.sync_api import expect

from annotation.models import LabelEvent
from tests.journeys.conftest import Browsing
from tests.journeys.pages import TO, Coleslaw, Grid

ROOT = Path(__file__).resolve().parents[2]
SIGNS = {"found": "F", "found-not-perfect": "~", "not-found": "–", "implied": "i"}
KEYS = (*"1234", *TO["Google 2"], *"1234", *TO["Bing 1"], *"1234")
CHOSEN = {
    (row, column, "presence"): option
    for row in ("Google 1", "Google 2", "Bing 1")
    for column, option in zip(("white cabbage", "carrots", "mayonnaise", "mustard"), SIGNS, strict=True)
}


class Gunicorn:
    """The server as it is deployed, on the database of the test; always at the same address."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"http://localhost:{self.port}"

    def start(self) -> None:
        own = connection.settings_dict
        address = f"sqlite:///{own['NAME']}"
        if connection.vendor == "postgresql":
            address = "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**own)
        command = [sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.py", "--bind", f"127.0.0.1:{self.port}"]
        command += ["--workers", "2", "--threads", "2", "--log-level", "critical"]
        environment = os.environ | {"DATABASE_URL": address, "PALATE_ENV": "test"}
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
        for _attempt in range(300):
            try:
                urllib.request.urlopen(f"{self.url}/healthz", timeout=5).close()
                return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError(self.url)

    def kill(self) -> None:
        """All of its processes at once: none may finish what it has begun."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def gunicorn(browsing: Browsing) -> Iterator[Gunicorn]:
    server = Gunicorn()
    server.start()
    yield server
    server.kill()


def test_a_killed_server_loses_nothing_and_doubles_nothing(
    slaw: Coleslaw, browsing: Browsing, gunicorn: Gunicorn
) -> None:
    browsing.expect("Failed to load resource")
    page = browsing.person("anna", base_url=gunicorn.url)
    grid = Grid(page, slaw.sheet).open()
    grid.keys(*KEYS[:3])
    grid.settle()
    grid.keys(*KEYS[3:8])
    gunicorn.kill()
    grid.keys(*KEYS[8:11])
    expect(page.locator("#save-state")).to_have_text("Not saved yet: retrying")
    shown_as_saved = {
        (row, column, question): SIGNS[option]
        for (row, column, question), option in CHOSEN.items()
        if page.locator(f"#{grid.id(row, column)}:not([data-state])[data-sign]").count()
    }
    standing = slaw.standing("anna")
    assert shown_as_saved.items() <= {cell: SIGNS[option] for cell, option in standing.items()}.items()
    assert 3 <= len(shown_as_saved) <= 6

    gunicorn.start()
    grid.keys(*KEYS[11:])
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    grid.settle()
    expect(page.locator("#save-state")).to_have_text("Saved")
    assert slaw.standing("anna") == CHOSEN
    events = LabelEvent.objects.filter(assignment__rater__user__username="anna")
    assert events.count() == len(CHOSEN)
    assert set(events.values_list("before", flat=True)) == {None}
