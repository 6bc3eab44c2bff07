"""How long people are at work on a document."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import F, Max, Q
from django.utils import timezone

from annotation.models import Assignment, Rater, Sitting

# A page that was never heard of before may bring this much; it is heard of when it opens.
FIRST_SECONDS = 60


@transaction.atomic
def beat(*, rater: Rater, page: uuid.UUID, seconds: Mapping[int, int], now: datetime | None = None) -> int:
    """Take what an opened page has counted of active time so far, {assignment: seconds since it was opened}.

    A count that comes twice or late adds nothing. Nobody is credited with more than the time that has passed since
    the page was last heard of, nor since they were last credited for any page: two pages side by side count once.

    Returns:
        the seconds that were added.
    """
    now = now or timezone.now()
    # One beat of a person after the other.
    Rater.objects.select_for_update(no_key=True).values_list("pk").get(pk=rater.pk)
    known = Sitting.objects.filter(assignment__rater=rater).aggregate(
        heard=Max("beat_at", filter=Q(page=page)), credited=Max("credited_at")
    )
    passed = [max(0, round((now - at).total_seconds())) for at in known.values() if at is not None]
    left = min(passed) if known["heard"] is not None else min([FIRST_SECONDS, *passed])
    mine = Assignment.objects.filter(rater=rater, row__sheet__closed_at=None, pk__in=seconds)
    sittings = {sitting.assignment_id: sitting for sitting in Sitting.objects.filter(assignment__in=mine, page=page)}
    added = 0
    for assignment in mine:
        sitting = sittings.get(assignment.pk) or Sitting(assignment=assignment, page=page)
        more = min(max(0, seconds[assignment.pk] - sitting.seconds), left)
        # What was too much is not credited later either.
        sitting.seconds, sitting.beat_at = max(sitting.seconds, seconds[assignment.pk]), now
        if more:
            sitting.credited_at = now
            Assignment.objects.filter(pk=assignment.pk).update(active_seconds=F("active_seconds") + more)
        sitting.save()
        left, added = left - more, added + more
    return added
