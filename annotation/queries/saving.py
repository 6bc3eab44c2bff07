"""What saving a choice reads. The server does nothing more often, so it is asked in plain SQL: one query each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple
from uuid import UUID

from annotation.models import Assignment, Column, Label, LabelEvent, Look, Rater, Row, Scheme, Section, Sheet, Skip
from annotation.plain_sql import Shape, Statement, stored


def mine_to_change(*, user_id: int, sheet_id: int, ids: Iterable[int]) -> dict[int, Assignment]:
    """{id: assignment} of those that are, or were, this user's work on this sheet; nothing but the id is read.

    Were: what somebody has answered before they heard that a row is not theirs any more is not thrown away.
    """
    return {row[0]: _id_alone(row) for row in _mine(user_id, True, sheet_id, sorted(ids))}


def columns_to_change(*, sheet_id: int, ids: Iterable[int]) -> dict[int, Column]:
    """{id: column} of those of the sheet, each with what `whole_sections` needs."""
    found = {}
    for row in _columns(sheet_id, sorted(ids)):
        column, section, scheme = _all_of(row, _column, _section, _scheme)
        section.scheme, column.section = scheme, section
        found[column.pk] = column
    return found


def locked(assignment: Assignment) -> Assignment:
    """The assignment, locked.

    The lock orders writers of one assignment; on SQLite the transaction itself is the lock. Only what `record` looks
    at is read.
    """
    [row] = _locked(assignment.pk)
    found: Assignment
    found, of, sheet, rater = _all_of(row, _assignment, _row, _sheet, _rater)
    of.sheet, found.row, found.rater = sheet, of, rater
    return found


class Known(NamedTuple):
    """What else a writer has to know.

    Attributes:
        recorded: the change with this key is in the assignment's history.
        exposed: its rater has seen others' labels of the sheet.
        has_skips: some of its cells are skipped.
    """

    recorded: bool
    exposed: bool
    has_skips: bool


def known(assignment: Assignment, key: UUID) -> Known:
    """What else stands there, now that the assignment is `locked`.

    A query of its own: what a query that waited for the lock says of other tables is of the time before it waited.
    """
    event_key = stored(LabelEvent, "key", key)
    [row] = _known(assignment.pk, event_key, assignment.row.sheet_id, assignment.rater.user_id, assignment.pk)
    return Known(*map(bool, row))


def labels_of_columns(assignment: Assignment, column_ids: Iterable[int]) -> list[Label]:
    return [_label(row) for row in _labels(assignment.pk, sorted(column_ids))]


def _all_of(row: tuple[Any, ...], *shapes: Shape[Any]) -> list[Any]:
    """The objects that stand in a row one behind the other."""
    found, start = [], 0
    for shape in shapes:
        found.append(shape(row, start=start))
        start += len(shape)
    return found


_id_alone = Shape(Assignment, "id")
_assignment = Shape(Assignment, "id", "sections", "state", "started_at", "rater", "row")
_row = Shape(Row, "id", "name", "sheet")
_sheet = Shape(Sheet, "id", "title", "closed_at")
_rater = Shape(Rater, "id", "kind", "user")
_column = Shape(Column, "id", "sheet", "section", "name", "facets")
_section = Shape(Section, "id", "scheme")
_scheme = Shape(Scheme, "id", "created_at")
_label = Shape(Label)

_mine = Statement(
    """
    SELECT {one} FROM {one.table} JOIN {row.table} ON {row.id} = {one.row}
        JOIN {rater.table} ON {rater.id} = {one.rater}
    WHERE {rater.user} = %s AND {rater.active} = %s AND {row.sheet} = %s AND {one.id} IN (%s)
    """,
    one=_id_alone,
    row=_row,
    rater=_rater,
)
_columns = Statement(
    """
    SELECT {column}, {section}, {scheme} FROM {column.table} JOIN {section.table} ON {section.id} = {column.section}
        JOIN {scheme.table} ON {scheme.id} = {section.scheme}
    WHERE {column.sheet} = %s AND {column.id} IN (%s)
    """,
    column=_column,
    section=_section,
    scheme=_scheme,
)
_locked = Statement(
    """
    SELECT {one}, {row}, {sheet}, {rater} FROM {one.table} JOIN {row.table} ON {row.id} = {one.row}
        JOIN {sheet.table} ON {sheet.id} = {row.sheet} JOIN {rater.table} ON {rater.id} = {one.rater}
    WHERE {one.id} = %s
    """,
    lock="one",
    one=_assignment,
    row=_row,
    sheet=_sheet,
    rater=_rater,
)
_known = Statement(
    """
    SELECT EXISTS (SELECT 1 FROM {event.table} WHERE {event.assignment} = %s AND {event.key} = %s),
        EXISTS (SELECT 1 FROM {look.table} WHERE {look.sheet} = %s AND {look.user} = %s),
        EXISTS (SELECT 1 FROM {skip.table} WHERE {skip.assignment} = %s)
    """,
    event=Shape(LabelEvent),
    look=Shape(Look),
    skip=Shape(Skip),
)
_labels = Statement(
    "SELECT {label} FROM {label.table} WHERE {label.assignment} = %s AND {label.column} IN (%s)", label=_label
)
