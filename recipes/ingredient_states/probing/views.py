"""The pages of a study's probing tasks: models by tasks, instances that somebody got wrong; the same as files."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation import doors
from annotation.actions import note_looks
from annotation.deriving import queries as deriving
from annotation.models import Rater, Study, User
from annotation.people.access import AppRequest, for_roles
from recipes.ingredient_states.probing import across, results, wrong
from recipes.ingredient_states.probing.derivers import FORMS
from recipes.ingredient_states.probing.forms import BaseForm, StudiesForm, WrongForm
from recipes.ingredient_states.probing.results import READERS
from recipes.ingredient_states.probing.tasks import Task
from reports import queries
from reports.data.arrays import Filters
from reports.exports.files import TYPES, tables_file
from reports.hiring import actions as hiring
from reports.models import TestLook
from reports.tables import ReportTable
from reports.words import code_of


@dataclass(frozen=True)
class _Made:
    """`table`, `intervals`: None where no study of a task is there, or a form is not understood."""

    studies: StudiesForm
    base: BaseForm
    chosen: dict[Task, Study]
    table: ReportTable | None
    intervals: ReportTable | None

    @property
    def about(self) -> list[tuple[str, str]]:
        said = [(str(across.TITLES[task]), study.title) for task, study in self.chosen.items()]
        base = self.base.cleaned_data.get("base")
        return [*said, *([(_("Held against"), base)] if base else [])]


def _made(request: AppRequest, study: Study) -> _Made:
    found = results.probing_studies(results.source_of(study), request.user)
    studies = StudiesForm(request.GET, studies=found)
    chosen = studies.chosen(found) if studies.is_valid() else {}
    scored = {task: results.results_of(one) for task, one in chosen.items()}
    base = BaseForm(request.GET, names=across.lines_of(scored))
    table = across.table_of(scored, base=base.cleaned_data["base"]) if base.is_valid() and scored else None
    return _Made(studies, base, chosen, table, across.intervals_of(scored) if table else None)


def _was_read(made: _Made, *, what: str, by: User) -> None:
    for study in made.chosen.values():
        hiring.note_look(slug=study.slug, what=what, by=by)


@require_GET
@for_roles(*READERS)
def tasks(request: AppRequest, study: Study) -> HttpResponse:
    made = _made(request, study)
    _was_read(made, what=TestLook.What.REPORT, by=request.user)
    context = {
        "study": study,
        "here": "ingredient_states:probing",
        "forms": [made.studies, made.base],
        "tables": [table for table in (made.table, made.intervals) if table],
        "chosen": made.chosen.values(),
        "endings": TYPES,
        "asked": request.GET.urlencode(),
        "may_derive": deriving.may_derive(study, request.user),
    }
    return render(request, "recipes/probing.html", context)


@require_GET
@for_roles(*READERS)
def download(request: AppRequest, study: Study, ending: str) -> HttpResponse:
    if ending not in TYPES:
        raise Http404
    made = _made(request, study)
    if made.table is None or made.intervals is None:
        sentence = _("There is no table to download: no study of a task is there, or it is not known which is meant.")
        return HttpResponseBadRequest(sentence, content_type="text/plain; charset=utf-8")
    _was_read(made, what=TestLook.What.DOWNLOAD, by=request.user)
    for one in made.chosen.values():
        note_looks(sheets=one.sheets.all(), user=request.user)
    contents = across.contents_of([made.table, made.intervals], made.about)
    name = f"{study.slug}-probing-{timezone.localdate().isoformat()}"
    response = HttpResponse(tables_file(contents, ending), content_type=TYPES[ending])
    response["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return response


@require_GET
@for_roles(*READERS)
def instances(request: AppRequest, study: Study) -> HttpResponse:
    """Instances of one task that somebody got wrong, drawn, beside what is right; all of them as CSV."""
    if study.scheme.slug not in FORMS:
        raise Http404
    table = queries.label_table(study, Filters())
    raters = [code_of(rater) for rater in table.raters if rater.kind != Rater.Kind.GOLD]
    form = WrongForm(request.GET if "seed" in request.GET else {"n": 10, "seed": 1}, raters=raters)
    context: dict[str, object] = {"study": study, "here": "ingredient_states:probing", "form": form}
    if form.is_valid():
        said = form.cleaned_data
        note_looks(sheets=study.sheets.all(), user=request.user)
        doors.labels_were_read(study, request.user)
        told = wrong.told_in(table, rater=said["rater"])
        found = wrong.wrong_among(told, rater=said["rater"])
        if "csv" in request.GET:
            name = f"{study.slug}-wrong-{timezone.localdate().isoformat()}.csv"
            headers = {"Content-Disposition": f'attachment; filename="{name}"'}
            return HttpResponse(wrong.as_csv(found), content_type="text/csv; charset=utf-8", headers=headers)
        sheets = dict(study.sheets.values_list("title", "pk"))
        shown = wrong.drawn(found, said["n"], seed=said["seed"])
        asked = urlencode({**said, "csv": 1})
        context |= {"shown": [(one, sheets[one.recipe]) for one in shown], "n_found": len(found), "csv": f"?{asked}"}
        context["is_answered"] = bool(told)
    return render(request, "recipes/probing_wrong.html", context)
