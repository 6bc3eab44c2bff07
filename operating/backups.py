"""What a backup is: a ZIP with the rows of each table, the files of exports and of uploads that wait, and a manifest.

    tables/LABEL.jsonl    a row a line, by its key
    files/exports/…       as they lie in `PALATE_EXPORTS`
    files/uploads/…       as they lie in `PALATE_UPLOADS`
    manifest.json         written last: version, migrations, each part's digest (SHA-256), the models that judges need

The digest of a table is taken of its rows and not of the file, so that it can be taken of a database as well.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from django.conf import settings
from django.utils.translation import gettext as _

FORMAT = 1
MANIFEST = "manifest.json"
# Bytes. A manifest has some 120 a file of an export or upload; a row's line holds at most one stored page.
LARGEST_MANIFEST = 64 * 2**20
LONGEST_LINE = 256 * 2**20
BLOCK = 2**20

# What reading a damaged ZIP raises; RuntimeError is of one whose mark of encryption is set.
DAMAGED = (
    KeyError,
    ValueError,
    OSError,
    EOFError,
    RuntimeError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)


class BackupError(Exception):
    """The sentence says what is wrong with a backup, or why it cannot be restored here."""


@dataclass(frozen=True)
class Part:
    """n: rows of a table, bytes of a file; sha256: in hexadecimal."""

    n: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    made_at: str  # ISO 8601, UTC
    palate: str
    database: str
    migrations: list[list[str]]
    models: list[dict[str, str]]
    tables: dict[str, Part] = field(default_factory=dict)
    files: dict[str, Part] = field(default_factory=dict)
    format: int = FORMAT

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)

    @property
    def rows(self) -> int:
        return sum(part.n for part in self.tables.values())


def folders() -> dict[str, Path]:
    return {"exports": settings.PALATE_EXPORTS, "uploads": settings.PALATE_UPLOADS}


def opened(path: Path) -> zipfile.ZipFile:
    """Raises BackupError: it cannot be read, or is no ZIP."""
    try:
        return zipfile.ZipFile(path)
    except OSError as error:
        raise BackupError(_("%(file)s cannot be read: %(error)s.") % {"file": path, "error": error.strerror}) from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise BackupError(_("%(file)s is no backup, or was cut off.") % {"file": path}) from error


def manifest_of(archive: zipfile.ZipFile) -> Manifest:
    """Raises BackupError: there is none, or it is of another format."""
    try:
        with archive.open(MANIFEST) as file:  # what it says of its size need not be true
            text = file.read(LARGEST_MANIFEST + 1)
        if len(text) > LARGEST_MANIFEST:
            raise BackupError(_("The file is no backup of Palate: its manifest is far too large."))
        told: dict[str, Any] = json.loads(text)
        if told["format"] != FORMAT:
            raise BackupError(_("The backup is of a format that this version does not know."))
        tables = {name: Part(**part) for name, part in told.pop("tables").items()}
        files = {name: Part(**part) for name, part in told.pop("files").items()}
        return Manifest(tables=tables, files=files, **told)
    except (TypeError, AttributeError, RecursionError, *DAMAGED) as error:
        raise BackupError(_("The file is no backup of Palate: its manifest is missing or damaged.")) from error


def table_lines(archive: zipfile.ZipFile, label: str) -> Iterator[bytes]:
    """Rows as they were written. Raises BackupError."""
    try:
        with archive.open(f"tables/{label}.jsonl") as file:
            while line := file.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise BackupError(_("The backup is damaged: a line of %(part)s has no end.") % {"part": label})
                yield line
    except DAMAGED as error:
        raise BackupError(_("The backup is damaged: %(part)s cannot be read.") % {"part": label}) from error


def target(name: str) -> Path:
    """Where a file of a backup goes. Raises BackupError for a name that leads out of its folder."""
    parts = PurePosixPath(name).parts
    if len(parts) < 2 or parts[0] not in folders() or ".." in parts or PurePosixPath(name).is_absolute():
        raise BackupError(_("The backup holds a file that belongs nowhere: %(name)s.") % {"name": name})
    return folders()[parts[0]].joinpath(*parts[1:])


def copied(source: IO[bytes], to: IO[bytes] | None) -> Part:
    """Copy a file, or only take its digest."""
    digest, n = hashlib.sha256(), 0
    while block := source.read(BLOCK):
        digest.update(block)
        n += len(block)
        if to is not None:
            to.write(block)
    return Part(n, digest.hexdigest())
