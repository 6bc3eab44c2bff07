"""ZIPs that people bring: their files by name, unpacked within bounds. Pure Python: no Django, no database.

What a ZIP says of itself is asked first, and not believed.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import BinaryIO, Self

from annotation.exchange.tables import TableError
from base.sentences import gettext_noop
from base.zips import TooManyFiles, opened

SIGNATURE = b"PK\x03\x04"
_WORKBOOK = "[Content_Types].xml"  # what every workbook of Excel has
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others unpack at once to what they like
_UTF_8 = 0x800  # the flag of a name that says so
_AT_ONCE = 2**16


class Broken(ValueError):
    """A ZIP whose list of files cannot be read."""


class Zip:
    """An open ZIP. `name`: as sentences call it.

    Raises:
        Broken: it is none.
        TableError: it holds too many files.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.name = name
        stream.seek(0)
        try:
            self._packed = opened(stream)
        except TooManyFiles as error:
            raise TableError(
                gettext_noop("“%(file)s” holds more files than can be read at once. Import it in parts."), file=name
            ) from error
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
            raise Broken from error
        members = [member for member in self._packed.infolist() if not member.is_dir()]
        self._members = {_name_of(member): member for member in members}
        named = Counter(map(_name_of, members))
        self._twice = {path for path, n in named.items() if n > 1}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._packed.close()

    @property
    def paths(self) -> list[str]:
        return list(self._members)

    def check(self, paths: Sequence[str], *, max_bytes: int, max_files: int) -> None:
        """Before these are read.

        Raises:
            TableError: they are too many or too large, or one is there twice.
        """
        size = sum(self._members[path].file_size for path in paths)
        if size > max_bytes or len(paths) > max_files:
            raise TableError(
                gettext_noop(
                    "“%(file)s” unpacks to %(n)s files of %(size)s MB; at most %(most)s of %(limit)s MB go in at once. "
                    "Import it in parts."
                ),
                file=self.name,
                n=len(paths),
                size=-(-size // 2**20),
                most=max_files,
                limit=max_bytes // 2**20,
            )
        if twice := next((path for path in paths if path in self._twice), None):
            raise TableError(
                gettext_noop("“%(file)s” has the file “%(part)s” twice. Pack it again with the one that is meant."),
                file=self.name,
                part=twice,
            )

    def read(self, path: str) -> bytes:
        """What is under a path: never more than the ZIP says that it is.

        Raises:
            TableError: it is locked or broken.
        """
        member = self._members[path]
        unpacked = io.BytesIO()
        try:
            if member.compress_type not in _METHODS:
                raise NotImplementedError
            with self._packed.open(member) as packed:
                # All at once would be unpacked before it is cut to that size.
                while part := packed.read(_AT_ONCE):
                    unpacked.write(part)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError, ValueError) as error:
            raise TableError(
                gettext_noop("“%(part)s” of “%(file)s” cannot be unpacked: it is locked or broken."),
                part=path,
                file=self.name,
            ) from error
        return unpacked.getvalue()


def _name_of(member: zipfile.ZipInfo) -> str:
    """Its path. Some programs write UTF-8 without the flag that says so, or “./” before it."""
    path = member.filename
    if not (member.flag_bits & _UTF_8 or path.isascii()):
        with suppress(UnicodeError):
            path = path.encode("cp437").decode()
    return path.removeprefix("./")


def size_unpacked(stream: BinaryIO) -> int:
    """How many bytes a file has that may be a ZIP, once it is unpacked, as it says; at least those that it has packed.
    Workbooks count as they are: how much of them is read has bounds of its own (`annotation.exchange.workbooks`)."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    if stream.read(len(SIGNATURE)) != SIGNATURE:
        return size
    try:
        with opened(stream) as packed:
            members = packed.infolist()
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError):
        return size
    is_workbook = any(member.filename == _WORKBOOK for member in members)
    return size if is_workbook else max(size, sum(member.file_size for member in members))


_OF_PROGRAMS = re.compile(r"\.|__MACOSX")


def is_hidden(path: str) -> bool:
    """What programs put beside somebody's files."""
    return any(_OF_PROGRAMS.match(part) for part in path.split("/"))
