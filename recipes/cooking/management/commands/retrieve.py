from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from annotation.management.telling import unless_archived
from annotation.models import Rater, Study
from judges.management.telling import refusals_told, study_called
from recipes.cooking import actions
from recipes.cooking import retrieval_queries as queries
from recipes.cooking.models import Retrieval
from work import queries as work
from work.management.in_process import RunCommand

BAR = 24


class Command(RunCommand):
    safe, chatty = "What was fetched", ("work", "recipes", "httpx")
    help = (
        "Search for documents of a study's sheets and fetch them in this process; no worker or queue is needed. A run "
        "that was stopped before its end goes on. Ctrl-C cancels it; call this again to resume it. Engines are set up "
        "by environment variables: docs/retrieving.md."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="short name of the study, as in its address")
        parser.add_argument("--documents", type=int, default=6, help="of each engine for each query (%(default)s)")
        parser.add_argument("--engine", action="append", help="by default all that are set up; may come several times")
        parser.add_argument("--sheet", action="append", help="title of a sheet; by default all open ones")
        parser.add_argument(
            "--rater", action="append", help="code of one who is given the new documents; may come several times"
        )
        parser.add_argument("--words", default="{name} recipe", help="the query (%(default)s)")

    def handle(self, *, study: str, verbosity: int, **asked: Any) -> None:
        self.prepare(verbosity=verbosity)
        self.work(self._run(unless_archived(study_called(study)), **asked))

    def _run(
        self,
        study: Study,
        *,
        documents: int,
        engine: list[str] | None,
        sheet: list[str] | None,
        words: str,
        rater: list[str] | None = None,
        **_options: Any,
    ) -> Retrieval:
        if "{name}" not in words:
            raise CommandError("Write {name} in --words where the title of each sheet is to stand.")
        if not 1 <= documents <= actions.MAX_DOCUMENTS:
            raise CommandError(f"--documents is a number from 1 to {actions.MAX_DOCUMENTS}.")
        given = self._given(study, rater or [])
        last = study.retrievals.first()
        if last is not None and last.is_running:
            return last
        sheets = list(study.sheets.filter(closed_at=None).order_by("position"))
        if missing := set(sheet or []) - {each.title for each in sheets}:
            raise CommandError(f"There is no open sheet “{min(missing)}”.")
        names = engine or [name for name, _label in queries.engines_for(study)]
        chosen = [each for each in sheets if sheet is None or each.title in sheet]
        asked = queries.asked_of(chosen, names, words=words)
        with refusals_told():
            if (stopped := queries.to_go_on_with(study, asked, documents=documents)) is not None:
                actions.resume_retrieval(run=stopped, enqueue=False)
                stopped.refresh_from_db()
                return stopped
            return actions.start_retrieval(
                study=study, asked=asked, documents=documents, given=given, by=None, enqueue=False
            )

    @staticmethod
    def _given(study: Study, codes: list[str]) -> list[actions.Given]:
        """Who may be given documents is who the page offers."""
        raters = {rater.code: rater for rater in study.raters.given_more().exclude(kind=Rater.Kind.GOLD)}
        if unknown := [code for code in codes if code not in raters]:
            raise CommandError(f"The study has no rater “{unknown[0]}” who could be given documents.")
        return [actions.Given(raters[code]) for code in dict.fromkeys(codes)]

    def problems(self, run: Retrieval) -> Iterator[str]:
        for item in run.items.exclude(error="").select_related("search__sheet", "hit__search"):
            yield f"{item.search.sheet.title}, {item.hit or item.search}: {item.error}"
        for thread in queries.brought(run).threads:
            if thread.missing:
                yield f"{thread.search.sheet.title}, {thread.search}: {thread.missing} documents are missing"

    def parts(self, run: Retrieval) -> Iterator[str]:
        progress, brought = work.progress(run), queries.brought(run)
        full = BAR * (progress.done + progress.failed) // max(1, progress.total)
        yield f"[{'█' * full}{'·' * (BAR - full)}] {progress.done}/{progress.total} steps"
        yield f"{brought.documents} documents"
        yield from (f"{n} {state.replace('_', ' ')}" for state, n in brought.fates.items() if n and state != "document")
        if progress.left is not None:
            yield f"{progress.left} left"
