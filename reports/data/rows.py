"""What rows are called and where they are found: no part of a label table, which numbers are computed from."""

from __future__ import annotations

from typing import NamedTuple


class RowAbout(NamedTuple):
    title: str = ""
    url: str = ""
    language: str = ""
