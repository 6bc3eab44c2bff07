"""Writing changes of labels with their history: the only place in which labels, skips and events are written."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone

from annotation.models import Assignment, Label, LabelEvent, Skip, User
from annotation.plain_sql import Insert, Update

UPDATED = [
    "option",
    "value",
    "scores",
    "note",
    "preset",
    "exposed",
    "drafted_from",
    "confirmed_at",
    "revision",
    "updated_at",
]


_CELL = ("assignment", "column", "question")
_NOTHING = (None, None, "", False, None, None)
_labels = Insert(Label, *_CELL, *UPDATED)
_changed = Update(Label, *UPDATED)  # a tenth of what saving an object costs
_fields: list[Any] = [Label._meta.get_field(name) for name in UPDATED]
_attributes = [field.attname for field in _fields]
_events = Insert(
    LabelEvent,
    *_CELL,
    "before",
    "value_before",
    "after",
    "value_after",
    "note",
    "preset",
    "drafted_from",
    "confirmed_at",
    "skip_before",
    "skip_after",
    "by",
    "restored_to",
    "at",
    "key",
)


class _Change(NamedTuple):
    assignment: Assignment
    column_id: int
    question_id: int
    old: Label | Skip | None
    new: Label | Skip | None
    key: uuid.UUID


class NewLabel(NamedTuple):
    """A label where nothing stands, of somebody who answers for the first time."""

    assignment_id: int
    column_id: int
    question_id: int
    option_id: int | None
    value: Any
    note: str = ""
    preset: bool = False
    exposed: bool = False


def write_new(labels: Sequence[NewLabel], *, key: uuid.UUID, at: datetime) -> None:
    """Many new labels with their history, as `Batch` would write them, without an object for each."""
    _labels(
        [(a, c, q, option, value, None, note, preset, exposed, None, None, 1, at)
         for a, c, q, option, value, note, preset, exposed in labels]
    )  # fmt: skip
    _events(
        [(a, c, q, None, None, option, value, note, preset, None, None, "", "", None, None, at, key)
         for a, c, q, option, value, note, preset, _exposed in labels]
    )  # fmt: skip


class Batch:
    """Changes of the labels of any number of assignments, written together with a fixed number of statements.

    `key` names the change in the history; `by` is who made it where that is somebody other than the rater;
    `restored_to` the moment that a restore brought back. All of it happens at one moment, so that it can be restored
    together.
    """

    def __init__(self, key: uuid.UUID, *, by: User | None = None, restored_to: datetime | None = None) -> None:
        self.key = key
        self.by = by
        self.restored_to = restored_to
        self.at = timezone.now()
        self._changes: list[_Change] = []

    def put(
        self,
        assignment: Assignment,
        column_id: int,
        question_id: int,
        old: Label | Skip | None,
        new: Label | Skip | None,
        key: uuid.UUID | None = None,
    ) -> None:
        """One cell: what stands there and what will. An event is written even where both are the same.

        `key`: of a change of its own that is written together with others.
        """
        self._changes.append(_Change(assignment, column_id, question_id, old, new, key or self.key))

    def flush(self) -> None:
        self._write_labels()
        self._write_skips()
        _events([self._event(*change) for change in self._changes])
        self._changes.clear()

    def _event(
        self,
        assignment: Assignment,
        column_id: int,
        question_id: int,
        old: Label | Skip | None,
        new: Label | Skip | None,
        key: uuid.UUID,
    ) -> tuple[Any, ...]:
        """What is written of a change into the history, in the order of `_events`."""
        before = (old.option_id, old.value) if isinstance(old, Label) else (None, None)
        after: tuple[Any, ...] = _NOTHING
        if isinstance(new, Label):
            after = (new.option_id, new.value, new.note, new.preset, new.drafted_from_id, new.confirmed_at)
        return (
            assignment.pk,
            column_id,
            question_id,
            *before,
            *after,
            old.reason if isinstance(old, Skip) else "",
            new.reason if isinstance(new, Skip) else "",
            self.by.pk if self.by else None,
            self.restored_to,
            self.at,
            key,
        )

    def _write_labels(self) -> None:
        inserts: list[tuple[Any, ...]] = []
        updates, deletes = [], []
        for change in self._changes:
            old, new = change.old, change.new
            if isinstance(new, Label) and isinstance(old, Label):
                new.pk, new.revision, new.updated_at = old.pk, old.revision + 1, self.at
                updates.append(new)
            elif isinstance(new, Label):
                inserts.append((change.assignment.pk, change.column_id, change.question_id, *self._inserted(new)))
            elif isinstance(old, Label):
                deletes.append(old.pk)
        _labels(inserts)
        if len(updates) == 1:
            _changed(updates[0].pk, [getattr(updates[0], name) for name in _attributes])
        elif updates:
            Label.objects.bulk_update(updates, UPDATED, batch_size=200)
        for some in _batches(deletes):
            Label.objects.filter(pk__in=some).delete()

    def _inserted(self, label: Label) -> tuple[Any, ...]:
        return (
            label.option_id,
            label.value,
            label.scores,
            label.note,
            label.preset,
            label.exposed,
            label.drafted_from_id,
            label.confirmed_at,
            1,
            self.at,
        )

    def _write_skips(self) -> None:
        gone = [change.old.pk for change in self._changes if isinstance(change.old, Skip)]
        for some in _batches(gone):
            Skip.objects.filter(pk__in=some).delete()
        if new := [change.new for change in self._changes if isinstance(change.new, Skip)]:
            Skip.objects.bulk_create(new)


def _batches(ids: list[int], size: int = 900) -> Iterable[list[int]]:
    """SQLite takes 999 values a query."""
    return (ids[start : start + size] for start in range(0, len(ids), size))
