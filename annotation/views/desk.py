"""Studies, a new one, and the overview of one."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation import actions, queries
from annotation.deriving import queries as deriving
from annotation.forms.labelling import StudyForm, StudySettingsForm
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from annotation.queries import setup


@require_GET
def studies(request: AppRequest) -> HttpResponse:
    mine = Study.objects.visible_to(request.user).select_related("scheme")
    return render(request, "annotation/studies.html", {"studies": mine})


@permission_required("annotation.add_study", raise_exception=True)
@require_http_methods(["GET", "POST"])
def new_study(request: AppRequest) -> HttpResponse:
    form = StudyForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            with transaction.atomic():
                scheme = data["scheme"] or actions.store_scheme(
                    spec=data["scheme_file"][0], source=data["scheme_file"][1]
                )
                study = actions.create_study(
                    slug=data["slug"], title=data["title"], scheme=scheme, guideline=data["guideline"], by=request.user
                )
        except actions.Refused as refusal:
            form.add_error("scheme_file", str(refusal))
        else:
            return redirect("annotation:study", study.slug)
    return render(request, "annotation/new_study.html", {"form": form})


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def settings(request: AppRequest, study: Study) -> HttpResponse:
    form = StudySettingsForm(request.POST or None, instance=Study.objects.get(pk=study.pk))
    if request.method == "POST" and form.is_valid():
        try:
            study = actions.change_study(study=study, **form.cleaned_data)
        except actions.Refused as refusal:
            form.add_error("slug", str(refusal))
        else:
            messages.success(request, _("The settings of “%(study)s” are saved.") % {"study": study.title})
            return redirect("annotation:study", study.slug)
    return render(request, "annotation/settings.html", {"study": study, "form": form})


@require_GET
@for_roles(*Role)
def study(request: AppRequest, study: Study) -> HttpResponse:
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "before": study.derived_from if deriving.may_read_before(study, request.user) else None,
        "derived": deriving.derived_studies(study, request.user),
        "may_derive": Role.MANAGER in study.roles and request.user.has_perm("annotation.add_study"),
        "sheets": queries.sheets_with_counts(study),
        "may_close": Role.MANAGER in study.roles,
        "setup": setup.steps(study) if Role.MANAGER in study.roles else [],
        "raters": queries.rater_progress(study) if study.roles & {Role.MANAGER, Role.RESEARCHER} else None,
    }
    return render(request, "annotation/study.html", context)
