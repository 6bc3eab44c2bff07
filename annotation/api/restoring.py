"""Labels of a sheet are brought back to a moment, over HTTP for programs: shown first, then done by its digest, as on
the page."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions
from annotation.api.core import numbers_of, sheet_of, user_of
from annotation.api.lens import ChangeOfCellSerializer
from annotation.api.serializers import RefusalSerializer
from annotation.labels import history
from annotation.lens import lens
from annotation.models import Rater, Sheet


class MomentSerializer(serializers.Serializer[Any]):
    """What the page “Restore” asks."""

    moment = serializers.DateTimeField(help_text=_("How it was at."))
    rater = serializers.CharField(required=False, help_text=_("Code of a person; by default all people."))
    submitted = serializers.BooleanField(
        default=False,
        help_text=_("Also in rows that are submitted: they are taken back, and their raters submit them again."),
    )


class RestoringSerializer(MomentSerializer):
    digest = serializers.CharField(
        help_text=_("Of what was shown: nothing is restored where it would be something else now.")
    )


class RestoredOfRaterSerializer(serializers.Serializer[Any]):
    rater = serializers.CharField(source="rater.code")
    rows = serializers.IntegerField()
    cells = serializers.IntegerField(help_text=_("That change."))
    left = serializers.IntegerField(help_text=_("That stay as they are: their rows are submitted."))


class DrawnRestoreSerializer(serializers.Serializer[Any]):
    digest = serializers.CharField()
    cells = serializers.IntegerField(help_text=_("That change."))
    left = serializers.IntegerField(help_text=_("That stay as they are: their rows are submitted."))
    taken_back = serializers.IntegerField(help_text=_("Rows that are submitted no more."))
    withdrawn = serializers.IntegerField(
        help_text=_("Cells that stay as they are: their raters do not have them any more.")
    )
    raters = RestoredOfRaterSerializer(many=True)
    changes = ChangeOfCellSerializer(many=True)


class RestoredSerializer(serializers.Serializer[Any]):
    cells = serializers.IntegerField(help_text=_("That were changed."))


class Wanted(NamedTuple):
    moment: datetime
    rater: Rater | None
    submitted: bool
    digest: str


@extend_schema(request=MomentSerializer, responses=DrawnRestoreSerializer)
@api_view(["POST"])
def draw(request: Request, pk: int) -> Response:
    """What would change if people's labels of a sheet were as they were at a moment. Nothing is changed; sent on with
    its `digest`, it is what is done. The look is recorded."""
    sheet = sheet_of(request, pk)
    wanted = _wanted(request, sheet, MomentSerializer)
    actions.note_look(sheet=sheet, user=user_of(request))
    differs = history.changes(sheet, to=wanted.moment, rater=wanted.rater)
    shown = history.preview(differs, submitted=wanted.submitted)
    told = {
        "digest": lens.digest(shown.done),
        "cells": len(shown.done),
        "left": shown.left,
        "taken_back": shown.taken_back,
        "withdrawn": history.n_withdrawn(sheet, to=wanted.moment, rater=wanted.rater),
        "raters": shown.raters,
        "changes": [history.to_come(change) for change in shown.done],
    }
    return Response(DrawnRestoreSerializer(told).data)


@extend_schema(request=RestoringSerializer, responses={200: RestoredSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def restore(request: Request, pk: int) -> Response:
    """Bring people's labels of a sheet back to a moment, as it was shown. Nothing is erased: the history gets new
    changes, and can be restored from. The look is recorded."""
    sheet = sheet_of(request, pk)
    wanted = _wanted(request, sheet, RestoringSerializer)
    actions.note_look(sheet=sheet, user=user_of(request))
    n = actions.restore(
        sheet=sheet,
        to=wanted.moment,
        rater=wanted.rater,
        submitted=wanted.submitted,
        shown=wanted.digest,
        by=user_of(request),
    )
    return Response(RestoredSerializer({"cells": n}).data)


def _wanted(request: Request, sheet: Sheet, serializer: type[serializers.Serializer[Any]]) -> Wanted:
    sent = serializer(data=request.data)
    sent.is_valid(raise_exception=True)
    asked = sent.validated_data
    rater = None
    if "rater" in asked:
        people = history.restorable(sheet)
        [number] = numbers_of(sheet.study, people, [asked["rater"]], "rater")
        rater = people.get(pk=number)
    return Wanted(asked["moment"], rater, asked["submitted"], asked.get("digest", ""))
