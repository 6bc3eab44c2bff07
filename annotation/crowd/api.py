"""Links for a crowd over HTTP."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import as_posted, not_valid, note_export, study_of, user_of
from annotation.api.serializers import MAX_ID, RefusalSerializer
from annotation.crowd import actions, queries
from annotation.crowd.addresses import address_of
from annotation.crowd.checks import checked
from annotation.crowd.forms import CrowdLinkForm
from annotation.models import CrowdLink, Role


class CrowdLinkSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="link.pk")
    title = serializers.CharField(source="link.title")
    address = serializers.CharField(help_text=_("To be given to the crowd; the platform puts the participant's id in."))
    closed_at = serializers.DateTimeField(source="link.closed_at", allow_null=True)
    rows_each = serializers.IntegerField(source="link.rows_each")
    checks_each = serializers.IntegerField(
        source="link.checks_each", help_text=_("How many of these rows are checks: rows with gold.")
    )
    people_per_row = serializers.IntegerField(source="link.people_per_row")
    most_people = serializers.IntegerField(source="link.most_people")
    hours = serializers.IntegerField(source="link.hours")
    taken = serializers.IntegerField(help_text=_("Places of the most people that are not free again."))
    states = serializers.DictField(
        child=serializers.IntegerField(),
        help_text=_(
            "How many people are finished, ended (their work was closed while they were at it), working, late, freed, "
            "removed."
        ),
    )
    rows = serializers.IntegerField(
        source="n_rows", help_text=_("Of its sheets; withdrawn ones, and those that are given as checks, are left out.")
    )
    full = serializers.IntegerField(
        source="n_full", help_text=_("Rows that as many people have submitted as are asked for.")
    )


class NewCrowdLinkSerializer(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=80)
    sheets = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_ID),
        required=False,
        help_text=_("By default all open ones."),
    )
    rows_each = serializers.IntegerField(min_value=1, max_value=500, default=10)
    checks_each = serializers.IntegerField(
        min_value=0,
        max_value=499,
        default=0,
        help_text=_("So many of them are rows that have gold now, drawn for each person."),
    )
    people_per_row = serializers.IntegerField(min_value=1, max_value=50, default=3)
    most_people = serializers.IntegerField(min_value=1, max_value=5000)
    hours = serializers.IntegerField(min_value=1, max_value=1440, default=3)
    asks_for = serializers.CharField(
        max_length=40, allow_blank=True, default="PROLIFIC_PID", help_text=_("The parameter with the participant's id.")
    )
    completion_code = serializers.CharField(max_length=80, allow_blank=True, default="")
    completion_url = serializers.CharField(max_length=500, allow_blank=True, default="")
    ended_code = serializers.CharField(
        max_length=80,
        allow_blank=True,
        default="",
        help_text=_("For who had begun when the work was closed or archived."),
    )


@extend_schema(methods=["GET"], responses=CrowdLinkSerializer(many=True))
@extend_schema(methods=["POST"], request=NewCrowdLinkSerializer, responses={201: CrowdLinkSerializer})
@api_view(["GET", "POST"])
def crowd_links(request: Request, slug: str) -> Response:
    """The links by which a crowd comes, the last one first, with how far its people are (GET); make one (POST)."""
    study = study_of(request, slug, Role.MANAGER)
    if request.method == "GET":
        return Response([_told(request, one) for one in queries.links(study)])
    sent = NewCrowdLinkSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    form = CrowdLinkForm(study=study)
    form = CrowdLinkForm(as_posted({"sheets": form.fields["sheets"].initial, **sent.validated_data}), study=study)
    if not form.is_valid():
        raise not_valid(form)
    made = actions.make_link(study=study, by=user_of(request), **form.cleaned_data)
    return Response(_told(request, _counted(made)), status=status.HTTP_201_CREATED)


def _counted(link: CrowdLink) -> queries.LinkCounts:
    return queries.links(link.study, pk=link.pk)[0]


def _told(request: Request, one: queries.LinkCounts) -> Any:
    return CrowdLinkSerializer(
        {
            "link": one.link,
            "address": address_of(request, one.link),
            "taken": one.taken,
            "states": {state: one.states.get(state, 0) for state in queries.STATES},
            "n_rows": one.n_rows,
            "n_full": one.n_full,
        }
    ).data


class EndedCodeSerializer(serializers.Serializer[Any]):
    ended_code = serializers.CharField(max_length=80, allow_blank=True)


@extend_schema(request=EndedCodeSerializer, responses={200: CrowdLinkSerializer})
@api_view(["POST"])
def ended_code(request: Request, slug: str, pk: int) -> Response:
    """Give a link the code of those who had begun and cannot go on, since the work was closed or archived."""
    study = study_of(request, slug, Role.MANAGER, archived=True)
    link = get_object_or_404(CrowdLink.objects.select_related("study"), study=study, pk=pk)
    sent = EndedCodeSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    actions.set_ended_code(link=link, code=sent.validated_data["ended_code"], by=user_of(request))
    return Response(_told(request, _counted(link)))


class ClosedSerializer(serializers.Serializer[Any]):
    closed = serializers.BooleanField(default=True, help_text=_("False opens it again."))


@extend_schema(request=ClosedSerializer, responses={200: CrowdLinkSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def close(request: Request, slug: str, pk: int) -> Response:
    """Let nobody new come by a link, or somebody again. Who is at work goes on."""
    study = study_of(request, slug, Role.MANAGER)
    link = get_object_or_404(CrowdLink.objects.select_related("study"), study=study, pk=pk)
    sent = ClosedSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    actions.set_closed(link=link, closed=sent.validated_data["closed"], by=user_of(request))
    return Response(_told(request, _counted(link)))


class ParticipantSerializer(serializers.Serializer[Any]):
    participant = serializers.CharField(source="place.participant.number", help_text=_("The platform's id."))
    rater = serializers.CharField(source="place.participant.rater.code")
    came_at = serializers.DateTimeField(source="place.participant.came_at")
    state = serializers.ChoiceField([(state, state) for state in queries.STATES], source="place.state")
    given = serializers.IntegerField(source="place.given", help_text=_("Rows that they were given at first."))
    rows = serializers.IntegerField(source="place.rows", help_text=_("Rows that are theirs now."))
    submitted = serializers.IntegerField(source="place.submitted")
    seconds = serializers.IntegerField(source="place.seconds", help_text=_("Of active work."))
    finished_at = serializers.DateTimeField(source="place.finished_at", allow_null=True)
    checks_right = serializers.IntegerField(
        source="checks.right", help_text=_("Cells of their submitted checks that they answered as the gold has it.")
    )
    checks_cells = serializers.IntegerField(source="checks.cells", help_text=_("Of so many that count."))


@extend_schema(responses=ParticipantSerializer(many=True))
@api_view(["GET"])
def participants(request: Request, slug: str, pk: int) -> Response:
    """Who came by a link, by the platform's ids, which stand in no other file."""
    study = study_of(request, slug, Role.MANAGER)
    link = get_object_or_404(CrowdLink, study=study, pk=pk)
    note_export(request, study, f"crowd #{link.pk}")
    found = list(link.participants.select_related("link", "rater"))
    checks = checked(study, found)
    told = [{"place": place, "checks": checks[place.participant.pk]} for place in queries.places(found)]
    return Response(ParticipantSerializer(told, many=True).data)
