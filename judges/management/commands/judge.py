from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from annotation.management.telling import unless_archived
from annotation.models import Sheet, Study
from judges import actions, queries
from judges.management.telling import add_limits, limits_in, one_called, refusals_told, refuse_new_limits, study_called
from judges.models import Judge, Run
from work.management.in_process import RunCommand


class Command(RunCommand):
    safe, chatty = "What is labelled", ("work", "judges", "httpx")
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
        add_limits(parser)

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
        self.prepare(verbosity=verbosity)
        chosen = one_called(judge, Judge.objects.select_related("model", "prompt"))
        run = self._run(unless_archived(study_called(study)), chosen, sheets, repeats, limits_in(options))
        if chosen.model is not None and (announced := chosen.model.announced):
            self.stdout.write(f"{chosen.name} asks {announced}.")
        self.work(run)
        progress = queries.progress(run)
        if progress.failed:
            raise CommandError(f"{progress.failed} of {progress.rows} rows failed. The same command tries them again.")

    def _run(
        self, study: Study, judge: Judge, sheets: list[str] | None, repeats: int | None, limits: dict[str, Any]
    ) -> Run:
        try:
            chosen = queries.sheets_called(study, sheets) if sheets else None
        except Sheet.DoesNotExist as error:
            raise CommandError(f"The study has no sheet called “{error}”.") from error
        run = queries.unfinished_run(study, judge) if chosen is None else None
        with refusals_told():
            if run is not None and repeats in (None, run.repeats):
                if run.is_running:
                    refuse_new_limits(run, limits)
                else:
                    actions.resume_run(run=run, enqueue=False, **limits)
                return run
            return actions.start_run(
                study=study,
                judge=judge,
                by=None,
                sheets=chosen,
                repeats=1 if repeats is None else repeats,
                enqueue=False,
                **limits,
            )

    def problems(self, run: Run) -> Iterator[str]:
        for why, n in queries.unreadable_reasons(run):
            yield f"{n:,} of the answers could not be read: {why}."
        for item in queries.problems(run):
            yield f"{item.assignment.row.sheet.title} · {item.assignment.row.name}: {item.error}"

    def parts(self, run: Run) -> Iterator[str]:
        progress = queries.progress(run)
        yield f"{progress.done}/{progress.rows} rows"
        yield f"{progress.cells:,} labels"
        if progress.unreadable:
            yield f"{progress.unreadable:,} unreadable"
        if progress.failed:
            yield f"{progress.failed} failed"
        if progress.cells_per_second:
            pace = progress.cells_per_second
            yield f"{pace:.{1 if pace >= 1 else 2}f} cells/s"
        if progress.tokens_per_second:
            yield f"{progress.tokens_per_second:,.0f} tokens/s"
        if progress.left is not None:
            yield f"{progress.left} left"
