"""Frozen verdicts: listed, read, computed again, downloaded."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation.actions import note_looks
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles, posted_from
from recipes.memorization.models import FrozenVerdict
from recipes.memorization.verdict import files, freezing
from reports.contents import read_contents
from reports.data.label_table import UnknownFormat, unpacked
from reports.exports.texts import Origin
from reports.frozen.recomputing import Recomputed
from reports.queries import rows_about
from reports.views.pages import figure_response


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def frozen_list(request: AppRequest, study: Study) -> HttpResponse:
    verdicts = study.frozen_verdicts.defer("labels", "results", "beside").select_related("created_by")
    return render(request, "recipes/frozen_verdicts.html", {"study": study, "verdicts": verdicts})


def _frozen(study: Study, pk: int) -> FrozenVerdict:
    found: FrozenVerdict = get_object_or_404(study.frozen_verdicts.select_related("created_by"), pk=pk)
    return found


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def frozen(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    return _page(request, study, _frozen(study, pk))


@for_roles(Role.RESEARCHER, Role.MANAGER, archived=True)
@posted_from("memorization:frozen-verdict")
def recompute(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    found = _frozen(study, pk)
    try:
        again = freezing.recompute(found)
    except UnknownFormat:
        messages.error(request, _("The labels of this verdict cannot be read by this version of Palate."))
        return redirect(found)
    return _page(request, study, found, again)


def _page(request: AppRequest, study: Study, found: FrozenVerdict, again: Recomputed | None = None) -> HttpResponse:
    context = {
        "study": study,
        "frozen": found,
        "contents": read_contents(found.results),
        "again": again,
        "endings": files.ENDINGS,
    }
    return render(request, "recipes/frozen_verdict.html", context)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def figure(request: AppRequest, study: Study, pk: int, key: str, ending: str) -> HttpResponse:
    contents = read_contents(_frozen(study, pk).results)
    return figure_response(request, next((each for each in contents.figures if each.key == key), None), ending)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def download(request: AppRequest, study: Study, pk: int, ending: str) -> HttpResponse:
    if ending not in files.TYPES:
        raise Http404
    found = _frozen(study, pk)
    contents, table = read_contents(found.results), unpacked(bytes(found.labels))
    if ending in ("xlsx", "zip"):
        note_looks(sheets=study.sheets.all(), user=request.user)
    origin = Origin(
        title=found.title,
        date=found.created_at.date().isoformat(),
        frozen=found.pk,
        data_digest=found.data_digest,
        results_digest=found.results_digest,
        code_version=found.code_version,
        libraries=found.libraries,
        seeds={},
    )
    content = files.content(ending, contents, table, origin, rows_about(study, table))
    return files.response(content, ending, f"{study.slug}-verdict-{found.pk}")
