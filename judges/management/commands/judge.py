from __future__ import annotations

import logging
import os
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.actions import Refused
from annotation.models import Sheet, Study
from judges import actions, queries
from judges.models import Judge, Run
from judges.queries import RunProgress

# Seconds between looks at a run in which every row is somebody's, or waits to be tried again.
WAIT_SECONDS = 0.5
# Seconds between lines where nobody watches: in a file.
LINE_SECONDS = 60


class Command(BaseCommand):
    help = (
        "Let a judge label a study in this process; no worker or queue is needed. A run that was stopped before its "
        "end goes on, and a running one is helped along. Ctrl-C cancels the run; call this again to resume it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="short name of the study, as in its address")
        parser.add_argument("judge", help="name of the judge")
        parser.add_argument(
            "--repeats", type=int, metavar="N", help="label each row so often in all; for judges that rate"
        )
        parser.add_argument("--sheets", nargs="+", metavar="TITLE", help="label these sheets only, in a new run")

    def handle(
        self,
        *,
        study: str,
        judge: str,
        sheets: list[str] | None,
        repeats: int | None,
        verbosity: int,
        **options: Any,
    ) -> None:
        if verbosity < 2:
            for name in ("judges", "httpx"):
                logging.getLogger(name).setLevel(logging.WARNING)  # a line a row, or a request, would bury ours
        os.environ.setdefault("TQDM_DISABLE", "1")  # the bars of libraries would break our line
        self._shown = time.monotonic()
        chosen = _judge(judge)
        run = self._run(_study(study), chosen, sheets, repeats)
        if chosen.model is not None and chosen.model.is_served:
            self.stdout.write(f"{chosen.name} asks {chosen.model.served_name} at {chosen.model.location}.")
        try:
            self._work(run)
        except KeyboardInterrupt:
            actions.cancel_run(run=run)
            self._show(queries.progress(run), end="\n")
            self.stderr.write("Cancelled. What is labelled is safe; the same command goes on with the rest.")
            raise SystemExit(130) from None
        run.refresh_from_db()
        progress = queries.progress(run)
        self._show(progress, end="\n")
        for why, n in queries.unreadable_reasons(run):
            self.stderr.write(f"{n:,} of the answers could not be read: {why}.")
        for item in queries.problems(run):
            self.stderr.write(f"{item.assignment.row.sheet.title} · {item.assignment.row.name}: {item.error}")
        if run.state != Run.State.FINISHED:
            raise CommandError(run.error or f"The run is {run.get_state_display()}.")
        if progress.failed:
            raise CommandError(f"{progress.failed} of {progress.rows} rows failed. The same command tries them again.")

    def _run(self, study: Study, judge: Judge, sheets: list[str] | None, repeats: int | None) -> Run:
        try:
            chosen = queries.sheets_called(study, sheets) if sheets else None
            run = queries.unfinished_run(study, judge) if chosen is None else None
            if run is not None and repeats in (None, run.repeats):
                if run.state != Run.State.RUNNING:
                    actions.resume_run(run=run, enqueue=False)
                return run
            return actions.start_run(
                study=study,
                judge=judge,
                by=None,
                sheets=chosen,
                repeats=1 if repeats is None else repeats,
                enqueue=False,
            )
        except Sheet.DoesNotExist as error:
            raise CommandError(f"The study has no sheet called “{error}”.") from error
        except Refused as refused:
            raise CommandError(str(refused)) from refused

    def _work(self, run: Run) -> None:
        """Label rows until none is left, or somebody ends the run."""
        while True:
            took_one = actions.take_up(run=run)
            run.refresh_from_db(fields=["state", "ended_at"])
            self._show(queries.progress(run))
            if run.state != Run.State.RUNNING:
                return
            if not took_one:
                actions.recover_runs()
                time.sleep(WAIT_SECONDS)

    def _show(self, progress: RunProgress, *, end: str = "\r") -> None:
        """A line that is written over, where somebody watches; else one now and then."""
        if end == "\r" and not self.stdout.isatty():
            if time.monotonic() - self._shown < LINE_SECONDS:
                return
            end = "\n"
        self._shown = time.monotonic()
        parts = [f"{progress.done}/{progress.rows} rows", f"{progress.cells:,} labels"]
        if progress.unreadable:
            parts.append(f"{progress.unreadable:,} unreadable")
        if progress.failed:
            parts.append(f"{progress.failed} failed")
        if progress.cells_per_second:
            pace = progress.cells_per_second
            parts.append(f"{pace:.{1 if pace >= 1 else 2}f} cells/s")
        if progress.tokens_per_second:
            parts.append(f"{progress.tokens_per_second:,.0f} tokens/s")
        if progress.left is not None:
            parts.append(f"{progress.left} left")
        self.stdout.write(" · ".join(parts).ljust(100 if end == "\r" else 0), ending=end)
        self.stdout.flush()


def _study(slug: str) -> Study:
    study = Study.objects.select_related("scheme").filter(slug=slug).first()
    if study is None:
        raise CommandError(
            f"There is no study “{slug}”. {_known('Studies', Study.objects.values_list('slug', flat=True))}"
        )
    return study


def _judge(name: str) -> Judge:
    judge = Judge.objects.select_related("model", "prompt").filter(name=name).first()
    if judge is None:
        raise CommandError(
            f"There is no judge “{name}”. {_known('Judges', Judge.objects.values_list('name', flat=True))}"
        )
    return judge


def _known(what: str, names: Any) -> str:
    return f"{what}: {', '.join(names) or 'none yet'}."
