"""The figures of a report as data: what is drawn, how to read it, and what is said instead where nobody sees it.

`reports.figures.svg` draws them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

FigureKind = Literal[
    "matrix",
    "confusion",
    "reliability",
    "coverage",
    "intervals",
    "precision-recall",
    "areas",
    "bars",
    "heat",
    "dots",
    "multiples",
    "panels",
]


@dataclass(frozen=True)
class Figure:
    """`key` names it in files, `data` is JSON as `reports.figures.svg` takes it, `alt` says in words what it shows."""

    key: str
    kind: FigureKind
    about: str
    title: str
    data: Mapping[str, Any]
    how: str
    alt: str

    @property
    def full_title(self) -> str:
        return f"{self.about}: {self.title}" if self.about else self.title
