"""All writes of the judges' floor: judges, extractors, their runs, and what these do to a row."""

from __future__ import annotations

from judges.actions.corrections import Line, correct
from judges.actions.creating import create_judge, store_prompt
from judges.actions.extraction_runs import (
    cancel_extraction,
    create_extractor,
    resume_extraction,
    start_extraction,
)
from judges.actions.extraction_work import EXTRACTING
from judges.actions.runs import MAX_REPEATS, cancel_run, resume_run, score_items, start_run
from judges.actions.work import JUDGING
from work.actions import take_up

__all__ = [
    "EXTRACTING",
    "JUDGING",
    "MAX_REPEATS",
    "Line",
    "cancel_extraction",
    "cancel_run",
    "correct",
    "create_extractor",
    "create_judge",
    "resume_extraction",
    "resume_run",
    "score_items",
    "start_extraction",
    "start_run",
    "store_prompt",
    "take_up",
]
