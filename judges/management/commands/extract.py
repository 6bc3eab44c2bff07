from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from annotation.management.telling import unless_archived
from annotation.models import Study
from judges import actions
from judges.extraction import queries as extraction_queries
from judges.management.telling import add_limits, limits_in, one_called, refusals_told, refuse_new_limits, study_called
from judges.models import ExtractionRun, Extractor
from judges.spending import queries as spending
from work import queries as work
from work.management.in_process import RunCommand
from work.states import ItemState, RunState

BAR = 24


def _is_left(run: ExtractionRun) -> bool:
    return bool(run.items.exclude(state=ItemState.DONE).exists())


class Command(RunCommand):
    safe, chatty = "What was taken out", ("work", "judges", "httpx")
    help = (
        "Let an extractor take its lists out of a study's documents in this process; no worker or queue is needed. "
        "A run that was stopped before its end goes on. Ctrl-C cancels it; call this again to resume it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="short name of the study, as in its address")
        parser.add_argument("extractor", help="name of the extractor")
        add_limits(parser)

    def handle(self, *, study: str, extractor: str, verbosity: int, **options: Any) -> None:
        self.prepare(verbosity=verbosity)
        found = one_called(extractor, Extractor.objects.select_related("model"))
        run = self._run(unless_archived(study_called(study)), found, limits_in(options))
        self.work(run)
        failed = work.progress(run).failed
        if failed:
            raise CommandError(f"{failed} documents failed. The same command tries them again.")

    def _run(self, study: Study, extractor: Extractor, limits: dict[str, Any]) -> ExtractionRun:
        last = study.extraction_runs.filter(extractor=extractor).select_related("extractor__model", "study").first()
        with refusals_told():
            if last is not None and last.is_running:
                refuse_new_limits(last, limits)
                return last
            if last is not None and last.state != RunState.FINISHED and _is_left(last):
                actions.resume_extraction(run=last, enqueue=False, **limits)
                last.refresh_from_db()
                return last
            return actions.start_extraction(study=study, extractor=extractor, by=None, enqueue=False, **limits)

    def problems(self, run: ExtractionRun) -> Iterator[str]:
        for line in extraction_queries.documents_of(run):
            of = f"{line.item.row.sheet.title} · {line.item.row.name}"
            if line.item.state == ItemState.FAILED:
                yield f"{of}: {line.item.error}"
            for one in line.lists:
                if one.refused:
                    yield f"{of}: {one.kind} refused: {one.refused}"

    def parts(self, run: ExtractionRun) -> Iterator[str]:
        progress, given = work.progress(run), extraction_queries.given(run)
        full = BAR * (progress.done + progress.failed) // max(1, progress.total)
        yield f"[{'█' * full}{'·' * (BAR - full)}] {progress.done}/{progress.total} documents"
        yield f"{given.items:,} items"
        counts = {
            "lists repaired": given.repaired,
            "lists refused": given.refused,
            "items not in the document": given.unsupported,
            "failed": progress.failed,
        }
        yield from (f"{n} {what}" for what, n in counts.items() if n)
        if used := spending.spent(run).tokens:
            yield f"{used:,} tokens"
        if progress.left is not None:
            yield f"{progress.left} left"
