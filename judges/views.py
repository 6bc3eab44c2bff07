"""The manager's pages of judges and extractors: which there are, create one, start it, watch its run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.actions import Refused
from annotation.models import Role, Row, Study
from annotation.people.access import AppRequest, for_roles
from annotation.views.runs import RunPages
from judges import actions, correcting, queries
from judges.extraction import extracting
from judges.extraction import queries as extraction_queries
from judges.forms import LimitForm, StartForm, limit_refused, resumed_by
from judges.methods import SCORES
from judges.models import Extraction, ExtractionRun, Extractor, Judge, Run
from judges.runs import evidence
from judges.spending import queries as spending
from llm import registry
from llm.backends.base import BackendError
from work import queries as work

# Answers that could not be read: of those on a run's page, and of a page of all.
_FEW, _A_PAGE = 5, 100


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def runs(request: AppRequest, study: Study) -> HttpResponse:
    runs = queries.runs_in_line(study)
    judges, extractors = queries.fitting(study), extraction_queries.extractors(study)
    context = {
        "study": study,
        "may_write": Role.MANAGER in study.roles,
        "runs": runs,
        "at_work": {run.judge_id for run in runs if run.is_running},
        "nothing_left": queries.with_nothing_left(study),
        "judges": [judge for judge in judges if judge.archived_at is None],
        "extractors": [line for line in extractors if line.extractor.archived_at is None],
        "archived": [
            *(("judge", judge) for judge in judges if judge.archived_at),
            *(("extractor", line.extractor) for line in extractors if line.extractor.archived_at),
        ],
        "max_repeats": actions.MAX_REPEATS,
        "scored": SCORES,
        "may_stack": len({run.rater_id for run in runs if getattr(run, "n_cells", 0)}) > 1,
    }
    return render(request, "judges/runs.html", context)


# --- creating and starting ------------------------------------------------------------------------------------------


@require_POST
@for_roles(Role.MANAGER)
def start(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    judge = get_object_or_404(Judge.objects.known_in(study).select_related("model", "prompt"), pk=pk)
    form = StartForm(request.POST)
    if not form.is_valid():
        messages.error(request, _refused(form))
        return redirect("judges:runs", study.slug)
    begin = partial(
        actions.start_run,
        judge=judge,
        repeats=form.cleaned_data["repeats"],
        most_tokens=form.cleaned_data["most_tokens"],
        most_cost=form.cleaned_data["most_cost"],
        corrected=judge.evidence_id is not None and form.cleaned_data["corrected"],
    )
    return _started(request, study, begin)


def _refused(form: LimitForm) -> str:
    if "repeats" in form.errors:
        return _("How often a judge labels each row is a whole number. Nothing was started.")
    return limit_refused()


@require_POST
@for_roles(Role.MANAGER)
def start_extraction(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    extractor = get_object_or_404(Extractor.objects.select_related("model"), pk=pk)
    form = LimitForm(request.POST)
    if not form.is_valid():
        messages.error(request, _refused(form))
        return redirect("judges:runs", study.slug)
    return _started(request, study, partial(actions.start_extraction, extractor=extractor, **form.cleaned_data))


def _started(request: AppRequest, study: Study, begin: Callable[..., Run | ExtractionRun]) -> HttpResponse:
    try:
        run = begin(study=study, by=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("judges:runs", study.slug)
    return redirect(run)


# --- a run, of a judge or an extractor ------------------------------------------------------------------------------


def _of_judge(run: Run) -> dict[str, Any]:
    progress = queries.progress(run)
    context = {
        "tool": run.judge,
        "progress": progress,
        "problems": queries.problems(run),
        "scored": SCORES,
        "spent": spending.spent(run),
        "lens": queries.sheets_labelled(run) if progress.done else [],
        "help": _help_of(run),
    }
    if progress.done:
        context["speaking"] = queries.speaking(run)
        if not run.is_running:  # it is much to count at each look
            context |= {"answered": queries.answered(run), "presets": queries.n_presets(run)}
    if progress.unreadable:
        context |= {"unreadable": list(queries.unreadable(run)[:_FEW]), "reasons": queries.unreadable_reasons(run)}
    return context


def _help_of(run: Run) -> str:
    """Where the documentation speaks of what stopped a run."""
    if run.judge.model is None or run.state != Run.State.FAILED:
        return ""
    try:
        return registry.class_of(run.judge.model.backend).help
    except BackendError:  # it was taken out of the installation, which the run says
        return ""


def _of_extractor(run: ExtractionRun) -> dict[str, Any]:
    return {
        "tool": run.extractor,
        "progress": work.progress(run),
        "spent": spending.spent(run),
        "given": extraction_queries.given(run),
        "errors": [one for one in extraction_queries.errors(run.study) if one.extractor == run.extractor],
        "documents": extraction_queries.documents_of(run),
    }


JUDGING = RunPages(
    run=Run,
    template="judges/run.html",
    numbers="judges/_progress.html",
    runs=lambda study: study.runs.select_related("judge__model", "judge__prompt", "rater", "study"),
    context=_of_judge,
    cancel=actions.cancel_run,
    resume=actions.resume_run,
    resumed_with=resumed_by,
)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def unreadable(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """All answers of a run that held no verdict, a page of them."""
    run = get_object_or_404(JUDGING.runs(study), pk=pk)
    page = Paginator(queries.unreadable(run), _A_PAGE).get_page(request.GET.get("page"))
    return render(request, "judges/unreadable.html", {"study": study, "run": run, "unreadable": page})


EXTRACTING = RunPages(
    run=ExtractionRun,
    template="judges/extraction.html",
    numbers="judges/_extraction_progress.html",
    runs=lambda study: study.extraction_runs.select_related("extractor__model", "study", "started_by"),
    context=_of_extractor,
    cancel=actions.cancel_extraction,
    resume=actions.resume_extraction,
    resumed_with=resumed_by,
)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def document(request: AppRequest, study: Study, pk: int, row: int) -> HttpResponse:
    """What a run's extractor took out of one document, beside the document."""
    run = get_object_or_404(EXTRACTING.runs(study), pk=pk)
    found = get_object_or_404(
        Row.objects.select_related("sheet"), sheet__study=study, extraction_items__run=run, pk=row
    )
    taken = extraction_queries.lists_of(run.extractor, found)
    corrections = evidence.corrections_of(taken)
    edited = request.GET.get("mend", "")
    may_write = Role.MANAGER in study.roles
    lists = [
        {
            "of": one,
            "repairs": extracting.told(one.repairs),
            "correction": corrections.get(one.pk),
            "form": correcting.form_of(one, corrections.get(one.pk)) if may_write and edited == one.kind else None,
        }
        for one in taken
    ]
    context = {"study": study, "run": run, "row": found, "blocks": found.blocks, "lists": lists, "may_write": may_write}
    return render(request, "judges/extracted.html", context)


@require_POST
@for_roles(Role.MANAGER)
def correct(request: AppRequest, study: Study, pk: int, row: int, kind: str) -> HttpResponse:
    """A person's list in place of an extracted one."""
    run = get_object_or_404(EXTRACTING.runs(study), pk=pk)
    found = get_object_or_404(
        Extraction, extractor=run.extractor, kind=kind, row__sheet__study=study, row__extraction_items__run=run, row=row
    )
    page = reverse("judges:extracted", args=[study.slug, pk, row])
    try:
        made = actions.correct(extraction=found, lines=correcting.lines_in(found, request.POST), by=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(f"{page}?mend={kind}")
    messages.success(
        request,
        _("Kept: %(added)s added, %(dropped)s dropped, %(changed)s changed.")
        % {"added": made.added, "dropped": made.dropped, "changed": made.changed},
    )
    return redirect(page)
