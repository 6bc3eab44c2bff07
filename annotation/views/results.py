"""What raters are told once a manager shows them the gold of a closed sheet."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotation import actions
from annotation.lens.results import own_results
from annotation.models import Sheet
from annotation.people.access import AppRequest
from annotation.views.going_on import to_first_page

MOST = 500  # cells on the page


@never_cache
@require_GET
def page(request: AppRequest, pk: int) -> HttpResponse:
    """One's own answers beside the gold's, where they differ. What is labelled there afterwards is exposed."""
    sheet = get_object_or_404(Sheet.objects.select_related("study__scheme"), pk=pk)
    found = own_results(sheet, request.user)
    if not found.cells:
        raise Http404
    if first := actions.first_page(study=sheet.study, user=request.user):
        return to_first_page(request, first, sheet.study)
    actions.note_look(sheet=sheet, user=request.user)  # the gold is another rater
    others = found.others
    context = {
        "sheet": sheet,
        "study": sheet.study,
        "words": sheet.study.scheme.parsed.words,
        "questions": found.questions,
        "others": others[:MOST],
        "n_more": len(others[MOST:]),
    }
    return render(request, "annotation/results.html", context)
