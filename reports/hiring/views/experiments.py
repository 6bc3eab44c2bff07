"""Do a judge's suggestions move people? An experiment is drawn, with what it would find, and says what it found."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import actions
from annotation.actions import Refused
from annotation.exchange.exports import safe_lines
from annotation.models import Experiment, Role, Study
from annotation.people.access import AppRequest, for_roles
from annotation.queries.experiments import drawn_seats, open_seats
from reports.hiring import experiments
from reports.hiring.effects import Line, lines_of
from reports.hiring.forms import ExperimentForm
from reports.hiring.queries import question_name
from reports.hiring.words import percent, title_of


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER, Role.RESEARCHER)
def suggestions(request: AppRequest, study: Study) -> HttpResponse:
    """What an experiment would find (GET, again at each change of the form); drawing one (POST, by a manager)."""
    may_write = Role.MANAGER in study.roles
    if request.method == "POST" and not may_write:
        return HttpResponse(status=403)
    data = request.POST if request.method == "POST" else request.GET
    form = ExperimentForm(data if "seed" in data or request.method == "POST" else None, study=study)
    context: dict[str, Any] = {
        "study": study,
        "scheme": study.scheme.parsed,
        "may_write": may_write,
        "form": form,
        "has_judges": study.raters.judges().exists(),
    }
    if may_write and form.is_bound and form.is_valid():
        blind = experiments.kept_blind(study)
        judge, seed, raters = (form.cleaned_data[name] for name in ("judge", "seed", "raters"))
        if request.method == "POST":
            try:
                actions.draw_experiment(
                    study=study, judge=judge, raters=raters, seed=seed, by=request.user, blind=blind
                )
            except Refused as refused:
                form.add_error(None, str(refused))
            else:
                messages.success(request, _("Drawn. People see the suggestions when they open these documents."))
                return redirect("reports:suggestions", study.slug)
        else:
            seats = open_seats(study, judge, raters, blind=blind)
            drawn = drawn_seats(seats, seed=seed)
            context["planned"] = {
                "seats": len(seats),
                "people": len({seat.rater for seat in seats}),
                "shown": sum(drawn.values()),
                "blind": len(blind),
                "lines": [
                    {
                        "title": title_of(study, question_name(one.question)),
                        "cells": one.cells,
                        "agreement": percent(one.agreement),
                        "assumed": one.assumed,
                        "icc": one.icc,
                        "detectable": percent(one.detectable),
                        "needed": one.size.n_documents,
                    }
                    for one in experiments.plan(study, judge, seats)
                ],
            }
    if request.htmx:
        return render(request, "reports/hiring/_experiment_plan.html", context)
    context["results"] = _results(study)
    return render(request, "reports/hiring/suggestions.html", context)


def _results(study: Study) -> list[tuple[experiments.Result, list[Line]]]:
    """What each experiment found, with its lines."""
    drawn = Experiment.objects.filter(study=study).select_related("study__scheme", "judge", "drawn_by")
    return [(found, lines_of(found)) for found in experiments.results(list(drawn))]


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def suggestions_effects(request: AppRequest, study: Study) -> HttpResponse:
    """A piece of the report: what the experiments found."""
    context = {"study": study, "scheme": study.scheme.parsed, "results": _results(study)}
    return render(request, "reports/hiring/_effects_told.html", context)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def suggestions_csv(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """The effects as numbers: shares, and of time a ratio."""
    found = experiments.result(_experiment(study, pk))
    heads = ["question", "measure", "hidden", "shown", "change", "low", "high", "wide_low", "wide_high", "p_value",
             "answers", "raters", "documents", "reason"]  # fmt: skip
    rows = [
        [
            line.question,
            line.measure,
            *(
                "" if value is None else f"{value:.12g}"
                for of in (line.effect,)
                for value in (of.hidden, of.shown, of.value, of.low, of.high, of.wide_low, of.wide_high, of.p_value)
            ),
            *map(str, (line.effect.n, line.effect.n_raters, line.effect.n_documents)),
            line.effect.reason,
        ]
        for line in lines_of(found)
    ]
    content = "\ufeff" + "".join(safe_lines(heads, rows))
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-suggestions-{pk}.csv"'
    return response


@require_POST
@for_roles(Role.MANAGER)
def end_suggestions(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    gone = actions.end_experiment(experiment=_experiment(study, pk))
    messages.success(
        request,
        ngettext(
            "Ended: nothing is suggested any more in %(n)s document, of a sheet that its rater has not opened.",
            "Ended: nothing is suggested any more in %(n)s documents, of sheets that their raters have not opened.",
            gone,
        )
        % {"n": gone},
    )
    return redirect("reports:suggestions", study.slug)


@require_GET
@for_roles(Role.MANAGER, Role.RESEARCHER)
def suggestions_panel(request: AppRequest, study: Study) -> HttpResponse:
    """A piece of the plan: what is drawn, and where more can be."""
    drawn = Experiment.objects.filter(study=study).select_related("judge")
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "drawn": drawn.annotate(n_shown=_seats(shown=True), n_hidden=_seats(shown=False)),
        "has_judges": study.raters.judges().exists(),
    }
    return render(request, "reports/hiring/_experiments.html", context)


def _seats(*, shown: bool) -> Count:
    return Count("seats", filter=Q(seats__shown=shown))


def _experiment(study: Study, pk: int) -> Experiment:
    return get_object_or_404(Experiment.objects.select_related("study__scheme", "judge"), study=study, pk=pk)
