"""The manager's page on which rows, columns and labels made elsewhere come into a study."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotation import doors
from annotation.actions import Refused
from annotation.evidence import kinds
from annotation.exchange.background import cancel_import, is_large, percent_read, resume_import, start_import
from annotation.exchange.row_imports import Imported, ImportRefused, translated
from annotation.exchange.tables import TableError
from annotation.forms.imports import LabelsForm, RowsForm
from annotation.models import Import, Role, Study
from annotation.people.access import AppRequest, for_roles, posted_from
from annotation.queries import undoing
from annotation.scheme.spec import SchemeSpec
from annotation.views.runs import RunPages
from work.queries import progress
from work.states import RunState


@require_GET
@for_roles(Role.MANAGER)
def page(request: AppRequest, study: Study) -> HttpResponse:
    return _page(request, study)


@for_roles(Role.MANAGER)
@posted_from("annotation:import")
def rows(request: AppRequest, study: Study) -> HttpResponse:
    form = RowsForm(request.POST, request.FILES)
    refused = None
    if form.is_valid():
        if is_large(form.cleaned_data):
            return redirect(start_import(study=study, files=form.cleaned_data, by=request.user))
        try:
            imported = form.bring(study)
        except (TableError, Refused) as error:
            refused = _refuse(form, error)
        else:
            return _done(request, study, imported)
    return _page(request, study, rows_form=form, refused=refused)


@for_roles(Role.MANAGER)
@posted_from("annotation:import")
def labels(request: AppRequest, study: Study) -> HttpResponse:
    form = LabelsForm(request.POST, request.FILES)
    refused = None
    if form.is_valid():
        files = {"labels": form.cleaned_data["labels"]}
        if is_large(files):
            return redirect(start_import(study=study, files=files, by=request.user, how=form.how()))
        try:
            imported = form.bring(study)
        except (TableError, Refused) as error:
            refused = _refuse(form, error)
        else:
            return _done(request, study, imported)
    return _page(request, study, labels_form=form, refused=refused)


def _refuse(form: forms.Form, error: TableError | Refused) -> ImportRefused | None:
    """The list of problems for the top of the page; a single sentence goes to the form."""
    if isinstance(error, ImportRefused):
        return error
    form.add_error(None, translated(error.sentence) if isinstance(error, TableError) else str(error))
    return None


def _done(request: AppRequest, study: Study, imported: Imported) -> HttpResponse:
    said = " ".join(imported.sentences(study.scheme.parsed.words))
    if imported.lacks_texts:
        messages.warning(request, said)
    else:
        (messages.info if imported.nothing_new else messages.success)(request, said)
    return redirect("annotation:import", study.slug)


def _page(
    request: AppRequest,
    study: Study,
    *,
    rows_form: RowsForm | None = None,
    labels_form: LabelsForm | None = None,
    refused: ImportRefused | None = None,
) -> HttpResponse:
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "with_columns": [section for section in study.scheme.parsed.sections if not section.is_one_form],
        "block_kinds": _kinds_named(study.scheme.parsed),
        "rows_form": rows_form or RowsForm(),
        "labels_form": labels_form or LabelsForm(),
        "refused": refused,
        "ways_in": doors.ways_in(study),
        "background": study.imports.select_related("study")[:5],
        "has_gold": undoing.has_imported_gold(study),
    }
    return render(request, "annotation/import.html", context)


def _kinds_named(scheme: SchemeSpec) -> list[str]:
    """The kinds of evidence that the page names: those that are everywhere, and that the scheme declares or looks in.
    Those that packs bring for other studies come in as well."""
    own = {kind.key for kind in scheme.block_kinds} | {key for section in scheme.sections for key in section.evidence}
    return [key for key in kinds.known(scheme.block_kinds) if key in kinds.EVERYWHERE or key in own]


# --- an import that a worker does ------------------------------------------------------------------------------------


IMPORTS = RunPages(
    run=Import,
    template="annotation/import_run.html",
    numbers="annotation/_import_run.html",
    runs=lambda study: study.imports.select_related("study"),
    context=lambda run: {
        "progress": progress(run),
        "percent": percent_read(run),
        "refused": _refusal(run),
        "importer": doors.importer(run.what),
        "has_gold": run.state == RunState.FINISHED and undoing.has_imported_gold(run.study),
    },
    cancel=cancel_import,
    resume=resume_import,
    readers=(Role.MANAGER,),
)


def _refusal(run: Import) -> dict[str, Any] | None:
    """The problems that kept a file out, as `ImportRefused` has them."""
    return {"said": run.error, **run.outcome} if "problems" in run.outcome else None
