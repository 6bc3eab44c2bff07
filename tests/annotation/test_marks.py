"""A study's mark: another one after each change of what is many, by whatever statement, and seen with the change."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from annotation.marks import mark_of, mark_studies, unmark_studies
from annotation.models import Assignment, Label, Row, Skip
from tests import builders
from tests.annotation.at_once import in_another_connection, postgresql
from tests.builders import Leases

pytestmark = pytest.mark.django_db


def _again(of: Leases) -> None:
    """A label as it is, by an INSERT that ignores what is there."""
    Label.objects.bulk_create([Label.objects.latest("pk")], ignore_conflicts=True)


def _by_hand(of: Leases) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_label SET exposed = NOT exposed")


def _skip(of: Label) -> None:
    cell = {"assignment": of.assignment, "column": of.column, "question": of.question}
    Skip.objects.create(**cell, reason="x", at=timezone.now())


CHANGES: dict[str, Callable[[Leases], object]] = {
    "a new row": lambda of: builders.row(of.sheet, "Clause 9"),
    "a row of another name": lambda of: Row.objects.filter(pk=of.annas[1].row_id).update(name="Clause 10"),
    "a row that is gone": lambda of: builders.row(of.sheet, "Clause 9").delete(),
    "a new assignment": lambda of: builders.assignments(builders.judge(of.study, "J2"), of.sheet),
    "an assignment begun": lambda of: Assignment.objects.filter(pk=of.boriss[0].pk).update(state="started"),
    "an assignment that is gone": lambda of: of.boriss[1].delete(),
    "a new label": lambda of: builders.label(of.boriss[0]),
    "a label of another revision": lambda of: Label.objects.update(revision=7),
    "a label, by hand": _by_hand,
    "labels that are gone": lambda of: Label.objects.all().delete(),
    "a skip": lambda of: _skip(Label.objects.earliest("pk")),
}


@pytest.fixture(autouse=True)
def labelled(leases: Leases) -> None:
    builders.label(leases.annas[0])


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_draws_another_mark_of_its_study_alone(leases: Leases, what: str) -> None:
    beside = builders.study("beside", of=leases.study.scheme)
    builders.sheet(beside)
    before, of_beside = mark_of(leases.study), mark_of(beside)

    CHANGES[what](leases)

    assert before is not None
    assert mark_of(leases.study) not in (None, before)
    assert mark_of(beside) == of_beside


def test_what_changes_nothing_of_it_leaves_the_mark(leases: Leases) -> None:
    before = mark_of(leases.study)
    leases.study.title = "Leases, anew"
    leases.study.save()
    Label.objects.filter(pk=0).update(revision=7)

    assert mark_of(leases.study) == before


def test_a_change_that_is_taken_back_leaves_the_mark(leases: Leases) -> None:
    before = mark_of(leases.study)
    with transaction.atomic():
        Label.objects.update(revision=7)
        assert mark_of(leases.study) != before
        transaction.set_rollback(True)

    assert mark_of(leases.study) == before


def test_without_one_of_its_triggers_a_database_tells_nothing(leases: Leases) -> None:
    before = mark_of(leases.study)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER study_mark_update_annotation_label")
        else:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("ALTER TABLE annotation_label DISABLE TRIGGER study_mark_update")
    Label.objects.update(revision=7)  # unseen
    assert mark_of(leases.study) is None

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER study_mark_update ON annotation_label")
    mark_studies("default")
    assert mark_of(leases.study) not in (None, before)


def test_a_migration_that_finds_all_in_place_keeps_the_marks(leases: Leases) -> None:
    before = mark_of(leases.study)
    mark_studies("default")
    assert mark_of(leases.study) == before


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL alters a table in its place")
def test_tables_can_be_remade_while_marks_are_away(leases: Leases) -> None:
    before = mark_of(leases.study)
    unmark_studies("default")
    assert mark_of(leases.study) is None
    call_command("migrate", verbosity=0)
    assert mark_of(leases.study) not in (None, before)


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_mark_is_seen_with_the_change_and_not_before(leases: Leases) -> None:
    before = mark_of(leases.study)
    said: list[object] = []
    with transaction.atomic():
        builders.label(leases.boriss[0])
        in_another_connection(lambda: (mark_of(leases.study), Label.objects.count()), said).join(timeout=20)
    in_another_connection(lambda: (mark_of(leases.study), Label.objects.count()), said).join(timeout=20)

    assert said[0] == (before, len(builders.COMPLETE))
    assert said[1] == (mark_of(leases.study), 2 * len(builders.COMPLETE))
    assert mark_of(leases.study) != before


@postgresql
@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_another_mark(leases: Leases) -> None:
    """Many transactions that are all open at once, each with a change of the one study."""
    rows = [builders.row(leases.sheet, f"Clause {number}") for number in range(10, 18)]
    theirs = [builders.assignments(builders.judge(leases.study, row.name[-2:]), leases.sheet)[-1] for row in rows]
    before = mark_of(leases.study)
    said: list[object] = []
    together = threading.Barrier(len(theirs))

    def begin(assignment: Assignment) -> str:
        with transaction.atomic():
            Assignment.objects.filter(pk=assignment.pk).update(active_seconds=9)
            together.wait(timeout=30)  # none is committed before all have drawn
        return "done"

    threads = [in_another_connection(lambda one=one: begin(one), said) for one in theirs]  # type: ignore[misc]
    for thread in threads:
        thread.join(timeout=60)

    assert said == ["done"] * len(theirs)
    assert mark_of(leases.study) != before
