"""Tasks that come round are sent whatever becomes of the disk and the machine's clock; a worker ends with its `-B`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from celery.beat import ScheduleEntry, Service
from django.conf import settings
from kombu import Connection

from config import celery_app
from work.states import LONG_WORK_PRIORITY, SHORT_WORK_PRIORITY

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 120


@pytest.mark.once
def test_what_comes_round_is_due_at_the_start_and_then_by_a_clock_that_nobody_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no folder").touch()
    service = Service(
        celery_app,
        schedule_filename=str(tmp_path / "no folder" / "schedule"),
        scheduler_cls=celery_app.conf.beat_scheduler,
    )
    scheduler, sent = service.get_scheduler(), list[str]()

    def noted(entry: ScheduleEntry, **_how: object) -> None:
        sent.append(entry.name)

    def due(*, after: float) -> list[str]:
        sent.clear()
        monkeypatch.setattr("config.beat.time", SimpleNamespace(monotonic=lambda: after))
        while scheduler.tick() == 0:
            pass
        return sorted(sent)

    monkeypatch.setattr(scheduler, "producer", None)
    monkeypatch.setattr(scheduler, "apply_async", noted)
    monkeypatch.setattr(celery_app, "now", None)  # the machine's clock, which may be set back
    every = sorted(settings.CELERY_BEAT_SCHEDULE)

    assert due(after=0) == every
    assert due(after=14) == []
    assert due(after=16) == ["recover"]
    assert due(after=61) == ["recover", "watch-queues"]
    assert due(after=4000) == every
    scheduler.sync()


def test_cleaning_comes_between_the_messages_of_a_long_run_and_alarms_come_first(tmp_path: Path) -> None:
    """Behind all that a run of days has sent each cleaning was out of date before its turn: none was done meanwhile."""
    entries = settings.CELERY_BEAT_SCHEDULE
    told = {name: entry.get("options", {}).get("priority") for name, entry in entries.items()}
    assert {name for name, priority in told.items() if priority is None} == {
        "recover", "watch-queues", "watch-certificates",
    }  # fmt: skip
    folders = {name: str(tmp_path) for name in ("data_folder_in", "data_folder_out", "control_folder")}
    transport = "config.folder_queue:Transport"
    with Connection("filesystem://", transport=transport, transport_options=folders) as connection:
        queue = connection.SimpleQueue("cpu", serializer="json")
        for priority in (LONG_WORK_PRIORITY, LONG_WORK_PRIORITY, SHORT_WORK_PRIORITY):
            queue.put(priority, priority=priority)
        queue.put("cleaning", priority=told["clean-uploads"])
        queue.put("recovery")
        taken = [queue.get(block=False).payload for _n in range(5)]
    assert taken == ["recovery", SHORT_WORK_PRIORITY, "cleaning", LONG_WORK_PRIORITY, LONG_WORK_PRIORITY]
    assert set(told.values()) - {None} == {SHORT_WORK_PRIORITY}


@pytest.mark.once
@pytest.mark.slow
def test_a_worker_ends_when_what_sends_tasks_on_time_has_ended(tmp_path: Path) -> None:
    """It answered pings, and recovery, cleaning and alarms stood still for good."""
    own = {"PALATE_ENV": "test", "PALATE_VAR": str(tmp_path / "var"), "CELERY_BROKER_URL": "filesystem://localhost//"}
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "-B", "-P", "solo", "-l", "info"]
    log = tmp_path / "log"
    with log.open("wb") as out:
        worker = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **own, "LOG_LEVEL": "INFO"}, stdout=out, stderr=out
        )
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while "beat: Starting" not in log.read_text():
            assert time.monotonic() < deadline, log.read_text()
            assert worker.poll() is None, log.read_text()
            time.sleep(0.1)
        [beat] = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()
        os.kill(int(beat), signal.SIGKILL)

        assert worker.wait(PATIENCE_SECONDS) == 1, log.read_text()
        assert "and so does this worker" in log.read_text()
        assert not list(ROOT.glob("celerybeat-schedule*"))
    finally:
        worker.kill()
        worker.wait()
