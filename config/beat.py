"""When tasks that come round are sent: at the start, and from then on in fixed steps of a clock that nobody sets.

Nothing of it is kept on a disk, which may be full. A worker ends whose `-B` has ended.
"""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from celery.bootsteps import StartStopStep
from celery.schedules import schedule
from celery.worker import state

log = logging.getLogger(__name__)

_BEGIN = datetime(2000, 1, 1, tzinfo=UTC)
# As `work.states.SHORT_WORK_PRIORITY`, which settings cannot ask.
_BETWEEN_LONG_WORK = 3
# Seconds between two looks at the process of `-B`.
_LOOK_EVERY = 5.0


def every(seconds: float, task: str, *, can_wait: bool = False) -> dict[str, Any]:
    """An entry of Celery's schedule, due at the start. `can_wait`: it comes behind short work, and between two messages
    of a long run: behind all that it has sent it would be out of date before its turn, for as long as the run takes."""
    entry: dict[str, Any] = {"task": task, "schedule": schedule(seconds, nowfun=_now)}
    entry["last_run_at"] = _BEGIN - timedelta(days=1)
    return entry | ({"options": {"priority": _BETWEEN_LONG_WORK}} if can_wait else {})


def _now() -> datetime:
    """By a clock that goes on when that of the machine is set back: nothing would be sent until it is caught up."""
    return _BEGIN + timedelta(seconds=time.monotonic())


class EndsWithBeat(StartStopStep):
    """Else a worker would answer that it is well while nothing is sent on time; who starts it anew mends both."""

    requires = ("celery.worker.components:Timer", "celery.worker.components:Beat")

    def start(self, parent: Any) -> None:
        if parent.beat is not None:
            parent.timer.call_repeatedly(_LOOK_EVERY, self._look, (parent.beat,))

    def _look(self, beat: Any) -> None:
        if not beat.is_alive() and state.should_stop is None:
            log.critical(
                "What sends tasks on time has ended (%s), and so does this worker: start it anew", beat.exitcode
            )
            state.should_stop = 1  # type: ignore[assignment]  # the stubs have its first value alone
