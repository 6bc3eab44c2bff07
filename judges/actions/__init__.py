"""All writes of the judges' floor: judges, extractors, their runs, and what these do to a row."""

from __future__ import annotations

from judges.actions.calibrating import calibrate, create_calibrated
from judges.actions.corrections import Line, correct
from judges.actions.creating import create_judge, refuse_taken, store_prompt
from judges.actions.examples import MOST_EXAMPLES, create_with_examples
from judges.actions.extraction_runs import (
    cancel_extraction,
    create_extractor,
    resume_extraction,
    start_extraction,
)
from judges.actions.extraction_work import EXTRACTING
from judges.actions.keeping import archive, forget_prompt, rename, take_back
from judges.actions.lineage import (
    MOST_ARMS,
    came_from,
    count_as_arm,
    create_arms,
    create_average,
    create_candidate_arms,
)
from judges.actions.runs import MAX_REPEATS, cancel_run, resume_run, score_items, start_run
from judges.actions.stacking import create_stacker, weigh
from judges.actions.trials import TRYING, cancel_trial, note_asked, start_trial
from judges.actions.work import JUDGING
from work.actions import take_up

__all__ = [
    "EXTRACTING",
    "JUDGING",
    "MAX_REPEATS",
    "MOST_ARMS",
    "MOST_EXAMPLES",
    "TRYING",
    "Line",
    "archive",
    "calibrate",
    "came_from",
    "cancel_extraction",
    "cancel_run",
    "cancel_trial",
    "correct",
    "count_as_arm",
    "create_arms",
    "create_average",
    "create_calibrated",
    "create_candidate_arms",
    "create_extractor",
    "create_judge",
    "create_stacker",
    "create_with_examples",
    "forget_prompt",
    "note_asked",
    "refuse_taken",
    "rename",
    "resume_extraction",
    "resume_run",
    "score_items",
    "start_extraction",
    "start_run",
    "start_trial",
    "store_prompt",
    "take_back",
    "take_up",
    "weigh",
]
