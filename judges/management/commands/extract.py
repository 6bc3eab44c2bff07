from __future__ import annotations

import logging
import os
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.actions import Refused
from annotation.models import Study
from judges import actions, extraction_queries
from judges.models import ExtractionRun, Extractor
from judges.states import ItemState, RunState

# Seconds between looks at a run in which every document is somebody's, or waits to be tried again.
WAIT_SECONDS = 0.5
# Seconds between lines where nobody watches: in a file.
LINE_SECONDS = 60
BAR = 24


class Command(BaseCommand):
    help = (
        "Let an extractor take its lists out of a study's documents in this process; no worker or queue is needed. "
        "A run that was stopped before its end goes on. Ctrl-C cancels it; call this again to resume it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="short name of the study, as in its address")
        parser.add_argument("extractor", help="name of the extractor")

    def handle(self, *, study: str, extractor: str, verbosity: int, **options: Any) -> None:
        if verbosity < 2:
            for name in ("judges", "httpx"):
                logging.getLogger(name).setLevel(logging.WARNING)  # a line a document would bury ours
        os.environ.setdefault("TQDM_DISABLE", "1")  # the bars of libraries would break our line
        self._shown = time.monotonic()
        run = self._run(_study(study), _extractor(extractor))
        try:
            self._work(run)
        except KeyboardInterrupt:
            actions.cancel_extraction(run=run)
            self._show(run, end="\n")
            self.stderr.write("Cancelled. What was taken out is safe; the same command goes on with the rest.")
            raise SystemExit(130) from None
        run.refresh_from_db()
        self._show(run, end="\n")
        for line in extraction_queries.documents_of(run):
            of = f"{line.item.row.sheet.title} · {line.item.row.name}"
            if line.item.state == ItemState.FAILED:
                self.stderr.write(f"{of}: {line.item.error}")
            for one in line.lists:
                if one.refused:
                    self.stderr.write(f"{of}: {one.kind} refused: {one.refused}")
        if run.state != RunState.FINISHED:
            raise CommandError(run.error or f"The run is {run.get_state_display()}.")
        failed = extraction_queries.progress(run).failed
        if failed:
            raise CommandError(f"{failed} documents failed. The same command tries them again.")

    def _run(self, study: Study, extractor: Extractor) -> ExtractionRun:
        last = study.extraction_runs.filter(extractor=extractor).select_related("extractor__model", "study").first()
        try:
            if last is not None and last.state == RunState.RUNNING:
                return last
            if last is not None and last.items.exclude(state=ItemState.DONE).exists():
                actions.resume_extraction(run=last, enqueue=False)
                last.refresh_from_db()
                return last
            return actions.start_extraction(study=study, extractor=extractor, by=None, enqueue=False)
        except Refused as refused:
            raise CommandError(str(refused)) from refused

    def _work(self, run: ExtractionRun) -> None:
        """Take documents up until none is left, or somebody ends the run."""
        while True:
            took_one = actions.extract_next(run_id=run.pk)
            run.refresh_from_db(fields=["state", "ended_at"])
            self._show(run)
            if run.state != RunState.RUNNING:
                return
            if not took_one:
                actions.recover_extractions()
                time.sleep(WAIT_SECONDS)

    def _show(self, run: ExtractionRun, *, end: str = "\r") -> None:
        """A line that is written over, where somebody watches; else one now and then."""
        if end == "\r" and not self.stdout.isatty():
            if time.monotonic() - self._shown < LINE_SECONDS:
                return
            end = "\n"
        self._shown = time.monotonic()
        progress = extraction_queries.progress(run)
        full = BAR * (progress.done + progress.failed) // max(1, progress.rows)
        parts = [
            f"[{'█' * full}{'·' * (BAR - full)}] {progress.done}/{progress.rows} documents",
            f"{progress.items:,} items",
        ]
        counts = {
            "lists repaired": progress.repaired,
            "lists refused": progress.refused,
            "items not in the document": progress.unsupported,
            "failed": progress.failed,
        }
        parts += [f"{n} {what}" for what, n in counts.items() if n]
        if progress.left is not None:
            parts.append(f"{progress.left} left")
        self.stdout.write(" · ".join(parts).ljust(100 if end == "\r" else 0), ending=end)
        self.stdout.flush()


def _study(slug: str) -> Study:
    study = Study.objects.select_related("scheme").filter(slug=slug).first()
    if study is None:
        known = ", ".join(Study.objects.values_list("slug", flat=True)) or "none yet"
        raise CommandError(f"There is no study “{slug}”. Studies: {known}.")
    return study


def _extractor(name: str) -> Extractor:
    extractor = Extractor.objects.select_related("model").filter(name=name).first()
    if extractor is None:
        known = ", ".join(Extractor.objects.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"There is no extractor “{name}”. Extractors: {known}.")
    return extractor
