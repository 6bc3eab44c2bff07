"""The manager's board: how far everybody is, at what pace, and what to do about it."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation import actions, doors, queries
from annotation.models import Rater, Role, Study
from annotation.people import reminding
from annotation.people.access import AppRequest, for_roles
from annotation.views.paging import page_of_sheets

# With 500 people and 2,000 sheets a whole board had a million cells, and 19 MB.
PEOPLE_A_PAGE = 50
PEOPLE_ACROSS = 8


@never_cache  # as a sheet
@require_GET
@for_roles(Role.MANAGER)
def page(request: AppRequest, study: Study) -> HttpResponse:
    board = queries.board(study)
    people = Paginator(board.lines, PEOPLE_A_PAGE).get_page(request.GET.get("people"))
    sheets = page_of_sheets(request, board.sheets, name="sheets")
    table = board.table(sheets, list(people))
    # More people than sheets stand below each other, so that the table is not scrolled sideways.
    by_person = len(people) > max(len(table), PEOPLE_ACROSS)
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "board": board,
        "people": people,
        "lines": queries.seen(people),
        "sheets": sheets,
        "table": table,
        "turned": [(line, [cells[n] for _sheet, cells, _all in table]) for n, line in enumerate(people) if by_person],
        "can_warn": queries.can_warn(study),
        "vacancies": queries.vacancies(study),
        "panels": [(panel.title, reverse(panel.url_name, args=[study.slug])) for panel in doors.panels()],
        "reminder": request.session.pop("reminder", None),
    }
    return render(request, "annotation/board.html", context)


@require_GET
@for_roles(Role.MANAGER)
def warnings(request: AppRequest, study: Study) -> HttpResponse:
    """The board's panel of what the scheme warns of, by rater."""
    return render(request, "annotation/_warnings.html", {"study": study, "warned": queries.warned(study)})


@require_POST
@for_roles(Role.MANAGER)
def remind(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """Send a mail where that can be; else show its text, to be sent by whatever way there is."""
    rater = _person(study, pk)
    try:
        reminder = reminding.remind(rater, request.build_absolute_uri(reverse("annotation:my-work")))
    except actions.Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("annotation:board", study.slug)
    if reminder.sent:
        messages.success(request, _("A reminder was sent to %(address)s.") % {"address": reminder.to})
        return redirect("annotation:board", study.slug)
    if reminder.to:
        messages.error(
            request,
            _("The e-mail to %(address)s could not be sent. Send them the text yourself.") % {"address": reminder.to},
        )
    request.session["reminder"] = {"code": rater.code, "text": reminder.text}
    return redirect("annotation:board", study.slug)


@require_POST
@for_roles(Role.MANAGER)
def pause(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    rater = _person(study, pk)
    actions.pause(rater=rater, by=request.user)
    messages.success(
        request, _("%(code)s is paused: the work stays theirs, and they get no more.") % {"code": rater.code}
    )
    return redirect("annotation:board", study.slug)


@require_POST
@for_roles(Role.MANAGER)
def go_on(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    rater = _person(study, pk)
    actions.go_on(rater=rater)
    messages.success(request, _("%(code)s goes on.") % {"code": rater.code})
    return redirect("annotation:board", study.slug)


def _person(study: Study, pk: int) -> Rater:
    return get_object_or_404(study.raters.present().select_related("user"), pk=pk)
