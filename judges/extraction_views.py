"""The manager's pages of extractors: create one, start it, watch its run, see what it took out of a document."""

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
from annotation.models import Role, Row, Study
from judges import actions, documents, extracting, extraction_queries
from judges.extraction_forms import ExtractorForm
from judges.models import ExtractionRun, Extractor
from judges.states import RunState


@require_http_methods(["GET", "POST"])
@permission_required("judges.add_judge", raise_exception=True)
@for_roles(Role.MANAGER)
def new_extractor(request: AppRequest, study: Study) -> HttpResponse:
    form = ExtractorForm(request.POST or None, initial={"prompt_text": documents.suggested_prompt()})
    if request.method == "POST" and form.is_valid():
        try:
            extractor = actions.create_extractor(**form.cleaned_data)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, _("“%(extractor)s” can be started now.") % {"extractor": extractor.name})
            return redirect("judges:runs", study.slug)
    return render(request, "judges/new_extractor.html", {"study": study, "form": form})


@require_POST
@for_roles(Role.MANAGER)
def start(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    extractor = get_object_or_404(Extractor.objects.select_related("model"), pk=pk)
    try:
        run = actions.start_extraction(study=study, extractor=extractor, by=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("judges:runs", study.slug)
    return redirect("judges:extraction", study.slug, run.pk)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def run(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """One run and its documents; its numbers are fetched again every two seconds while it works."""
    run = _run(study, pk)
    context: dict[str, Any] = {
        "study": study,
        "run": run,
        "may_write": Role.MANAGER in study.roles,
        "progress": extraction_queries.progress(run),
        "documents": extraction_queries.documents_of(run),
    }
    if not request.htmx:
        return render(request, "judges/extraction.html", context)
    response = render(request, "judges/_extraction_progress.html", context)
    if run.state != RunState.RUNNING:
        response["HX-Refresh"] = "true"  # the page around the numbers changes too
    return response


@require_POST
@for_roles(Role.MANAGER)
def cancel(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    actions.cancel_extraction(run=_run(study, pk))
    return redirect("judges:extraction", study.slug, pk)


@require_POST
@for_roles(Role.MANAGER)
def resume(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    try:
        actions.resume_extraction(run=_run(study, pk))
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("judges:extraction", study.slug, pk)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def document(request: AppRequest, study: Study, pk: int, row: int) -> HttpResponse:
    """What a run's extractor took out of one document, beside the document."""
    run = _run(study, pk)
    found = get_object_or_404(
        Row.objects.select_related("sheet"), sheet__study=study, extraction_items__run=run, pk=row
    )
    lists = [
        {"of": one, "repairs": extracting.told(one.repairs)}
        for one in extraction_queries.lists_of(run.extractor, found)
    ]
    context = {"study": study, "run": run, "row": found, "blocks": found.blocks, "lists": lists}
    return render(request, "judges/extracted.html", context)


def _run(study: Study, pk: int) -> ExtractionRun:
    return get_object_or_404(
        ExtractionRun.objects.select_related("extractor__model", "study", "started_by"), study=study, pk=pk
    )
