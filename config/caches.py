"""Django's cache in files, for files that a power cut has left by halves."""

from __future__ import annotations

import contextlib
import pickle
import zlib
from pathlib import Path
from typing import Any

from django.core.cache.backends import filebased

_NONE = object()


class FileCache(filebased.FileBasedCache):
    """What cannot be read is not there: it would else be read in vain, and fail its page, until it is out of date."""

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            return super().get(key, default, version)
        except (zlib.error, pickle.UnpicklingError):
            with contextlib.suppress(FileNotFoundError):
                Path(self._key_to_file(key, version)).unlink()  # type: ignore[attr-defined]  # the stubs leave it out
            return default

    def has_key(self, key: Any, version: int | None = None) -> bool:
        return self.get(key, _NONE, version) is not _NONE
