"""What a program says of a new judge or extractor, as the pages ask it: the model by its place, the prompt as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from annotation.api.core import not_valid, user_of
from judges.model_forms import NamesAModel
from judges.models import Extractor, Judge
from llm import registry
from llm.models import DTYPES, LanguageModel


class NamesAModelSerializer(serializers.Serializer[Any]):
    """A model is named by its place; one that is known there is that one."""

    backend = serializers.ChoiceField(registry.choices(), default=registry.DEFAULT)
    location = serializers.CharField(
        required=False, max_length=500, help_text=_("A hub id, a folder, a file, package:NAME, or a server's address.")
    )
    served_name = serializers.CharField(required=False, max_length=200, help_text=_("Its name on a server."))
    api_key_env = serializers.CharField(
        required=False, max_length=100, help_text=_("The workers' environment variable that holds the key.")
    )
    requests_per_minute = serializers.IntegerField(required=False, min_value=1, max_value=1_000_000)
    price_read = serializers.DecimalField(
        required=False, min_value=0, max_digits=12, decimal_places=4, help_text=_("Of a million tokens.")
    )
    price_written = serializers.DecimalField(required=False, min_value=0, max_digits=12, decimal_places=4)
    revision = serializers.CharField(required=False, max_length=100)
    gguf_file = serializers.CharField(required=False, max_length=200)
    dtype = serializers.ChoiceField(DTYPES, default="auto")
    device = serializers.ChoiceField(LanguageModel.Device.choices, default=LanguageModel.Device.CPU)
    chat_template = serializers.BooleanField(default=False)


def refuse_who_makes_none(request: Request) -> None:
    """What a judge names is asked by the workers: so only those make one who may."""
    if not user_of(request).has_perm("judges.add_judge"):
        raise PermissionDenied


def made(
    form: Callable[[Mapping[str, Any]], NamesAModel], given: Mapping[str, Any], create: Callable[..., Judge | Extractor]
) -> Any:
    """What the form's page would make of what was sent."""
    filled = form(given)
    if not filled.is_valid():
        raise not_valid(filled, prompt="prompt_text", model="location")
    return create(**filled.cleaned_data)
