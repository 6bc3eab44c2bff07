"""The audit log with the names that its accounts and studies have today."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from annotation.models import AuditEvent, Study, User


class Line(NamedTuple):
    event: AuditEvent
    by: str
    of: str
    study: str


def lines(events: Iterable[AuditEvent]) -> list[Line]:
    """Events and who did what to whom, in which study. Two queries."""
    events = list(events)
    ids = {number for event in events for number in (event.by, event.of) if number is not None}
    names = dict(User.objects.filter(pk__in=ids).values_list("pk", "username"))
    slugs = dict(Study.objects.filter(pk__in={event.study_id for event in events}).values_list("pk", "slug"))

    def named(number: int | None) -> str:
        return "" if number is None else names.get(number, f"#{number}")

    return [
        Line(event, named(event.by), named(event.of), slugs.get(event.study_id, "") if event.study_id else "")
        for event in events
    ]
