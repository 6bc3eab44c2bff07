"""Links for a crowd: the manager's page, where the link leads, and the end."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import actions as annotating
from annotation import queries as annotation_queries
from annotation.crowd import actions, queries
from annotation.crowd.addresses import address_of
from annotation.crowd.checks import Checked, checked
from annotation.crowd.forms import CrowdLinkForm, EndedCodeForm
from annotation.exchange.exports import safe_lines
from annotation.models import CrowdLink, Participant, Role, Study, User
from annotation.people.access import AppRequest, for_roles
from annotation.people.address import counted_address

# Without a space, which the number of an erased account has.
_NUMBER = re.compile(r"[A-Za-z0-9_.@-]{1,120}")
# So many people come new from one address in a quarter of an hour: a class behind one router.
_NEW_FROM_ONE = 60
PEOPLE_A_PAGE = 100


@require_http_methods(["GET", "POST"])
@for_roles(Role.MANAGER)
def crowd(request: AppRequest, study: Study) -> HttpResponse:
    form = CrowdLinkForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        made = actions.make_link(study=study, by=request.user, **form.cleaned_data)
        messages.success(request, _("“%(title)s” is open: give its address to the platform.") % {"title": made.title})
        return redirect("annotation:crowd", study.slug)
    told = queries.links(study)
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "form": form,
        "links": [(one, address_of(request, one.link)) for one in told],
    }
    return render(request, "annotation/crowd.html", context)


@require_POST
@for_roles(Role.MANAGER)
def close(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    link = get_object_or_404(CrowdLink.objects.select_related("study"), study=study, pk=pk)
    actions.set_closed(link=link, closed=link.closed_at is None, by=request.user)
    said = _("“%(title)s” is closed. Who is at work goes on.") if link.closed_at else _("“%(title)s” is open again.")
    messages.success(request, said % {"title": link.title})
    return redirect("annotation:crowd", study.slug)


@require_GET
@for_roles(Role.MANAGER)
def crowd_people(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """Who came by a link, a page of them, by their codes: how far they are, and what each is to be paid for."""
    counts = next(iter(queries.links(study, pk=pk)), None)
    if counts is None:
        raise Http404
    asked = {name: request.GET.get(name, "").strip() for name in ("q", "state", "order")}
    found = [
        place
        for place in counts.places
        if asked["state"] in ("", place.state) and asked["q"].lower() in place.participant.rater.code.lower()
    ]
    checks: Mapping[int, Checked] = {}
    if asked["order"] == "checks":
        checks = checked(study, [place.participant for place in found])
        found.sort(key=lambda place: checks[place.participant.pk].rank)
    page = Paginator(found, PEOPLE_A_PAGE).get_page(request.GET.get("page"))
    states, users = counts.states, [place.participant.user_id for place in page]
    checks = checks or checked(study, [place.participant for place in page])
    roles = dict(study.memberships.filter(role=Role.ANNOTATOR, user__in=users).values_list("user", "pk"))
    unfinished = annotation_queries.unfinished(study, users)
    context = {
        "study": study,
        "scheme": study.scheme.parsed,
        "link": counts.link,
        "asked": asked,
        "states": [(state, label, states.get(state, 0)) for state, label in queries.STATES.items()],
        "page": page,
        "people": [
            (
                *(place, queries.STATES[place.state], checks[place.participant.pk]),
                *(roles.get(user or 0), unfinished.get(user or 0, 0)),
            )
            for place, user in zip(page, users, strict=True)
        ],
        "form": EndedCodeForm(initial={"ended_code": counts.link.ended_code}),
    }
    return render(request, "annotation/crowd_people.html", context)


@require_POST
@for_roles(Role.MANAGER, archived=True)
def ended_code(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """The code of those who had begun and cannot go on; it is often wanted once they cannot."""
    link = get_object_or_404(CrowdLink.objects.select_related("study"), study=study, pk=pk)
    form = EndedCodeForm(request.POST)
    if form.is_valid():
        actions.set_ended_code(link=link, code=form.cleaned_data["ended_code"], by=request.user)
        messages.success(request, _("Kept: the code when you end it early."))
    else:
        messages.error(request, " ".join(map(str, form.errors["ended_code"])))
    return redirect("annotation:crowd-people", study.slug, link.pk)


HEADER = (
    *("participant", "rater", "came", "state", "outcome", "rows", "submitted", "minutes", "finished"),
    *("checks_right", "checks_cells"),
)


@require_GET
@for_roles(Role.MANAGER)
def participants(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """Who came by a link, a line each, for the platform's payment. Their numbers stand in no other file."""
    link = get_object_or_404(CrowdLink, study=study, pk=pk)
    annotating.note_export(by=request.user, study=study, what=f"crowd #{link.pk}")
    found = list(link.participants.select_related("link", "rater"))
    checks = checked(study, found)
    lines = "".join(safe_lines(HEADER, (_line(place, checks[place.participant.pk]) for place in queries.places(found))))
    answer = HttpResponse(lines, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{study.slug}-crowd-{link.pk}.csv"'
    return answer


def _line(place: queries.Place, checks: Checked) -> list[str]:
    """Of the file of participants, as `HEADER` names it."""
    one, finished = place.participant, place.finished_at
    at = [one.came_at.isoformat(timespec="seconds"), finished.isoformat(timespec="seconds") if finished else ""]
    minutes = f"{place.seconds / 60:.1f}"
    n = [str(place.rows), str(place.submitted)]
    of_checks = [str(checks.right), str(checks.cells)]
    return [one.number, one.rater.code, at[0], place.state, place.outcome, *n, minutes, at[1], *of_checks]


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def take_part(request: HttpRequest, token: str) -> HttpResponse:
    """Where a link leads: what is asked for here, and a button that begins, or goes on."""
    link = get_object_or_404(CrowdLink.objects.select_related("study__scheme"), token=token, study__deleted_at=None)
    context: dict[str, Any] = {"link": link, "study": link.study, "scheme": link.study.scheme.parsed}
    me = request.user if isinstance(request.user, User) else None
    number = request.GET.get(link.asks_for, "") if link.asks_for else ""
    if link.asks_for and not _NUMBER.fullmatch(number):
        return render(request, "annotation/take_part.html", context | {"lacks_number": True}, status=400)
    there = link.participants.filter(number=number) if number else link.participants.filter(user=me.pk if me else 0)
    found = there.select_related("link", "user", "rater").first()
    place = queries.place_of(found) if found else None
    context |= {"found": found, "place": place}
    if found is not None and place is not None:
        if me != found.user and not queries.lets_in(found.number):
            return render(request, "annotation/take_part.html", context | {"elsewhere": True}, status=403)
        is_closed = found.user is None or not (found.user.is_active and found.rater.active)
        if is_closed or (place.is_over and not place.is_ended):
            return render(request, "annotation/take_part.html", context | {"is_over": True}, status=410)
    if request.method == "POST":
        return _begin(request, link, number, me, context)
    return render(request, "annotation/take_part.html", context)


def _begin(
    request: HttpRequest, link: CrowdLink, number: str, me: User | None, context: dict[str, Any]
) -> HttpResponse:
    found: Participant | None = context["found"]
    if found is None:
        if annotating.try_allowed([(f"crowd:{counted_address(request)}", _NEW_FROM_ONE)]):
            problem = _("Too many people have come from your network just now. Try again in a quarter of an hour.")
            return render(request, "annotation/take_part.html", context | {"problem": problem}, status=429)
        try:
            found = actions.take_place(link=link, number=number or secrets.token_hex(16), me=me)
        except actions.Elsewhere:
            return render(request, "annotation/take_part.html", context | {"elsewhere": True}, status=403)
        except annotating.Refused as refusal:
            told = context | {"problem": str(refusal), "is_full": isinstance(refusal, actions.Full)}
            return render(request, "annotation/take_part.html", told, status=409)
    if found.user is not None and me != found.user:
        login(request, found.user)
    return _on(found)


def _on(participant: Participant) -> HttpResponse:
    """To the only sheet of somebody, else to their list; to the end where all is done, or was closed."""
    place = queries.place_of(participant)
    if place.is_ended:
        actions.end_early(participant=participant)
    if place.is_done or place.is_ended:
        return redirect("annotation:crowd-done", participant.pk)
    sheets = set(participant.rater.assignments.filter(row__in=participant.rows).values_list("row__sheet", flat=True))
    return redirect("annotation:sheet", sheets.pop()) if len(sheets) == 1 else redirect("annotation:my-work")


@never_cache
@require_http_methods(["GET", "POST"])
def done(request: AppRequest, pk: int) -> HttpResponse:
    """The end: the code for who has submitted all that they were given, and that for whose work was closed, once they
    say that they are through (POST); what is left for others."""
    mine = Participant.objects.filter(user=request.user.pk, link__study__deleted_at=None)
    mine = mine.select_related("link__study__scheme", "rater")
    participant = mine.filter(pk=pk).first()
    if participant is None:
        raise Http404
    if request.method == "POST":
        try:
            actions.end_early(participant=participant)
        except annotating.Refused as refusal:
            messages.error(request, str(refusal))
        return redirect("annotation:crowd-done", participant.pk)
    place = queries.place_of(participant)
    context = {"place": place, "link": participant.link, "study": participant.link.study}
    context["scheme"] = participant.link.study.scheme.parsed
    return render(request, "annotation/crowd_done.html", context)
