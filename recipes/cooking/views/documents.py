"""The manager's page of generated recipes and web documents."""

from __future__ import annotations

import gzip
from collections import Counter
from urllib.parse import urlencode

from csp.constants import NONE, SELF
from csp.decorators import csp
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_GET

from annotation.actions import Refused
from annotation.evidence.kinds import HEADING, known
from annotation.models import Import, Role, Row, Sheet, Study
from annotation.people.access import AppRequest, for_roles, posted_from, row_for_reader
from annotation.queries import coming_rows, setup
from recipes.cooking import actions, exchange, mending_queries, queries, retrieval_queries
from recipes.cooking.forms import DocumentsForm, ProposedRecipeForm, RecipeForm
from recipes.cooking.models import Document
from recipes.cooking.pages import readable


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def documents(request: AppRequest, study: Study) -> HttpResponse:
    return _page(request, study)


@for_roles(Role.MANAGER)
@posted_from("recipes:documents")
def add_recipe(request: AppRequest, study: Study) -> HttpResponse:
    """Add a recipe that says all. What any other text comes to is proposed first, and added when it comes back."""
    if not actions.takes_recipes(study):  # and its page has no such form
        messages.error(request, _("The scheme of this study has no section “ingredients” with the facet “ingredient”."))
        return redirect("recipes:documents", study.slug)
    asks_tasks = actions.asks_tasks(study)
    form: RecipeForm | ProposedRecipeForm
    if is_proposed := "proposed" in request.POST:
        form = ProposedRecipeForm(request.POST, asks_tasks=asks_tasks)
    else:
        form = RecipeForm(request.POST, request.FILES, asks_tasks=asks_tasks)
    if form.is_valid():
        if proposal := form.cleaned_data.get("proposal"):
            initial = ProposedRecipeForm.initial_of(proposal)
            form = ProposedRecipeForm(initial=initial, asks_tasks=asks_tasks)
            return render(request, "recipes/new_recipe.html", {"study": study, "form": form})
        try:
            sheet = actions.add_recipe(
                study=study, recipe=form.cleaned_data["recipe"], written=form.cleaned_data.get("written", {})
            )
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, _("“%(title)s” is in. Import its documents now.") % {"title": sheet.title})
            return redirect(_at(sheet))
    if is_proposed:
        return render(request, "recipes/new_recipe.html", {"study": study, "form": form})
    assert isinstance(form, RecipeForm)
    return _page(request, study, recipe_form=form)


@for_roles(Role.MANAGER)
@posted_from("recipes:documents")
def import_documents(request: AppRequest, study: Study) -> HttpResponse:
    form = DocumentsForm(request.POST, request.FILES, study=study)
    if not form.is_valid():
        return _page(request, study, documents_form=form)
    sheet = form.cleaned_data["sheet"]
    files = form.cleaned_data["pages"]
    if exchange.is_large(files):
        return redirect(exchange.start(sheet=sheet, files=files, by=request.user))
    pages = exchange.pages_of((file.name or "", file.file) for file in files)
    result = actions.import_documents(sheet=sheet, pages=pages)
    said, then = exchange.sentences(sheet, len(result.added))
    if said:
        messages.success(request, said)
    if then:
        messages.warning(request, then)
    for sentence in result.again:
        messages.warning(request, sentence)
    for sentence in result.refused:
        messages.error(request, sentence)
    return redirect(_at(sheet))


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def document(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """What was taken out of a page: the text that people are shown and judges are prompted with."""
    row = get_object_or_404(Row.objects.select_related("sheet", "document", "withdrawn_by"), sheet__study=study, pk=pk)
    hit = retrieval_queries.hits(study).filter(document__row=row).first()
    context = {
        "study": study,
        "row": row,
        "blocks": row.blocks,
        "hit": hit,
        "may_write": Role.MANAGER in study.roles,
        # A row of a table, in a study of something else, has no page and no recipe to be put right.
        "is_read": hasattr(row, "document") or actions.takes_recipes(study),
        "state": mending_queries.states(study).get(row.pk),
        "history": mending_queries.history(row),
        "seen": mending_queries.digest_of(row),
    }
    return render(request, "recipes/document.html", context)


# Nothing runs and nothing is loaded in a stored page, even when its address is opened by itself.
_SANDBOX = {"default-src": [NONE], "style-src": [SELF], "frame-ancestors": [SELF], "base-uri": [NONE]}
# The grid hears keys in the page and marks words there; without scripts of its own that is all that its origin gives.
_SANDBOX["sandbox"] = ["allow-same-origin"]


@require_GET
@csp(_SANDBOX)  # type: ignore[arg-type]  # its types know no view that takes more than a request
@xframe_options_sameorigin
def stored_page(request: AppRequest, pk: int) -> HttpResponse:
    """The page behind a row as it was imported, for those who label it and for the desk."""
    row = row_for_reader(request.user, pk)
    stored = get_object_or_404(Document, row=row)
    page = readable(stored.source, gzip.decompress(bytes(stored.html_gz)))
    return render(request, "recipes/stored_page.html", {"row": row, "page": mark_safe(page)})  # noqa: S308


def _at(sheet: Sheet) -> str:
    """The page, on which the next documents are meant for this sheet as well."""
    return f"{reverse('recipes:documents', args=[sheet.study.slug])}?{urlencode({'sheet': sheet.pk})}"


def _page(
    request: AppRequest,
    study: Study,
    *,
    recipe_form: RecipeForm | None = None,
    documents_form: DocumentsForm | None = None,
) -> HttpResponse:
    rows: dict[int, list[Row]] = {}
    there = Row.objects.filter(sheet__study=study).exclude(coming_rows(study.pk))
    for row in there.select_related("document").defer("document__html_gz"):
        rows.setdefault(row.sheet_id, []).append(row)
    sheets = list(study.sheets.order_by("position").select_related("recipe"))
    kinds = known(study.scheme.parsed.block_kinds)
    states = mending_queries.states(study)
    for row in (row for of_sheet in rows.values() for row in of_sheet):
        row.reading = states.get(row.pk)  # type: ignore[attr-defined]  # for the template
        counts = Counter(str(block.get("kind")) for block in row.evidence)
        row.read = [(kinds[kind].title, n) for kind, n in counts.items() if kind in kinds and kind != HEADING]  # type: ignore[attr-defined]
    readers, hosts = mending_queries.shares(study)
    context = {
        "study": study,
        "may_write": Role.MANAGER in study.roles,
        "imports": study.imports.filter(what=Import.What.PAGES)[:5],
        "takes_recipes": actions.takes_recipes(study),
        "words": study.scheme.parsed.words.translated(),
        "way_in": setup.way_in(study),
        # Where it is about something else, pages of recipes are offered at once to who has brought or tried some.
        "takes_pages": bool(documents_form) or any(hasattr(row, "document") for of in rows.values() for row in of),
        "sheets": [
            {"sheet": sheet, "rows": rows.get(sheet.pk, []), "text": queries.text_of(getattr(sheet, "recipe", None))}
            for sheet in sheets
        ],
        "declared": study.scheme.parsed.block_kinds,
        "n_doubtful": sum(bool(state.doubts) and not state.looked_at for state in states.values()),
        "n_looked_at": sum(state.looked_at for state in states.values()),
        "readers": readers,
        "hosts": hosts,
        "recipe_form": recipe_form or RecipeForm(asks_tasks=actions.asks_tasks(study)),
        "documents_form": documents_form or DocumentsForm(study=study, at=request.GET.get("sheet", "")),
    }
    return render(request, "recipes/documents.html", context)
