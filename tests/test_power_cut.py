"""What was acknowledged is there when the machine's power comes back, on a disk that forgets what was not synced."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.utils import ConnectionHandler
from pytest_django import Settings

from annotation.exchange import uploads
from benchmarks.fault_disk import Disk
from config.caches import FileCache
from operating import queries
from operating.actions import restore
from reports import actions
from reports.data.arrays import Filters
from reports.models import Export
from tests import builders
from tests.builders import Leases

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    found = Disk(tmp_path)
    if not found.forgets:
        found.close()
        pytest.skip(f"no disk forgets here: {found.why}")
    yield found
    found.close()


def power_cut(disk: Disk) -> None:
    disk.cut()
    disk.mount_again()


@pytest.mark.once
def test_where_no_disk_can_be_made_a_sentence_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _program: None)
    disk = Disk(tmp_path)
    assert (disk.forgets, disk.why) == (False, "there is no mkfs.ext4")
    (disk.at / "file").write_text("all the same")
    disk.close()


@pytest.mark.once
def test_an_upload_that_waits_for_a_worker(disk: Disk, settings: Settings) -> None:
    settings.PALATE_UPLOADS = disk.at / "uploads"
    name = uploads.keep(SimpleUploadedFile("labels.csv", b"row,answer\n" * 500))
    power_cut(disk)
    assert uploads.size(name) == 5500


@pytest.mark.django_db
def test_a_download_that_is_ready(disk: Disk, settings: Settings, leases: Leases) -> None:
    settings.PALATE_EXPORTS = disk.at / "exports"
    asked = actions.ask_for_export(study=leases.study, form="zip", filters=Filters(), by=leases.researcher)
    actions.make_export(export_id=asked.pk)
    power_cut(disk)
    made = Export.objects.get()
    assert (made.shown, (settings.PALATE_EXPORTS / made.file).stat().st_size) == ("ready", made.size)
    with zipfile.ZipFile(settings.PALATE_EXPORTS / made.file) as archive:
        assert archive.testzip() is None


@pytest.mark.django_db(transaction=True)
def test_a_backup(disk: Disk, settings: Settings) -> None:
    settings.PALATE_EXPORTS = settings.PALATE_UPLOADS = disk.at / "none"
    builders.leases()
    queries.write_backup(disk.at / "backup.zip")
    power_cut(disk)
    with zipfile.ZipFile(disk.at / "backup.zip") as archive:
        assert archive.testzip() is None
        assert "manifest.json" in archive.namelist()


@pytest.mark.django_db(transaction=True)
def test_the_files_that_a_backup_brings_back(disk: Disk, tmp_path: Path, settings: Settings) -> None:
    settings.PALATE_EXPORTS, settings.PALATE_UPLOADS = tmp_path / "exports", tmp_path / "uploads"
    (settings.PALATE_EXPORTS / "7").mkdir(parents=True)
    (settings.PALATE_EXPORTS / "7" / "labels.csv").write_bytes(b"row,label\r\n" * 5000)
    queries.write_backup(tmp_path / "backup.zip")
    settings.PALATE_EXPORTS = disk.at / "exports"
    restore(tmp_path / "backup.zip")
    power_cut(disk)
    assert (settings.PALATE_EXPORTS / "7" / "labels.csv").stat().st_size == 55_000


@pytest.mark.once
@pytest.mark.django_db
@pytest.mark.parametrize(("synchronous", "left"), [("FULL", 20), ("NORMAL", 0)])
def test_a_commit_of_sqlite(disk: Disk, synchronous: str, left: int) -> None:
    init = f"PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous};"
    here = {"ENGINE": "config.sqlite", "NAME": str(disk.at / "own.sqlite3"), "OPTIONS": {"init_command": init}}
    connection = ConnectionHandler({"default": here})["default"]
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE said (n INTEGER)")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for n in range(20):
            cursor.execute("INSERT INTO said VALUES (%s)", [n])
        disk.cut()
    connection.close()
    disk.mount_again()
    with sqlite3.connect(disk.at / "own.sqlite3") as found:
        assert found.execute("SELECT COUNT(*) FROM said").fetchone() == (left,)
    found.close()


@pytest.mark.once
@pytest.mark.parametrize("left", ["", '[["cpu", "", "c'])
@pytest.mark.parametrize("lost", ["control/cpu.exchange", "*.msg"])
@pytest.mark.sample(1)
def test_a_queue_in_a_folder_takes_messages_again(tmp_path: Path, lost: str, left: str) -> None:
    """Each in a process of its own, as after a power cut: Kombu remembers what it has bound."""
    (tmp_path / "control").mkdir()
    assert said_by_a_queue(tmp_path, "queue.put({'n': 1})") == ""
    (file,) = tmp_path.glob(lost)
    file.write_text(left)
    said = said_by_a_queue(tmp_path, "queue.put({'n': 2}); print([queue.get(timeout=5).payload['n']])")
    assert said == ("[2]" if lost == "*.msg" else "[1]")


@pytest.mark.once
def test_a_queue_in_a_folder_gives_out_what_somebody_waits_for_first(tmp_path: Path) -> None:
    """A lower number goes first, as with Redis; of one number what was sent first."""
    (tmp_path / "control").mkdir()
    does = "[queue.put({'n': n}, priority=n // 10) for n in (60, 61, 30, 62, 31, 0)]"
    assert said_by_a_queue(tmp_path, does) == ""
    said = said_by_a_queue(tmp_path, "print([queue.get(timeout=5).payload['n'] for _ in range(6)])")
    assert said == "[0, 30, 31, 60, 61, 62]"


def said_by_a_queue(folder: Path, does: str) -> str:
    at = str(folder)
    options = {"data_folder_in": at, "data_folder_out": at, "control_folder": f"{at}/control"}
    program = f"""
import config.celery
from kombu import Connection, Exchange, Queue

options = {options!r}
with Connection("filesystem://localhost//", transport_options=options) as connection:
    queue = connection.SimpleQueue(Queue("cpu", Exchange("cpu"), routing_key="cpu"))
    {does}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.once
@pytest.mark.parametrize("kept", [0, 3, 1000])
def test_half_a_file_of_a_cache_is_none(tmp_path: Path, kept: int) -> None:
    cache = FileCache(str(tmp_path), {})
    cache.set("report", [{"n": n} for n in range(5000)])
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:kept])
    assert not cache.has_key("report")
    assert cache.get("report", "none") == "none"
    cache.set("report", "anew")
    assert cache.get("report") == "anew"
