"""What one row or column of a derived study rests on."""

from __future__ import annotations

from annotation.deriving import queries
from annotation.deriving.queries import Rest
from annotation.models import Column, Row


def rests_of(made: Row | Column) -> list[Rest]:
    every = queries.lineage_in(made.sheet.study, most=10_000)
    return [rest for rest in every if made in (rest.lineage.made_row, rest.lineage.made_column)]
