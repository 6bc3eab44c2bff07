"""The page of a list of dishes: which there are, what was said of them, and more of them."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from annotation.actions import Refused
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles, sheet_for
from recipes.memorization import actions, queries
from recipes.memorization.candidates import SCHEME as CANDIDATES
from recipes.memorization.forms import NamesForm


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def names(request: AppRequest, study: Study) -> HttpResponse:
    return _page(request, study, NamesForm())


@require_POST
@for_roles(Role.MANAGER)
def add_names(request: AppRequest, study: Study) -> HttpResponse:
    form = NamesForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, study, form)
    names = form.cleaned_data["names"]
    try:
        added = actions.add_names(study=study, sheet=form.cleaned_data["sheet"], names=names)
    except Refused as refused:
        form.add_error(None, str(refused))
        return _page(request, study, form)
    _tell(request, len(added), len(names) - len(added))
    return redirect("memorization:names", study.slug)


def _page(request: AppRequest, study: Study, form: NamesForm) -> HttpResponse:
    may_write = Role.MANAGER in study.roles
    context = {"study": study, "may_write": may_write, "form": form, "dishes": queries.dishes(study)}
    return render(request, "recipes/names.html", context)


@require_GET
def beside(request: AppRequest, pk: int) -> HttpResponse:
    """All candidates of a dish beside each other, for who chooses among them. Nothing says who wrote them."""
    sheet = sheet_for(request.user, pk, *Role)
    if sheet.study.scheme.slug != CANDIDATES:
        raise Http404
    may_see_all = bool(sheet.study.roles & {Role.MANAGER, Role.RESEARCHER})
    found = queries.candidates_beside(sheet, request.user, may_see_all=may_see_all)
    return render(request, "recipes/beside.html", {"sheet": sheet, "study": sheet.study, "candidates": found})


def _tell(request: AppRequest, added: int, known: int) -> None:
    told = ngettext("%(n)s dish added.", "%(n)s dishes added.", added) % {"n": added}
    if known:
        there = ngettext("%(n)s was in the study already.", "%(n)s were in the study already.", known)
        told += " " + there % {"n": known}
    if added:
        messages.success(request, told)
    else:
        messages.warning(request, told)
