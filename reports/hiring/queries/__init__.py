"""Reads of hiring: which documents, which judge, what certifies it, whether that holds today, and what is to do."""

from __future__ import annotations

from reports.hiring.queries.certifying import (
    TestSize,
    changes,
    development_cells,
    identity,
    judge_behind,
    most_cells,
    test_size,
)
from reports.hiring.queries.choosing import SORTS, Candidate, candidates, in_order
from reports.hiring.queries.exporting import certificates_of, has_certificates
from reports.hiring.queries.labels import answer_key, key_of_code, question_name, study_table
from reports.hiring.queries.sharing import OptionShare, option_shares
from reports.hiring.queries.splitting import (
    Looks,
    Name,
    PartCount,
    development_rows,
    fitted_rows,
    left_out_names,
    looks_at,
    part_counts,
    parts_of,
    rank,
    row_names,
    split_of,
    test_names,
)
from reports.hiring.queries.supervising import (
    Standing,
    Supervised,
    n_to_supervise,
    standing_of,
    supervised,
    watch_of,
    whole_sheets,
    why_alarm,
    why_changed,
)
from reports.hiring.queries.working import WorkToDo, to_give_back, work_to_do

__all__ = [
    "SORTS",
    "Candidate",
    "Looks",
    "Name",
    "OptionShare",
    "PartCount",
    "Standing",
    "Supervised",
    "TestSize",
    "WorkToDo",
    "answer_key",
    "candidates",
    "certificates_of",
    "changes",
    "development_cells",
    "development_rows",
    "fitted_rows",
    "has_certificates",
    "identity",
    "in_order",
    "judge_behind",
    "key_of_code",
    "left_out_names",
    "looks_at",
    "most_cells",
    "n_to_supervise",
    "option_shares",
    "part_counts",
    "parts_of",
    "question_name",
    "rank",
    "row_names",
    "split_of",
    "standing_of",
    "study_table",
    "supervised",
    "test_names",
    "test_size",
    "to_give_back",
    "watch_of",
    "whole_sheets",
    "why_alarm",
    "why_changed",
    "work_to_do",
]
