"""ZIPs that strangers bring, opened within bounds. Pure."""

from __future__ import annotations

import zipfile
from typing import BinaryIO

# Python reads the whole list of files before it says how many there are, and keeps nine times as much of it. A file
# takes some 120 bytes there, so this is a few times as many files as are read.
_MAX_LIST = 8 * 2**20


class TooManyFiles(zipfile.BadZipFile):
    """Its list of files is too long to be read."""


def opened(stream: BinaryIO) -> zipfile.ZipFile:
    """As `zipfile.ZipFile(stream)`, which finds the list's length in the same way.

    Raises:
        TooManyFiles: nothing of its list is read.
        zipfile.BadZipFile, NotImplementedError, OSError, ValueError: it is no ZIP that can be read.
    """
    end = zipfile._EndRecData(stream)  # type: ignore[attr-defined]
    if end and end[zipfile._ECD_SIZE] > _MAX_LIST:  # type: ignore[attr-defined]
        raise TooManyFiles
    return zipfile.ZipFile(stream)
