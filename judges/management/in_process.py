"""A run whose work is done by a command, in its own process; of a judge or an extractor."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Model, QuerySet
from django.utils.text import capfirst

from annotation.actions import Refused
from annotation.models import Study
from judges.models import ExtractionRun, Run
from judges.states import RunState

# Seconds between looks at a run in which all work is somebody's, or waits to be tried again.
WAIT_SECONDS = 0.5
# Seconds between lines where nobody watches: in a file.
LINE_SECONDS = 60


M = TypeVar("M", bound=Model)


class RunCommand(BaseCommand):
    # What stays when a run is cancelled.
    safe: str

    def parts(self, run: Any) -> Iterator[str]:
        """How far a run is, for a line."""
        raise NotImplementedError

    def problems(self, run: Any) -> Iterable[str]:
        """What went wrong, for a line each, when the work has ended."""
        raise NotImplementedError

    def prepare(self, *, verbosity: int) -> None:
        if verbosity < 2:
            for name in ("judges", "httpx"):
                logging.getLogger(name).setLevel(logging.WARNING)  # a line a row, or a request, would bury ours
        os.environ.setdefault("TQDM_DISABLE", "1")  # the bars of libraries would break our line
        self._shown = time.monotonic()

    def work(
        self,
        run: Run | ExtractionRun,
        *,
        take_up: Callable[[], bool],
        recover: Callable[[], None],
        cancel: Callable[[], None],
    ) -> None:
        """Take work up until none is left, or somebody ends the run; then tell what went wrong.

        Raises:
            CommandError: the run did not come to its end.
        """
        try:
            while True:
                took_one = take_up()
                run.refresh_from_db(fields=["state", "ended_at"])
                self._show(run)
                if run.state != RunState.RUNNING:
                    break
                if not took_one:
                    recover()
                    time.sleep(WAIT_SECONDS)
        except KeyboardInterrupt:
            cancel()
            self._show(run, end="\n")
            self.stderr.write(f"Cancelled. {self.safe} is safe; the same command goes on with the rest.")
            raise SystemExit(130) from None
        run.refresh_from_db()
        self._show(run, end="\n")
        for line in self.problems(run):
            self.stderr.write(line)
        if run.state != RunState.FINISHED:
            raise CommandError(run.error or f"The run is {run.get_state_display()}.")

    def _show(self, run: Run | ExtractionRun, *, end: str = "\r") -> None:
        """A line that is written over, where somebody watches; else one now and then."""
        if end == "\r" and not self.stdout.isatty():
            if time.monotonic() - self._shown < LINE_SECONDS:
                return
            end = "\n"
        self._shown = time.monotonic()
        self.stdout.write(" · ".join(self.parts(run)).ljust(100 if end == "\r" else 0), ending=end)
        self.stdout.flush()


@contextmanager
def refusals_told() -> Iterator[None]:
    try:
        yield
    except Refused as refused:
        raise CommandError(str(refused)) from refused


def one_called(name: str, among: QuerySet[M], *, key: str = "name") -> M:
    found = among.filter(**{key: name}).first()
    if found is None:
        what, several = among.model._meta.verbose_name, capfirst(among.model._meta.verbose_name_plural)
        known = ", ".join(among.values_list(key, flat=True)) or "none yet"
        raise CommandError(f"There is no {what} “{name}”. {several}: {known}.")
    return found


def study_called(slug: str) -> Study:
    return one_called(slug, Study.objects.select_related("scheme"), key="slug")
