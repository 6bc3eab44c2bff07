"""What happens is put down for the webhooks of a study, in the transaction in which it happens: both are, or neither.

No queue is asked here: whoever labels waits for none. The recovery of the work machine sends what is due, every quarter
of a minute. Below the actions, which call this.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Delivery, Rater, Row, Sheet, Study, Webhook
from annotation.plain_sql import Shape, Statement

Event = Webhook.Event

_ON = [state.value for state in Webhook.ON]
_GIVEN = [Assignment.State.OPEN.value, Assignment.State.STARTED.value]
_listening = Statement(
    "SELECT {hook} FROM {hook.table} JOIN {sheet.table} ON {sheet.study} = {hook.study} "
    "WHERE {sheet.id} = %s AND {hook.state} IN (%s) LIMIT 1",
    hook=Shape(Webhook, "id", "study", "state"),
    sheet=Shape(Sheet, "id", "study"),
)


def tell_of_row(event: Event, assignment: Assignment) -> None:
    """Somebody has submitted a row, or it was taken back. One small query where nobody listens, none of a judge's."""
    if assignment.rater.kind == Rater.Kind.PERSON and _listening(assignment.row.sheet_id, _ON):
        tell_of_rows(event, [assignment.pk])


def tell_of_rows(event: Event, assignment_ids: Collection[int]) -> None:
    """The same of rows of one study, by people's assignments."""
    people = Assignment.objects.filter(pk__in=assignment_ids, rater__kind=Rater.Kind.PERSON).order_by("pk")
    found = list(people.values_list("pk", "rater__code", "row", "row__sheet", "rater__study"))
    if not found or not (hooks := _on(found[0][-1])):
        return
    for pk, code, row, sheet, _study in found:
        data = {"sheet": sheet, "row": row, "assignment": pk, "rater": code}
        _put(hooks, event, reverse("api:row", args=[row]), data)
    if event == Event.ROW_SUBMITTED:
        for sheet in {sheet for *_rest, sheet, _study in found}:
            # Who submits the other last row at this moment has waited for the lock of the webhooks, and sees this one.
            if any(Event.SHEET_COMPLETED in hook.events for hook in hooks) and _is_complete(sheet):
                _put(hooks, Event.SHEET_COMPLETED, reverse("api:sheet", args=[sheet]), {"sheet": sheet})


def tell(event: Event, study: Study, *, name: str, args: Sequence[object], data: dict[str, Any]) -> None:
    """Something else has happened. `name`, `args`: of the address of the API at which it stands."""
    if hooks := _on(study.pk):
        _put(hooks, event, reverse(name, args=args), data)


def delivery(hook: Webhook, event: str, path: str, data: dict[str, Any], *, now: datetime) -> Delivery:
    """A call that is not stored yet. It names what it is about and says nothing of it: whoever may read it asks."""
    number = uuid4()
    body = {
        "id": str(number),
        "type": event,
        "timestamp": now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "study": hook.study.slug,
        "url": hook.origin + path,
        "data": data,
    }
    due = max(now, hook.rest_until or now)
    return Delivery(run=hook, number=number, event=event, body=body, wanted_at=now, not_before=due)


def wake(hooks: Collection[Webhook], now: datetime) -> None:
    """Those that had nothing to send have something now."""
    ended = [hook.pk for hook in hooks if hook.state == Webhook.State.FINISHED]
    if ended:
        running = {"state": Webhook.State.RUNNING, "ended_at": None, "enqueued_at": now, "enqueued_times": 0}
        # Its place on the queue was that of what it had to send before.
        Webhook.objects.filter(pk__in=ended).update(queued_at=None, **running)


def _on(study_id: int) -> list[Webhook]:
    """The webhooks of a study that are on, locked: none of them ends before this transaction does. One query; an
    archived study has none."""
    on = Webhook.objects.filter(study=study_id, study__archived_at=None, state__in=_ON)
    locked = on.select_related("study").select_for_update(no_key=True, of=("self",)).order_by("pk")
    return list(locked.only("state", "events", "origin", "rest_until", "study__slug"))


def _put(hooks: Sequence[Webhook], event: Event, path: str, data: dict[str, Any]) -> None:
    now = timezone.now()
    wanting = [hook for hook in hooks if event in hook.events]
    Delivery.objects.bulk_create(delivery(hook, event, path, data, now=now) for hook in wanting)
    wake(wanting, now)


def _is_complete(sheet_id: int) -> bool:
    """Whether each row of a sheet was submitted by somebody, and nobody has one left. Two queries at most."""
    of_people = Assignment.objects.filter(row__sheet=sheet_id, rater__kind=Rater.Kind.PERSON).order_by()
    if of_people.filter(state__in=_GIVEN).exists():
        return False
    done = of_people.filter(state=Assignment.State.SUBMITTED)
    return not Row.objects.filter(sheet=sheet_id, withdrawn_at=None).exclude(pk__in=done.values("row")).exists()
