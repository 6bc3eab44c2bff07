"""All writes of the work machine: runs, and the state of the work between them and the workers."""

from __future__ import annotations

from work.actions.doing import do_held, do_items, is_last_attempt, is_passing, take_up
from work.actions.holding import LOADING, LONGEST_HOLD, Held, claim, claim_all
from work.actions.recovery import MAX_DEATHS, recover
from work.actions.runs import (
    add,
    cancel,
    end,
    resume,
    send_items,
    start,
)
from work.actions.spreading import shared_out
