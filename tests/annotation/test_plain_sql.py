"""A statement finds what Django's own query finds, each time with the values of that time, as whole objects."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.core.exceptions import FieldDoesNotExist
from django.db import DatabaseError, connection
from django.db.models import Model
from django.db.transaction import get_autocommit
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import actions, queries
from annotation.models import Assignment, Column, Label, LabelEvent, Row
from annotation.plain_sql import MOST_KEPT, Shape, Statement, Update, stored
from tests.builders import Leases, answer, label

pytestmark = pytest.mark.django_db

assignment, row = Shape(Assignment), Shape(Row, "name", "evidence")
_of_states = Statement(
    """
    SELECT {assignment}, {row} FROM {assignment.table} JOIN {row.table} ON {row.id} = {assignment.row}
    WHERE {assignment.id} IN (%s) AND {assignment.state} = %s ORDER BY {assignment.id}
    """,
    assignment=assignment,
    row=row,
)


def of_states(ids: list[int], state: str) -> list[Assignment]:
    return [assignment(found) for found in _of_states(ids, state)]


def fields_of(one: Model) -> dict[str, object]:
    """What was read of an object: a field that was not is not asked for."""
    return {key: value for key, value in vars(one).items() if key != "_state"}


def test_it_finds_by_the_values_of_each_call(leases: Leases) -> None:
    first, second = leases.annas
    Assignment.objects.filter(pk=second.pk).update(state="started")
    assert of_states([first.pk, second.pk], "open") == [first]
    assert of_states([first.pk, second.pk], "started") == [second]
    assert of_states([leases.boriss[0].pk, second.pk], "started") == [second]


def test_what_it_finds_are_whole_objects(leases: Leases) -> None:
    found = of_states([leases.annas[0].pk], "open")[0]
    usual = Assignment.objects.get(pk=leases.annas[0].pk)
    with CaptureQueriesContext(connection) as asked:
        assert fields_of(found) == fields_of(usual)
        assert found.sections == []  # JSON, read as JSON
    assert not asked
    found.active_seconds = 5
    found.save()
    assert Assignment.objects.get(pk=found.pk).active_seconds == 5


def test_only_the_fields_that_are_named_are_read_and_they_must_be_there(leases: Leases) -> None:
    [columns] = _of_states([leases.annas[0].pk], "open")
    found = row(columns, start=len(assignment))
    assert set(fields_of(found)) == {"name", "evidence"}
    with pytest.raises(AssertionError, match="Row has no"):
        Shape(Row, "colour")
    with pytest.raises(FieldDoesNotExist):
        Statement("SELECT {row.colour} FROM {row.table}", row=row)()


@pytest.mark.parametrize("length", [0, 1, MOST_KEPT, MOST_KEPT + 1])
def test_a_list_may_have_any_length(leases: Leases, length: int) -> None:
    own = [one.pk for one in leases.annas]
    others = [10**9 + number for number in range(length)]
    assert {one.pk for one in of_states([*own, *others], "open")} == set(own)
    assert of_states(others, "open") == []


def test_a_value_is_never_read_as_sql(leases: Leases) -> None:
    ids = [one.pk for one in leases.annas]
    for state in ("open' OR '1'='1", "'; DROP TABLE annotation_label; --", "%s", "{row}", '"'):
        assert of_states(ids, state) == []
    assert of_states(ids, "open") == leases.annas


def test_times_and_keys_are_bound_as_the_database_stores_them(leases: Leases) -> None:
    event, session = Shape(LabelEvent), Shape(Session)
    by_key = Statement("SELECT {event} FROM {event.table} WHERE {event.key} = %s", event=event)
    ended = Statement("SELECT {session} FROM {session.table} WHERE {session.expire_date} < %s", session=session)
    label(leases.annas[0])
    last = LabelEvent.objects.latest("pk")
    until = timezone.now()
    Session.objects.create(session_key="s", session_data="", expire_date=until)

    found = [event(one) for one in by_key(stored(LabelEvent, "key", last.key))]
    assert fields_of(found[-1]) == fields_of(last)
    assert by_key(stored(LabelEvent, "key", uuid.uuid4())) == []
    [past] = ended(stored(Session, "expire_date", until + timedelta(seconds=1)))
    assert session(past).expire_date == until
    assert ended(stored(Session, "expire_date", until)) == []


def test_each_call_is_one_query_that_is_logged_as_any_other(leases: Leases) -> None:
    with CaptureQueriesContext(connection) as asked:
        of_states([leases.annas[0].pk], "open")
    assert len(asked) == 1
    sql = asked[0]["sql"]  # which a prepared query does not tell
    assert not sql or "annotation_assignment" in sql


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the tests' SQLite is in memory, for one thread alone")
@pytest.mark.django_db(transaction=True)
def test_threads_do_not_take_each_others_answers(leases: Leases) -> None:
    everyone = [*leases.annas, *leases.boriss, *leases.judges]

    def look(number: int) -> bool:
        one = everyone[number % len(everyone)]
        right = all(of_states([one.pk], "open") == [one] for _time in range(20))
        connection.close()
        return right

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(look, range(24)))


# --- what a save reads, beside what Django reads ----------------------------------------------------------------------


def test_labels_are_read_as_django_reads_them(leases: Leases) -> None:
    mine = leases.annas[0]
    label(mine, note="as “agreed”")
    columns = list(leases.sheet.columns.values_list("pk", flat=True))[:3]

    found = {one.pk: fields_of(one) for one in queries.labels_of_columns(mine, columns)}

    assert found == {one.pk: fields_of(one) for one in Label.objects.filter(assignment=mine, column__in=columns)}
    assert len(found) > 1


def test_columns_come_with_section_and_scheme_in_one_query(leases: Leases) -> None:
    ids = list(Column.objects.filter(sheet=leases.sheet).values_list("pk", flat=True))
    with CaptureQueriesContext(connection) as asked:
        found = queries.columns_to_change(sheet_id=leases.sheet.pk, ids=[*ids, 10**9])
        said = {pk: (one.name, one.facets, one.section.scheme.created_at) for pk, one in found.items()}
    assert len(asked) == 1
    columns = Column.objects.filter(pk__in=ids).select_related("section__scheme")
    assert said == {one.pk: (one.name, one.facets, one.section.scheme.created_at) for one in columns}
    assert queries.columns_to_change(sheet_id=leases.sheet.pk + 1, ids=ids) == {}


def test_the_work_of_others_is_not_mine_to_change(leases: Leases) -> None:
    ids = [one.pk for one in (*leases.annas, *leases.boriss)]

    def mine() -> list[int]:
        return sorted(queries.mine_to_change(user_id=leases.anna.pk, sheet_id=leases.sheet.pk, ids=ids).assignments)

    assert mine() == [one.pk for one in leases.annas]
    leases.study.raters.filter(user=leases.anna).update(active=False)
    assert mine() == []


def test_a_locked_assignment_comes_with_all_that_recording_looks_at(leases: Leases) -> None:
    mine = leases.annas[0]
    with CaptureQueriesContext(connection) as asked:
        found = queries.locked(mine)
        assert (found.pk, found.state, found.sections, found.started_at) == (mine.pk, "open", [], None)
        assert (found.row_id, found.row.name, found.row.sheet_id) == (mine.row_id, "Clause 1", leases.sheet.pk)
        assert (found.row.sheet.title, found.row.sheet.closed_at) == ("Lease", None)
        assert (found.rater_id, found.rater.kind) == (mine.rater_id, "person")
        assert found.rater.user_id == leases.anna.pk
    assert len(asked) == 1
    sql = asked[0]["sql"]  # which a prepared query does not tell
    assert not sql or ("FOR UPDATE" in sql) is (connection.vendor == "postgresql")


def test_what_else_recording_has_to_know_is_one_query(leases: Leases) -> None:
    mine, key = queries.locked(leases.annas[0]), uuid.uuid4()
    with CaptureQueriesContext(connection) as asked:
        assert queries.known(mine, key) == (False, False, False)
    assert len(asked) == 1
    skipped = replace(answer(leases.sheet, "Insure", "stated", None), skip="cut off")
    actions.record(assignment=mine, answers=[skipped], key=key)
    actions.note_look(sheet=leases.sheet, user=leases.anna)

    assert queries.locked(mine).state == "started"
    assert queries.known(mine, key) == (True, True, True)
    assert queries.known(mine, uuid.uuid4()) == (False, True, True)
    assert queries.known(leases.annas[1], key) == (False, True, False)
    assert queries.known(leases.boriss[0], key) == (False, False, False)


def test_an_update_changes_one_row_as_saving_it_would(leases: Leases) -> None:
    label(leases.annas[0])
    one, other = Label.objects.filter(assignment=leases.annas[0]).order_by("pk")[:2]
    at = timezone.now() + timedelta(days=1)
    change = Update(Label, "note", "scores", "preset", "confirmed_at", "revision", "updated_at")
    scores = {"options": {"stated": {"logprob": -0.5}}, "of": "“it”; '%s'"}

    change(one.pk, ["it's “%s”", scores, True, at, 7, at])

    changed = Label.objects.get(pk=one.pk)
    assert (changed.note, changed.scores, changed.preset) == ("it's “%s”", scores, True)
    assert (changed.confirmed_at, changed.revision, changed.updated_at) == (at, 7, at)
    assert (changed.option_id, changed.assignment_id) == (one.option_id, one.assignment_id)
    assert Label.objects.get(pk=other.pk).note == other.note
    change(one.pk, ["", None, False, None, 8, at])
    assert Label.objects.get(pk=one.pk).scores is None
    with pytest.raises(DatabaseError, match="was not updated"):
        change(one.pk + 10**9, ["", None, False, None, 8, at])


@pytest.mark.django_db(transaction=True)
def test_nothing_is_locked_outside_of_a_transaction(leases: Leases) -> None:
    assert get_autocommit()
    with pytest.raises(AssertionError):
        queries.locked(leases.annas[0])
