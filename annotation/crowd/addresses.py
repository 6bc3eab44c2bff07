"""The address of a link, as a platform is given it."""

from __future__ import annotations

from typing import Protocol

from django.urls import reverse

from annotation.models import CrowdLink

# What platforms put the participant's id in the place of.
_PLACES = {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "workerId": "${workerId}"}


class _Asks(Protocol):
    def build_absolute_uri(self, location: str | None = None) -> str: ...


def address_of(request: _Asks, link: CrowdLink) -> str:
    """With the parameter that says who comes, where the link asks for one."""
    address = request.build_absolute_uri(reverse("annotation:take-part", args=[link.token]))
    return f"{address}?{link.asks_for}={_PLACES.get(link.asks_for, 'ID')}" if link.asks_for else address
