"""A backup restored: into this database, into an empty installation of its own, and what is refused."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from pytest_django import Settings

from annotation.actions import change_study
from annotation.models import AuditEvent, LabelEvent, Scheme, Study, User
from llm.models import LanguageModel
from operating import backups, queries, tables
from recipes.cooking.models import Document, Recipe
from tests import builders
from tests.builders import Leases, label
from tests.workers import Site

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = {"exports/../../x": {"n": 1, "sha256": ""}}
PAGE = gzip.compress("<h1>Crêpes</h1>".encode() * 100, mtime=0)


@pytest.fixture
def folders(tmp_path: Path, settings: Settings) -> Path:
    settings.PALATE_EXPORTS = tmp_path / "exports"
    settings.PALATE_UPLOADS = tmp_path / "uploads"
    (tmp_path / "exports" / "7").mkdir(parents=True)
    (tmp_path / "exports" / "7" / "labels.csv").write_bytes(b"row,label\r\n" * 50_000)
    return tmp_path


@pytest.fixture
def world(transactional_db: None, folders: Path) -> Leases:
    """Labels, a stored page, JSON whose order and numbers databases treat differently, a model."""
    leases = builders.leases()
    label(leases.annas[0])
    change_study(study=leases.study, contact="Anna Novak", contact_address="study@example.org")
    Recipe.objects.create(
        sheet=leases.sheet, name="Crêpes", steps=[], tasks=[], ingredients=[{"zest": 1.0, "a": 1e16, "f": -0.0}]
    )
    row = leases.annas[0].row
    Document.objects.create(row=row, source="https://example.org/", parser="html", html_gz=PAGE)
    LanguageModel.objects.create(name="small", location="org/small", revision="abc123")
    return leases


def backup(path: Path) -> dict[str, Any]:
    call_command("backup", str(path), stdout=StringIO())
    with zipfile.ZipFile(path) as archive:
        manifest: dict[str, Any] = json.loads(archive.read("manifest.json"))
    return manifest


def restore(path: Path, *options: str) -> str:
    said = StringIO()
    call_command("restore", str(path), *options, stdout=said)
    return said.getvalue()


def emptied(folders: Path) -> None:
    call_command("flush", interactive=False, verbosity=0)
    (folders / "exports" / "7" / "labels.csv").unlink()
    assert queries.is_empty()


def test_what_is_restored_is_what_was_there(world: Leases, folders: Path) -> None:
    file = folders / "b.zip"
    before = backup(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    events = list(LabelEvent.objects.values_list("pk", "at"))
    emptied(folders)

    said = restore(file)

    assert "the digests are those of the backup" in said
    assert "Model small: backend transformers, location org/small, revision abc123" in said
    assert list(LabelEvent.objects.values_list("pk", "at")) == events
    assert bytes(Document.objects.get().html_gz) == PAGE
    assert Study.objects.get().contact_text == "Anna Novak, study@example.org"
    assert list(Recipe.objects.get().ingredients[0].values()) == [1.0, 1e16, -0.0] or connection.vendor != "sqlite"
    assert (folders / "exports" / "7" / "labels.csv").stat().st_size == 550_000
    # The next keys are free, and what was done stands in the log.
    User.objects.create_user("somebody new")
    assert AuditEvent.objects.filter(kind="admin", what__startswith="restored from the backup").exists()
    # What is backed up again differs by what has happened since.
    after = backup(folders / "again.zip")
    differs = {name for name in before["tables"] if before["tables"][name] != after["tables"][name]}
    assert differs == {"annotation.user", "annotation.auditevent"}
    assert before["files"] == after["files"]


@pytest.mark.parametrize("folder", ["exports", "uploads/deeper"])
@pytest.mark.django_db
def test_a_backup_does_not_lie_in_what_it_holds(folders: Path, folder: str) -> None:
    with pytest.raises(CommandError, match="lies in a folder that the backup holds itself"):
        call_command("backup", str(folders / folder / "b.zip"))
    assert not AuditEvent.objects.exists()


def manage(env: Mapping[str, str], *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *command], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.once
def test_a_backup_names_the_commit_of_the_code(db: None, folders: Path, settings: Settings, capsys: Any) -> None:
    def told() -> str:
        call_command("backup", str(folders / "palate.zip"))
        capsys.readouterr()
        call_command("restore", "--check", str(folders / "palate.zip"))
        return str(capsys.readouterr().out)

    settings.PALATE_COMMIT = "0123abc"
    assert "(commit 0123abc): " in told()
    settings.PALATE_COMMIT = ""
    if (ROOT / ".git").exists():
        head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
        assert f"(commit {head}" in told()


def moved(file: Path, again: Path, env: Mapping[str, str]) -> set[str]:
    """Restore into an installation of its own and back that up; the tables that differ."""
    assert "the digests are those of the backup" in manage(env, "restore", str(file))
    manage(env, "backup", str(again))
    before, after = (json.loads(zipfile.ZipFile(one).read("manifest.json")) for one in (file, again))
    assert before["files"] == after["files"]
    return {name for name in before["tables"] if before["tables"][name] != after["tables"][name]}


def test_a_backup_fills_an_empty_installation(
    bare_site: Site, migrated: Path | str, world: Leases, folders: Path
) -> None:
    """By the commands, in processes of their own; on the kind of database on which the tests run."""
    file = folders / "b.zip"
    backup(file)
    if not migrated:
        manage(bare_site.env, "migrate", "-v", "0")

    assert moved(file, folders / "again.zip", bare_site.env) == {"annotation.auditevent"}


@pytest.mark.skipif(connection.vendor == "sqlite", reason="PostgreSQL is one of the two sides")
def test_an_installation_moves_from_postgresql_to_sqlite_and_back(
    bare_site: Site, migrated: Path | str, world: Leases, folders: Path
) -> None:
    file, again, back = (folders / name for name in ("b.zip", "again.zip", "back.zip"))
    backup(file)
    on_sqlite = {"PALATE_VAR": str(folders / "moved"), "DATABASE_URL": f"sqlite:///{folders}/new.sqlite3"}
    env = {**bare_site.env, **on_sqlite}
    manage(env, "migrate", "-v", "0")
    if not migrated:
        manage(bare_site.env, "migrate", "-v", "0")

    assert moved(file, again, env) == {"annotation.auditevent"}
    assert moved(again, back, bare_site.env) == {"annotation.auditevent"}
    rows = bare_site.query("SELECT count(*) FROM annotation_labelevent")
    assert rows == [(LabelEvent.objects.count(),)]
    # The next keys are free there too.
    [(free,)] = bare_site.query(
        "SELECT last_value >= (SELECT max(id) FROM annotation_user) FROM annotation_user_id_seq"
    )
    assert free


def _rewritten(file: Path, change: Callable[[str, bytes], bytes | None]) -> None:
    with zipfile.ZipFile(file) as archive:
        parts = {name: change(name, archive.read(name)) for name in archive.namelist()}
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in parts.items():
            if data is not None:
                archive.writestr(name, data)


def _said(manifest: bytes, **changed: Any) -> bytes:
    return json.dumps(json.loads(manifest) | changed).encode()


DAMAGES: dict[str, Callable[[str, bytes], bytes | None]] = {
    "its manifest is missing or damaged": lambda name, data: None if name == "manifest.json" else data,
    "a format that this version": lambda name, data: _said(data, format=9) if name == "manifest.json" else data,
    "annotation.9999_later": lambda name, data: (
        _said(data, migrations=[["annotation", "9999_later"]]) if name == "manifest.json" else data
    ),
    "annotation.label cannot be read": lambda name, data: None if "annotation.label." in name else data,
    "llm.languagemodel cannot be read": lambda name, data: (
        data.replace(b"abc1", b"abd1") if "languagem" in name else data
    ),
    "annotation.row cannot be read": lambda name, data: data.replace(b"[", b"{") if ".row." in name else data,
    "recipes.recipe cannot be read": lambda name, data: data.replace(b"zest", b"test") if ".recipe." in name else data,
    "labels.csv cannot be read": lambda name, data: data[:-9] if name.endswith("labels.csv") else data,
    "belongs nowhere": lambda name, data: _said(data, files=OUTSIDE) if name == "manifest.json" else data,
}


def test_a_damaged_backup_is_refused_and_nothing_is_written(world: Leases, folders: Path) -> None:
    whole, file = folders / "whole.zip", folders / "b.zip"
    backup(whole)
    emptied(folders)
    for sentence, change in DAMAGES.items():
        shutil.copy(whole, file)
        _rewritten(file, change)

        with pytest.raises(CommandError, match=sentence):
            restore(file)

        assert queries.is_empty()
        assert not Scheme.objects.exists()
        assert not (folders / "exports" / "7" / "labels.csv").exists()
    data = whole.read_bytes()
    for place in range(100, len(data), len(data) // 25):
        file.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        with suppress(CommandError):  # a name or a time that nobody reads
            restore(file, "--check")
    file.write_bytes(data[: len(data) // 2])
    with pytest.raises(CommandError, match="cut off"):
        restore(file)


def test_rows_that_the_database_does_not_take_are_refused(world: Leases, folders: Path) -> None:
    """Of a backup that was made so: its digests fit."""
    file, label = folders / "b.zip", "annotation.membership"
    backup(file)
    emptied(folders)
    twice = b""

    def change(name: str, data: bytes) -> bytes:
        nonlocal twice
        if name == f"tables/{label}.jsonl":
            twice = data + data.splitlines(keepends=True)[0]
            return twice
        if name == "manifest.json":
            told = {"n": len(twice.splitlines()), "sha256": hashlib.sha256(twice).hexdigest()}
            return _said(data, tables=json.loads(data)["tables"] | {label: told})
        return data

    _rewritten(file, change)
    assert "its digests fit" in restore(file, "--check")
    with pytest.raises(CommandError, match="its rows do not fit into this database"):
        restore(file)
    assert queries.is_empty()


def test_of_another_version_rows_are_counted(world: Leases, folders: Path) -> None:
    file = folders / "b.zip"
    backup(file)
    later = [*queries.migrations(), ["annotation", "9999_later"]]
    _rewritten(file, lambda name, data: _said(data, migrations=later) if name == "manifest.json" else data)
    assert "as its tables are of another version, their rows were only counted" in restore(file, "--check")
    _rewritten(file, lambda name, data: data + data if "annotation.label." in name else data)
    with pytest.raises(CommandError, match=r"annotation\.label cannot be read"):
        restore(file, "--check")


def test_an_installation_in_use_is_not_written_over(world: Leases, folders: Path) -> None:
    file = folders / "b.zip"
    backup(file)
    digests = {name: queries.table_part(name) for name in tables.every()}

    with pytest.raises(CommandError, match="has accounts already"):
        restore(file)
    assert "it can be read, and its digests fit" in restore(file, "--check")

    assert {name: queries.table_part(name) for name in tables.every()} == digests


@pytest.mark.once
def test_a_database_of_another_version_is_told(world: Leases, folders: Path) -> None:
    """It ended in “no such column”, or in a backup without what was not known."""
    file, applied = folders / "palate.zip", MigrationRecorder(connection).migration_qs
    backup(file)
    applied.create(app="lab_pack", name="0001_initial")
    with pytest.raises(CommandError, match=r"does not know, lab_pack\.0001_initial: .* PALATE_PACKS"):
        backup(file)
    applied.filter(app="lab_pack").delete()

    latest = applied.filter(app="sessions").latest("pk")
    latest.delete()
    lacking = rf"lacks {latest.app}\.{latest.name}\. "
    with pytest.raises(CommandError, match=lacking + "Back it up with the version"):
        backup(file)
    with pytest.raises(CommandError, match=lacking + "Run “manage.py migrate” first"):
        restore(file)
    latest.save()


def test_what_is_no_backup_is_told(db: None, folders: Path) -> None:
    (folders / "x.zip").write_text("nothing")
    with pytest.raises(CommandError, match="is no backup, or was cut off"):
        restore(folders / "x.zip", "--check")
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        restore(folders / "y.zip")
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        call_command("backup", str(folders / "nowhere" / "b.zip"))


@pytest.mark.once
def test_a_backup_that_unpacks_without_end_is_refused(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of a ZIP may unpack to a thousand of them; no more of it is read than a backup can have."""
    file = folders / "bomb.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b" " * 300_000)
        archive.writestr("tables/annotation.label.jsonl", b"[" * 300_000)
    with pytest.raises(CommandError, match="missing or damaged"):
        restore(file, "--check")
    monkeypatch.setattr(backups, "LARGEST_MANIFEST", 200_000)
    with pytest.raises(CommandError, match="far too large"):
        restore(file, "--check")
    monkeypatch.setattr(backups, "LONGEST_LINE", 200_000)
    with backups.opened(file) as archive, pytest.raises(backups.BackupError, match="has no end"):
        list(backups.table_lines(archive, "annotation.label"))


def test_every_table_is_in_a_backup_but_sessions(db: None) -> None:
    """What a migration adds is found by itself; what is no model's is only Django's list of migrations, and the marks
    of studies, which the database draws by itself as rows come in."""
    with connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor))
    ours = {model._meta.db_table for model in tables.every().values()}
    assert there - ours == {
        "annotation_studymark",
        "django_migrations",
        "django_session",
        "usersessions_usersession",
    }
