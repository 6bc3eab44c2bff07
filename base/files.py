"""Files that outlive a machine whose power goes."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def sync(path: Path) -> None:
    """Return when a file that was written, and its name, are on the disk: before anybody is told that they are."""
    _sync(path)
    with contextlib.suppress(OSError):  # some file systems of networks know no sync of a folder
        _sync(path.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
