"""The page of a run of a study's work, of whatever kind, and its two buttons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_GET, require_POST

from annotation import queries
from annotation.actions import Refused
from annotation.models import Role, Study, User
from annotation.people.access import AppRequest, for_roles
from work.line import InLine
from work.models import Run
from work.queries import with_makers
from work.views import run_page

# So many of the runs that come before one are named.
_NAMED = 5


@dataclass(frozen=True)
class Before:
    """What is said of the runs before one that waits. `named`: those of the first that its reader may look at, each
    with its place; `unnamed`: how many more there are."""

    named: Sequence[tuple[Any, InLine]]
    unnamed: int


def told_before(before: Sequence[InLine], user: User) -> Before | None:
    """None where nothing is before it. Else, of the first few, a query for each kind of work and one for each study."""
    if not before:
        return None
    of_kinds: dict[type[Run], list[int]] = {}
    for one in before[:_NAMED]:
        if one.kind.run in _PAGES:
            of_kinds.setdefault(one.kind.run, []).append(one.pk)
    found: dict[tuple[type[Run], int], Any] = {}
    for table, pks in of_kinds.items():
        runs = with_makers(table._default_manager.filter(pk__in=pks)).select_related("study")
        found |= {(table, run.pk): run for run in runs}
    roles = {study: queries.roles(user, study) for study in {run.study for run in found.values()}}
    named = [
        (run, one)
        for one in before[:_NAMED]
        if (run := found.get((one.kind.run, one.pk))) is not None
        and roles[run.study] & set(_PAGES[one.kind.run].readers)
    ]
    return Before(named, len(before) - len(named))


@dataclass(frozen=True)
class RunPages:
    """In what the pages of the kinds of runs differ.

    Attributes:
        run: the table.
        template: of the page; it extends “work/run_page.html”.
        numbers: the part of it that is fetched again while the run works.
        runs: of a study, with what the page shows of them.
        context: what the templates need besides; at least `progress`.
        resumed_with: what else `resume` is given, by the request and the run; may raise `Refused`.
        readers: who may look; `writers`: who may cancel and resume.
    """

    run: type[Run]
    template: str
    numbers: str
    runs: Callable[[Study], QuerySet[Any]]
    context: Callable[[Any], dict[str, Any]]
    cancel: Callable[..., None]
    resume: Callable[..., None]
    resumed_with: Callable[[AppRequest, Any], dict[str, Any]] = lambda _request, _run: {}
    readers: tuple[Role, ...] = (Role.MANAGER, Role.RESEARCHER)
    writers: tuple[Role, ...] = (Role.MANAGER,)

    def __post_init__(self) -> None:
        _PAGES[self.run] = self

    def paths(self, route: str, *, page: str, cancel: str, resume: str) -> list[URLPattern]:
        """The table of URLs below `route`, which has the study's slug and the run's pk; the others: names."""
        return [
            path(route, require_GET(for_roles(*self.readers)(self._page)), name=page),
            path(f"{route}cancel/", require_POST(for_roles(*self.writers, archived=True)(self._cancel)), name=cancel),
            path(f"{route}resume/", require_POST(for_roles(*self.writers)(self._resume)), name=resume),
        ]

    def _page(self, request: AppRequest, study: Study, pk: int) -> HttpResponse:
        """One run; its numbers are fetched again every two seconds while it works."""
        run = get_object_or_404(self.runs(study), pk=pk)
        context = {"study": study, "may_write": bool(study.roles & set(self.writers)), **self.context(run)}
        context["before"] = told_before(context["progress"].before, request.user)
        return run_page(request, run, template=self.template, numbers=self.numbers, context=context)

    def _cancel(self, request: AppRequest, study: Study, pk: int) -> HttpResponse:
        run = get_object_or_404(self.runs(study), pk=pk)
        self.cancel(run=run)
        return redirect(run)

    def _resume(self, request: AppRequest, study: Study, pk: int) -> HttpResponse:
        run = get_object_or_404(self.runs(study), pk=pk)
        try:
            self.resume(run=run, **self.resumed_with(request, run))
        except Refused as refused:
            messages.error(request, str(refused))
        return redirect(run)


# The pages of the kinds of runs, by their tables.
_PAGES: dict[type[Run], RunPages] = {}
