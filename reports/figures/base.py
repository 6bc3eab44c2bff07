"""The figures of a report as data: what is drawn, how to read it, and what is said instead where nobody sees it.

`reports.figures.svg` draws them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from reports.data.label_table import canonical_json

FigureKind = Literal[
    "matrix",
    "confusion",
    "reliability",
    "coverage",
    "intervals",
    "precision-recall",
    "selective",
    "histogram",
    "differences",
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


def digest_of(figure: Figure) -> str:
    """The name under which a figure is kept: 32 hexadecimal digits of the SHA-256 of all that it is drawn of."""
    return hashlib.sha256(canonical_json(vars(figure))).hexdigest()[:32]
