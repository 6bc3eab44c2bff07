"""The texts of prompt files, whoever reads them. Pure."""

from __future__ import annotations

import hashlib


def with_plain_ends(text: str) -> str:
    """A file's text as it is stored: what comes from a browser has other ends of lines than a file."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"


def digest(text: str) -> str:
    """SHA-256 of the prompt's text."""
    return hashlib.sha256(text.encode()).hexdigest()
