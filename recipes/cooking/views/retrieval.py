"""Searching for documents: what there is, a search to start, its hits and what became of them, what was reserved."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.actions import Refused
from annotation.models import Column, Role, Sheet, Study
from annotation.people.access import AppRequest, for_roles, posted_from
from annotation.views.runs import RunPages
from recipes.cooking import actions, downloads, exchange
from recipes.cooking import retrieval_queries as queries
from recipes.cooking.forms import ItemsForm, RecordedForm, SearchForm
from recipes.cooking.models import Hit, Retrieval
from recipes.cooking.web import engines, optouts
from work import queries as work

HITS_A_PAGE = 200


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def searches(request: AppRequest, study: Study) -> HttpResponse:
    return _overview(request, study, RecordedForm())


def _overview(request: AppRequest, study: Study, form: RecordedForm) -> HttpResponse:
    context = {
        "study": study,
        "may_write": Role.MANAGER in study.roles,
        "sheets": queries.sheets(study),
        "reserved": queries.opt_outs(study),
        "kinds": _kinds(),
        "runs": queries.retrievals_with_counts(study),
        "engines": queries.engines_for(study),
        "recorded_form": form,
        "takes_recipes": actions.takes_recipes(study),
        "words": study.scheme.parsed.words.translated(),
        "fates": _fates(study),
    }
    return render(request, "recipes/searches.html", context)


def _fates(study: Study) -> dict[str, str]:
    """What may become of a hit, as the study's scheme calls its rows."""
    words = study.scheme.parsed.words.translated()
    labels = {state: str(label) for state, label in Hit.State.choices} | {Hit.State.DOCUMENT: words.row}
    if not actions.takes_recipes(study):
        labels[Hit.State.NO_RECIPE] = _("no %(row)s") % {"row": words.row}
    return labels


def _kinds() -> dict[str, str]:
    return {kind: _(title) for kind, title in optouts.KINDS.items()}


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def new_search(request: AppRequest, study: Study) -> HttpResponse:
    """What a search would ask, drawn again at each change of the form (GET); start it (POST)."""
    data = request.POST if request.method == "POST" else request.GET
    form = SearchForm(data if "words" in data else None, study=study, initial={"sheets": data.getlist("sheet")})
    return _asked(request, study, form, "recipes/new_search.html")


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def search_items(request: AppRequest, study: Study) -> HttpResponse:
    """Search again for items that were found nowhere: `column` names them, once each. A POST of these alone starts it
    with what the form has at first; a GET shows the form."""
    data = request.POST if request.method == "POST" else request.GET
    columns = list(
        queries.columns(study, [int(pk) for pk in data.getlist("column") if pk.isdecimal() and len(pk) < 19])
    )
    if not columns:
        return _choose_items(request, study)
    form = (
        ItemsForm.filled(data, study=study, columns=columns)
        if request.method == "POST" or "documents" in data
        else None
    )
    return _asked(request, study, form or ItemsForm(study=study, columns=columns), "recipes/search_items.html")


def _choose_items(request: AppRequest, study: Study) -> HttpResponse:
    columns: dict[Sheet, list[Column]] = {}
    for column in queries.columns(study, Column.objects.filter(sheet__study=study).values_list("pk", flat=True)):
        columns.setdefault(column.sheet, []).append(column)
    context = {"study": study, "columns": columns, "takes_recipes": actions.takes_recipes(study)}
    return render(request, "recipes/choose_items.html", context)


def _asked(request: AppRequest, study: Study, form: SearchForm | ItemsForm, template: str) -> HttpResponse:
    if request.method == "POST" and form.is_valid():
        try:
            run = form.start(by=request.user)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect(run)
    words = study.scheme.parsed.words.translated()
    context: dict[str, Any] = {"study": study, "form": form, "outlook": form.outlook(), "words": words}
    if request.htmx:
        return render(request, "recipes/_outlook.html", context)
    return render(request, template, context)


