"""What saving a choice reads. The server does nothing more often, so it is asked in plain SQL: one query each."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from annotation.answers import skip_code
from annotation.answers.codes import DRAFT, PRESET, SKIP
from annotation.models import (
    Assignment,
    Background,
    Column,
    Consent,
    ExperimentSeat,
    Label,
    LabelEvent,
    Look,
    Option,
    Rater,
    Row,
    Scheme,
    Section,
    Sheet,
    Skip,
    Study,
)
from annotation.plain_sql import Shape, Statement, stored
from annotation.queries.schemes import KNOWN_BY, whole_scheme
from annotation.scheme import rules


class Mine(NamedTuple):
    """Assignments {id: assignment} of which nothing but the id is read, and whether their study seems to owe a page:
    it has a text of consent or a background form, and nothing of this user."""

    assignments: dict[int, Assignment]
    owes: bool


def mine_to_change(*, user_id: int, sheet_id: int, ids: Iterable[int]) -> Mine:
    """Those that are, or were, this user's work on this sheet. One query.

    Were: what somebody has answered before they heard that a row is not theirs any more is not thrown away.
    """
    rows = _mine(user_id, True, sheet_id, sorted(ids))
    return Mine({row[0]: _id_alone(row) for row in rows}, any(row[-1] for row in rows))


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


def lock_in_order(ids: Collection[int]) -> None:
    """Lock several assignments before any of them is written, so that two requests never wait for each other. A query
    where there are several and the database locks rows."""
    if len(ids) > 1 and connection.features.has_select_for_update:
        list(Assignment.objects.select_for_update().filter(pk__in=ids).order_by("pk").values_list("pk"))


class Known(NamedTuple):
    """What else a writer has to know.

    Attributes:
        recorded: a change with one of the keys is in the assignment's history.
        exposed: its rater has seen others' labels of the sheet, or sees a judge's in this row.
        has_skips: some of its cells are skipped.
    """

    recorded: bool
    exposed: bool
    has_skips: bool


def known(assignment: Assignment, *keys: UUID) -> Known:
    """What else stands there, now that the assignment is `locked`.

    A query of its own: what a query that waited for the lock says of other tables is of the time before it waited.
    """
    event_keys = [stored(LabelEvent, "key", key) for key in keys]
    pk, rater = assignment.pk, assignment.rater.user_id
    [row] = _known(pk, event_keys, assignment.row.sheet_id, rater, pk, True, pk)
    return Known(*map(bool, row))


def recorded(assignment: Assignment, keys: Iterable[UUID]) -> set[UUID]:
    """Which of some changes are in the assignment's history."""
    wanted = {stored(LabelEvent, "key", key): key for key in keys}
    return {wanted[key] for (key,) in _recorded(assignment.pk, list(wanted))}


def labels_of_columns(assignment: Assignment, column_ids: Iterable[int]) -> list[Label]:
    return [_label(row) for row in _labels(assignment.pk, sorted(column_ids))]


class Standing(NamedTuple):
    """What stands in the cells (column, question) of an assignment, in the words of `queries.cell_values`."""

    labels: dict[tuple[int, int], str]
    skips: dict[tuple[int, int], str]


def standing(assignment: Assignment) -> Standing:
    """Two queries."""
    labels = {}
    for column, question, option, value, preset, drafted_from, confirmed_at in _codes(assignment.pk):
        prefix = PRESET if preset else DRAFT if drafted_from is not None and confirmed_at is None else ""
        labels[column, question] = prefix + (option if option is not None else f":{value}")
    return Standing(labels, {(column, question): SKIP + why for column, question, why in _skips(assignment.pk)})


def is_unfinished(assignment: Assignment, standing: Standing) -> bool:
    """Whether a cell owes an answer, or holds a draft that nobody has confirmed; see `queries.unfinished_cells`. One
    query."""
    asked_of: dict[tuple[int, tuple[str, ...]], set[str]] = {}
    sections: dict[int, Section] = {}
    for column, section_id, *of in _columns_of(assignment.row.sheet_id):
        if not sections:
            sections = {section.pk: section for section in whole_scheme(_scheme(of)).sections.all()}
        section = sections[section_id]
        if not assignment.asks(section):
            continue
        codes = {
            key: code for key, one in section.by_key.items() if (code := standing.labels.get((column, one.pk), ""))
        }
        if any(code.startswith(DRAFT) for code in codes.values()):
            return True
        told = (section_id, tuple(f"{key} {code}" for key, code in codes.items()))
        if told not in asked_of:
            asked_of[told] = rules.owed(section.spec, codes)
        if any(key not in codes and (column, section.by_key[key].pk) not in standing.skips for key in asked_of[told]):
            return True
    return False


def mine_to_submit(*, user_id: int, pk: int) -> Mine:
    """An assignment, if it is this user's work. One query."""
    rows = _own(pk, user_id, True, Assignment.State.WITHDRAWN.value) if 0 < pk < 2**63 else []
    return Mine({row[0]: _id_alone(row) for row in rows}, any(row[-1] for row in rows))


def rows_of_sheet(*, user_id: int, sheet_id: int) -> tuple[int, int]:
    """How many rows of a sheet a user has, and how many of these are not submitted. One query."""
    withdrawn, submitted = Assignment.State.WITHDRAWN.value, Assignment.State.SUBMITTED.value
    [(n, left)] = _counted(submitted, user_id, True, withdrawn, sheet_id)
    return n, left or 0


