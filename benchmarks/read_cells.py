"""Cells whose truth two readers of real pages made, `read_cells.yaml` and `unseen_cells.yaml`, and the pages beside."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.accuracy_cells import Truth
from recipes.cooking.pages import Page, read_folder

FILE = Path(__file__).with_name("read_cells.yaml")
UNSEEN = Path(__file__).with_name("unseen_cells.yaml")
TRUTH: dict[str, Truth] = {"F": "found", "~": "found-not-perfect", "-": "not-found"}


@dataclass(frozen=True)
class ReadPage:
    """`key`: its folder and number; `truths`: of each item."""

    key: str
    page: Page
    items: tuple[str, ...]
    truths: tuple[Truth, ...]
    development: bool


def content(file: Path = FILE) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    return loaded


def differing(of: dict[str, Any], reading: str = "other") -> list[tuple[str, str]]:
    """The pages and items on which a reading (`again`: by the same reader, `other`: by another) is not the first."""
    return [
        (key, item)
        for key, first in of["first"].items()
        for item, one, then in zip(of["items"][key.partition("/")[0]], first, of[reading][key], strict=True)
        if one != then
    ]


def read_pages(folder: Path, file: Path = FILE) -> list[ReadPage]:
    """The pages of a file of cells that a folder of saved pages has, in the file's order.

    Raises:
        FileNotFoundError: one is missing.
    """
    of = content(file)
    decided = {**of["first"], **of["decided"]}
    wanted = {key.partition("/")[0] for key in decided}
    known = {}
    for dish in sorted(wanted):
        for page in read_folder(folder / dish):
            if isinstance(page, Page):
                known[f"{dish}/{page.source.rpartition('/')[2][:2]}"] = page
    found = []
    for key, answers in decided.items():
        if key not in known:
            raise FileNotFoundError(f"{folder} has no page {key}")
        items = tuple(of["items"][key.partition("/")[0]])
        truths = tuple(TRUTH[answer] for answer in answers)
        found.append(ReadPage(key, known[key], items, truths, key in of["development"]))
    return found
