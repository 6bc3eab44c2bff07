"""Cells in which everybody agrees become gold at once, and are undecided again, over HTTP for programs."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions
from annotation.api.core import sheet_of, user_of
from annotation.api.serializers import RefusalSerializer
from annotation.lens import lens
from annotation.queries import undoing


class AskedForAgreedSerializer(serializers.Serializer[Any]):
    judges = serializers.BooleanField(
        required=False, default=True, help_text=_("Only cells in which no judge says otherwise.")
    )


class AcceptedSerializer(serializers.Serializer[Any]):
    """What was accepted at once before and still stands."""

    batch = serializers.UUIDField()
    cells = serializers.IntegerField()
    by = serializers.CharField()
    at = serializers.DateTimeField()


class AgreedSerializer(serializers.Serializer[Any]):
    cells = serializers.IntegerField(help_text=_("Undecided, and at least two people say the same of them."))
    digest = serializers.CharField(help_text=_("Of these cells and their answers: accepting names it."))
    accepted = AcceptedSerializer(many=True)


class AcceptingSerializer(AskedForAgreedSerializer):
    digest = serializers.CharField(max_length=64, help_text=_("Of what was shown."))


class DecidedSerializer(serializers.Serializer[Any]):
    cells = serializers.IntegerField()


@extend_schema(methods=["GET"], parameters=[AskedForAgreedSerializer], responses=AgreedSerializer)
@extend_schema(
    methods=["POST"], request=AcceptingSerializer, responses={201: DecidedSerializer, 409: RefusalSerializer}
)
@api_view(["GET", "POST"])
def agreed(request: Request, pk: int) -> Response:
    """How many cells of a sheet everybody agrees on (GET); make them gold, as they were shown (POST). The look is
    recorded."""
    sheet = sheet_of(request, pk)
    if request.method == "POST":
        sent = AcceptingSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        given = sent.validated_data
        n = actions.accept_agreed(sheet=sheet, judges=given["judges"], shown=given["digest"], by=user_of(request))
        return Response(DecidedSerializer({"cells": n}).data, status=status.HTTP_201_CREATED)
    asked = AskedForAgreedSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    actions.note_look(sheet=sheet, user=user_of(request))
    found = lens.agreed(lens.of_sheet(sheet), judges=asked.validated_data["judges"])
    accepted = [
        {"batch": batch, "cells": len(made), "by": made[0].by.username, "at": made[0].at}
        for batch, made in undoing.accepted(sheet)
    ]
    told = {"cells": len(found), "digest": lens.digest(found), "accepted": accepted}
    return Response(AgreedSerializer(told).data)


class TakingBackSerializer(serializers.Serializer[Any]):
    batch = serializers.UUIDField(help_text=_("Of what was accepted at once."))


@extend_schema(request=TakingBackSerializer, responses=DecidedSerializer)
@api_view(["POST"])
def take_back(request: Request, pk: int) -> Response:
    """Cells that were accepted at once are undecided again, but for those that somebody has decided anew."""
    sheet = sheet_of(request, pk)
    sent = TakingBackSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    n = actions.take_back_accepted(sheet=sheet, batch=sent.validated_data["batch"], by=user_of(request))
    if not n:
        raise serializers.ValidationError({"batch": [_("Nothing of it stands on this sheet.")]})
    return Response(DecidedSerializer({"cells": n}).data)
