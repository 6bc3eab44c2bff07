"""Reads across tables. Each says how many queries it costs."""

from __future__ import annotations

from annotation.queries.adding import (
    DrawnMore,
    MoreRequest,
    draw_more,
    had,
)
from annotation.queries.arriving import (
    arriving,
    coming_rows,
)
from annotation.queries.board import (
    BoardLine,
    board,
    seen,
)
from annotation.queries.drafting import Startable, draftable, sources
from annotation.queries.drafts import EditRate, edit_rates
from annotation.queries.grid import (
    Cell,
    Grid,
    GridLine,
    GridStep,
    GridTable,
    OpenCell,
    cell_values,
    cells_of_columns,
    grid,
    unfinished_cells,
)
from annotation.queries.notes import Asked, notes, sheets_shown
from annotation.queries.people import (
    crowd_links,
    deletions_of,
    free_code,
    links,
    members,
    of_crowd,
    open_deletions_of,
    roles,
    studies_of,
)
from annotation.queries.planning import (
    MOST_WORDS,
    Given,
    SheetToPlan,
    StudyRows,
    WorkGiven,
    asks,
    facet_words,
    free_rows,
    given_to_judges,
    rows_of_judges,
    rows_to_label,
    sample,
    seats,
    seats_after,
    study_rows,
    unfinished,
    work_given,
)
from annotation.queries.preview import UNUSED, Preview, preview
from annotation.queries.progress import (
    active_time,
    my_sheets,
    next_sheet,
    rater_progress,
    sheets_with_counts,
)
from annotation.queries.replanning import (
    DrawnReplan,
    Move,
    ReplanRequest,
    draw_replan,
    vacancies,
)
from annotation.queries.rewording import (
    asked_by,
    n_from_before,
    unread,
    wordings,
)
from annotation.queries.saving import (
    Standing,
    codes_before,
    columns_to_change,
    is_unfinished,
    known,
    labels_of_columns,
    lock_in_order,
    locked,
    mine_to_change,
    mine_to_submit,
    recorded,
    rows_of_sheet,
    standing,
)
from annotation.queries.schemes import (
    scheme_to_begin_from,
    stored_version,
    whole_columns,
    whole_scheme,
    whole_sections,
    why_not_stored,
    why_unfit,
    with_version,
)
from annotation.queries.states import (
    RaterGraph,
    has_states,
    state_graphs,
)
from annotation.queries.warnings import (
    can_warn,
    warned,
)
