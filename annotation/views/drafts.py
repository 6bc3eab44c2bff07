"""Starting people's work from another rater's answers: shown first, then done."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation import actions, queries
from annotation.forms.handing_on import DraftForm
from annotation.models import Assignment, Role, Study
from annotation.people.access import AppRequest, for_roles


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def page(request: AppRequest, study: Study) -> HttpResponse:
    """Show which work could start from whose answers (GET); draft what is ticked of it (POST), all or none."""
    data = request.POST if request.method == "POST" else request.GET
    bound = "source" in data
    form = DraftForm(data if bound else None, study=study, initial={"rater": request.GET.get("rater")})
    context: dict[str, Any] = {"study": study, "scheme": study.scheme.parsed, "form": form}
    if form.is_valid():
        context |= {"startable": form.startable, "source": form.cleaned_data["source"]}
        if request.method == "POST":
            ticked = set(request.POST.getlist("work"))
            chosen = [one.assignment for one in form.startable if str(one.assignment.pk) in ticked]
            if ticked and len(chosen) == len(ticked):
                return _start(request, study, form, chosen)
            context["refusal"] = (
                _("This has changed since it was shown. Nothing was drafted: look at it again.")
                if ticked
                else _("Tick what is to start from these answers.")
            )
    context["has_sources"] = queries.sources(study).exists()
    template = "annotation/_drafts_preview.html" if request.htmx else "annotation/drafts.html"
    return render(request, template, context)


def _start(request: AppRequest, study: Study, form: DraftForm, chosen: list[Assignment]) -> HttpResponse:
    try:
        started = actions.start_from(assignments=chosen, rater=form.cleaned_data["source"], by=request.user)
    except actions.Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("annotation:drafts", study.slug)
    said = ngettext(
        "%(n)s answer of “%(source)s” waits as a draft for “%(rater)s”.",
        "%(n)s answers of “%(source)s” wait as drafts for “%(rater)s”.",
        started.answers,
    )
    names = {"source": form.cleaned_data["source"].code, "rater": form.cleaned_data["rater"].code}
    messages.success(request, said % {"n": started.answers, **names})
    return redirect("annotation:board", study.slug)
