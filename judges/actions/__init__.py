"""All writes of the judges' floor: judges, extractors, runs, and the state of the work between them and the workers."""

from __future__ import annotations

from judges.actions.creating import create_judge, store_prompt
from judges.actions.extraction_runs import TASK as EXTRACTION_TASK
from judges.actions.extraction_runs import (
    cancel_extraction,
    create_extractor,
    resume_extraction,
    start_extraction,
)
from judges.actions.extraction_work import extract_next, recover_extractions
from judges.actions.recovery import recover_runs
from judges.actions.runs import MAX_REPEATS, TASK, cancel_run, finish_run, resume_run, start_run
from judges.actions.work import score_items, take_up

__all__ = [
    "EXTRACTION_TASK",
    "MAX_REPEATS",
    "TASK",
    "cancel_extraction",
    "cancel_run",
    "create_extractor",
    "create_judge",
    "extract_next",
    "finish_run",
    "recover_extractions",
    "recover_runs",
    "resume_extraction",
    "resume_run",
    "score_items",
    "start_extraction",
    "start_run",
    "store_prompt",
    "take_up",
]
