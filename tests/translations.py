"""A language of the tests' own, to see which texts are translated and which are data."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.test import override_settings
from django.utils import translation


@contextmanager
def speaking_german(folder: Path, messages: Mapping[str, str]) -> Iterator[None]:
    """The interface in German, with these translations: {English: German}."""
    catalogue = folder / "de" / "LC_MESSAGES" / "django.mo"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_bytes(_compiled({"": "Content-Type: text/plain; charset=UTF-8\n", **messages}))
    with override_settings(LOCALE_PATHS=[folder]), translation.override("de"):
        yield


def _compiled(messages: Mapping[str, str]) -> bytes:
    """The file that msgfmt writes: a header of seven numbers, two tables of (length, offset), the texts."""
    pairs = [(key.encode(), value.encode()) for key, value in sorted(messages.items())]
    n, texts, tables = len(pairs), b"", []
    for column in (0, 1):
        for pair in pairs:
            tables.append(struct.pack("<2I", len(pair[column]), 28 + 16 * n + len(texts)))
            texts += pair[column] + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, n, 28, 28 + 8 * n, 0, 0) + b"".join(tables) + texts
