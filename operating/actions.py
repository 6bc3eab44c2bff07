"""Writes: a backup restored, secrets under another key, and the alarm."""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from django.conf import settings
from django.core.cache import cache
from django.core.management.color import no_style
from django.db import DataError, IntegrityError, connection, transaction
from django.db.models import Model
from django.utils.translation import gettext as _

from annotation.actions import note
from annotation.models import AuditEvent
from annotation.people import mail
from base import ciphers, files
from operating import backups, encrypted, queries, tables
from operating.backups import BackupError, Manifest
from work import queries as work

log = logging.getLogger(__name__)

_MAIL_AGAIN = 6 * 3600  # seconds


# --- backups ---------------------------------------------------------------------------------------------------------


def make_backup(path: Path) -> Manifest:
    """`queries.write_backup`, noted in the audit log.

    Raises:
        BackupError: the file would lie in a folder that it holds itself, or the database is of another version.
    """
    for folder in backups.folders().values():
        if path.resolve().is_relative_to(Path(folder).resolve()):
            raise BackupError(
                _("%(file)s lies in a folder that the backup holds itself, %(folder)s. Write it elsewhere.")
                % {"file": path, "folder": folder}
            )
    if missing := queries.missing_migration():
        raise BackupError(
            _("The database is older than this Palate: it lacks %(migration)s. Back it up with the version it is of.")
            % {"migration": missing}
        )
    if unknown := queries.unknown_migration():
        raise BackupError(
            _(
                "The database has what this Palate does not know, %(migration)s: it is of a later version, or of a "
                "domain pack that PALATE_PACKS does not name here. The backup would lack it."
            )
            % {"migration": unknown}
        )
    manifest = queries.write_backup(path)
    note(AuditEvent.Kind.EXPORT, what=f"backup: {manifest.rows} rows, {len(manifest.files)} files")
    return manifest


def check_backup(path: Path) -> Manifest:
    """Read a backup through and compare it with its own digests. Raises BackupError.

    Of the tables of another version, whose columns are not known here, rows are only counted.
    """
    with backups.opened(path) as archive:
        manifest = backups.manifest_of(archive)
        models = tables.every() if queries.is_of_this_version(manifest) else {}
        for label, part in manifest.tables.items():
            found = _table_part(archive, label, models.get(label))
            if found.n != part.n or (label in models and found != part):
                raise BackupError(_("The backup is damaged: %(part)s cannot be read.") % {"part": label})
        for name, part in manifest.files.items():
            backups.target(name)
            if _copied(archive, name, None) != part:
                raise BackupError(_("The backup is damaged: %(part)s cannot be read.") % {"part": name})
    return manifest


def _table_part(archive: ZipFile, label: str, model: type[Model] | None) -> backups.Part:
    digest, n = hashlib.sha256(), 0
    for line in backups.table_lines(archive, label):
        try:
            digest.update(line if model is None else tables.counted(model, line))
        except (ValueError, RecursionError) as error:
            raise BackupError(_("The backup is damaged: %(part)s cannot be read.") % {"part": label}) from error
        n += 1
    return backups.Part(n, digest.hexdigest())


def restore(path: Path) -> Manifest:
    """Fill an empty installation from a backup, of either database, and compare what it holds then by digests.

    All of it or nothing: where a digest differs, the database and the folders are as before.

    Raises:
        BackupError: the file is damaged, of another version, or this installation is in use.
    """
    manifest = check_backup(path)
    if missing := queries.missing_migration():
        raise BackupError(
            _("The database here lacks %(migration)s. Run “manage.py migrate” first.") % {"migration": missing}
        )
    if not queries.is_empty():
        raise BackupError(
            _("This installation has accounts already. A backup is restored into an empty one: migrate a new database.")
        )
    _check_version(manifest)
    written: list[Path] = []
    with backups.opened(path) as archive:
        try:
            with transaction.atomic():
                _fill(archive, manifest)
                for name, part in manifest.files.items():
                    to = backups.target(name)
                    to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    if to.exists():
                        raise BackupError(_("%(file)s is there already.") % {"file": to})
                    with to.open("xb") as file:
                        written.append(to)
                        os.fchmod(file.fileno(), 0o600)
                        _copied(archive, name, file)
                    with to.open("rb") as file:
                        if backups.copied(file, None) != part:
                            raise BackupError(_("%(part)s differs from the backup.") % {"part": name})
                    files.sync(to)
        except BaseException as error:
            for to in written:
                to.unlink(missing_ok=True)
            if isinstance(error, (IntegrityError, DataError, ValueError)):
                raise BackupError(_("The backup is damaged: its rows do not fit into this database.")) from error
            raise
    note(AuditEvent.Kind.ADMIN, what=f"restored from the backup of {manifest.made_at}")
    return manifest


