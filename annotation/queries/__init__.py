"""Reads across tables. Each says how many queries it costs."""

from __future__ import annotations

from annotation.queries.grid import (
    Cell,
    Grid,
    Line,
    OpenCell,
    Table,
    cell_values,
    cells_of_columns,
    grid,
    open_cells,
    skip_code,
)
from annotation.queries.people import free_code, roles
from annotation.queries.planning import free_rows, labels_a_row, sheets_to_plan, unfinished
from annotation.queries.progress import (
    ActiveTime,
    RaterProgress,
    RaterTime,
    SheetProgress,
    active_time,
    my_sheets,
    rater_progress,
    sheets_with_counts,
)

__all__ = [
    "ActiveTime",
    "Cell",
    "Grid",
    "Line",
    "OpenCell",
    "RaterProgress",
    "RaterTime",
    "SheetProgress",
    "Table",
    "active_time",
    "cell_values",
    "cells_of_columns",
    "free_code",
    "free_rows",
    "grid",
    "labels_a_row",
    "my_sheets",
    "open_cells",
    "rater_progress",
    "roles",
    "sheets_to_plan",
    "sheets_with_counts",
    "skip_code",
    "unfinished",
]
