"""Pages of one judge or extractor: made, tried on a cell, looked at, started, copied, renamed, put away."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.db.models import Count, Q
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import doors as annotation_doors
from annotation.actions import Refused
from annotation.models import Label, Role, Row, Study
from annotation.people.access import AppRequest, for_roles
from annotation.views.runs import told_before
from judges import actions, doors, estimating, queries, trying
from judges.calibrations import views as calibration_views
from judges.extraction import queries as extraction_queries
from judges.extraction.estimating import estimate as estimate_extraction
from judges.forms import CellForm, ExtractorForm, JudgeForm, NameForm, TrialForm
from judges.lineage.queries import is_unused
from judges.lineage.views import piece as lineage_piece
from judges.methods import Method, placeholders
from judges.models import Extractor, Judge, Origin, Trial, TrialItem, UnreadableAnswer
from llm.models import LanguageModel
from work import queries as work

# What is due is sent to the workers every few seconds.
_PATIENCE = timedelta(minutes=1)
_COPIED = ("method", "normalisation", "chat_template", "temperature", "max_new_tokens")


def authors(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """For managers who may create judges: what they name is asked by the workers."""
    return permission_required("judges.add_judge", raise_exception=True)(for_roles(Role.MANAGER)(view))


# --- made -------------------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@authors
def new_judge(request: AppRequest, study: Study) -> HttpResponse:
    """The form; htmx asks for its fields again when the method, the model or the backend changes."""
    if request.method == "POST":
        form = JudgeForm(request.POST, study=study)
        create = partial(actions.create_judge, study=study, by=request.user)
        if form.is_valid() and (made := _made(request, form, create)):
            if (parent := _copied_from(request, study)) is not None:
                actions.came_from(judge=made, parent=parent, how=Origin.How.COPY, study=study)
            return redirect("judges:judge", study.slug, made.pk)
        return render(request, "judges/new_judge.html", _form_of(study, form, request.POST))
    if request.htmx:
        return _fields(request, study)
    form = JudgeForm(initial=_copied(_copied_from(request, study)), study=study)
    if not form.initial:
        form.initial = _usual(form)
    return render(request, "judges/new_judge.html", _form_of(study, form, None))


def _fields(request: AppRequest, study: Study) -> HttpResponse:
    """The fields of what is chosen now. Of another method with what it can begin with, and, where the prompt was begun
    from what asks it nothing, with another prompt; the page keeps one that was edited."""
    form = JudgeForm(initial=request.GET.dict(), study=study)
    context = _form_of(study, form, request.GET)
    if request.GET.get("method_before", form.chosen_method) != form.chosen_method:
        context["is_another_method"] = True
        if form.beginning(form.begun) is None:
            form.initial.update(_begun(form, form.chosen_method))
            context["begins_anew"] = True
    return render(request, "judges/_judge_fields.html", context)


def _begun(form: JudgeForm, method: Method) -> dict[str, str]:
    """A prompt that the form itself puts there; an empty one where there is none."""
    first = form.first_of(method)
    return {"begin_with": first.key if first else "", "prompt_text": first.text if first else ""}


def _form_of(study: Study, form: JudgeForm, data: Any) -> dict[str, Any]:
    return {
        "study": study,
        "form": form,
        "cell": CellForm(initial={"row": data.get("try-row")} if data else None, study=study),
        "places": placeholders.places(study.scheme.parsed),
    }


def _usual(form: JudgeForm) -> dict[str, Any]:
    """The first method that there is a prompt for, with that prompt; and the model that was named last: to name another
    one takes ten fields, which are there once it is asked for."""
    method = next((method for method in Method if form.first_of(method)), Method.CLOZE)
    model = LanguageModel.objects.order_by("-pk").first()
    return {"method": method, **_begun(form, method), **({"model": model.pk} if model else {})}


def _copied_from(request: AppRequest, study: Study) -> Judge | None:
    pk = request.GET.get("copy", "")
    return Judge.objects.known_in(study).filter(pk=pk).first() if pk.isdecimal() and len(pk) < 19 else None


def _copied(judge: Judge | None) -> dict[str, Any]:
    if judge is None:
        return {}
    return {
        "name": f"{judge.name[:52]}-copy",
        "model": judge.model_id,
        "evidence": judge.evidence_id,
        "begin_with": f"stored:{judge.prompt_id}",
        "prompt_text": judge.prompt.text,
        **{name: getattr(judge, name) for name in _COPIED},
    }


@require_GET
@authors
def prompt_text(request: AppRequest, study: Study) -> HttpResponse:
    """A prompt to begin from, in the place of the text that stands in the form; nothing where it is none."""
    form = JudgeForm(initial={"method": request.GET.get("method", "")}, study=study)
    begun = form.beginning(request.GET.get("begin_with", ""))
    if begun is None:
        return HttpResponse(status=204)
    form.initial["prompt_text"] = begun.text
    return render(request, "judges/_prompt_field.html", {"study": study, "form": form})


@require_GET
@authors
def cells(request: AppRequest, study: Study) -> HttpResponse:
    """The cells of another row."""
    form = CellForm(initial={"row": request.GET.get("try-row", "")}, study=study)
    return render(request, "judges/_cell_field.html", {"cell": form})


@require_http_methods(["GET", "POST"])
@authors
def new_extractor(request: AppRequest, study: Study) -> HttpResponse:
    """The form; htmx asks for its fields again when the parser, the model or the backend changes."""
    if request.htmx:
        form = ExtractorForm(initial=request.GET.dict())
        return render(request, "judges/_extractor_fields.html", {"study": study, "form": form})
    initial: dict[str, Any] = {"prompt_text": doors.suggested_prompt()}
    pk = request.GET.get("copy", "")
    copied = Extractor.objects.filter(pk=pk).first() if pk.isdecimal() and len(pk) < 19 else None
    if copied is not None:
        initial = {
            "name": f"{copied.name[:52]}-copy", "parser": copied.parser, "model": copied.model_id,
            "max_new_tokens": copied.max_new_tokens, "prompt_text": copied.prompt,
        }  # fmt: skip
    form = ExtractorForm(request.POST or None, initial=initial)
    create = partial(actions.create_extractor, study=study, by=request.user)
    if request.method == "POST" and form.is_valid() and (made := _made(request, form, create)):
        return redirect("judges:extractor", study.slug, made.pk)
    return render(request, "judges/new_extractor.html", {"study": study, "form": form})


def _made(request: AppRequest, form: Any, create: Callable[..., Any]) -> Any:
    try:
        made = create(**form.cleaned_data)
    except Refused as refused:
        form.add_error(None, str(refused))
        return None
    messages.success(request, _("“%(name)s” can be started now.") % {"name": made.name})
    return made


# --- tried ------------------------------------------------------------------------------------------------------------


@require_POST
@authors
def try_one(request: AppRequest, study: Study) -> HttpResponse:
    """Try the judge that the form describes on one cell; nothing of it is stored but the trial."""
    form = TrialForm(request.POST, study=study)
    cell = CellForm(request.POST, study=study)
    problems = []
    if form.is_valid() and cell.is_valid():
        try:
            trial = actions.start_trial(
                study=study,
                described=trying.described(form.cleaned_data),
                row=cell.cleaned_data["row"],
                cell=cell.cleaned_data["cell"],
                by=request.user,
            )
        except Refused as refused:
            problems = [str(refused)]
        else:
            return trial_piece(request, study, trial)
    for each in (form, cell):
        for name, errors in each.errors.items():
            label = each.fields[name].label if name in each.fields else ""
            problems += [f"{label}: {error}" if label else str(error) for error in errors]
    return render(request, "judges/_trial.html", {"study": study, "problems": problems})


@require_GET
@for_roles(Role.MANAGER)
def trial(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """What a trial found, or how far it is; fetched again until it has ended."""
    found = _trial_of(study, pk)
    actions.note_asked(found)
    return trial_piece(request, study, found)


@require_POST
@for_roles(Role.MANAGER)
def cancel_trial(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    found = _trial_of(study, pk)
    actions.cancel_trial(found)
    return trial_piece(request, study, found)


def _trial_of(study: Study, pk: int) -> Trial:
    trials = study.trials.select_related("row__sheet", "column", "question", "study")
    return get_object_or_404(trials, pk=pk)


def trial_piece(request: AppRequest, study: Study, tried: Trial) -> HttpResponse:
    tried.refresh_from_db()
    item = tried.items.get()
    context: dict[str, Any] = {"study": study, "run": tried, "item": item, "found": item.found}
    if item.found:
        judge = trying.judge_of(tried.judge)
        context["judge"] = judge
        if "again" not in tried.judge:  # of a stored judge its own page says what a run takes
            context["estimate"] = estimating.estimate(study, judge, trial=item.found)
        if why := item.found["why"]:
            context["why"] = UnreadableAnswer.Why(why).label
    elif tried.is_running:
        progress = work.progress(tried)
        context |= {
            "progress": progress,
            "is_tried_again": bool(item.error) and not _is_left(item, progress),
            "before": told_before(progress.before, request.user),
        }
    return render(request, "judges/_trial.html", context)


def _is_left(item: TrialItem, progress: work.Progress) -> bool:
    """Whether no worker has come back to a cell that was to be tried again."""
    return progress.lacks_a_worker and item.not_before is not None and timezone.now() - item.not_before > _PATIENCE


# --- one that is there ------------------------------------------------------------------------------------------------


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def judge(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """A judge: what it is, what a run of it would take here, and what may be done with it."""
    found = get_object_or_404(Judge.objects.known_in(study).select_related("model", "prompt", "evidence"), pk=pk)
    taken = ""
    try:
        actions.refuse_taken(found.name, study)
    except Refused as refused:
        taken = str(refused)
    estimate = None if taken else estimating.estimate(study, found)
    page = _page_of(study, found, "judge")
    context = {
        **page,
        "taken": taken,
        "estimate": estimate,
        "can_start": estimate is not None and (estimate.rows > 0 or found.varies) and not page["is_empty"],
        "lineage": lineage_piece(study, found),
        "max_repeats": actions.MAX_REPEATS,
        "labels": Label.objects.filter(assignment__rater__runs__judge=found).distinct().count(),
        "currency": found.model.prices.currency if found.model and found.model.prices else "",
    }
    if context["may_write"] and found.method == Method.WRITING and request.user.has_perm("judges.add_judge"):
        context["examples"] = calibration_views.ExamplesForm(
            initial={"name": f"{found.name}-examples"}, study=study, whole=True, auto_id="id_examples_%s"
        )
        context["set_aside"] = annotation_doors.example_rows(study) is not None
    return render(request, "judges/judge.html", context)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def extractor(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    found = get_object_or_404(Extractor.objects.select_related("model"), pk=pk)
    lines = [line for line in extraction_queries.extractors(study) if line.extractor.pk == pk]
    context = {
        **_page_of(study, found, "extractor"),
        "line": lines[0] if lines else None,
        "estimate": estimate_extraction(study, found),
        "currency": found.model.prices.currency if found.model and found.model.prices else "",
        "lists": found.extractions.count(),
        "judges": list(Judge.objects.known_in(study).filter(evidence=found).values_list("name", flat=True)),
    }
    return render(request, "judges/extractor.html", context)


def _page_of(study: Study, tool: Judge | Extractor, kind: str) -> dict[str, Any]:
    counted = (
        type(tool)
        ._default_manager.filter(pk=tool.pk)
        .aggregate(
            n_runs=Count("runs", distinct=True),
            n_studies=Count("runs__study", distinct=True),
            at_work=Count("runs", distinct=True, filter=Q(runs__state="running")),
        )
    )
    return {
        "study": study,
        "tool": tool,
        "kind": kind,
        "counted": counted,
        "runs_here": tool.runs.filter(study=study).order_by("-started_at")[:5],
        "may_write": Role.MANAGER in study.roles,
        "is_empty": not Row.objects.filter(sheet__study=study, withdrawn_at=None).exists(),
        "is_unused": is_unused(tool),
        "rename_form": NameForm(initial={"name": tool.name}),
    }


def _changed(
    request: AppRequest, study: Study, pk: int, kind: str, change: Callable[[Any], None], said: str
) -> HttpResponse:
    tool: Any = get_object_or_404(queries.tools(study, kind), pk=pk)
    try:
        change(tool)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, said % {"name": tool.name})
    return redirect(f"judges:{kind}", study.slug, pk)


@require_POST
@authors
def rename(request: AppRequest, study: Study, pk: int, kind: str) -> HttpResponse:
    form = NameForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(map(str, form.errors["name"])))
        return redirect(f"judges:{kind}", study.slug, pk)
    change = partial(actions.rename, name=form.cleaned_data["name"], study=study, by=request.user)
    return _changed(request, study, pk, kind, change, _("It is called “%(name)s” now."))


@require_POST
@authors
def archive(request: AppRequest, study: Study, pk: int, kind: str) -> HttpResponse:
    return _changed(request, study, pk, kind, actions.archive, _("“%(name)s” is archived."))


@require_POST
@authors
def take_back(request: AppRequest, study: Study, pk: int, kind: str) -> HttpResponse:
    return _changed(request, study, pk, kind, actions.take_back, _("“%(name)s” is offered again."))


@require_POST
@authors
def delete(request: AppRequest, study: Study, pk: int, kind: str) -> HttpResponse:
    tool: Any = get_object_or_404(queries.tools(study, kind), pk=pk)
    try:
        actions.delete(tool, study=study, by=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(f"judges:{kind}", study.slug, pk)
    messages.success(request, _("“%(name)s” is deleted.") % {"name": tool.name})
    return redirect("judges:runs", study.slug)
