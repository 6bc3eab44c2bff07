"""What the API says of the tokens and the money of a run."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers


class SpentSerializer(serializers.Serializer[Any]):
    read = serializers.IntegerField(help_text=_("Tokens that the model read, of failed attempts too."))
    written = serializers.IntegerField(help_text=_("Tokens that it wrote."))
    cost = serializers.DecimalField(
        max_digits=None,
        decimal_places=None,
        allow_null=True,
        help_text=_("By the prices of the model when the run was started; null where it had none."),
    )
    currency = serializers.CharField()
