"""Django's cache in files, for files that a power cut has left by halves, and a folder that is full or read-only."""

from __future__ import annotations

import contextlib
import logging
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from django.core.cache.backends import filebased
from django.core.cache.backends.base import DEFAULT_TIMEOUT

log = logging.getLogger(__name__)

T = TypeVar("T")

_NONE = object()

# Folders that cannot be used, of which each is told once.
_told: set[str] = set()


class FileCache(filebased.FileBasedCache):
    """What cannot be read is not there, and what cannot be written is not kept: no page fails, what it needs is made
    anew. A file that is there by halves would else be read in vain, and fail its page, until it is out of date.
    """

    def _tried(self, use: Callable[[], T], missed: T) -> T:
        folder: str = self._dir  # type: ignore[attr-defined]  # the stubs leave it out
        try:
            found = use()
        except OSError as error:
            if folder not in _told:
                log.warning("The cache %s cannot be used (%s): pages go on without it", folder, type(error).__name__)
                _told.add(folder)
            return missed
        return found

    def _createdir(self) -> None:
        self._tried(super()._createdir, None)  # type: ignore[misc]  # the stubs leave it out

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            return self._tried(lambda: super(FileCache, self).get(key, default, version), missed=default)
        except (zlib.error, pickle.UnpicklingError):
            with contextlib.suppress(OSError):
                Path(self._key_to_file(key, version)).unlink()  # type: ignore[attr-defined]  # the stubs leave it out
            return default

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        self._tried(lambda: super(FileCache, self).set(key, value, timeout, version), missed=None)

    def touch(self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return self._tried(lambda: super(FileCache, self).touch(key, timeout, version), missed=False)

    def delete(self, key: Any, version: int | None = None) -> bool:
        return self._tried(lambda: super(FileCache, self).delete(key, version), missed=False)

    def has_key(self, key: Any, version: int | None = None) -> bool:
        return self.get(key, _NONE, version) is not _NONE

    def clear(self) -> None:
        self._tried(lambda: super(FileCache, self).clear(), missed=None)
