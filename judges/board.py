"""The panel of the board that says which work is stuck."""

from __future__ import annotations

from collections.abc import Iterator

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
    runs = [(run, queries.progress(run)) for run in _last_of_each(study)]
    return render(
        request, "judges/_board.html", {"study": study, "runs": runs, "errors": extraction_queries.errors(study)}
    )


def _last_of_each(study: Study) -> Iterator[Run]:
    """Runs of all kinds of work, the last one of each maker; of work that is one piece those that are not over yet."""
    for kind in kinds.every():
        related = {field.name for field in kind.run._meta.fields if field.is_relation}
        if not kind.awaited or "study" not in related:
            continue
        last: dict[str, Run] = {}
        of_study = kind.run._default_manager.filter(study=study)  # type: ignore[misc]  # the abstract run has none
        if makers := related - {"study", "started_by"}:
            of_study = of_study.select_related(*makers)
        for run in of_study.order_by("-started_at"):
            run.study = study  # type: ignore[attr-defined]
            if not kind.fails_the_run:
                last.setdefault(run.maker, run)
            elif run.is_running:
                last[f"{run.pk}"] = run
        yield from last.values()
