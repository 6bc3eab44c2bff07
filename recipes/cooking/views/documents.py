"""The manager's page of generated recipes and web documents."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from csp.constants import NONE, SELF
from csp.decorators import csp
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_GET, require_POST

from annotation.actions import Refused
from annotation.models import Assignment, Rater, Role, Row, Sheet, Study
from annotation.people.access import AppRequest, check_role, for_roles
from recipes.cooking import actions, mending_queries, retrieval_queries
from recipes.cooking.forms import DocumentsForm, RecipeForm
from recipes.cooking.models import Document
from recipes.cooking.pages import Page, PageRefused, read_files, readable

logger = logging.getLogger(__name__)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def documents(request: AppRequest, study: Study) -> HttpResponse:
    return _page(request, study)


@require_POST
@for_roles(Role.MANAGER)
def add_recipe(request: AppRequest, study: Study) -> HttpResponse:
    form = RecipeForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            sheet = actions.add_recipe(study=study, recipe=form.cleaned_data["recipe"])
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, _("“%(title)s” is in. Import its documents now.") % {"title": sheet.title})
            return redirect("recipes:documents", study.slug)
    return _page(request, study, recipe_form=form)


@require_POST
@for_roles(Role.MANAGER)
def import_documents(request: AppRequest, study: Study) -> HttpResponse:
    form = DocumentsForm(request.POST, request.FILES, study=study)
    if not form.is_valid():
        return _page(request, study, documents_form=form)
    sheet = form.cleaned_data["sheet"]
    files = [(file.name or "", file.file) for file in form.cleaned_data["pages"]]
    result = actions.import_documents(sheet=sheet, pages=_pages(files))
    if result.added:
        n = len(result.added)
        messages.success(
            request,
            ngettext("%(n)s document added to “%(sheet)s”.", "%(n)s documents added to “%(sheet)s”.", n)
            % {"n": n, "sheet": sheet.title},
        )
        if _is_planned(sheet):
            messages.warning(
                request,
                ngettext(
                    "“%(sheet)s” was planned before: nobody is assigned to its new document yet. Do so under “Plan”.",
                    "“%(sheet)s” was planned before: nobody is assigned to its new documents yet. Do so under “Plan”.",
                    n,
                )
                % {"sheet": sheet.title},
            )
    for sentence in result.refused:
        messages.error(request, sentence)
    return redirect("recipes:documents", study.slug)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def document(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """What was taken out of a page: the text that people are shown and judges are prompted with."""
    row = get_object_or_404(Row.objects.select_related("sheet", "document"), sheet__study=study, pk=pk)
    hit = retrieval_queries.hits(study).filter(document__row=row).first()
    context = {
        "study": study,
        "row": row,
        "blocks": row.blocks,
        "hit": hit,
        "may_write": Role.MANAGER in study.roles,
        "state": mending_queries.states(study).get(row.pk),
        "history": mending_queries.history(row),
        "seen": mending_queries.digest_of(row),
    }
    return render(request, "recipes/document.html", context)


# Nothing runs and nothing is loaded in a stored page, even when its address is opened by itself.
_SANDBOX = {"default-src": [NONE], "style-src": [SELF], "frame-ancestors": [SELF], "base-uri": [NONE], "sandbox": True}


@require_GET
@csp(_SANDBOX)  # type: ignore[arg-type]  # its types know no view that takes more than a request
@xframe_options_sameorigin
def stored_page(request: AppRequest, pk: int) -> HttpResponse:
    """The page behind a row as it was imported, for those who label it and for the desk."""
    row = get_object_or_404(Row.objects.select_related("sheet__study"), pk=pk)
    if not Assignment.objects.of_user(request.user).filter(row=row).exists():
        check_role(request.user, row.sheet.study, Role.MANAGER, Role.RESEARCHER)
    stored = get_object_or_404(Document, row=row)
    page = readable(stored.source, gzip.decompress(bytes(stored.html_gz)))
    return render(request, "recipes/stored_page.html", {"row": row, "page": mark_safe(page)})  # noqa: S308


def _pages(files: Iterable[tuple[str, BinaryIO]]) -> Iterator[Page | PageRefused]:
    """The pages of each file. One that breaks the reader in a way that nobody foresaw does not stop the others."""
    for name, stream in files:
        try:
            yield from read_files([(name, stream)])
        except Exception:
            logger.exception("%s could not be read", name)
            yield PageRefused(name, _("could not be read any further. The error was logged."))


def _is_planned(sheet: Sheet) -> bool:
    at_work = Assignment.objects.filter(row__sheet=sheet, rater__kind=Rater.Kind.PERSON)
    return at_work.exclude(state=Assignment.State.WITHDRAWN).exists()


def _page(
    request: AppRequest,
    study: Study,
    *,
    recipe_form: RecipeForm | None = None,
    documents_form: DocumentsForm | None = None,
) -> HttpResponse:
    rows: dict[int, list[Row]] = {}
    for row in Row.objects.filter(sheet__study=study).select_related("document").defer("evidence", "document__html_gz"):
        rows.setdefault(row.sheet_id, []).append(row)
    sheets = list(study.sheets.order_by("position"))
    states = mending_queries.states(study)
    for row in (row for of_sheet in rows.values() for row in of_sheet):
        row.reading = states.get(row.pk)  # type: ignore[attr-defined]  # for the template
    readers, hosts = mending_queries.shares(study)
    context = {
        "study": study,
        "may_write": Role.MANAGER in study.roles,
        "sheets": [{"sheet": sheet, "rows": rows.get(sheet.pk, [])} for sheet in sheets],
        "n_doubtful": sum(bool(state.doubts) and not state.looked_at for state in states.values()),
        "n_looked_at": sum(state.looked_at for state in states.values()),
        "readers": readers,
        "hosts": hosts,
        "recipe_form": recipe_form or RecipeForm(),
        "documents_form": documents_form or DocumentsForm(study=study),
    }
    return render(request, "recipes/documents.html", context)
