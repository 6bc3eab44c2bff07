"""Webhooks of a study over HTTP, by the form and the actions of their pages."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import as_posted, in_pages, not_valid, study_of, user_of
from annotation.api.serializers import PageFilterSerializer, PageSerializer, RefusalSerializer
from annotation.models import Delivery, Role, Study, Webhook
from annotation.webhooks import actions, queries
from annotation.webhooks.addresses import origin_of
from annotation.webhooks.forms import WebhookForm

EVENTS = Webhook.Event.choices


class WebhookSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    address = serializers.CharField()
    events = serializers.ListField(child=serializers.ChoiceField(EVENTS))
    on = serializers.BooleanField(source="is_on")
    error = serializers.CharField(help_text=_("Why Palate has switched it off; empty where it has not."))
    made_at = serializers.DateTimeField(source="started_at")
    failing_since = serializers.DateTimeField(allow_null=True)
    called_at = serializers.DateTimeField(allow_null=True, help_text=_("The last call that went well."))
    waiting = serializers.IntegerField(source="n_waiting", help_text=_("Calls that wait, or are tried again."))
    failed = serializers.IntegerField(source="n_failed", help_text=_("Calls that were given up."))


class WebhookSecretSerializer(WebhookSerializer):
    secret = serializers.CharField(help_text=_("It signs the calls, and is told this once."))


class NewWebhookSerializer(serializers.Serializer[Any]):
    address = serializers.CharField(max_length=500, help_text=_("It begins with https://."))
    events = serializers.ListField(
        child=serializers.ChoiceField(EVENTS), required=False, help_text=_("By default all of them.")
    )


class SwitchedSerializer(serializers.Serializer[Any]):
    on = serializers.BooleanField()


class DeliverySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField(source="number", help_text=_("What the header webhook-id says."))
    event = serializers.CharField()
    made_at = serializers.DateTimeField()
    state = serializers.ChoiceField(Delivery.State.choices)
    attempts = serializers.IntegerField()
    tried_at = serializers.DateTimeField(allow_null=True)
    next_at = serializers.DateTimeField(allow_null=True, help_text=_("When it is tried again."))
    status = serializers.IntegerField(allow_null=True, help_text=_("Of the last answer."))
    error = serializers.CharField(help_text=_("Of the last attempt, with the beginning of the answer."))
    body = serializers.JSONField(help_text=_("What is sent."))


class DeliveryPageSerializer(PageSerializer):
    results = DeliverySerializer(many=True)


def _manager(request: Request, slug: str) -> Study:
    return study_of(request, slug, Role.MANAGER)


def _told(study: Study, pk: int, secret: str = "", code: int = status.HTTP_200_OK) -> Response:
    hook = queries.webhooks(study).get(pk=pk)
    if not secret:
        return Response(WebhookSerializer(hook).data, status=code)
    hook.secret = secret
    return Response(WebhookSecretSerializer(hook).data, status=code)


@extend_schema(methods=["GET"], responses=WebhookSerializer(many=True))
@extend_schema(
    methods=["POST"],
    request=NewWebhookSerializer,
    responses={201: WebhookSecretSerializer, 409: RefusalSerializer},
)
@api_view(["GET", "POST"])
def webhooks(request: Request, slug: str) -> Response:
    """The webhooks of a study (GET); make one, whose secret is told this once (POST)."""
    study = _manager(request, slug)
    if request.method == "GET":
        return Response(WebhookSerializer(queries.webhooks(study), many=True).data)
    sent = NewWebhookSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    form = WebhookForm(as_posted({"events": Webhook.Event.values, **sent.validated_data}))
    if not form.is_valid():
        raise not_valid(form)
    made, secret = actions.make_webhook(
        study=study, origin=origin_of(request), by=user_of(request), **form.cleaned_data
    )
    return _told(study, made.pk, secret, status.HTTP_201_CREATED)


@extend_schema(methods=["GET"], responses=WebhookSerializer)
@extend_schema(
    methods=["POST"],
    operation_id="studies_webhooks_change",
    request=NewWebhookSerializer(partial=True),
    responses=WebhookSerializer,
)
@api_view(["GET", "POST"])
def webhook(request: Request, slug: str, pk: int) -> Response:
    """One webhook (GET); change what is sent of it, and leave the rest (POST)."""
    study = _manager(request, slug)
    hook = get_object_or_404(study.webhooks, pk=pk)
    if request.method == "POST":
        sent = NewWebhookSerializer(data=request.data, partial=True)
        sent.is_valid(raise_exception=True)
        form = WebhookForm(as_posted({"address": hook.address, "events": hook.events, **sent.validated_data}))
        if not form.is_valid():
            raise not_valid(form)
        actions.change_webhook(hook=hook, origin=origin_of(request), by=user_of(request), **form.cleaned_data)
    return _told(study, pk)


@extend_schema(request=None, responses={204: None})
@api_view(["POST"])
def delete(request: Request, slug: str, pk: int) -> Response:
    """Delete a webhook with its calls."""
    study = _manager(request, slug)
    actions.delete_webhook(hook=get_object_or_404(study.webhooks, pk=pk), by=user_of(request))
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(request=None, responses=WebhookSecretSerializer)
@api_view(["POST"])
def make_secret(request: Request, slug: str, pk: int) -> Response:
    """Make another secret, which is told this once. The one before signs too for a day."""
    study = _manager(request, slug)
    secret = actions.make_secret(hook=get_object_or_404(study.webhooks, pk=pk), by=user_of(request))
    return _told(study, pk, secret)


@extend_schema(request=SwitchedSerializer, responses=WebhookSerializer)
@api_view(["POST"])
def switch(request: Request, slug: str, pk: int) -> Response:
    """Switch a webhook on or off."""
    study = _manager(request, slug)
    hook = get_object_or_404(study.webhooks, pk=pk)
    sent = SwitchedSerializer(data=request.data)
    sent.is_valid(raise_exception=True)
    actions.switch(hook=hook, on=sent.validated_data["on"], by=user_of(request))
    return _told(study, pk)


@extend_schema(request=None, responses={200: DeliverySerializer, 409: RefusalSerializer})
@api_view(["POST"])
def try_it(request: Request, slug: str, pk: int) -> Response:
    """Send a ping; what became of it stands under deliveries."""
    study = _manager(request, slug)
    return Response(DeliverySerializer(actions.try_webhook(hook=get_object_or_404(study.webhooks, pk=pk))).data)


@extend_schema(parameters=[PageFilterSerializer], responses=DeliveryPageSerializer)
@api_view(["GET"])
def deliveries(request: Request, slug: str, pk: int) -> Response:
    """The calls of a webhook of the last 30 days, the last one first."""
    hook = get_object_or_404(_manager(request, slug).webhooks, pk=pk)
    return in_pages(request, hook.items.order_by("-pk"), DeliverySerializer)


@extend_schema(request=None, responses={200: DeliverySerializer, 409: RefusalSerializer})
@api_view(["POST"])
def send_again(request: Request, slug: str, pk: int, number: UUID) -> Response:
    """Call once more, whether it went well or not, under the same id."""
    hook = get_object_or_404(_manager(request, slug).webhooks, pk=pk)
    delivery = get_object_or_404(hook.items.select_related("run"), number=number)
    actions.send_again(delivery=delivery)
    delivery.refresh_from_db()
    return Response(DeliverySerializer(delivery).data)
