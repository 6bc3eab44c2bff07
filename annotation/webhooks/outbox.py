"""What happens is put down for the webhooks of a study, in the transaction in which it happens: both are, or neither.

No queue is asked here: whoever labels waits for none. The recovery of the work machine sends what is due, every quarter
of a minute. Below the actions, which call this.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.db.models import Exists, OuterRef, Q, QuerySet
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
    """The same of rows of one study, by people's assignments. Whoever writes in assignments locks these first, then the
    webhooks, and so does the caller: it takes no more of them after this."""
    if not assignment_ids:
        return
    people = Assignment.objects.filter(pk__in=assignment_ids, rater__kind=Rater.Kind.PERSON).order_by("pk")
    found = list(people.values_list("pk", "rater__code", "row", "row__sheet", "rater__study"))
    if not found or not (hooks := _on(found[0][-1])):
        return
    for pk, code, row, sheet, _study in found:
        data = {"sheet": sheet, "row": row, "assignment": pk, "rater": code}
        _put(hooks, event, reverse("api:row", args=[row]), data)
    if event == Event.ROW_SUBMITTED:
        _tell_of_completed(hooks, {sheet for *_rest, sheet, _study in found})


@contextmanager
def completing(study_id: int, rows: QuerySet[Row]) -> Iterator[None]:
    """Around what takes work at some rows of a study back, in its transaction: sheets that are complete by that, and
    were not before, are told. One small query where nobody listens; else two more before, and two after."""
    on = Webhook.objects.filter(study=study_id, state__in=_ON).values_list("events", flat=True)
    sheets = _kept_open_by(rows) if any(Event.SHEET_COMPLETED in events for events in on) else ()
    yield
    if sheets:
        _tell_of_completed(_on(study_id), sheets)


def _kept_open_by(rows: QuerySet[Row]) -> list[int]:
    """The sheets that are not complete because of some rows. Nobody submits one of these, or takes it back, before this
    transaction ends: what is done there until then is done by it."""
    people = Assignment.objects.filter(rater__kind=Rater.Kind.PERSON).order_by("pk")
    list(people.filter(row__in=rows).select_for_update(no_key=True, of=("self",)).values_list("pk"))
    here = people.filter(row=OuterRef("pk"))
    waits = Q(withdrawn_at=None) & ~Exists(here.filter(state=Assignment.State.SUBMITTED))
    keeping = Row.objects.filter(waits | Exists(here.filter(state__in=_GIVEN)), pk__in=rows)
    return list(keeping.order_by("sheet").values_list("sheet", flat=True).distinct())


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


def _tell_of_completed(hooks: Sequence[Webhook], sheet_ids: Collection[int]) -> None:
    """Tell of those of some sheets that are complete: each of their rows was submitted by somebody, and nobody has one
    left. Whoever else completes one at this moment has waited for the lock of the webhooks, and sees what this one did.
    """
    if not any(Event.SHEET_COMPLETED in hook.events for hook in hooks):
        return
    people = Assignment.objects.filter(rater__kind=Rater.Kind.PERSON)
    done = people.filter(state=Assignment.State.SUBMITTED)
    rows = Row.objects.filter(sheet=OuterRef("pk"), withdrawn_at=None)
    complete = Sheet.objects.filter(
        ~Exists(people.filter(row__sheet=OuterRef("pk"), state__in=_GIVEN)),
        Exists(done.filter(row__sheet=OuterRef("pk"))),
        ~Exists(rows.filter(~Exists(done.filter(row=OuterRef("pk"))))),
        pk__in=sheet_ids,
        archived_at=None,
    )
    for sheet in complete.order_by("position").values_list("pk", flat=True):
        _put(hooks, Event.SHEET_COMPLETED, reverse("api:sheet", args=[sheet]), {"sheet": sheet})
