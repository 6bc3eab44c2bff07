"""Judges and extractors renamed, put away, taken back and deleted, over HTTP for programs: the same actions as the
pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import study_of, user_of
from annotation.api.serializers import RefusalSerializer
from annotation.models import Role, Study
from judges import actions, queries
from judges.model_api import refuse_who_makes_none
from judges.models import Extractor, Judge


class KeptSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    archived_at = serializers.DateTimeField(allow_null=True, help_text=_("Null: it is offered."))


class NameSerializer(serializers.Serializer[Any]):
    name = serializers.SlugField(max_length=60)


_ANSWERS = {200: KeptSerializer, 409: RefusalSerializer}


def _asked(request: Request, slug: str, pk: int, kind: str) -> tuple[Study, Any]:
    study = study_of(request, slug, Role.MANAGER)
    refuse_who_makes_none(request)
    return study, get_object_or_404(queries.tools(study, kind), pk=pk)


def _changed(request: Request, slug: str, pk: int, kind: str, change: Callable[[Any, Study], None]) -> Response:
    study, tool = _asked(request, slug, pk, kind)
    change(tool, study)
    tool.refresh_from_db(fields=["name", "archived_at"])
    return Response(KeptSerializer(tool).data)


@extend_schema(responses=KeptSerializer(many=True))
@api_view(["GET"])
def archived(request: Request, slug: str, kind: str) -> Response:
    """Those that are archived, and can be taken back."""
    study = study_of(request, slug, Role.MANAGER, Role.RESEARCHER)
    found = queries.tools(study, kind).filter(archived_at__isnull=False).order_by("name")
    return Response(KeptSerializer(found, many=True).data)


@extend_schema(request=NameSerializer, responses=_ANSWERS)
@api_view(["POST"])
def rename(request: Request, slug: str, pk: int, kind: str) -> Response:
    """Give a judge or an extractor another name; a judge's raters get it as their code."""

    def renamed(tool: Judge | Extractor, study: Study) -> None:
        sent = NameSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        actions.rename(tool, name=sent.validated_data["name"], study=study, by=user_of(request))

    return _changed(request, slug, pk, kind, renamed)


@extend_schema(request=None, responses=_ANSWERS)
@api_view(["POST"])
def archive(request: Request, slug: str, pk: int, kind: str) -> Response:
    """Offer a judge or an extractor no more. Its runs, labels and lists stay."""
    return _changed(request, slug, pk, kind, lambda tool, _study: actions.archive(tool))


@extend_schema(request=None, responses=_ANSWERS)
@api_view(["POST"])
def take_back(request: Request, slug: str, pk: int, kind: str) -> Response:
    """Offer an archived judge or extractor again."""
    return _changed(request, slug, pk, kind, lambda tool, _study: actions.take_back(tool))


@extend_schema(request=None, responses={204: None, 409: RefusalSerializer})
@api_view(["POST"])
def delete(request: Request, slug: str, pk: int, kind: str) -> Response:
    """Delete a judge or an extractor that has not worked, was given no work, and from which no other one was made."""
    study, tool = _asked(request, slug, pk, kind)
    actions.delete(tool, study=study, by=user_of(request))
    return Response(status=204)
