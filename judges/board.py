"""The panel of the board that says which work is stuck."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from judges.extraction import queries as extraction_queries
from work import kinds, queries
from work.models import Run


@require_GET
@for_roles(Role.MANAGER)
def panel(request: AppRequest, study: Study) -> HttpResponse:
    """The last run of each judge and of whatever else works here, with what keeps it from its end."""
    runs = list(_last_of_each(study))
    context = {
        "study": study,
        "runs": list(zip(runs, queries.progress_of(runs), strict=True)),
        "errors": extraction_queries.errors(study),
    }
    return render(request, "judges/_board.html", context)


def _last_of_each(study: Study) -> Iterator[Run]:
    """Runs of all kinds of work, the last one of each maker; of work that is one piece those that are not over yet."""
    for kind in kinds.every():
        if not kind.awaited or "study" not in {field.name for field in kind.run._meta.fields}:
            continue
        last: dict[str, Run] = {}
        runs: QuerySet[Any] = kind.run._default_manager.all()
        for run in queries.with_makers(runs.filter(study=study)).order_by("-started_at"):
            run.study = study
            if not kind.fails_the_run:
                last.setdefault(run.maker, run)
            elif run.is_running:
                last[f"{run.pk}"] = run
        yield from last.values()
