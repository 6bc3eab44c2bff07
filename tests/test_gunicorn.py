"""The web server's own file, run as gunicorn runs it."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from environs import EnvError

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


@pytest.mark.once
def test_the_folder_of_a_killed_server_goes_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("_METRICS_OF_OURS", "")
    monkeypatch.setenv(METRICS, "")
    monkeypatch.delenv(METRICS)
    others = tmp_path / "palate-metrics-of-nobody-knows-whom"
    others.mkdir()
    start = (
        f"import runpy, tempfile; tempfile.tempdir = {str(tmp_path)!r}; runpy.run_path({str(FILE)!r}); print(); input()"
    )
    with subprocess.Popen([sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        [lock] = tmp_path.glob("palate-metrics-*/lock")

        runpy.run_path(str(FILE))
        mine = Path(os.environ[METRICS])
        assert lock.exists()

        server.kill()
        server.wait()
        monkeypatch.delenv(METRICS)
        runpy.run_path(str(FILE))
        assert not lock.parent.exists()
        assert {mine, others, Path(os.environ[METRICS])} == set(tmp_path.iterdir())


def test_the_web_server_makes_no_socket_in_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the container that folder is read-only, and each start logged an error."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv(METRICS, "/nowhere")
    assert runpy.run_path(str(FILE))["control_socket_disable"] is True


def test_the_web_server_reads_what_stands_in_env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file beside manage.py was read with the settings, when the number of processes was known already."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv(METRICS, "/nowhere")
    for name in ("PALATE_ENV", "WEB_CONCURRENCY", "LOG_FORMAT", "LAB_API_KEY"):
        monkeypatch.setenv(name, "")  # so that it is as before at the end
        monkeypatch.delenv(name)
    (tmp_path / "config").mkdir()
    file = shutil.copy(FILE, tmp_path / "config")
    (tmp_path / ".env").write_text("WEB_CONCURRENCY=7\nLOG_FORMAT=text\nLAB_API_KEY=for-a-judge\n")

    monkeypatch.setenv("PALATE_ENV", "demo")
    assert runpy.run_path(file)["workers"] == 3
    monkeypatch.delenv("PALATE_ENV")
    found = runpy.run_path(file)
    assert found["workers"] == 7
    assert "logconfig_dict" not in found
    # Read by its name where a server is asked (`llm.backends`), as are those of search engines.
    assert os.environ["LAB_API_KEY"] == "for-a-judge"


def test_a_number_of_processes_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("WEB_CONCURRENCY", "many")
    with pytest.raises(EnvError, match="WEB_CONCURRENCY"):
        runpy.run_path(str(FILE))
