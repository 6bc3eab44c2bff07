"""What the API says of any run; an app's serializers add what is its own."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from work.states import RunState


class RunFields(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    state = serializers.ChoiceField(RunState.choices)
    error = serializers.CharField(help_text=_("Why it failed, and what to do."))
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class ProgressFields(serializers.Serializer[Any]):
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    at_work = serializers.IntegerField()
    waiting = serializers.IntegerField()
    seconds = serializers.FloatField(help_text=_("Since the start."))
    seconds_left = serializers.FloatField(allow_null=True, help_text=_("At the present pace."))
    lacks_a_worker = serializers.BooleanField(help_text=_("Rows wait, and no worker has taken one up for a while."))
    waits_behind = serializers.IntegerField(
        source="n_before",
        help_text=_("How many other runs workers come to first, while one is at them; else 0."),
    )
    seconds_until_turn = serializers.FloatField(
        allow_null=True, help_text=_("At the pace of the runs before it; null where none of them has one.")
    )
    waits_longer = serializers.BooleanField(
        source="wait_is_least", help_text=_("Some runs before it have no pace yet: its turn comes later than that.")
    )
