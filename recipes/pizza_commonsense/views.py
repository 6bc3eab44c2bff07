"""The page of the tables of a study: recipes in, tables out, who has answered and what the rules warn of."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from annotation import doors
from annotation.actions import Refused, note_looks
from annotation.exchange.row_imports import ImportRefused
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles, posted_from
from annotation.views.paging import page_of_sheets
from recipes.pizza_commonsense import actions, clusters, examples, exchange, exporting, queries
from recipes.pizza_commonsense.actions import LONG
from recipes.pizza_commonsense.corpus_tables import SIZES, TEXTS, Statistics, statistics_of
from recipes.pizza_commonsense.forms import ExamplesForm, ExportForm, SplitForm, StatisticsForm, SystemForm, TablesForm
from recipes.pizza_commonsense.records import SCHEME, TablesRefused
from reports.exports.files import TYPES, tables_file


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def tables(request: AppRequest, study: Study) -> HttpResponse:
    return _page(request, study)


@for_roles(Role.MANAGER)
@posted_from("pizza_commonsense:tables")
def add(request: AppRequest, study: Study) -> HttpResponse:
    form = TablesForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, study, form=form)
    if form.large is not None:
        return redirect(exchange.start(study=study, file=form.large, how=form.how, by=request.user))
    try:
        made = actions.import_tables(study=study, tables=form.cleaned_data["tables"], **form.how)
    except Refused as refused:
        form.add_error(None, _told(refused))
        return _page(request, study, form=form)
    messages.success(request, " ".join(exchange.sentences(made)))
    return redirect("pizza_commonsense:tables", study.slug)


@for_roles(Role.MANAGER)
@posted_from("pizza_commonsense:tables")
def add_system(request: AppRequest, study: Study) -> HttpResponse:
    form = SystemForm(request.POST, request.FILES)
    if form.is_valid():
        file = form.cleaned_data["predictions"]
        how = {name: form.cleaned_data[name] for name in ("system", "replace")}
        if exchange.is_large(file.size):
            return redirect(exchange.start(study=study, file=file, how=how, by=request.user))
        try:
            said = exchange.predicted(study, file.read())
            made = exchange.take_in(study=study, said=said, **how)
        except TablesRefused as refused:
            form.add_error("predictions", str(refused))
        except Refused as refused:
            form.add_error(None, _told(refused))
        else:
            messages.success(request, " ".join(exchange.sentences(made, said)))
            return redirect("pizza_commonsense:tables", study.slug)
    return _page(request, study, system=form)


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
        messages.success(request, said + " " + _("People get it by “Start from another rater's answers” under “Plan”."))
    return redirect("pizza_commonsense:tables", study.slug)


@require_POST
@for_roles(Role.MANAGER)
def remove_system(request: AppRequest, study: Study) -> HttpResponse:
    code = request.POST.get("system", "")
    try:
        n = actions.remove_system(study=study, code=code, by=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, exchange.told_removed(code, n))
    return redirect("pizza_commonsense:tables", study.slug)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def export(request: AppRequest, study: Study) -> HttpResponse:
    form = ExportForm(request.GET, study=study)
    if not form.is_valid():
        return _page(request, study, export=form)
    wanted, rater = form.wanted, form.cleaned_data["rater"]
    try:
        content = exporting.exported(queries.tables_of(study, rater=rater), wanted)
    except TablesRefused as refused:
        form.add_error(None, str(refused))
        return _page(request, study, export=form)
    if rater:
        note_looks(sheets=study.sheets.all(), user=request.user)
        doors.labels_were_read(study, request.user)
    mime, ending = exporting.TYPES[wanted.form]
    part = "" if wanted.part == clusters.ALL else f"-{wanted.part}"
    return _file(content, mime, f"{study.slug}-{rater or 'open'}-{wanted.form}{part}.{ending}")


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


def _statistics(request: AppRequest, study: Study) -> tuple[StatisticsForm, Statistics | None]:
    """The form with what was asked, or with what is shown at first; None where it is not understood."""
    if study.scheme.slug != SCHEME:
        raise Http404
    gold = "gold" if study.raters.filter(code="gold").exists() else ""
    form = StatisticsForm(
        request.GET if "seed" in request.GET else {"rater": gold, "way": clusters.WITHIN, "seed": 1}, study=study
    )
    return form, statistics_of(study, **form.cleaned_data) if form.is_valid() else None


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def statistics(request: AppRequest, study: Study) -> HttpResponse:
    """How large the tables are, and what the parts of a split have in common."""
    form, found = _statistics(request, study)
    context: dict[str, object] = {"study": study, "form": form, "found": found}
    if found is not None:
        context["sizes"] = [(SIZES[size.key], size) for size in found.sizes]
        context["overlaps"] = [(TEXTS[one.key], one) for one in found.overlaps]
        context["endings"] = TYPES
        context["asked"] = urlencode({name: getattr(found, name) for name in ("rater", "way", "seed")})
    return render(request, "recipes/pizza_statistics.html", context)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def statistics_file(request: AppRequest, study: Study, ending: str) -> HttpResponse:
    """The same as a file."""
    form, found = _statistics(request, study)
    if ending not in TYPES:
        raise Http404
    if found is None:
        said = " ".join(str(error) for errors in form.errors.values() for error in errors)
        return HttpResponseBadRequest(said, content_type="text/plain; charset=utf-8")
    content = tables_file(found.contents, ending)
    return _file(content, TYPES[ending], f"{study.slug}-statistics-{found.rater or 'open'}.{ending}")


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def lines_apart(request: AppRequest, study: Study) -> HttpResponse:
    """Lines on which systems are wrong, drawn, beside what is right; as a page, or as CSV."""
    if study.scheme.slug != SCHEME:
        raise Http404
    form = ExamplesForm(request.GET or None, study=study)
    context: dict[str, object] = {"study": study, "form": form}
    if form.is_valid():
        said = form.cleaned_data
        note_looks(sheets=study.sheets.all(), user=request.user)
        doors.labels_were_read(study, request.user)
        tables = {code: queries.tables_of(study, rater=code) for code in said["systems"]}
        found = examples.lines(queries.tables_of(study, rater=said["truth"]), tables, which=said["which"])
        drawn = examples.drawn(found, said["n"], seed=said["seed"])
        if "csv" in request.GET:
            return _file(examples.as_csv(drawn), "text/csv; charset=utf-8", f"{study.slug}-lines-{said['seed']}.csv")
        asked = request.GET.copy()
        asked["csv"] = "1"
        context |= {"lines": drawn, "n_found": len(found), "truth": said["truth"], "csv": f"?{asked.urlencode()}"}
    return render(request, "recipes/pizza_examples.html", context)


def _file(content: str | bytes, mime: str, name: str) -> HttpResponse:
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
    sheets = page_of_sheets(request, study.sheets.order_by("position"), name="page")
    context = {
        "study": study,
        "sheets": sheets,
        "may_write": Role.MANAGER in study.roles,
        "is_long": study.scheme.slug == LONG,
        "recipes": queries.recipes(list(sheets)),
        "raters": queries.who_answered(study),
        "form": form or TablesForm(),
        "system_form": system or SystemForm(),
        "export_form": export or ExportForm(study=study),
        "split_form": splitting or SplitForm(),
        "refused": bool(form or system or export or splitting),
    }
    return render(request, "recipes/pizza_tables.html", context)