@for_roles(Role.MANAGER)
@posted_from("recipes:searches")
def record_results(request: AppRequest, study: Study) -> HttpResponse:
    """Results that were recorded elsewhere: all of a file, or nothing."""
    form = RecordedForm(request.POST, request.FILES)
    if form.is_valid():
        file = form.cleaned_data["results"]
        try:
            result = exchange.take_results(study=study, file=file.file, name=file.name or "", by=request.user)
        except exchange.ResultsRefused as refused:
            form.add_error("results", refused.problems)
        else:
            stored, known = exchange.told_of_results(result)
            if stored:
                messages.success(request, stored)
            if known:
                messages.info(request, known)
            return redirect("recipes:searches", study.slug)
    return _overview(request, study, form)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def hits(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """All hits of a sheet, with their fates."""
    sheet = get_object_or_404(study.sheets, pk=pk)
    of_sheet = queries.hits(study).filter(search__sheet=sheet)
    state = request.GET.get("state", "")
    if state in Hit.State.values:
        of_sheet = of_sheet.filter(state=state)
    context = {
        "study": study,
        "sheet": sheet,
        "may_write": Role.MANAGER in study.roles,
        "page": Paginator(of_sheet, HITS_A_PAGE).get_page(request.GET.get("page")),
        "state": state,
        "fates": _fates(study),
        "words": study.scheme.parsed.words.translated(),
    }
    return render(request, "recipes/hits.html", context)


@require_POST
@for_roles(Role.MANAGER)
def decide(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """A person confirms or overrules what the reader said of a page."""
    found = Hit.objects.select_related("search__sheet__study__scheme", "search__column", "document__row__sheet")
    hit = get_object_or_404(found, search__sheet__study=study, pk=pk)
    said, stood, tell = "", hit.stands, messages.warning
    try:
        actions.decide(hit=hit, is_document=request.POST.get("is_document") == "yes", by=request.user)
    except Refused as refused:
        said, tell = str(refused), messages.error
    hit = queries.hits(study).get(pk=hit.pk)
    if hit.stands and not stood and hit.document is not None:
        said = exchange.told_of_again(hit.document.row)
    if request.htmx:
        context = {"study": study, "hit": hit, "may_write": True, "said": said, "fates": _fates(study)}
        return render(request, "recipes/_hit.html", context)
    if said:
        tell(request, said)
    return redirect("recipes:hits", study.slug, hit.search.sheet_id)


@require_POST
@for_roles(Role.MANAGER)
def fetch_next(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """The next rank in the place of a hit that was overruled after its run had ended."""
    found = Hit.objects.select_related("search__sheet", "search__column")
    hit = get_object_or_404(found, search__sheet__study=study, pk=pk)
    try:
        return redirect(actions.fetch_next(hit=hit, by=request.user))
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("recipes:hits", study.slug, hit.search.sheet_id)


# --- downloads --------------------------------------------------------------------------------------------------------


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def hits_csv(request: AppRequest, study: Study) -> StreamingHttpResponse:
    """All hits of a study with their fates and opt-outs."""
    return downloads.hits(study)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def pages_warc(request: AppRequest, study: Study) -> StreamingHttpResponse:
    """The fetched pages of a study as one file of WARC records."""
    return downloads.pages(study)


# --- the page of a run ------------------------------------------------------------------------------------------------


def _of_run(run: Retrieval) -> dict[str, Any]:
    brought = queries.brought(run)
    words = run.study.scheme.parsed.words.translated()
    return {
        "words": words,
        "progress": work.progress(run),
        "brought": brought,
        "fates": _fates(run.study),
        "became": [
            (words.rows if state == Hit.State.DOCUMENT else label, brought.fates[state])
            for state, label in _fates(run.study).items()
            if state != Hit.State.WAITING
        ],
        "hits": queries.hits_of_run(run)[:HITS_A_PAGE],
        "problems": run.items.filter(hit=None).exclude(error="").select_related("search"),
        "engines": [engines.label_of(name) for name in run.provenance["engines"]],
    }


RETRIEVING = RunPages(
    run=Retrieval,
    template="recipes/retrieval.html",
    numbers="recipes/_retrieval_progress.html",
    runs=lambda study: study.retrievals.select_related("study", "started_by"),
    context=_of_run,
    cancel=actions.cancel_retrieval,
    resume=actions.resume_retrieval,
)
