"""Files of people that wait for a worker: in `PALATE_UPLOADS`, which web server and workers share."""

from __future__ import annotations

import contextlib
import re
import secrets
import time
from collections.abc import Callable, Iterable
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Protocol

from django.conf import settings

from base import files

# Seconds for which a file is kept that no import has used up: as long as somebody may resume it.
KEPT = 7 * 86_400
# Names that are made here: of files, of how far they are read, and of how far an import is.
_OURS = re.compile(r"[0-9a-f]{32}(\.percent)?|import-\d+\.percent")


class Upload(Protocol):
    def chunks(self) -> Iterable[bytes]: ...


def keep(file: Upload) -> str:
    """Store a file under a name that nobody can guess; returns the name. Where that fails, nothing is left."""
    folder: Path = settings.PALATE_UPLOADS
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # labels of people are in it
    name = secrets.token_hex(16)
    try:
        with (folder / name).open("wb") as stored:
            for chunk in file.chunks():
                stored.write(chunk)
        files.sync(folder / name)  # the row that names it is there from now on, whatever happens to the machine
    except BaseException:
        forget([name])
        raise
    return name


def forget(names: Iterable[str]) -> None:
    for name in names:
        for path in (_path(name), _mark(name)):
            path.unlink(missing_ok=True)


def clean() -> int:
    """Delete what nobody has used for long, of names that are made here; returns how many files."""
    n = 0
    for path in settings.PALATE_UPLOADS.glob("*"):
        with contextlib.suppress(FileNotFoundError):  # an import is through with it
            if _OURS.fullmatch(path.name) and path.stat().st_mtime < time.time() - KEPT:
                path.unlink()
                n += 1
    return n


def size(name: str) -> int:
    """Of a stored file, in bytes; 0 where it is not kept any more."""
    try:
        return _path(name).stat().st_size
    except FileNotFoundError:
        return 0


def read_percent(name: str) -> int | None:
    """How much of a file has been read by the import that reads it now, if any does."""
    try:
        return int(_mark(name).read_text())
    except (OSError, ValueError):
        return None


def note_percent(name: str, percent: int) -> None:
    """How far the import that reads a file is, where that is not how far it has read."""
    _mark(name).write_text(str(percent))


def open_watched(name: str, look: Callable[[], None]) -> BinaryIO:
    """Open a stored file for an import. How far it is read stands beside it, in a file: what an import writes to the
    database is seen by nobody before its end. `look` is called as often, and may raise to stop.

    Raises:
        FileNotFoundError: it is not kept any more.
    """
    return _Watched(_path(name).open("rb", buffering=0), _mark(name), _path(name).stat().st_size, look)


class _Watched(BufferedReader):
    """A file that tells how much of it has been read, at most once a second."""

    def __init__(self, raw: object, mark: Path, size: int, look: Callable[[], None]) -> None:
        super().__init__(raw, buffer_size=2**20)  # type: ignore[arg-type]
        self._mark, self._size, self._look, self._last = mark, size, look, 0.0

    def read(self, size: int | None = -1, /) -> bytes:
        return self._told(super().read(size))

    def read1(self, size: int = -1, /) -> bytes:
        return self._told(super().read1(size))

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._told(super().readline(size))

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._mark.unlink(missing_ok=True)
        super().close()

    def _told(self, read: bytes) -> bytes:
        if not read or time.monotonic() - self._last >= 1:
            self._last = time.monotonic()
            self._mark.write_text(str(100 if not read else 100 * self.tell() // max(1, self._size)))
            self._look()
        return read


def _path(name: str) -> Path:
    folder: Path = settings.PALATE_UPLOADS
    return folder / name


def _mark(name: str) -> Path:
    return _path(f"{name}.percent")
