"""What a manager does from the board, over HTTP for programs: people are paused, go on and are reminded; what an hour
is paid, and what is owed."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import actions, queries
from annotation.api.core import study_of, user_of
from annotation.api.serializers import RefusalSerializer
from annotation.models import Rater, Role, Study
from annotation.people import reminding

# --- people -----------------------------------------------------------------------------------------------------------


class PausedSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    paused_at = serializers.DateTimeField(allow_null=True)


class ReminderSerializer(serializers.Serializer[Any]):
    sent = serializers.BooleanField(help_text=_("Whether a mail went out."))
    text = serializers.CharField(help_text=_("Where none did: send it yourself. Else empty."))


@extend_schema(request=None, responses=PausedSerializer)
@api_view(["POST"])
def pause(request: Request, slug: str, code: str) -> Response:
    """Give a person no new work for now. What they have stays theirs, and they read that they are paused."""
    rater = _person(request, slug, code)
    actions.pause(rater=rater, by=user_of(request))
    return _told(rater)


@extend_schema(request=None, responses=PausedSerializer)
@api_view(["POST"])
def go_on(request: Request, slug: str, code: str) -> Response:
    """Let a person who was paused go on."""
    rater = _person(request, slug, code)
    actions.go_on(rater=rater)
    return _told(rater)


@extend_schema(request=None, responses={200: ReminderSerializer, 409: RefusalSerializer})
@api_view(["POST"])
def remind(request: Request, slug: str, code: str) -> Response:
    """Remind a person of the work that waits: by a mail where that can be. Each request sends one."""
    link = request.build_absolute_uri(reverse("annotation:my-work"))
    reminder = reminding.remind(_person(request, slug, code), link)
    return Response(ReminderSerializer({"sent": reminder.sent, "text": "" if reminder.sent else reminder.text}).data)


def _person(request: Request, slug: str, code: str) -> Rater:
    present = study_of(request, slug, Role.MANAGER).raters.present()
    return get_object_or_404(present.select_related("user"), code=code)


def _told(rater: Rater) -> Response:
    rater.refresh_from_db(fields=["paused_at"])
    return Response(PausedSerializer(rater).data)


# --- pay --------------------------------------------------------------------------------------------------------------


class RateSerializer(serializers.Serializer[Any]):
    hourly_rate = serializers.DecimalField(
        max_digits=9,
        decimal_places=2,
        min_value=0,
        allow_null=True,
        help_text=_("For an hour of active work; null: hours alone are told."),
    )
    currency = serializers.CharField(max_length=8, allow_blank=True)


class NewRateSerializer(RateSerializer):
    currency = serializers.CharField(
        max_length=8, allow_blank=True, required=False, help_text=_("As it is, where it is left out.")
    )


class SheetTimeSerializer(serializers.Serializer[Any]):
    sheet = serializers.IntegerField()
    seconds = serializers.IntegerField()


class RaterTimeSerializer(serializers.Serializer[Any]):
    rater = serializers.CharField(source="rater.code")
    seconds = serializers.IntegerField()
    rows = serializers.IntegerField(help_text=_("On which any time was spent."))
    pay = serializers.DecimalField(max_digits=None, decimal_places=2, allow_null=True)
    sheets = SheetTimeSerializer(many=True)


class PaySerializer(RateSerializer):
    seconds = serializers.IntegerField(help_text=_("Of active work, withdrawn work too: it was done."))
    pay = serializers.DecimalField(max_digits=None, decimal_places=2, allow_null=True)
    raters = RaterTimeSerializer(many=True)


@extend_schema(methods=["GET"], responses=PaySerializer)
@extend_schema(methods=["POST"], request=NewRateSerializer, responses=PaySerializer)
@api_view(["GET", "POST"])
def pay(request: Request, slug: str) -> Response:
    """How long people were at work, and what they are owed for it (GET); set what an hour is paid (POST)."""
    study = study_of(request, slug, Role.MANAGER)
    if request.method == "POST":
        sent = NewRateSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        actions.set_pay(study=study, **{"currency": study.currency, **sent.validated_data})
    return Response(PaySerializer(_owed(study)).data)


def _owed(study: Study) -> dict[str, Any]:
    time = queries.active_time(study)
    raters = [
        {
            "rater": line.rater,
            "seconds": line.seconds,
            "rows": line.rows,
            "pay": line.pay,
            "sheets": [
                {"sheet": sheet.pk, "seconds": seconds}
                for sheet, seconds in zip(time.sheets, line.by_sheet, strict=True)
                if seconds
            ],
        }
        for line in time.raters
    ]
    return {
        "hourly_rate": study.hourly_rate,
        "currency": study.currency,
        "seconds": time.seconds,
        "pay": time.pay,
        "raters": raters,
    }
