"""What the API says of the tokens and the money of a run, and of where it pauses."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from annotation.api.serializers import MAX_ID


class LimitsSerializer(serializers.Serializer[Any]):
    """Where a run pauses; a null, or nothing, is no limit, and to resume a run changes only what is given."""

    most_tokens = serializers.IntegerField(
        min_value=1, max_value=MAX_ID, default=None, allow_null=True, help_text=_("The run pauses at so many tokens.")
    )
    most_cost = serializers.DecimalField(
        max_digits=12,
        decimal_places=4,
        min_value=Decimal("0.0001"),
        default=None,
        allow_null=True,
        help_text=_("The run pauses at this cost, in the currency of the model's prices."),
    )


class ResumedSerializer(LimitsSerializer):
    """Limits, and who resumes the run."""

    by = serializers.HiddenField(default=serializers.CurrentUserDefault())


class LimitedFields(serializers.Serializer[Any]):
    """What a run tells of its limits."""

    most_tokens = serializers.IntegerField(allow_null=True)
    most_cost = serializers.DecimalField(max_digits=12, decimal_places=4, allow_null=True)
    paused = serializers.BooleanField(help_text=_("It has reached a limit; resume it with a higher one."))


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
