"""The wording of a scheme under answers: changed, listed, read."""

from __future__ import annotations

import re
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import actions, doors, queries
from annotation.forms.schemes import RewordForm
from annotation.models import Role, Sheet, Study
from annotation.people.access import READERS, AppRequest, for_roles
from annotation.scheme.rewording import differences, refusals


def reword(request: AppRequest, study: Study) -> HttpResponse:
    """What would change is shown first; the same text sent once more, with a reason, is taken."""
    asked = queries.asked_by(study.scheme, request.user)
    posted = request.POST if request.method == "POST" and not asked.why_not else None
    form = RewordForm(posted, initial={"scheme_text": queries.with_version(study.scheme.source, asked.next_version)})
    context: dict[str, Any] = {"study": study, "form": form, "asked": asked}
    context["is_reworded"] = study.scheme.revisions.exists()
    if posted is not None and form.is_valid():
        spec, source = form.cleaned_data["scheme_text"]
        found = differences(study.scheme.parsed, spec)
        if form.is_looked_at:
            try:
                actions.reword_scheme(
                    study=study, spec=spec, source=source, reason=form.cleaned_data["reason"], by=request.user
                )
            except actions.Refused as refusal:
                form.add_error(None, str(refusal))
            else:
                messages.success(
                    request,
                    _("“%(study)s” asks by version %(version)s now. Its raters are told when they come.")
                    % {"study": study.title, "version": spec.version},
                )
                return redirect("annotation:wordings", study.slug)
        for sentence in refusals(found):
            form.add_error("scheme_text", sentence)
        if found and form.is_valid():
            form.data = {**posted.dict(), "looked_at": form.digest}
            context |= {
                "found": found,
                "adds_option": any(one.adds_option for one in found),
                "studies": ", ".join(one.title for one in asked.studies),
                "n_judges": study.raters.filter(kind="judge").count(),
            }
        elif not found:
            form.add_error("scheme_text", _("Nothing was changed but the version."))
    return render(request, "annotation/reword.html", context)


@require_GET
@for_roles(*READERS)
def wordings(request: AppRequest, study: Study) -> HttpResponse:
    """All wordings of the study's scheme, with what changed, why, and what was answered by each."""
    found = queries.wordings(study)
    context = {
        "study": study,
        "wordings": [(one, doors.wording_pages(study, one.version) if one.since else []) for one in found],
        "is_manager": Role.MANAGER in study.roles,
    }
    return render(request, "annotation/wordings.html", context)


@require_GET
@for_roles(*READERS)
def scheme_file(request: AppRequest, study: Study, version: int) -> HttpResponse:
    """The study's scheme as a file, as it is or as it was."""
    scheme = study.scheme
    source = scheme.source if version == scheme.version else None
    if source is None:
        source = scheme.revisions.filter(version=version).values_list("source", flat=True).first()
    if source is None:
        raise Http404(_("The scheme of this study never had this version."))
    headers = {"Content-Disposition": f'attachment; filename="{scheme.slug}-{version}.yaml"'}
    return HttpResponse(source, content_type="application/yaml; charset=utf-8", headers=headers)


@require_POST
def read(request: AppRequest, pk: int) -> HttpResponse:
    """Whoever labels a sheet has read how what is asked is worded in the version that stood there."""
    sheets = Sheet.objects.filter(study__raters__user=request.user, study__raters__active=True)
    sheet = get_object_or_404(sheets.select_related("study__scheme"), pk=pk)
    version = request.POST.get("version", "")
    if re.fullmatch("[0-9]{1,9}", version):
        actions.read_wording(study=sheet.study, user=request.user, version=int(version))
    return redirect("annotation:sheet", pk)
