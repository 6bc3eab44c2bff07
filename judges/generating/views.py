"""Pages on which texts are asked for, watched while they are written, read and downloaded."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.actions import Refused
from annotation.exchange.tables import safe_cell
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from annotation.queries import setup
from annotation.views.runs import RunPages
from judges.forms import resumed_by
from judges.generating import actions, planning, queries, signs_told
from judges.generating.forms import GenerationForm, ModelForm
from judges.generating.planning import PlanRefused
from judges.models import GenerationItem, GenerationRun
from judges.spending import queries as spending
from llm.actions import store_model
from work import queries as work

_A_PAGE = 100
_LAST = 12  # texts on the page of a run


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def runs(request: AppRequest, study: Study) -> HttpResponse:
    context = {
        "study": study,
        "may_write": Role.MANAGER in study.roles,
        "runs": queries.runs_with_counts(study),
        "way_in": setup.way_in(study),
        "has_rows": study.sheets.filter(rows__withdrawn_at=None, rows__isnull=False).exists(),
    }
    return render(request, "judges/generations.html", context)


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def new(request: AppRequest, study: Study) -> HttpResponse:
    form = GenerationForm(request.POST or None, request.FILES or None, study=study)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            started = actions.start(
                study=study,
                models=data["models"],
                wanted=data["wanted"],
                answer=data["answer"],
                most_tokens=data["most_tokens"],
                most_cost=data.get("most_cost"),
                by=request.user,
            )
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect(started[0]) if len(started) == 1 else redirect("judges:generations", study.slug)
    context = {"study": study, "form": form, "types": form.shipped.values()}
    return render(request, "judges/new_generation.html", context)


@require_POST
@for_roles(Role.MANAGER)
def estimate(request: AppRequest, study: Study) -> HttpResponse:
    """What the run that the form describes will take. Starts nothing."""
    form = GenerationForm(request.POST, request.FILES, study=study)
    context: dict[str, Any] = {"study": study, "form": form}
    if form.is_valid():
        data = form.cleaned_data
        names = queries.names_of(study, answer=data["answer"])
        try:
            planning.refuse_gaps(names, data["wanted"])
        except PlanRefused as refused:
            form.add_error(None, str(refused))
        else:
            context["estimate"] = queries.estimate(
                study=study, names=names, models=data["models"], wanted=data["wanted"]
            )
            context["wanted"] = data["wanted"]
    return render(request, "judges/_estimate.html", context)


@require_http_methods(["GET", "POST"])
@permission_required("judges.add_judge", raise_exception=True)
@for_roles(Role.MANAGER)
def new_model(request: AppRequest, study: Study) -> HttpResponse:
    """The form; htmx asks for its fields again when the backend changes."""
    if request.htmx:
        return render(request, "judges/_model_fields.html", {"form": ModelForm(initial=request.GET.dict())})
    form = ModelForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        model = store_model(**form.cleaned_data, by=request.user, study=study)
        messages.success(request, _("“%(name)s” can write now.") % {"name": model.name})
        return redirect("judges:new-generation", study.slug)
    return render(request, "judges/new_model.html", {"study": study, "form": form})


# --- a run ------------------------------------------------------------------------------------------------------------


def _of_run(run: GenerationRun) -> dict[str, Any]:
    written = queries.written(run)
    return {
        "progress": work.progress(run),
        "written": written,
        "spent": spending.spent(run),
        "signs": [(sign, signs_told.told(sign), n) for sign, n in written.signs.items()],
        "last": queries.last_written(run, _LAST),
        "types": run.request.get("types", []),
    }


GENERATING = RunPages(
    run=GenerationRun,
    template="judges/generation.html",
    numbers="judges/_generation_progress.html",
    runs=lambda study: study.generation_runs.select_related("model", "study", "started_by"),
    context=_of_run,
    cancel=actions.cancel,
    resume=actions.resume,
    resumed_with=resumed_by,
)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def texts(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """The texts of a run, a page of them; those with a certain sign, or of one type of prompt."""
    run = get_object_or_404(GENERATING.runs(study), pk=pk)
    sign, of_type = request.GET.get("sign", ""), request.GET.get("type", "")
    begin = _number(request.GET.get("begin", ""))
    found = queries.having(queries.texts_of(run), sign=sign, of_type=of_type)
    shown = list(found[begin : begin + _A_PAGE + 1])
    context = {
        "study": study,
        "run": run,
        "texts": shown[:_A_PAGE],
        "chosen": {"sign": sign, "type": of_type},
        "signs": [(key, title) for key, title in signs_told.choices()],
        "types": run.request.get("types", []),
        "earlier": max(begin - _A_PAGE, 0) if begin else None,
        "later": begin + _A_PAGE if len(shown) > _A_PAGE else None,
    }
    return render(request, "judges/generated_texts.html", context)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _item(study: Study, pk: int, item: int) -> GenerationItem:
    found = queries.texts_of(get_object_or_404(GENERATING.runs(study), pk=pk))
    return get_object_or_404(found.select_related("run__study", "run__model", "generation__same_as"), pk=item)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def text(request: AppRequest, study: Study, pk: int, item: int) -> HttpResponse:
    """One text beside its record, and what became of it when it was written again."""
    found = _item(study, pk, item)
    generation = found.generation
    first = generation.same_as
    context = {
        "study": study,
        "run": found.run,
        "item": found,
        "one": generation,
        "may_write": Role.MANAGER in study.roles,
        "signs": [(signs_told.told(seen.sign), seen.words) for seen in generation.seen],
        "again": queries.written_again(first or generation),
        "first": first,
        "first_item": GenerationItem.objects.filter(generation=first).first() if first else None,
        "before": queries.texts_of(found.run).filter(pk__lt=found.pk).order_by("-pk").first(),
        "after": queries.texts_of(found.run).filter(pk__gt=found.pk).first(),
    }
    return render(request, "judges/generated_text.html", context)


@require_POST
@for_roles(Role.MANAGER)
def write_again(request: AppRequest, study: Study, pk: int, item: int) -> HttpResponse:
    found = _item(study, pk, item)
    try:
        actions.write_again(item=found, by=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("The text is being written again; what comes of it is told below."))
    return redirect("judges:generated-text", study.slug, pk, item)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def download(request: AppRequest, study: Study, pk: int, form: str) -> HttpResponseBase:
    """All texts of a run with their records, as JSON lines or CSV."""
    run = get_object_or_404(GENERATING.runs(study), pk=pk)
    records = queries.rows_for_files(queries.texts_of(run))
    if form == "jsonl":
        lines: Iterable[str] = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        kind = "application/x-ndjson; charset=utf-8"
    elif form == "csv":
        lines, kind = _as_csv(records), "text/csv; charset=utf-8"
    else:
        raise Http404
    name = f"{study.slug}-texts-{run.pk}.{form}"
    return StreamingHttpResponse(
        lines, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


class _Line:
    def write(self, line: str) -> str:
        return line


def _as_csv(records: Iterator[dict[str, object]]) -> Iterator[str]:
    writer: Any = csv.writer(_Line(), lineterminator="\n")
    for number, record in enumerate(records):
        if number == 0:
            yield writer.writerow(record)
        yield writer.writerow([_cell(value) for value in record.values()])


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, dict):
        return safe_cell("; ".join(f"{key}: {words}" for key, words in value.items()))
    return safe_cell(value) if isinstance(value, str) else value
