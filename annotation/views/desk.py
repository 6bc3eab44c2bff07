"""Studies, a new one, and the overview of one."""

from __future__ import annotations

from pathlib import Path

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import actions, doors, queries
from annotation.deriving import queries as deriving
from annotation.forms.labelling import StudyForm, StudySettingsForm
from annotation.forms.schemes import NewSchemeForm
from annotation.models import Assignment, Role, Study
from annotation.people.access import AppRequest, for_roles
from annotation.queries import setup
from annotation.scheme import spec
from annotation.scheme.background import EXAMPLE
from annotation.views import rewording, work
from annotation.views.paging import page_of_sheets
from annotation.webhooks import queries as webhooks
from work import queries as work_queries


@require_GET
def home(request: AppRequest) -> HttpResponse:
    """Where the work of whoever comes without an address is: labelling that is left, else the desk of their study, or
    where they can make their first one."""
    left = Assignment.objects.of_user(request.user).exclude(state=Assignment.State.SUBMITTED)
    left = left.filter(rater__study__archived_at=None)
    if left.exists():
        return work.my_work(request)
    mine = [study for study in queries.studies_of(request.user) if study.archived_at is None]
    at_desk = [study for study in mine if study.roles - {Role.ANNOTATOR}]
    if not mine and request.user.has_perm("annotation.add_study"):
        return redirect("annotation:studies")
    if not at_desk:
        return work.my_work(request)
    if len(at_desk) > 1 or request.user.is_superuser:
        return redirect("annotation:studies")
    study = at_desk[0]
    homes = doors.homes_for(study) if Role.MANAGER not in study.roles else []
    return redirect(homes[0].url_name if homes else "annotation:study", study.slug)


@require_GET
def studies(request: AppRequest) -> HttpResponse:
    mine = queries.studies_of(request.user)
    for study in mine:
        study.homes = doors.homes_for(study)  # type: ignore[attr-defined]  # for the template
    deletions = list(queries.open_deletions_of(request.user))
    context = {
        "studies": [study for study in mine if study.archived_at is None],
        "archived": [study for study in mine if study.archived_at is not None],
        "deletions": list(zip(deletions, work_queries.progress_of(deletions), strict=True)),
    }
    return render(request, "annotation/studies.html", context)


@permission_required("annotation.add_study", raise_exception=True)
@require_http_methods(["GET", "POST"])
def new_study(request: AppRequest) -> HttpResponse:
    text = queries.scheme_to_begin_from(request.GET.get("begin", ""))
    form = StudyForm(request.POST or None, request.FILES or None, initial={"scheme_text": text} if text else None)
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
            form.add_error("scheme_text" if data["scheme_text"] else "scheme_file", str(refusal))
        else:
            return redirect("annotation:study", study.slug)
    return render(request, "annotation/new_study.html", {"form": form})


@require_GET
@permission_required("annotation.add_study", raise_exception=True)
def scheme_to_begin_from(request: AppRequest) -> HttpResponse:
    """The text of a scheme, for the field in which another one is made of it."""
    text = queries.scheme_to_begin_from(request.GET.get("begin", "short"))
    if text is None:
        raise Http404
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_GET
def scheme_example(request: AppRequest) -> HttpResponse:
    """A scheme file to begin from, with each kind of answer."""
    file = Path(spec.__file__).with_name("example.yaml")
    headers = {"Content-Disposition": 'attachment; filename="scheme-example.yaml"'}
    return HttpResponse(file.read_bytes(), content_type="application/yaml; charset=utf-8", headers=headers)


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def change_scheme(request: AppRequest, study: Study) -> HttpResponse:
    """Another scheme in place of the study's, while nothing is labelled by it; then another wording of it."""
    if actions.has_answers(study):
        return rewording.reword(request, study)
    form = NewSchemeForm(request.POST or None, request.FILES or None, initial=_own_scheme(request, study))
    if request.method == "POST" and form.is_valid():
        given, source = form.chosen
        try:
            actions.change_scheme(study=study, spec=given, source=source)
        except actions.Refused as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(
                request, _("“%(study)s” asks by %(scheme)s now.") % {"study": study, "scheme": study.scheme}
            )
            return redirect("annotation:study", study.slug)
    return render(request, "annotation/change_scheme.html", {"study": study, "form": form})


def _own_scheme(request: AppRequest, study: Study) -> dict[str, str] | None:
    """The study's scheme to begin from, as its next version, where that is asked for."""
    if request.GET.get("begin") != "own":
        return None
    asked = queries.asked_by(study.scheme, request.user)
    return {"scheme_text": queries.with_version(study.scheme.source, asked.next_version)}


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def settings(request: AppRequest, study: Study) -> HttpResponse:
    form = StudySettingsForm(request.POST or None, instance=Study.objects.get(pk=study.pk))
    if request.method == "POST" and form.is_valid():
        try:
            study = actions.change_study(study=study, **form.changed)
        except actions.Refused as refusal:
            form.add_error("slug", str(refusal))
        else:
            messages.success(request, _("The settings of “%(study)s” are saved.") % {"study": study.title})
            return redirect("annotation:study", study.slug)
    context = {"study": study, "form": form, "has_answers": actions.has_answers(study), "example": EXAMPLE}
    return render(request, "annotation/settings.html", context)


@require_POST
@for_roles(Role.MANAGER)
def put_setup_away(request: AppRequest, study: Study) -> HttpResponse:
    actions.change_study(study=study, shows_setup=False)
    messages.success(request, _("The steps are put away. The settings of the study bring them back."))
    return redirect("annotation:study", study.slug)


@require_GET
@for_roles(*Role)
def study(request: AppRequest, study: Study) -> HttpResponse:
    sheets = queries.sheets_with_counts(study)
    sets_up = Role.MANAGER in study.roles and study.archived_at is None
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "before": study.derived_from if deriving.may_read_before(study, request.user) else None,
        "derived": deriving.derived_studies(study, request.user),
        "may_derive": deriving.may_derive(study, request.user),
        "sheets": page_of_sheets(request, sheets.filter(archived_at=None), name="sheets"),
        "archived": sheets.exclude(archived_at=None),
        "may_close": sets_up,
        "way_in": setup.way_in(study) if sets_up else None,
        "setup": setup.steps(study) if sets_up and not doors.next_in(study, request.user) else [],
        "webhook_is_off": sets_up and webhooks.were_switched_off(study),
        "raters": queries.rater_progress(study) if study.roles & {Role.MANAGER, Role.RESEARCHER} else None,
    }
    return render(request, "annotation/study.html", context)


@require_GET
@for_roles(Role.MANAGER)
def follows(request: AppRequest, study: Study) -> HttpResponse:
    """What comes next, for a page that waits for something."""
    context = {"study": study, "follows": doors.next_in(study, request.user)}
    return render(request, "annotation/_follows.html", context)
