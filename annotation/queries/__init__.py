"""Reads across tables. Each says how many queries it costs."""

from __future__ import annotations

from annotation.queries.board import Board, BoardLine, board
from annotation.queries.codes import CODE, PREFIX, code_of
from annotation.queries.drafting import Startable, draftable, sources
from annotation.queries.drafts import EditRate, edit_rates
from annotation.queries.grid import (
    Cell,
    Grid,
    GridLine,
    GridStep,
    GridTable,
    OpenCell,
    Unfinished,
    cell_values,
    cells_of_columns,
    drawn,
    grid,
    unfinished_cells,
)
from annotation.queries.notes import Asked, notes
from annotation.queries.people import free_code, roles
from annotation.queries.planning import (
    Given,
    SheetToPlan,
    asks,
    columns_by_section,
    free_rows,
    row_facets,
    rows_of_judges,
    rows_to_label,
    sample,
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
from annotation.queries.saving import columns_to_change, known, labels_of_columns, locked, mine_to_change
from annotation.queries.schemes import whole_scheme, whole_sections
from annotation.queries.states import RaterGraph, TableOfStates, has_states, state_graphs, tables_of_states
from annotation.queries.warnings import Warned, can_warn, warned

__all__ = [
    "CODE",
    "PREFIX",
    "ActiveTime",
    "Asked",
    "Board",
    "BoardLine",
    "Cell",
    "DrawnReplan",
    "EditRate",
    "Given",
    "Grid",
    "GridLine",
    "GridStep",
    "GridTable",
    "Move",
    "OpenCell",
    "RaterProgress",
    "RaterTime",
    "ReplanRequest",
    "SheetProgress",
    "SheetToPlan",
    "Startable",
    "Unfinished",
    "Vacancies",
    "Warned",
    "active_time",
    "asks",
    "board",
    "can_warn",
    "cell_values",
    "cells_of_columns",
    "code_of",
    "columns_by_section",
    "columns_to_change",
    "draftable",
    "draw_replan",
    "drawn",
    "edit_rates",
    "free_code",
    "free_rows",
    "grid",
    "known",
    "labels_of_columns",
    "locked",
    "mine_to_change",
    "my_sheets",
    "notes",
    "rater_progress",
    "roles",
    "row_facets",
    "rows_of_judges",
    "rows_to_label",
    "sample",
    "seats",
    "seats_after",
    "sheets_to_plan",
    "sheets_with_counts",
    "sources",
    "unfinished",
    "unfinished_cells",
    "vacancies",
    "warned",
    "whole_scheme",
    "whole_sections",
]
