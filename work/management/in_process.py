"""A run whose work is done by a command, in its own process."""

from __future__ import annotations

import logging
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from work import actions
from work.models import Run
from work.states import RunState

# Seconds between looks at a run in which all work is somebody's, or waits to be tried again.
WAIT_SECONDS = 0.5
# Seconds between lines where nobody watches: in a file.
LINE_SECONDS = 60


class RunCommand(BaseCommand, ABC):
    # What stays when a run is cancelled.
    safe: str
    # Loggers that say a line an item, or a request.
    chatty: tuple[str, ...] = ("work", "httpx")

    @abstractmethod
    def parts(self, run: Any) -> Iterator[str]:
        """How far a run is, for a line."""

    @abstractmethod
    def problems(self, run: Any) -> Iterable[str]:
        """What went wrong, for a line each, when the work has ended."""

    def prepare(self, *, verbosity: int) -> None:
        if verbosity < 2:
            for name in self.chatty:
                logging.getLogger(name).setLevel(logging.WARNING)  # they would bury our line
        os.environ.setdefault("TQDM_DISABLE", "1")  # the bars of libraries would break our line
        self._shown = time.monotonic()

    def work(self, run: Run) -> None:
        """Take work up until none is left, or somebody ends the run; then tell what went wrong.

        Raises:
            CommandError: the run did not come to its end.
        """
        try:
            while True:
                took_one = actions.take_up(run)
                run.refresh_from_db(fields=["state", "ended_at"])
                self._show(run)
                if not run.is_running:
                    break
                if not took_one:
                    actions.recover()
                    time.sleep(WAIT_SECONDS)
        except KeyboardInterrupt:
            actions.cancel(run)
            self._show(run, end="\n")
            self.stderr.write(f"Cancelled. {self.safe} is safe; the same command goes on with the rest.")
            raise SystemExit(130) from None
        run.refresh_from_db()
        self._show(run, end="\n")
        for line in self.problems(run):
            self.stderr.write(line)
        if run.state != RunState.FINISHED:
            raise CommandError(run.error or f"The run is {RunState(run.state).label}.")

    def _show(self, run: Run, *, end: str = "\r") -> None:
        """A line that is written over, where somebody watches; else one now and then."""
        if end == "\r" and not self.stdout.isatty():
            if time.monotonic() - self._shown < LINE_SECONDS:
                return
            end = "\n"
        self._shown = time.monotonic()
        self.stdout.write(" · ".join(self.parts(run)).ljust(100 if end == "\r" else 0), ending=end)
        self.stdout.flush()
