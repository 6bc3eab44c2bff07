"""Reads of hiring: which documents, which judge, what certifies it, whether that holds today, and what is to do."""

from __future__ import annotations

from reports.hiring.queries.certifying import (
    TestSize,
    answered_questions,
    cost_of,
    identity,
    judge_behind,
    most_cells,
)
from reports.hiring.queries.choosing import (
    SORTS,
    candidates,
    in_order,
)
from reports.hiring.queries.exporting import (
    certificates_of,
)
from reports.hiring.queries.labels import (
    answer_key,
    question_name,
    study_table,
    with_decided,
)
from reports.hiring.queries.sharing import (
    option_shares,
)
from reports.hiring.queries.splitting import (
    SeenRows,
    development_rows,
    fitted_count,
    fitted_rows,
    groups_of,
    left_out_names,
    looks_at,
    part_counts,
    parts_of,
    rank,
    row_names,
    rows_left_out,
    seen_test_rows,
    shown_names,
    split_of,
    test_names,
    units_of,
)
from reports.hiring.queries.standing import standing_of
from reports.hiring.queries.supervising import supervised, supervision_of
from reports.hiring.queries.working import WorkToDo, to_give_back, work_to_do
