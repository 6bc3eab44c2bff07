"""A certified judge takes work over; what was accepted under a revoked certificate goes back to people."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.actions import Refused
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from reports.hiring import actions, queries
from reports.hiring.forms import WorkForm
from reports.hiring.views.certificates import called


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def take_over(request: AppRequest, study: Study, name: str) -> HttpResponse:
    """Show what would be accepted and who would get the rest (GET, again at each change of the form); do it (POST).

    Only what was shown is done: its digest comes back.
    """
    certificate = called(study, name)
    data = request.POST if request.method == "POST" else request.GET
    form = WorkForm(data if "seed" in data or request.method == "POST" else None, study=study)
    if request.method == "POST":
        actions.watch(study=study)
    standing = queries.standing_of(certificate)
    context: dict[str, Any] = {
        "study": study,
        "scheme": study.scheme.parsed,
        "certificate": certificate,
        "standing": standing,
        "form": form,
    }
    if standing.holds and form.is_valid():
        share, seed, raters = (form.cleaned_data[key] for key in ("share", "seed", "raters"))
        todo = queries.work_to_do(certificate, share=share, seed=seed)
        try:
            if request.method == "POST":
                made = actions.take_over(
                    certificate=certificate,
                    share=share,
                    seed=seed,
                    raters=list(raters),
                    shown=request.POST.get("drawn", ""),
                    by=request.user,
                )
                messages.success(request, _done(study, made.cells.count(), len(todo.to_people), todo.lacking))
                return redirect(certificate)
            drawn = actions.draw_rest(study, todo.to_people, certificate.question.section.key, list(raters), seed=seed)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            each = drawn[0].documents_of_rater if drawn else []
            context["todo"] = todo
            context["people"] = list(zip(raters, each, strict=False))
    template = "reports/hiring/_work.html" if request.htmx else "reports/hiring/work.html"
    return render(request, template, context)


def _done(study: Study, cells: int, rows: int, lacking: int) -> str:
    words = study.scheme.parsed.words.model_dump()
    accepted = ngettext("%(n)s cell is accepted as the judge's.", "%(n)s cells are accepted as the judge's.", cells)
    given = ngettext("%(n)s %(row)s is given to people.", "%(n)s %(rows)s are given to people.", rows)
    said = f"{accepted % {'n': cells}} {given % {'n': rows, **words}}"
    if not lacking:
        return said
    fewer = ngettext(
        "%(n)s %(row)s fewer than the share is drawn to supervise it: in the others somebody is shown its answers.",
        "%(n)s %(rows)s fewer than the share are drawn to supervise it: in the others somebody is shown its answers.",
        lacking,
    )
    return f"{said} {fewer % {'n': lacking, **words}}"


@require_POST
@for_roles(Role.MANAGER)
def give_back(request: AppRequest, study: Study, name: str) -> HttpResponse:
    certificate = called(study, name)
    form = WorkForm({**request.POST.dict(), "share": "10", "raters": request.POST.getlist("raters")}, study=study)
    if not form.is_valid():
        messages.error(request, _("Nothing was given: choose people, and a seed."))
        return redirect(certificate)
    try:
        actions.give_back(
            certificate=certificate,
            raters=list(form.cleaned_data["raters"]),
            seed=form.cleaned_data["seed"],
            by=request.user,
        )
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("People have it now; each finds it among their work."))
    return redirect(certificate)
