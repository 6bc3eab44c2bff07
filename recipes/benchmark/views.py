"""Pages of a benchmark: its instructions, and the words of its generators."""

from __future__ import annotations

import csv
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from annotation.actions import Refused
from annotation.deriving import queries as deriving
from annotation.exchange.tables import safe_cell
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles, posted_from
from recipes.benchmark import actions, queries
from recipes.benchmark.forms import InstructionsForm, WordsForm


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def instructions(request: AppRequest, study: Study) -> HttpResponse:
    return _page(request, study, InstructionsForm(study=study))


@for_roles(Role.MANAGER)
@posted_from("benchmark:instructions")
def add_instructions(request: AppRequest, study: Study) -> HttpResponse:
    form = InstructionsForm(request.POST, request.FILES, study=study)
    if not form.is_valid():
        return _page(request, study, form)
    given = form.cleaned_data["instructions"]
    try:
        added = actions.add_instructions(study=study, instructions=given)
    except Refused as refused:
        form.add_error(None, str(refused))
        return _page(request, study, form)
    told = ngettext("%(n)s instruction added.", "%(n)s instructions added.", added) % {"n": added}
    if known := len(given) - added:
        there = ngettext("%(n)s was in the study already.", "%(n)s were in the study already.", known)
        told += " " + there % {"n": known}
    messages.success(request, told)
    return redirect("benchmark:instructions", study.slug)


def _page(request: AppRequest, study: Study, form: InstructionsForm) -> HttpResponse:
    context = {
        "study": study,
        "may_write": Role.MANAGER in study.roles,
        "form": form,
        "overview": queries.overview(study),
        "derived": deriving.derived_studies(study, request.user),
        "may_derive": deriving.may_derive(study, request.user),
    }
    return render(request, "recipes/instructions.html", context)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def words(request: AppRequest, study: Study) -> HttpResponse:
    """The most frequent words of each generator, of the texts with a certain word at a facet."""
    form = WordsForm(request.GET or queries.first_words(study), study=study)
    chosen = form.chosen if form.is_valid() else {}
    found = queries.frequent_words(study, chosen, without_common=form.without_common)
    longest = max((len(of) for of in found.values()), default=0)
    context = {
        "study": study,
        "form": form,
        "offered": form.cleaned_data.get("words", []) if form.is_valid() else [],
        "generators": list(found),
        "lines": [[of[place] if place < len(of) else None for of in found.values()] for place in range(longest)],
        "query": urlencode(
            {"facet": next(iter(chosen), ""), "word": next(iter(chosen.values()), "")}
            | ({"without": form.COMMON} if form.without_common else {})
        ),
        "chosen": chosen,
    }
    return render(request, "recipes/words.html", context)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def words_csv(request: AppRequest, study: Study) -> HttpResponse:
    form = WordsForm(request.GET, study=study)
    response = HttpResponse("\ufeff", content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-words.csv"'
    writer = csv.writer(response)
    writer.writerow(["generator", "word", "count", "texts"])
    chosen = form.chosen if form.is_valid() else {}
    found = queries.frequent_words(study, chosen, most=100, without_common=form.without_common)
    for generator, of in found.items():
        writer.writerows([safe_cell(generator), safe_cell(one.word), one.n, one.texts] for one in of)
    return response
