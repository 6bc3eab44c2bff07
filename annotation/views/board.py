"""The manager's board: how far everybody is, at what pace, and what to do about it."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation import actions, doors, queries
from annotation.models import Assignment, Rater, Role, Study
from annotation.people import mail
from annotation.people.access import AppRequest, for_roles

# With 500 people and 2,000 sheets a whole board had a million cells, and 19 MB.
PEOPLE_A_PAGE, SHEETS_A_PAGE = 50, 50


@never_cache  # as a sheet
@require_GET
@for_roles(Role.MANAGER)
def page(request: AppRequest, study: Study) -> HttpResponse:
    board = queries.board(study)
    people = Paginator(board.lines, PEOPLE_A_PAGE).get_page(request.GET.get("people"))
    sheets = Paginator(board.sheets, SHEETS_A_PAGE).get_page(request.GET.get("sheets"))
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "board": board,
        "people": people,
        "lines": queries.seen(people),
        "sheets": sheets,
        "table": board.table(sheets, list(people)),
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
    assert rater.user is not None
    if not rater.user.is_active:
        messages.error(request, _("The account of %(code)s is closed: reassign the work.") % {"code": rater.code})
        return redirect("annotation:board", study.slug)
    work = rater.assignments.filter(state__in=[Assignment.State.OPEN, Assignment.State.STARTED])
    left = work.filter(row__sheet__closed_at=None).count()
    words = study.scheme.parsed.words.model_dump()
    text = ngettext(
        "Hello %(name)s,\n\n%(n)s %(row)s of “%(study)s” waits for you. You can go on where you stopped:\n\n%(link)s",
        "Hello %(name)s,\n\n%(n)s %(rows)s of “%(study)s” wait for you. You can go on where you stopped:\n\n%(link)s",
        left,
    ) % {
        "name": rater.user.get_short_name() or rater.user.username,
        "n": left,
        "study": study.title,
        "link": request.build_absolute_uri(reverse("annotation:my-work")),
        **words,
    }
    subject = _("A reminder of “%(study)s”") % {"study": study.title}
    if rater.user.email and mail.is_set_up():
        if mail.send(subject=subject, text=text, to=rater.user.email):
            messages.success(request, _("A reminder was sent to %(address)s.") % {"address": rater.user.email})
            return redirect("annotation:board", study.slug)
        messages.error(
            request,
            _("The e-mail to %(address)s could not be sent. Send them the text yourself.")
            % {"address": rater.user.email},
        )
    request.session["reminder"] = {"code": rater.code, "text": text}
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
    people = study.raters.people().filter(active=True, user__isnull=False).select_related("user")
    return get_object_or_404(people, pk=pk)
