"""The web server's own file, run as gunicorn runs it."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[1] / "config" / "gunicorn.py"
METRICS = "PROMETHEUS_MULTIPROC_DIR"


@pytest.mark.once
def test_the_folder_of_metrics_goes_only_if_it_was_made_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("_METRICS_OF_OURS", "")
    monkeypatch.setenv(METRICS, str(tmp_path))
    runpy.run_path(str(FILE))["on_exit"](None)
    assert tmp_path.is_dir()

    monkeypatch.delenv(METRICS)
    runpy.run_path(str(FILE))
    made = Path(os.environ[METRICS])
    assert made.is_dir()
    runpy.run_path(str(FILE))["on_exit"](None)  # after a reload
    assert not made.exists()


def test_the_web_server_makes_no_socket_in_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the container that folder is read-only, and each start logged an error."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv(METRICS, "/nowhere")
    assert runpy.run_path(str(FILE))["control_socket_disable"] is True