def codes_before(assignment: Assignment, column_ids: Iterable[int], *, event: int) -> dict[tuple[int, int], str]:
    """{(column, question): code} of what stood in the columns before an event of the history, as far as it tells."""
    earlier = LabelEvent.objects.filter(assignment=assignment, column_id__in=column_ids, pk__lt=event)
    return {
        (one.column_id, one.question_id): skip_code(one.skip_after) if one.skip_after else one.code_after
        for one in earlier.select_related("after").order_by("pk")
    }


def _all_of(row: tuple[Any, ...], *shapes: Shape[Any]) -> list[Any]:
    """The objects that stand in a row one behind the other."""
    found, start = [], 0
    for shape in shapes:
        found.append(shape(row, start=start))
        start += len(shape)
    return found


_id_alone = Shape(Assignment, "id")
_assignment = Shape(Assignment, "id", "sections", "state", "started_at", "submitted_at", "rater", "row")
_row = Shape(Row, "id", "name", "sheet")
_sheet = Shape(Sheet, "id", "title", "closed_at")
_rater = Shape(Rater, "id", "kind", "user")
_column = Shape(Column, "id", "sheet", "section", "name", "facets")
_section = Shape(Section, "id", "scheme")
_scheme = Shape(Scheme, *KNOWN_BY)
_label = Shape(Label)

# Whether the study of an assignment asks for what its rater has not given yet.
_OWES = """
    ({study.consent} <> '' AND NOT EXISTS (SELECT 1 FROM {consent.table} WHERE {consent.study} = {study.id}
        AND {consent.user} = {rater.user} AND {consent.text} = {study.consent} AND {consent.withdrawn_at} IS NULL))
    OR ({study.background} <> '' AND NOT EXISTS (SELECT 1 FROM {background.table}
        WHERE {background.study} = {study.id} AND {background.user} = {rater.user}))
"""
_study, _consent, _background = Shape(Study), Shape(Consent), Shape(Background)
_mine = Statement(
    f"""
    SELECT {{one}}, {_OWES} FROM {{one.table}} JOIN {{row.table}} ON {{row.id}} = {{one.row}}
        JOIN {{rater.table}} ON {{rater.id}} = {{one.rater}} JOIN {{study.table}} ON {{study.id}} = {{rater.study}}
    WHERE {{rater.user}} = %s AND {{rater.active}} = %s AND {{row.sheet}} = %s AND {{one.id}} IN (%s)
    """,  # noqa: S608 - a part of ours
    one=_id_alone,
    row=_row,
    rater=_rater,
    study=_study,
    consent=_consent,
    background=_background,
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
    SELECT EXISTS (SELECT 1 FROM {event.table} WHERE {event.assignment} = %s AND {event.key} IN (%s)),
        EXISTS (SELECT 1 FROM {look.table} WHERE {look.sheet} = %s AND {look.user} = %s)
            OR EXISTS (SELECT 1 FROM {seat.table} WHERE {seat.assignment} = %s AND {seat.shown} = %s),
        EXISTS (SELECT 1 FROM {skip.table} WHERE {skip.assignment} = %s)
    """,
    event=Shape(LabelEvent),
    look=Shape(Look),
    seat=Shape(ExperimentSeat),
    skip=Shape(Skip),
)
_recorded = Statement(
    "SELECT DISTINCT {event.key} FROM {event.table} WHERE {event.assignment} = %s AND {event.key} IN (%s)",
    event=Shape(LabelEvent),
)
_codes = Statement(
    """
    SELECT {label.column}, {label.question}, {option.key}, {label.value}, {label.preset}, {label.drafted_from},
        {label.confirmed_at} FROM {label.table} LEFT JOIN {option.table} ON {option.id} = {label.option}
    WHERE {label.assignment} = %s
    """,
    label=_label,
    option=Shape(Option),
)
_skips = Statement(
    "SELECT {skip.column}, {skip.question}, {skip.reason} FROM {skip.table} WHERE {skip.assignment} = %s",
    skip=Shape(Skip),
)
_columns_of = Statement(
    """
    SELECT {column.id}, {column.section}, {scheme} FROM {column.table}
        JOIN {section.table} ON {section.id} = {column.section} JOIN {scheme.table} ON {scheme.id} = {section.scheme}
    WHERE {column.sheet} = %s
    """,
    column=_column,
    section=_section,
    scheme=_scheme,
)
_own = Statement(
    f"""
    SELECT {{one}}, {_OWES} FROM {{one.table}} JOIN {{rater.table}} ON {{rater.id}} = {{one.rater}}
        JOIN {{study.table}} ON {{study.id}} = {{rater.study}}
    WHERE {{one.id}} = %s AND {{rater.user}} = %s AND {{rater.active}} = %s AND {{one.state}} <> %s
    """,  # noqa: S608 - a part of ours
    one=_id_alone,
    rater=_rater,
    study=_study,
    consent=_consent,
    background=_background,
)
_counted = Statement(
    """
    SELECT COUNT(*), SUM(CASE WHEN {one.state} = %s THEN 0 ELSE 1 END) FROM {one.table}
        JOIN {row.table} ON {row.id} = {one.row} JOIN {rater.table} ON {rater.id} = {one.rater}
    WHERE {rater.user} = %s AND {rater.active} = %s AND {one.state} <> %s AND {row.sheet} = %s
    """,
    one=_id_alone,
    row=_row,
    rater=_rater,
)
_labels = Statement(
    "SELECT {label} FROM {label.table} WHERE {label.assignment} = %s AND {label.column} IN (%s)", label=_label
)
