"""Reads about webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from annotation.models import Delivery, Study, Webhook

SHOWN = 50  # deliveries on a page
_SOON = timedelta(minutes=1)

State = Delivery.State


def webhooks(study: Study) -> QuerySet[Webhook]:
    """With `n_waiting`, `n_failed`, and when the last call that went well was, `called_at`. One query."""
    last = Delivery.objects.filter(run=OuterRef("pk"), state=State.DONE).order_by("-tried_at").values("tried_at")[:1]
    return study.webhooks.select_related("study", "started_by").annotate(
        n_waiting=Count("items", filter=Q(items__state__in=[State.QUEUED, State.CLAIMED])),
        n_failed=Count("items", filter=Q(items__state=State.FAILED)),
        called_at=Subquery(last),
    )


@dataclass(frozen=True)
class Latest:
    """The last calls of a webhook. `moves`: one of them ends soon, so that a page asks again."""

    deliveries: Sequence[Delivery]
    total: int
    moves: bool


def latest(hook: Webhook) -> Latest:
    """Two queries."""
    found = list(hook.items.order_by("-pk")[:SHOWN])
    soon = timezone.now() + _SOON
    moves = hook.is_on and any(not one.is_over and (one.not_before is None or one.not_before < soon) for one in found)
    return Latest(found, hook.items.count(), moves)


def were_switched_off(study: Study) -> bool:
    """Whether Palate has switched off a webhook of a study. One query."""
    return study.webhooks.filter(state=Webhook.State.FAILED).exists()
