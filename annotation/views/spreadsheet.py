"""A sheet as a workbook: downloaded, filled in where there is no network, and brought back."""

from __future__ import annotations

import hashlib
import uuid

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods

from annotation import actions, queries
from annotation.exchange.spreadsheet.reading import MAX_BYTES, Reading, read
from annotation.exchange.spreadsheet.writing import workbook
from annotation.models import Assignment, AuditEvent, LabelEvent, Sheet
from annotation.people.access import AppRequest
from annotation.queries import Grid
from annotation.views.going_on import to_first_page

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_PROBLEMS_SHOWN = 50


class WorkbookForm(forms.Form):
    use_required_attribute = False

    workbook = forms.FileField(label=gettext_lazy("The workbook, filled in"))

    def clean_workbook(self) -> bytes:
        file = self.cleaned_data["workbook"]
        if file.size > MAX_BYTES:
            raise forms.ValidationError(
                _("This file has more than %(n)s MB; no sheet has.") % {"n": MAX_BYTES // 1_000_000}
            )
        data: bytes = file.read()
        return data


@require_GET
def download(request: AppRequest, pk: int) -> HttpResponse:
    grid = _grid(request, pk)
    if first := actions.first_page(study=grid.sheet.study, user=request.user):
        return to_first_page(request, first, grid.sheet.study)
    title = slugify(grid.sheet.title) or "sheet"
    name = f"{title}-{slugify(grid.assignments[0].rater.code)}.xlsx"
    # Without the code: nothing in the audit log ties an account to it.
    actions.note(AuditEvent.Kind.EXPORT, by=request.user, study=grid.sheet.study, what=f"{title}.xlsx, their own work")
    return HttpResponse(
        workbook(grid), content_type=_XLSX, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


@require_http_methods(["GET", "POST"])
def page(request: AppRequest, pk: int) -> HttpResponse:
    """Take a workbook back: all that was changed in it, or, if anything in it cannot be taken in, nothing."""
    grid = _grid(request, pk)
    if first := actions.first_page(study=grid.sheet.study, user=request.user):
        return to_first_page(request, first, grid.sheet.study)
    form = WorkbookForm(request.POST or None, request.FILES or None)
    context = {
        "sheet": grid.sheet,
        "study": grid.sheet.study,
        "scheme": grid.sheet.study.scheme.parsed,
        "form": form,
        "has_values": grid.has_values,
    }
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data["workbook"]
        try:
            reading = read(data, grid)
            if not reading.problems:
                _take_in(request, reading, data)
                return redirect("annotation:sheet", pk)
        except actions.Refused as refusal:
            form.add_error("workbook", str(refusal))
        else:
            context["problems"] = reading.problems[:_PROBLEMS_SHOWN]
            context["more"] = max(0, len(reading.problems) - _PROBLEMS_SHOWN)
    return render(request, "annotation/spreadsheet.html", context)


def _take_in(request: AppRequest, reading: Reading, data: bytes) -> None:
    # The same file twice at once is the same change; brought again after other changes, it is another one.
    events = LabelEvent.objects.filter(assignment__in=reading.answers).order_by("-pk").values_list("pk", flat=True)
    key = uuid.UUID(bytes=hashlib.sha256(data + str(events.first()).encode()).digest()[:16])
    changed = actions.change(answers=reading.answers, key=key, whole=True)
    if changed.refused:
        raise actions.Refused(" ".join(changed.refused))
    if changed.conflicts:
        raise actions.Refused(_("Something was changed in the browser just now. Nothing was taken in; try it again."))
    n = reading.n_cells
    if n:
        said = ngettext("%(n)s changed cell was taken in.", "%(n)s changed cells were taken in.", n) % {"n": n}
    else:
        said = _("Nothing in this workbook differs from what is here.")
    messages.success(request, said)


def _grid(request: AppRequest, pk: int) -> Grid:
    sheet = get_object_or_404(Sheet.objects.select_related("study__scheme"), pk=pk)
    grid = queries.grid(sheet, Assignment.objects.of_user(request.user))
    if not grid.assignments:
        raise Http404(_("You have no work on this sheet."))
    return grid
