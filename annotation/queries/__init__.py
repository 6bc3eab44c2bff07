"""Reads across tables. Each says how many queries it costs."""

from __future__ import annotations

from annotation.queries.board import Board, BoardLine, board
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
from annotation.queries.notes import Asked, notes
from annotation.queries.people import free_code, roles
from annotation.queries.planning import (
    Given,
    SheetToPlan,
    asks,
    columns_by_section,
    free_rows,
    rows_of_judges,
    rows_to_label,
    seats,
    seats_after,
    sheets_to_plan,
    unfinished,
)
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
from annotation.queries.replanning import DrawnReplan, Move, ReplanRequest, Vacancies, draw_replan, vacancies
from annotation.queries.saving import columns_to_change, labels_of_columns, locked, mine_to_change, was_recorded
from annotation.queries.schemes import whole_scheme, whole_sections

__all__ = [
    "ActiveTime",
    "Asked",
    "Board",
    "BoardLine",
    "Cell",
    "DrawnReplan",
    "Given",
    "Grid",
    "Line",
    "Move",
    "OpenCell",
    "RaterProgress",
    "RaterTime",
    "ReplanRequest",
    "SheetProgress",
    "SheetToPlan",
    "Table",
    "Vacancies",
    "active_time",
    "asks",
    "board",
    "cell_values",
    "cells_of_columns",
    "columns_by_section",
    "columns_to_change",
    "draw_replan",
    "free_code",
    "free_rows",
    "grid",
    "labels_of_columns",
    "locked",
    "mine_to_change",
    "my_sheets",
    "notes",
    "open_cells",
    "rater_progress",
    "roles",
    "rows_of_judges",
    "rows_to_label",
    "seats",
    "seats_after",
    "sheets_to_plan",
    "sheets_with_counts",
    "skip_code",
    "unfinished",
    "vacancies",
    "was_recorded",
    "whole_scheme",
    "whole_sections",
]