def _check_version(manifest: Manifest) -> None:
    here = {tuple(migration) for migration in queries.migrations()}
    there = {tuple(migration) for migration in manifest.migrations}
    for found in (there - here, here - there):
        if found:
            app, name = min(found)
            raise BackupError(
                _("It is of Palate %(version)s, whose tables differ: %(migration)s. Restore it there, and update.")
                % {"version": manifest.palate, "migration": f"{app}.{name}"}
            )
    if missing := sorted(manifest.tables.keys() ^ tables.every().keys()):
        raise BackupError(
            _("The backup and this installation do not have the same tables: %(tables)s.")
            % {"tables": ", ".join(missing)}
        )


def _fill(archive: ZipFile, manifest: Manifest) -> None:
    every = tables.every()
    # What migrations have made, such as content types, has other keys there. No trigger stops this.
    flush = connection.ops.sql_flush(no_style(), [model._meta.db_table for model in every.values()], allow_cascade=True)
    with connection.cursor() as cursor:
        for statement in flush:
            cursor.execute(statement)
    for label, model in every.items():
        tables.insert(model, backups.table_lines(archive, label))
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(every.values())):
            cursor.execute(statement)
    connection.check_constraints()
    for label, part in manifest.tables.items():
        if queries.table_part(label) != part:
            raise BackupError(_("%(part)s differs from the backup.") % {"part": label})


def _copied(archive: ZipFile, name: str, to: Any) -> backups.Part:
    try:
        with archive.open(f"files/{name}") as source:
            return backups.copied(source, to)
    except (KeyError, ValueError, EOFError, RuntimeError, struct.error, zlib.error, BadZipFile) as error:
        raise BackupError(_("The backup is damaged: %(part)s cannot be read.") % {"part": name}) from error


# --- the key ---------------------------------------------------------------------------------------------------------


@transaction.atomic
def reencrypt() -> tuple[int, list[str]]:
    """Encrypt by `SECRET_KEY` what lies encrypted by an earlier one, after which that one opens nothing any more.

    People and programs go on meanwhile: who uses a recovery code just then waits for a moment.

    Returns: how many secrets lie encrypted by `SECRET_KEY` now, and whose can be read by none of the keys.
    """
    n, unread = 0, []
    for row in encrypted.holders(locked=True):
        try:
            secrets = encrypted.decrypted(row)
        except ciphers.Unreadable:
            unread.append(encrypted.name_of(row))
            continue
        encrypted.encrypt(row, secrets)
        n += len(secrets)
    note(AuditEvent.Kind.ADMIN, what=f"secrets encrypted by another key: {n}")
    return n, unread


# --- the alarm -------------------------------------------------------------------------------------------------------


def watch_queues() -> list[work.Standing]:
    """Say which queues stand still: to the log, and by e-mail to `PALATE_ALARM_EMAIL`, once in six hours for each.

    Returns those that do.
    """
    found = [queue for queue in work.standing() if queue.silent >= settings.PALATE_ALARM_AFTER]
    for queue in found:
        log.error(
            "A queue stands still: %d items wait, for %d s nobody has taken one",
            queue.waiting,
            queue.silent.total_seconds(),
            extra={"queue": queue.name},
        )
        if settings.PALATE_ALARM_EMAIL and _is_news(queue.name):
            subject = _("Palate on %(host)s: a queue stands still") % {"host": _host()}
            told = [mail.send(subject=subject, text=queue.sentence, to=to) for to in settings.PALATE_ALARM_EMAIL]
            if not any(told):  # the next look tries again
                _no_alarm(queue.name)
    still = {queue.name for queue in found}
    _no_alarm(*({"cpu", "gpu"} - still))
    return found


def _host() -> str:
    """Of an installation, for who looks after several."""
    named = [host.lstrip(".") for host in settings.ALLOWED_HOSTS if host != "*"]
    return named[0] if named else socket.gethostname()


def _is_news(name: str) -> bool:
    """Whether nobody was told in the last hours. The cache may be away too: it is the reason then, as likely as not."""
    try:
        return bool(cache.add(f"alarm:{name}", True, _MAIL_AGAIN))
    except Exception:  # each cache has its own
        return True


def _no_alarm(*names: str) -> None:
    with suppress(Exception):  # as in _is_news
        cache.delete_many([f"alarm:{name}" for name in names])
