"""The page of the graphs of a study: which recipes there are, whose graphs they have, files in and out; pictures."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation import doors
from annotation.actions import Refused, note_looks
from annotation.exchange.row_imports import ImportRefused, problems_text, translated
from annotation.exchange.tables import TableError
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles, posted_from, row_for_reader
from annotation.views.paging import page_of_sheets
from recipes.ingredient_states import actions, exchange, exports, queries, reading
from recipes.ingredient_states.forms import BringForm, ChoiceForm

READERS = (Role.MANAGER, Role.RESEARCHER)


@require_GET
@for_roles(*READERS)
def graphs(request: AppRequest, study: Study) -> HttpResponse:
    return _page(request, study, BringForm())


@for_roles(Role.MANAGER)
@posted_from("ingredient_states:graphs")
def bring(request: AppRequest, study: Study) -> HttpResponse:
    """Import files: what is none is named, and then nothing is written."""
    form = BringForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, study, form)
    files, replace = form.cleaned_data["files"], form.cleaned_data["replace"]
    if exchange.is_large(files):
        return redirect(exchange.start(study=study, files=files, replace=replace, by=request.user))
    try:
        read = [(file.name or "", file.read()) for file in files]
        found = reading.read(read, known=queries.recipe_files(study))
        if found.refused:
            form.add_error("files", found.refused[: exchange.TOLD])
        else:
            done = actions.import_recipes(study=study, recipes=found.recipes, replace=replace)
            for said in done.sentences():
                messages.success(request, said)
            return redirect("ingredient_states:graphs", study.slug)
    except ImportRefused as refused:
        form.add_error("files", problems_text(refused))
    except TableError as error:
        form.add_error("files", translated(error.sentence))
    except Refused as error:
        form.add_error("files", str(error))
    return _page(request, study, form)


def _page(request: AppRequest, study: Study, form: BringForm) -> HttpResponse:
    if queries.place_of(study.scheme.parsed) is None:
        raise Http404
    sheets = page_of_sheets(request, study.sheets.order_by("position"), name="page")
    lines = []
    for recipe in queries.recipes(study, sheets=list(sheets)):
        said = [one for one in recipe.graphs if any(answer is not None for answer in one.answers)]
        lines.append(
            {
                "recipe": recipe,
                "graphs": [
                    {
                        "of": one,
                        "n_states": sum(state.step > 0 for state in one.graph.states),
                        "n_edges": len(one.graph.edges),
                        "n_open": len(one.graph.unanswered),
                        "n_problems": len(one.graph.problems),
                    }
                    for one in said
                ],
            }
        )
    codes = study.raters.filter(assignments__isnull=False).distinct().order_by("code").values_list("code", flat=True)
    context = {
        "study": study,
        "form": form,
        "sheets": sheets,
        "lines": lines,
        "raters": list(codes),
        "endings": list(exports.ENDINGS),
        "may_write": Role.MANAGER in study.roles,
    }
    return render(request, "recipes/graphs.html", context)


@require_GET
@for_roles(*READERS)
def download(request: AppRequest, study: Study, ending: str) -> HttpResponse:
    form = ChoiceForm(request.GET)
    if ending not in exports.ENDINGS or not form.is_valid() or queries.place_of(study.scheme.parsed) is None:
        raise Http404(_("There is no such file."))
    rater = form.cleaned_data["rater"]
    text = exports.written(queries.recipe_files(study, raters=frozenset({rater} if rater else ())), ending)
    note_looks(sheets=study.sheets.all(), user=request.user)
    doors.labels_were_read(study, request.user)
    response = HttpResponse(text, content_type=f"{exports.ENDINGS[ending]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-graphs.{ending}"'
    return response


@require_GET
def picture(request: AppRequest, pk: int) -> HttpResponse:
    """The picture of a recipe, for who labels it and for the members of its study."""
    row = row_for_reader(request.user, pk)
    found = queries.picture_of(row)
    if found is None:
        raise Http404
    response = HttpResponse(bytes(found.data), content_type=found.media_type)
    response["Cache-Control"] = "private, max-age=86400"
    response["X-Content-Type-Options"] = "nosniff"
    return response
