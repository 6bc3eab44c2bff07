"""The page of the tables of a study: recipes in, tables out, who has answered and what the rules warn of."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from annotation.actions import Refused
from annotation.exchange.row_imports import ImportRefused
from annotation.models import Rater, Role, Study
from annotation.people.access import AppRequest, for_roles
from recipes.pizza_commonsense import actions, clusters, exporting, queries
from recipes.pizza_commonsense.actions import LONG, SCHEME, ImportedTables
from recipes.pizza_commonsense.forms import ExportForm, SplitForm, SystemForm, TablesForm
from recipes.pizza_commonsense.records import TablesRefused
from recipes.pizza_commonsense.training import Masks


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def tables(request: AppRequest, study: Study) -> HttpResponse:
    return _page(request, study)


@require_POST
@for_roles(Role.MANAGER)
def add(request: AppRequest, study: Study) -> HttpResponse:
    form = TablesForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, study, form=form)
    said = form.cleaned_data
    try:
        made = actions.import_tables(
            study=study,
            tables=said["tables"],
            rater=said["rater"],
            kind=form.kind,
            example=said["example"],
            replace=said["replace"],
        )
    except Refused as refused:
        form.add_error(None, _told(refused))
        return _page(request, study, form=form)
    messages.success(request, " ".join(sentences(made)))
    return redirect("pizza_commonsense:tables", study.slug)


@require_POST
@for_roles(Role.MANAGER)
def add_system(request: AppRequest, study: Study) -> HttpResponse:
    form = SystemForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            text = form.cleaned_data["predictions"].read().decode("utf-8-sig")
            found, unread = exporting.predictions(text, queries.tables_of(study))
            made = actions.import_tables(
                study=study, tables=found, rater=form.cleaned_data["system"], kind=Rater.Kind.JUDGE
            )
        except UnicodeDecodeError:
            form.add_error("predictions", _("The file is no UTF-8 text. Save it as UTF-8."))
        except TablesRefused as refused:
            form.add_error("predictions", str(refused))
        except Refused as refused:
            form.add_error(None, _told(refused))
        else:
            told = sentences(made)
            if unread:
                told.append(
                    ngettext("Of %(n)s text nothing can be read.", "Of %(n)s texts nothing can be read.", len(unread))
                    % {"n": len(unread)}
                )
            messages.success(request, " ".join(told))
            return redirect("pizza_commonsense:tables", study.slug)
    return _page(request, study, system=form)


def sentences(made: ImportedTables) -> list[str]:
    """What an import did, for whoever asked for it."""
    told = [ngettext("%(n)s recipe added.", "%(n)s recipes added.", made.new) % {"n": made.new}] if made.new else []
    if made.known:
        told.append(
            ngettext("%(n)s was in the study already.", "%(n)s were in the study already.", made.known)
            % {"n": made.known}
        )
    return told + (made.answers.sentences() if made.answers else [])


def _told(refused: Refused) -> str:
    """A refusal with its first problems: all of a large file are no help on a page."""
    if not isinstance(refused, ImportRefused):
        return str(refused)
    return " ".join([str(refused), *refused.problems[:5]])


@require_POST
@for_roles(Role.MANAGER)
def split_long(request: AppRequest, study: Study) -> HttpResponse:
    """The rule splits the long instructions; people start from what it says."""
    try:
        n = actions.split_by_rule(study=study)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        said = ngettext("The rule has split %(n)s recipe.", "The rule has split %(n)s recipes.", n) % {"n": n}
        messages.success(request, said + " " + _("People start from it under “Drafts”."))
    return redirect("pizza_commonsense:tables", study.slug)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def export(request: AppRequest, study: Study) -> HttpResponse:
    form = ExportForm(request.GET, study=study)
    if not form.is_valid():
        return _page(request, study, export=form)
    said = form.cleaned_data
    found = queries.tables_of(study, rater=said["rater"])
    content = exporting.exported(
        found, said["form"], masks=said["masks"] or Masks.ALL, seed=1 if said["seed"] is None else said["seed"]
    )
    mime, ending = exporting.TYPES[said["form"]]
    return _file(content, mime, f"{study.slug}-{said['rater'] or 'open'}-{said['form']}.{ending}")


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def split(request: AppRequest, study: Study) -> HttpResponse:
    form = SplitForm(request.GET)
    if form.is_valid():
        found = queries.tables_of(study)
        try:
            made = clusters.split(found, **form.cleaned_data)
        except TablesRefused as refused:
            form.add_error(None, str(refused))
        else:
            name = f"{study.slug}-{made.way}-{made.seed}.json"
            return _file(made.as_json(found).encode(), "application/json", name)
    return _page(request, study, splitting=form)


def _file(content: bytes, mime: str, name: str) -> HttpResponse:
    return HttpResponse(content, content_type=mime, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _page(
    request: AppRequest,
    study: Study,
    *,
    form: TablesForm | None = None,
    system: SystemForm | None = None,
    export: ExportForm | None = None,
    splitting: SplitForm | None = None,
) -> HttpResponse:
    if study.scheme.slug not in (SCHEME, LONG):
        raise Http404
    context = {
        "study": study,
        "may_write": Role.MANAGER in study.roles,
        "is_long": study.scheme.slug == LONG,
        "recipes": queries.recipes(study),
        "raters": queries.who_answered(study),
        "form": form or TablesForm(),
        "system_form": system or SystemForm(),
        "export_form": export or ExportForm(study=study),
        "split_form": splitting or SplitForm(),
        "refused": bool(form or system or export or splitting),
    }
    return render(request, "recipes/pizza_tables.html", context)
