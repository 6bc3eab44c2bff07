"""The page of a list of dishes: which there are, what was said of them, and more of them."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.actions import Refused, first_page
from annotation.models import Role, Study
from annotation.people.access import READERS, AppRequest, for_roles, posted_from, sheet_for
from annotation.views.going_on import to_first_page
from recipes.memorization import actions, queries
from recipes.memorization.candidates import SCHEME as CANDIDATES
from recipes.memorization.chain import PARSING
from recipes.memorization.forms import NamesForm, TextForm


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def names(request: AppRequest, study: Study) -> HttpResponse:
    return _page(request, study, NamesForm())


@for_roles(Role.MANAGER)
@posted_from("memorization:names")
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


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def paste(request: AppRequest, study: Study) -> HttpResponse:
    """The recipes of a study, and a form for one that was written elsewhere."""
    if study.scheme.slug not in (CANDIDATES, PARSING):
        raise Http404
    sheets = study.sheets.filter(archived_at=None).order_by("position")
    asked = request.GET.get("sheet", "")
    dish = sheets.filter(pk=int(asked)).first() if asked.isdecimal() and len(asked) < 10 else None
    initial = {"sheet": dish.title} if dish else {}
    form = TextForm(request.POST or None, initial=initial, kept=actions.hidden_facets(study))
    if request.method == "POST" and form.is_valid():
        try:
            row = actions.add_text(study=study, **form.cleaned_data)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(
                request, _("The recipe is in: %(dish)s %(row)s.") % {"dish": row.sheet.title, "row": row.name}
            )
            return redirect("memorization:paste", study.slug)
    context = {"study": study, "form": form, "sheets": sheets.prefetch_related("rows")}
    return render(request, "recipes/paste.html", context)


@require_POST
@for_roles(Role.MANAGER)
def myself(request: AppRequest, study: Study) -> HttpResponse:
    """Who manages a study labels it, too: all that is there."""
    try:
        actions.label_yourself(study=study, by=request.user)
    except Refused as refused:
        messages.warning(request, str(refused))
        return redirect("annotation:study", study.slug)
    return redirect("annotation:my-work")


def _page(request: AppRequest, study: Study, form: NamesForm) -> HttpResponse:
    may_write = Role.MANAGER in study.roles
    dishes = queries.dishes(study)
    context = {
        "study": study,
        "may_write": may_write,
        "form": form,
        "dishes": dishes,
        "n_regions": len({dish.region for dish in dishes if dish.region}),
    }
    return render(request, "recipes/names.html", context)


@require_GET
def beside(request: AppRequest, pk: int) -> HttpResponse:
    """All candidates of a dish beside each other, for who chooses among them. Nothing says who wrote them."""
    sheet = sheet_for(request.user, pk, *Role)
    if sheet.study.scheme.slug != CANDIDATES:
        raise Http404
    may_see_all = bool(sheet.study.roles & READERS)
    if not may_see_all and (first := first_page(study=sheet.study, user=request.user)):
        return to_first_page(request, first, sheet.study)
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
