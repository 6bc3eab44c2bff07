"""Imports that write in parts, so that nobody waits for them: short transactions, seen at once at the end.

An import says first that it is coming (`begin`), and no other import writes to the study then. What it makes has keys
that were set aside before, and these stand in its `Arrival`. Until `show`, its assignments are withdrawn, each handed
on to its own rater, which no other assignment is: so no page, report or plan has them. Its new rows are withdrawn. If
it fails, `take_back` deletes all of that; if its process was killed, whoever comes next does: another worker with the
same item, the next import into the study, or the hourly cleaning.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise

from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import actions
from annotation.actions import Refused
from annotation.models import Arrival, Assignment, Column, Label, LabelEvent, Rater, Row, Scheme, Sheet, Study
from annotation.queries import arriving

# After so long without a sign of it, an import is taken for dead.
STALE = timedelta(minutes=10)
# While nothing is written, so often a sign of it.
_BEAT = timedelta(seconds=20)
# Assignments, or rows, that are deleted in one transaction.
_AT_ONCE = 2000
_SHOWN_AT_ONCE = 5000
_SHEETS_AT_ONCE = 50

State = Assignment.State
Span = tuple[int, int]


def spans(keys: Sequence[int]) -> list[Span]:
    """Rising keys as spans, first and last each.

    >>> spans([3, 4, 5, 9])
    [(3, 5), (9, 9)]
    """
    if not keys:
        return []
    breaks = [(a, b) for a, b in pairwise(keys) if b != a + 1]
    return list(zip([keys[0], *(b for _a, b in breaks)], [*(a for a, _b in breaks), keys[-1]], strict=True))


def within(keys: Iterable[Span], field: str = "pk") -> Q:
    found = Q(pk__in=[])
    for first, last in keys:
        found |= Q(**{f"{field}__range": (first, last)})
    return found


class Coming(Refused):
    """Another import is at work in the study."""


def refuse_if_coming(study_id: int) -> None:
    """Raises Coming while another import writes to the study in parts. One that is dead is no hindrance."""
    if Arrival.objects.filter(study=study_id, beat_at__gt=timezone.now() - STALE).exists():
        raise Coming(_("Another file is being imported into this study. Wait for its end, or cancel it."))


def begin(study: Study, *, owner: str = "", made: dict[str, list[Span]] | None = None) -> Arrival:
    """Say that an import is coming; what a dead one left in the study, or one of the same owner, is taken back first.

    Raises:
        Refused: another import is at it.
    """
    tidy(study, owner=owner)
    with transaction.atomic():
        actions.lock_study(study.pk)
        refuse_if_coming(study.pk)
        return Arrival.objects.create(study=study, owner=owner, made=made or {}, beat_at=timezone.now())


def tidy(study: Study, *, owner: str = "") -> None:
    """Take back what a dead import left in the study, or one of the same owner. Who plans an import by what stands in
    the study does it before.

    Raises:
        Coming: another import is at it.
    """
    for left in Arrival.objects.filter(study=study):
        if not owner or left.owner != owner:
            refuse_if_coming(study.pk)
        take_back(left)


def still(arrival: Arrival) -> None:
    """Renew the sign of life. In the transaction of a part: it is written only if nobody has taken this import back.

    Raises:
        Refused: somebody has.
    """
    if not Arrival.objects.filter(pk=arrival.pk, key=arrival.key).update(beat_at=timezone.now()):
        raise Refused(_("The import had stood still for too long and was taken back. Import the file again."))


def beat(arrival: Arrival, more: Callable[[], None]) -> None:
    """Now and then while nothing is written; `more` is called each time. Raises as `still`, and what `more` raises."""
    if timezone.now() - arrival.beat_at > _BEAT:
        arrival.beat_at = timezone.now()
        still(arrival)
    more()


def note_made(arrival: Arrival, kind: str, keys: Sequence[int]) -> None:
    """Before anything is written under these keys, or in the same transaction."""
    arrival.made[kind] = [*arrival.made.get(kind, []), *spans(keys)]
    arrival.save(update_fields=["made"])


HIDDEN = arriving()


def show(arrival: Arrival) -> None:
    """Make all that came seen, in the transaction of the caller, and end the import.

    On SQLite, where everybody else waits for that, many assignments or rows are only settled to be shown: `go_on`
    does it.
    """
    still(arrival)
    keys = {kind: arrival.made.get(kind, []) for kind in _SHOWN}
    n = sum(last - first + 1 for spans_ in keys.values() for first, last in spans_)
    if connection.vendor == "sqlite" and n > _SHOWN_AT_ONCE:
        arrival.made["shown"] = []
        arrival.save(update_fields=["made"])
        return
    for kind, do in _SHOWN.items():
        for first, last in keys[kind]:
            do(first, last)
    _end(arrival)


def go_on(arrival: Arrival) -> None:
    """Show what `show` has left, in short transactions. From `show` on an import is not taken back any more."""
    if "shown" not in arrival.made:
        return
    for kind, do in _SHOWN.items():
        for first, last in _parts(arrival.made.get(kind, [])):
            with part(arrival):
                do(first, last)
    with transaction.atomic():
        _end(arrival)


def _show_assignments(first: int, last: int) -> None:
    came = Assignment.objects.filter(HIDDEN, pk__range=(first, last))
    came.update(state=State.SUBMITTED, submitted_at=F("started_at"), handed_to=None)


def _show_rows(first: int, last: int) -> None:
    # Somebody may have withdrawn one that was shown in an earlier part.
    came = Row.objects.filter(pk__range=(first, last), withdrawn_at__isnull=False, withdrawn_by=None)
    came.update(withdrawn_at=None, withdrawn_reason="")


_SHOWN = {"assignments": _show_assignments, "rows": _show_rows}


def _end(arrival: Arrival) -> None:
    Arrival.objects.filter(pk=arrival.pk, key=arrival.key).delete()


def take_back(arrival: Arrival, beat: Callable[[], None] = lambda: None) -> None:
    """Delete what an import has written that was not shown, in short transactions; may be done twice.

    One that has begun to be shown is shown to its end instead.
    """
    # Whoever wrote under the old key is too late from now on.
    key = uuid.uuid4()
    if not Arrival.objects.filter(pk=arrival.pk, key=arrival.key).update(key=key, beat_at=timezone.now()):
        return
    arrival.key = key
    made = arrival.made = Arrival.objects.get(pk=arrival.pk).made
    if "shown" in made:
        go_on(arrival)
        return
    for first, last in _parts(made.get("assignments", [])):
        with part(arrival):
            hidden = Assignment.objects.filter(HIDDEN, pk__range=(first, last))
            for model in (LabelEvent, Label):
                came = model._default_manager.filter(assignment__in=hidden)
                came._raw_delete(came.db)  # nothing refers to them, and nobody but this import made them
            hidden.delete()
        beat()
    for first, last in _parts(made.get("rows", [])):
        with part(arrival):
            Row.objects.filter(pk__range=(first, last), withdrawn_at__isnull=False, assignments=None).delete()
    for first, last in _parts(made.get("sheets", []), _SHEETS_AT_ONCE):
        with part(arrival):
            actions.lock_study(arrival.study_id)
            Sheet.objects.filter(pk__range=(first, last), rows=None).delete()
        beat()
    with transaction.atomic():
        actions.lock_study(arrival.study_id)
        Rater.objects.filter(within(made.get("raters", [])), assignments=None, user=None).delete()
        columns = Column.objects.filter(within(made.get("columns", []))).select_related("section", "sheet")
        for column in columns.exclude(sheet__rows__assignments__isnull=False):
            column.delete()
            if not Column.objects.filter(sheet=column.sheet_id, section=column.section_id).exists():
                actions.add_column(sheet=column.sheet, section=column.section, spec=column.section.spec, facets={})
        Arrival.objects.filter(pk=arrival.pk).delete()
        if "study" in made and not Rater.objects.filter(study=arrival.study_id, user__isnull=False).exists():
            scheme = Scheme.objects.filter(studies=arrival.study_id).first()
            arrival.study.delete()
            if scheme is not None and not scheme.studies.exists():
                scheme.delete()


@contextmanager
def part(arrival: Arrival) -> Iterator[None]:
    """A transaction of an import. Several may be written at once: the arrival is held only while each is committed."""
    with transaction.atomic():
        yield
        if connection.vendor == "postgresql":
            connection.check_constraints()  # foreign keys, which a commit would look up
        still(arrival)


def _parts(keys: Iterable[Span], at_once: int = 0) -> Iterator[Span]:
    at_once = at_once or _AT_ONCE
    for first, last in keys:
        for start in range(first, last + 1, at_once):
            yield start, min(start + at_once - 1, last)


def clean() -> int:
    """Take back what dead imports left; returns how many there were."""
    dead = list(Arrival.objects.filter(beat_at__lt=timezone.now() - STALE))
    for arrival in dead:
        take_back(arrival)
    return len(dead)
