"""Time at work: the beats of the grid's page; and what the manager settles about it, closing a sheet and the pay."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from annotation import actions, queries
from annotation.forms.labelling import BeatForm, PayForm
from annotation.models import Rater, Role, Sheet, Study
from annotation.people.access import AppRequest, for_roles
from annotation.views.saving import refusal


@require_POST
def beat(request: AppRequest, pk: int) -> HttpResponse:
    """What an opened page of the grid has counted so far. There is no answer: nobody waits for one."""
    mine = Rater.objects.select_related("study")
    rater = get_object_or_404(mine, user=request.user, active=True, study__sheets=pk)
    if owed := actions.owed_in_study(study=rater.study, user=request.user):
        return refusal(owed)
    form = BeatForm(request.POST)
    if not form.is_valid():
        return HttpResponse(status=400)
    actions.beat(rater=rater, page=form.cleaned_data["page"], seconds=form.cleaned_data["seconds"])
    return HttpResponse(status=204)


@require_GET
@for_roles(Role.MANAGER)
def panel(request: AppRequest, study: Study) -> HttpResponse:
    """The board's panel of hours by rater and sheet, and what they are paid."""
    time = queries.active_time(study)
    lines = [
        (sheet, [of_rater.by_sheet[i] for of_rater in time.raters], time.by_sheet[i])
        for i, sheet in enumerate(time.sheets)
        if time.by_sheet[i]
    ]
    form = PayForm(initial={"hourly_rate": study.hourly_rate, "currency": study.currency})
    context = {"study": study, "scheme": study.scheme.parsed, "time": time, "lines": lines, "form": form}
    return render(request, "annotation/_time.html", context)


@require_POST
@for_roles(Role.MANAGER)
def close_sheet(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    sheet = actions.close_sheet(sheet=get_object_or_404(Sheet, pk=pk, study=study), by=request.user)
    n = queries.sheets_with_counts(study).get(pk=pk).n_unsubmitted  # type: ignore[attr-defined]  # which it counts
    words = {"sheet": sheet.title, "n": n}
    if n:
        messages.warning(
            request,
            ngettext(
                "“%(sheet)s” is closed. %(n)s assignment is not submitted; what was labelled in it is kept.",
                "“%(sheet)s” is closed. %(n)s assignments are not submitted; what was labelled in them is kept.",
                n,
            )
            % words,
        )
    else:
        messages.success(request, _("“%(sheet)s” is closed: its raters can change nothing any more.") % words)
    return redirect("annotation:study", study.slug)


@require_POST
@for_roles(Role.MANAGER)
def open_sheet(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    sheet = actions.open_sheet(sheet=get_object_or_404(Sheet, pk=pk, study=study))
    messages.success(request, _("“%(sheet)s” is open again.") % {"sheet": sheet.title})
    return redirect("annotation:study", study.slug)


@require_POST
@for_roles(Role.MANAGER)
def pay(request: AppRequest, study: Study) -> HttpResponse:
    form = PayForm(request.POST)
    if form.is_valid():
        actions.set_pay(study=study, **form.cleaned_data)
    else:
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
    return redirect("annotation:board", study.slug)
