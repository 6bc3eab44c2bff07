"""What rows are called and where they are found: no part of a label table, which numbers are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class RowText(NamedTuple):
    """The text of a row, by the names that labels know it by. `blocks`: (kind, text) of each, as raters saw them."""

    sheet: str
    row: str
    title: str
    url: str
    language: str
    blocks: Sequence[tuple[str, str]]


class RowAbout(NamedTuple):
    title: str = ""
    url: str = ""
    language: str = ""
