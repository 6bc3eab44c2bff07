"""Downloads that a worker makes: asked for, waited for, fetched."""

from __future__ import annotations

from django.contrib import messages
from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.access import AppRequest, for_roles
from annotation.actions import note_looks
from annotation.models import Role, Study
from reports import actions
from reports.arrays import Filters
from reports.exporting import file_name, path_of
from reports.forms import ExportForm, FiltersForm
from reports.models import Export
from reports.queries import sheets_in


@require_POST
@for_roles(Role.RESEARCHER, Role.MANAGER)
def ask(request: AppRequest, study: Study) -> HttpResponse:
    """Of a frozen report, where the form names one; else of what the filters in the query let in."""
    form, filters = ExportForm(request.POST, study=study), FiltersForm(request.GET, study=study)
    if not form.is_valid() or not filters.is_valid():
        messages.error(request, _("Nothing is made: the filters, or the kind of download, are not understood."))
        return redirect("reports:report", study.slug)
    report = form.cleaned_data["report"]
    export = actions.ask_for_export(
        study=study,
        form=form.cleaned_data["form"],
        filters=Filters() if report else filters.filters(),
        by=request.user,
        report=report,
    )
    return redirect("reports:download", study.slug, export.pk)


def _export(study: Study, pk: int) -> Export:
    return get_object_or_404(study.exports.defer("report__labels", "report__results").select_related("report"), pk=pk)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def download_state(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """How far it is; the page asks again every second until it is ready."""
    export = _export(study, pk)
    context = {"study": study, "export": export, "frozen": export.report}
    return render(request, "reports/download.html", context)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def download(request: AppRequest, study: Study, pk: int) -> HttpResponseBase:
    export = _export(study, pk)
    if export.state != Export.State.READY:
        raise Http404
    try:
        file = path_of(export).open("rb")
    except FileNotFoundError as error:
        raise Http404 from error
    note_looks(sheets=sheets_in(study, Filters.from_json(export.filters)), user=request.user)
    return FileResponse(file, as_attachment=True, filename=file_name(export))
