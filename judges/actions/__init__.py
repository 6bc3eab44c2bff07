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
from judges.actions.keeping import archive, delete, forget_prompt, rename, take_back
from judges.actions.lineage import (
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
