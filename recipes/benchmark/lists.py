"""Lists of instructions that packs bring, by the scheme that they are for."""

from __future__ import annotations

from pathlib import Path

_lists: dict[str, Path] = {}


def register_list(scheme: str, file: Path) -> None:
    """`file` is the list of instructions for studies with this scheme, see `instructions.read_instructions`."""
    _lists[scheme] = file


def list_for(scheme: str) -> Path | None:
    return _lists.get(scheme)
