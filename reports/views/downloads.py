"""Downloads that a worker makes: asked for, waited for, fetched."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.actions import Refused, note_looks
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from annotation.views.runs import RunPages
from reports import actions
from reports.data.arrays import Filters
from reports.exported_labels import sheets_in
from reports.exports.making import file_name, path_of
from reports.forms import ExportForm, FiltersForm
from reports.models import Export
from work.queries import progress


@require_POST
@for_roles(Role.RESEARCHER, Role.MANAGER, archived=True)
def ask(request: AppRequest, study: Study) -> HttpResponse:
    """Of a frozen report, where the form names one; else of what the filters in the query let in."""
    form, filters = ExportForm(request.POST, study=study), FiltersForm(request.GET, study=study)
    if not form.is_valid() or not filters.is_valid():
        messages.error(request, _("Nothing is made: the filters, or the kind of download, are not understood."))
        return redirect("reports:report", study.slug)
    report = form.cleaned_data["report"]
    try:
        export = actions.ask_for_export(
            study=study,
            form=form.cleaned_data["form"],
            filters=Filters() if report else filters.filters(),
            by=request.user,
            report=report,
        )
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(*(("reports:frozen", study.slug, report.pk) if report else ("reports:report", study.slug)))
    return redirect(export)


def _exports(study: Study) -> QuerySet[Export]:
    return study.exports.defer("report__labels", "report__results").select_related("report", "study")


DOWNLOADS = RunPages(
    run=Export,
    template="reports/download.html",
    numbers="reports/_download.html",
    runs=_exports,
    context=lambda export: {"export": export, "frozen": export.report, "progress": progress(export)},
    cancel=actions.cancel_export,
    resume=actions.resume_export,
    writers=(Role.MANAGER, Role.RESEARCHER),
)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def download(request: AppRequest, study: Study, pk: int) -> HttpResponseBase:
    export = get_object_or_404(_exports(study), pk=pk)
    if export.state != Export.State.FINISHED:
        raise Http404
    try:
        file = path_of(export).open("rb")
    except FileNotFoundError as error:
        raise Http404 from error
    note_looks(sheets=sheets_in(study, Filters.from_json(export.filters)), user=request.user)
    return FileResponse(file, as_attachment=True, filename=file_name(export))
