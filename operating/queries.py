"""Reads: a backup, and what a restored one is compared with; whether this process can serve."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.db import Error, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from base import files
from llm.models import LanguageModel
from operating import backups, encrypted, tables
from operating.backups import Manifest, Part
from reports.frozen.versions import ROOT, code_version

_OF_A_MODEL = ("name", "backend", "location", "revision", "gguf_file", "served_name", "api_key_env")


# --- backups ---------------------------------------------------------------------------------------------------------


def write_backup(path: Path) -> Manifest:
    """Write a backup of the database as it is at one moment, and of the files; only its owner may read it.

    Others may write meanwhile: what they write is not in it. A file that is there stands complete.

    Raises:
        OSError: it cannot be written. What was there under this name stays.
    """
    part = path.with_name(f"{path.name}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        zipped = zipfile.ZIP_DEFLATED
        with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(file, "w", zipped, compresslevel=3) as archive:
            manifest = _fill(archive)
        files.sync(part)
        part.replace(path)
        files.sync(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return manifest


def _fill(archive: zipfile.ZipFile) -> Manifest:
    with _one_moment():
        manifest = Manifest(
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            palate=_code(),
            database=connection.vendor,
            migrations=migrations(),
            models=[
                {name: str(value) for name, value in model.items()}
                for model in LanguageModel.objects.order_by("name").values(*_OF_A_MODEL)
            ],
        )
        for label, model in tables.every().items():
            digest, n = hashlib.sha256(), 0
            with archive.open(f"tables/{label}.jsonl", "w", force_zip64=True) as file:
                for stored, counted in tables.lines(model):
                    file.write(stored)
                    digest.update(counted)
                    n += 1
            manifest.tables[label] = Part(n, digest.hexdigest())
    for folder, root in backups.folders().items():
        for found in sorted(root.rglob("*")) if root.is_dir() else []:
            # A download that is deleted meanwhile is not missed.
            with suppress(FileNotFoundError):
                if found.is_file():
                    name = f"{folder}/{found.relative_to(root).as_posix()}"
                    with found.open("rb") as source, archive.open(f"files/{name}", "w", force_zip64=True) as to:
                        manifest.files[name] = backups.copied(source, to)
    archive.writestr(backups.MANIFEST, manifest.to_json())
    return manifest


def _code() -> str:
    """The version of Palate and, where it is known, the commit that it was made of."""
    commit = settings.PALATE_COMMIT
    if not commit and (ROOT / ".git").exists():  # else git would tell of a folder around this one
        with suppress(OSError, subprocess.SubprocessError):
            commit = subprocess.check_output(
                ["git", "describe", "--always", "--exclude=*", "--abbrev=40", "--dirty"],  # noqa: S607  # wherever it is
                cwd=ROOT,
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=10,
            ).strip()
    return f"{code_version()} (commit {commit})" if commit else code_version()


@contextmanager
def _one_moment() -> Iterator[None]:
    """All reads inside see the database as it is at the first one. Nobody who writes waits for it."""
    if connection.in_atomic_block:  # the caller's
        yield
    elif connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")  # Django's own would take the writers' lock
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")
    else:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield


def migrations() -> list[list[str]]:
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted([app, name] for app, name in applied)


def missing_migration() -> str:
    """The first migration that the database still lacks, or ""."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return str(plan[0][0]) if plan else ""


def unknown_migration() -> str:
    """One that the database has and this code does not, or "": rows of its tables would be left out."""
    known = set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    unknown = {(app, name) for app, name in migrations()} - known
    return ".".join(min(unknown)) if unknown else ""


def is_of_this_version(manifest: Manifest) -> bool:
    """Whether the tables of a backup are those of this code; what its database is may be another matter."""
    here = set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    apps = {app for app, _name in here}
    return {(app, name) for app, name in manifest.migrations if app in apps} == here


def table_part(label: str) -> Part:
    """A table as it is in the database."""
    digest, n = hashlib.sha256(), 0
    for _stored, counted in tables.lines(tables.every()[label]):
        digest.update(counted)
        n += 1
    return Part(n, digest.hexdigest())


def is_empty() -> bool:
    """Whether nobody has begun here: no account, and so no study."""
    from django.contrib.auth import get_user_model

    return not get_user_model()._default_manager.exists()


def unreadable_secrets() -> list[str]:
    """Whose second factors, and which webhooks' secrets, neither `SECRET_KEY` nor an earlier one reads."""
    return [encrypted.name_of(row) for row in encrypted.holders() if not encrypted.is_readable(row)]


# --- health ----------------------------------------------------------------------------------------------------------

_migrated = False


def unready() -> str:
    """Why this process cannot serve: "database" (it does not answer), "migrations" (some are missing), "staticfiles"
    (in production they have to be collected; no page is made without), or "".

    That no migration is missing is asked until it is so, and not again.
    """
    global _migrated
    if getattr(staticfiles_storage, "hashed_files", True) == {}:  # of a storage with a manifest
        return "staticfiles"
    try:
        if not _migrated:
            if missing_migration():
                return "migrations"
            _migrated = True
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return "database"
    return ""
