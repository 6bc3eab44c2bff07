"""All writes of the judges' floor: judges, runs, and the state of the work between them and the workers."""

from __future__ import annotations

from judges.actions.creating import create_judge, store_prompt
from judges.actions.recovery import recover_runs
from judges.actions.runs import TASK, cancel_run, finish_run, resume_run, start_run
from judges.actions.work import score_items, take_up

__all__ = [
    "TASK",
    "cancel_run",
    "create_judge",
    "finish_run",
    "recover_runs",
    "resume_run",
    "score_items",
    "start_run",
    "store_prompt",
    "take_up",
]
