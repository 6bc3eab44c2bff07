"""The panel of the board that says which runs are stuck."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import AppRequest, for_roles
from annotation.models import Role, Study
from judges import queries
from judges.models import Run


@require_GET
@for_roles(Role.MANAGER)
def panel(request: AppRequest, study: Study) -> HttpResponse:
    """The last run of each judge, with what keeps it from its end."""
    last: dict[int, Run] = {}
    for run in study.runs.select_related("judge__model", "rater").order_by("-started_at"):
        last.setdefault(run.judge_id, run)
    runs = [(run, queries.progress(run)) for run in last.values()]
    return render(request, "judges/_board.html", {"study": study, "runs": runs})
