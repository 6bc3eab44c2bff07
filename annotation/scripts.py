"""The scripts of the grid's page, sent as one: a request for each would take half of the time to the first cell."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.contrib.staticfiles import finders

# In the order in which the browser needs them.
GRID = ["page", "queue", "cells", "moving", "selecting", "saving", "undo", "editing", "choosing", "clipboard"]
GRID += ["finding", "still_open", "submitting", "skipping", "notes", "guide", "working_time", "evidence", "grid"]


@dataclass(frozen=True)
class Bundle:
    """`digest` changes with the text, and is a part of its address: a browser may keep it for ever."""

    text: bytes
    zipped: bytes
    digest: str


def grid_bundle() -> Bundle:
    return _read(tuple((path, path.stat().st_mtime_ns) for path in _paths()))


@lru_cache
def _paths() -> list[Path]:
    return [Path(str(finders.find(f"palate/{name}.js"))) for name in GRID]


@lru_cache(maxsize=1)
def _read(files: tuple[tuple[Path, int], ...]) -> Bundle:
    """Read again when a file has changed, as it does while somebody works on it."""
    text = "\n".join(f"// --- {path.name} ---\n{path.read_text(encoding='utf-8')}" for path, _ in files).encode()
    return Bundle(text, gzip.compress(text, mtime=0), hashlib.sha256(text).hexdigest()[:16])
