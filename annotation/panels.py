"""Panels of a study's board. An app above this one registers its own when it is loaded.

Each is a page that answers with a piece of HTML, fetched once the board itself is there: a slow one holds nothing up.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise


@dataclass(frozen=True)
class Panel:
    position: int
    title: Promise | str
    url_name: str


_panels: list[Panel] = []


def register(*, position: int, title: Promise | str, url_name: str) -> None:
    _panels.append(Panel(position, title, url_name))
    _panels.sort(key=lambda panel: panel.position)


def of_board() -> list[Panel]:
    return list(_panels)
