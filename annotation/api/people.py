"""Who is in a study, and what its audit log says, over HTTP for programs."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions
from annotation.api.core import in_pages, study_of, user_of
from annotation.api.serializers import PageFilterSerializer, PageSerializer, RefusalSerializer
from annotation.models import AuditEvent, Membership, Role
from annotation.queries import log


class MemberSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(Role.choices)
    code = serializers.CharField(
        default=None,
        allow_null=True,
        help_text=_("Of an annotator: the code by which plans, labels and reports know the person. Else null."),
    )


class RemovedSerializer(serializers.Serializer[Any]):
    withdrawn = serializers.IntegerField(help_text=_("Rows that were not submitted, and are taken back."))


@extend_schema(responses=MemberSerializer(many=True))
@api_view(["GET"])
def members(request: Request, slug: str) -> Response:
    """Who has which role in a study, and an annotator's code; somebody who has two roles is there twice."""
    study = study_of(request, slug, Role.MANAGER)
    codes = dict(study.raters.filter(user__isnull=False).values_list("user", "code"))
    found = study.memberships.select_related("user").order_by("user__username", "role")
    told = [
        {"id": one.pk, "user": one.user, "role": one.role}
        | ({"code": codes.get(one.user_id)} if one.role == Role.ANNOTATOR else {})
        for one in found
    ]
    return Response(MemberSerializer(told, many=True).data)


@extend_schema(request=None, responses={200: RemovedSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def remove(request: Request, slug: str, pk: int) -> Response:
    """Take a role away. Labels stay; what an annotator has not submitted is taken back, and so are invitations that a
    manager has made and nobody has used."""
    study = study_of(request, slug, Role.MANAGER, archived=True)
    membership = get_object_or_404(Membership.objects.select_related("study", "user"), study=study, pk=pk)
    withdrawn = actions.remove_member(membership=membership, by=user_of(request))
    return Response(RemovedSerializer({"withdrawn": withdrawn}).data)


class LogLineSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField(source="event.at")
    kind = serializers.ChoiceField(AuditEvent.Kind.choices, source="event.kind")
    by = serializers.CharField(help_text=_("Who did it, “#” and a number where the account is gone; or nobody."))
    of = serializers.CharField(help_text=_("To whom, where it was done to somebody."))
    what = serializers.CharField(source="event.what")
    address = serializers.CharField(source="event.address", allow_null=True)


class LogPageSerializer(PageSerializer):
    results = LogLineSerializer(many=True)


class LogFilterSerializer(PageFilterSerializer):
    kind = serializers.ChoiceField(AuditEvent.Kind.choices, required=False)


@extend_schema(parameters=[LogFilterSerializer], responses=LogPageSerializer)
@api_view(["GET"])
def audit_log(request: Request, slug: str) -> Response:
    """What matters to the safety of a study, the last event first: roles, invitations, exports, deletions."""
    study = study_of(request, slug, Role.MANAGER)
    chosen = LogFilterSerializer(data=request.query_params)
    chosen.is_valid(raise_exception=True)
    events = study.audit_events.order_by("-pk")
    if "kind" in chosen.validated_data:
        events = events.filter(kind=chosen.validated_data["kind"])
    return in_pages(request, events, LogLineSerializer, read=log.lines)
