"""A sheet's settings, taking a sheet or a study away or putting it by, undoing a plan or what was accepted at once."""

from __future__ import annotations

import uuid

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import actions, doors, queries
from annotation.forms.labelling import DeleteStudyForm
from annotation.lens import lens
from annotation.models import Role, Sheet, Study
from annotation.people.access import AppRequest, for_roles, refuse_archived, sheet_for
from annotation.queries import undoing


class SheetForm(forms.Form):
    title = forms.CharField(label=gettext_lazy("Title"), max_length=200)
    shows_gold = forms.BooleanField(
        label=gettext_lazy("Show its people the right answers once it is closed"),
        required=False,
        help_text=gettext_lazy(
            "Under My work they find where what they submitted is not the gold, and its reasons: to learn from a sheet"
            " for training. What they label there afterwards counts as exposed, so leave it closed then."
        ),
    )


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def sheet_settings(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """Rename a sheet, and say whether its people see the gold (POST); the page also says what would go along if it were
    taken away."""
    sheet = get_object_or_404(Sheet, study=study, pk=pk)
    was = {"title": sheet.title, "shows_gold": sheet.shows_gold}
    form = SheetForm(request.POST or None, initial=was)
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                actions.rename_sheet(sheet=sheet, title=form.cleaned_data["title"])
                actions.show_gold(sheet=sheet, shown=form.cleaned_data["shows_gold"])
        except actions.Refused as refusal:
            form.add_error("title", str(refusal))
        else:
            if "title" in form.changed_data:
                messages.success(request, _("The title is “%(title)s” now.") % {"title": sheet.title})
            else:
                messages.success(request, _("Saved."))
            return redirect("annotation:study", study.slug)
    context = {
        "study": study,
        "sheet": get_object_or_404(Sheet, pk=pk),
        "scheme": study.scheme.parsed,
        "form": form,
        "along": undoing.of_sheet(sheet),
    }
    return render(request, "annotation/sheet_settings.html", context)


@require_POST
@for_roles(Role.MANAGER)
def delete_sheet(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    sheet = get_object_or_404(Sheet, study=study, pk=pk)
    title = sheet.title
    try:
        actions.delete_sheet(sheet=sheet, by=request.user)
    except actions.Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("annotation:sheet-settings", study.slug, pk)
    messages.success(request, _("“%(sheet)s” is deleted.") % {"sheet": title})
    return redirect("annotation:study", study.slug)


@require_POST
@for_roles(Role.MANAGER)
def archive_sheet(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """Archive a sheet, or bring an archived one back."""
    sheet = get_object_or_404(Sheet, study=study, pk=pk)
    if sheet.archived_at is None:
        actions.archive_sheet(sheet=sheet, by=request.user)
        said = _("“%(sheet)s” is archived. Its labels stay; it can be brought back below the list.")
    else:
        actions.unarchive_sheet(sheet=sheet)
        said = _("“%(sheet)s” is back, and open again.")
    messages.success(request, said % {"sheet": sheet.title})
    return redirect("annotation:study", study.slug)


@require_POST
@for_roles(Role.MANAGER, archived=True)
def archive_study(request: AppRequest, study: Study) -> HttpResponse:
    """Archive a study, or bring an archived one back."""
    try:
        if study.archived_at is None:
            actions.archive_study(study=study, by=request.user)
            said = _("“%(study)s” is archived. All that is in it stays; it can be brought back below the list.")
        else:
            actions.unarchive_study(study=study, by=request.user)
            said = _("“%(study)s” is back.")
    except actions.Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("annotation:settings", study.slug)
    messages.success(request, said % {"study": study.title})
    return redirect("annotation:study", study.slug)


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER, archived=True)
def delete_study(request: AppRequest, study: Study) -> HttpResponse:
    """Say what would be gone with a study (GET), and delete it (POST)."""
    along = undoing.of_study(study)
    may_go = along.may_go(request.user)
    form = DeleteStudyForm(request.POST if request.method == "POST" and may_go else None, study=study)
    if form.is_valid():
        try:
            deletion = actions.delete_study(study=study, by=request.user)
        except actions.Refused as refusal:
            form.add_error(None, str(refusal))
        else:
            if deletion is None:
                messages.success(request, _("“%(study)s” is deleted.") % {"study": study.title})
            return redirect("annotation:studies")
    context = {"study": study, "form": form, "along": along, "may_go": may_go}
    return render(request, "annotation/delete_study.html", context)


@require_POST
def resume_deletion(request: AppRequest, pk: int) -> HttpResponse:
    """Go on with a deletion that has failed."""
    run = get_object_or_404(queries.open_deletions_of(request.user), pk=pk)
    try:
        actions.resume_deletion(run=run)
    except actions.Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("annotation:studies")


@require_POST
@for_roles(Role.MANAGER)
def undo_plan(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    plan = get_object_or_404(study.plans, pk=pk)
    goes_with = doors.goes_with([plan.pk])[plan.pk]
    try:
        n = actions.undo_plan(plan=plan)
    except actions.Refused as refusal:
        messages.error(request, str(refusal))
    else:
        said = ngettext(
            "The plan is taken back: %(n)s assignment is gone.",
            "The plan is taken back: %(n)s assignments are gone.",
            n,
        )
        messages.success(request, " ".join([said % {"n": n}, *goes_with]))
    return redirect("annotation:plan", study.slug)


@require_POST
def take_back_accepted(request: AppRequest, pk: int) -> HttpResponse:
    sheet = sheet_for(request.user, pk, Role.MANAGER)
    refuse_archived(sheet.study, request.method)
    try:
        batch = uuid.UUID(request.POST.get("batch", ""))
    except ValueError:
        raise Http404 from None
    n = actions.take_back_accepted(sheet=sheet, batch=batch, by=request.user)
    said = ngettext("%(n)s cell is undecided again.", "%(n)s cells are undecided again.", n)
    messages.success(request, said % {"n": n})
    return redirect("annotation:lens-accept", sheet.pk)


@require_GET
@for_roles(Role.MANAGER)
def gold_imports(request: AppRequest, study: Study) -> HttpResponse:
    """The imports that brought gold."""
    return render(request, "annotation/gold_imports.html", {"study": study, "imports": undoing.gold_imports(study)})


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def gold_import(request: AppRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Say what would go with the gold of an import (GET), and take it back (POST)."""
    brought = next((one for one in undoing.gold_imports(study) if one.key == key), None)
    if brought is None:
        raise Http404
    if request.method == "POST":
        try:
            n = actions.take_back_gold(study=study, key=key, shown=request.POST.get("shown", ""), by=request.user)
        except actions.Refused as refusal:
            messages.error(request, str(refusal))
        else:
            messages.success(
                request, ngettext("%(n)s answer is taken back.", "%(n)s answers are taken back.", n) % {"n": n}
            )
        return redirect("annotation:gold-import", study.slug, key)
    found = undoing.gold_of_import(study, key)
    context = {"study": study, "brought": brought, "found": found, "shown": lens.digest(found.cells)}
    return render(request, "annotation/gold_import.html", context)
