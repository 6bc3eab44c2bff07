"""The manager's pages of judges: which there are, start one, watch its run."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import AppRequest, for_roles
from annotation.actions import Refused
from annotation.models import Role, Study
from judges import actions, extraction_queries, queries
from judges.forms import JudgeForm, StartForm
from judges.models import Judge, Run


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def runs(request: AppRequest, study: Study) -> HttpResponse:
    runs = list(queries.runs_with_counts(study))
    context = {
        "study": study,
        "may_write": Role.MANAGER in study.roles,
        "runs": runs,
        "at_work": {run.judge_id for run in runs if run.state == Run.State.RUNNING},
        "judges": queries.judges_for(study),
        "extractors": extraction_queries.extractors(study),
        "max_repeats": actions.MAX_REPEATS,
    }
    return render(request, "judges/runs.html", context)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def run(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """One run; its numbers are fetched again every two seconds while it works."""
    run = _run(study, pk)
    context: dict[str, Any] = {
        "study": study,
        "run": run,
        "may_write": Role.MANAGER in study.roles,
        "progress": queries.progress(run),
        "problems": queries.problems(run),
    }
    if context["progress"].unreadable:
        context["unreadable"] = queries.unreadable(run)
        context["reasons"] = queries.unreadable_reasons(run)
    if not request.htmx:
        return render(request, "judges/run.html", context)
    response = render(request, "judges/_progress.html", context)
    if run.state != Run.State.RUNNING:
        response["HX-Refresh"] = "true"  # the page around the numbers changes too: its buttons, the record
    return response


@require_POST
@for_roles(Role.MANAGER)
def start(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    judge = get_object_or_404(Judge.objects.select_related("model", "prompt"), pk=pk)
    form = StartForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("How often a judge labels each row is a whole number. Nothing was started."))
        return redirect("judges:runs", study.slug)
    try:
        run = actions.start_run(study=study, judge=judge, by=request.user, repeats=form.cleaned_data["repeats"])
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("judges:runs", study.slug)
    return redirect("judges:run", study.slug, run.pk)


@require_POST
@for_roles(Role.MANAGER)
def cancel(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    actions.cancel_run(run=_run(study, pk))
    return redirect("judges:run", study.slug, pk)


@require_POST
@for_roles(Role.MANAGER)
def resume(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    try:
        actions.resume_run(run=_run(study, pk))
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("judges:run", study.slug, pk)


@require_http_methods(["GET", "POST"])
@permission_required("judges.add_judge", raise_exception=True)
@for_roles(Role.MANAGER)
def new_judge(request: AppRequest, study: Study) -> HttpResponse:
    form = JudgeForm(request.POST or None, scheme=study.scheme.parsed)
    if request.method == "POST" and form.is_valid():
        judge = actions.create_judge(**form.cleaned_data)
        messages.success(request, _("“%(judge)s” can be started now.") % {"judge": judge.name})
        return redirect("judges:runs", study.slug)
    return render(request, "judges/new_judge.html", {"study": study, "form": form})


def _run(study: Study, pk: int) -> Run:
    return get_object_or_404(
        Run.objects.select_related("judge__model", "judge__prompt", "rater", "study"), study=study, pk=pk
    )
