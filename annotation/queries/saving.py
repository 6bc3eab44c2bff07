"""What saving a choice reads. The server does nothing more often, so all of it is prepared: one query each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Assignment, Column, Label, LabelEvent, Look, Skip
from annotation.prepared import Param, Prepared


def mine_to_change(*, user_id: int, sheet_id: int, ids: Iterable[int]) -> dict[int, Assignment]:
    """{id: assignment} of those that are, or were, this user's work on this sheet; nothing but the id is read.

    Were: what somebody has answered before they heard that a row is not theirs any more is not thrown away.
    """
    return {one.pk: one for one in _mine(user_id=user_id, sheet_id=sheet_id, ids=sorted(ids))}


def columns_to_change(*, sheet_id: int, ids: Iterable[int]) -> dict[int, Column]:
    """{id: column} of those of the sheet, each with what `whole_sections` needs."""
    return {column.pk: column for column in _columns(sheet_id=sheet_id, ids=sorted(ids))}


def locked(assignment: Assignment) -> Any:
    """The assignment, locked, with `exposed` (its rater has seen others' labels) and `has_skips`.

    The lock orders writers of one assignment; on SQLite the transaction itself is the lock. Only what `record` looks
    at is read.
    """
    return _locked(pk=assignment.pk)[0]


def was_recorded(assignment: Assignment, key: UUID) -> bool:
    """The change with this key is in the assignment's history."""
    return bool(_events(assignment_id=assignment.pk, key=key))


def labels_of_columns(assignment: Assignment, column_ids: Iterable[int]) -> list[Label]:
    return _labels(assignment_id=assignment.pk, column_ids=sorted(column_ids))


_LOOKED_AT = [
    "sections",
    "state",
    "started_at",
    "rater__kind",
    "row__name",
    "row__sheet__title",
    "row__sheet__closed_at",
]


def _to_lock(pk: Param) -> QuerySet[Assignment]:
    looks = Look.objects.filter(sheet=OuterRef("row__sheet"), user=OuterRef("rater__user"))
    return (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("row__sheet", "rater")
        .only(
            "sections", "state", "started_at", "row__name", "row__sheet__title", "row__sheet__closed_at", "rater__kind"
        )
        .annotate(exposed=Exists(looks), has_skips=Exists(Skip.objects.filter(assignment=OuterRef("pk"))))
        .filter(pk=pk)
        .order_by()
    )


_locked = Prepared(_to_lock)
_mine = Prepared(
    lambda user_id, sheet_id, ids: (
        Assignment.objects.filter(rater__user=user_id, rater__active=True, row__sheet=sheet_id, pk__in=ids)
        .only("pk")
        .order_by()
    )
)
_columns = Prepared(
    lambda sheet_id, ids: (
        Column.objects.filter(sheet=sheet_id, pk__in=ids)
        .select_related("section__scheme")
        .only("sheet", "name", "facets", "section__scheme__created_at")
        .order_by()
    )
)
_events = Prepared(
    lambda assignment_id, key: LabelEvent.objects.filter(assignment=assignment_id, key=key).only("pk").order_by()[:1],
    key=LabelEvent._meta.get_field("key"),
)
_labels = Prepared(
    lambda assignment_id, column_ids: Label.objects.filter(
        assignment=assignment_id, column__id__in=column_ids
    ).order_by()
)
