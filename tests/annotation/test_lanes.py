"""Parts of an import that are written side by side."""

from __future__ import annotations

import threading
import time
from functools import partial

import pytest
from django.db import connection, transaction

from annotation.actions import Refused
from annotation.exchange import arrivals, label_importer, label_imports, lanes, new_studies
from annotation.exchange.label_reading import LabelImport
from annotation.labels import batch
from annotation.models import Arrival, Assignment, Label, Study
from tests import builders
from tests.annotation.at_once import postgresql
from tests.annotation.importing import counts, labels_in, table

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]

PLAIN = "rater,row,answer\n" + "".join(f"w{n},c{n % 9},{'yes' if n % 2 else 'no'}\n" for n in range(90))


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_imports, "LARGE", 1)
    monkeypatch.setattr(label_importer, "_PART", 10)


def made() -> Study:
    """A study of one question without rules, with one label."""
    few = "rater,row,answer\na,b,yes\na,c,no\n"
    study, _imported = new_studies.study_from_labels(
        slug="plain", title="Plain", table=table(few), how=LabelImport(), by=None
    )
    return study


def alive() -> int:
    return sum(thread.name.startswith("import-") for thread in threading.enumerate())


@pytest.mark.usefixtures("small_parts")
def test_all_parts_come_in() -> None:
    study = made()
    labels_in(study, PLAIN)
    assert Label.objects.filter(assignment__rater__study=study).count() == 92
    assert Assignment.objects.filter(state="submitted").count() == 92
    assert (alive(), Arrival.objects.count()) == (0, 0)


@pytest.mark.usefixtures("small_parts")
def test_a_part_that_fails_leaves_nothing_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    study, write, calls = made(), batch.write_new, list[int]()
    before = counts()

    def fails_later(labels: object, **how: object) -> None:
        calls.append(1)
        if len(calls) == 4:
            raise Refused("no")
        write(labels, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(label_importer, "write_new", fails_later)
    with pytest.raises(Refused, match="no"):
        labels_in(study, PLAIN)
    assert len(calls) < 9
    assert (counts(), alive(), Arrival.objects.count()) == (before, 0, 0)


@pytest.mark.usefixtures("small_parts")
def test_one_that_is_taken_back_meanwhile_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    study, write, calls = made(), batch.write_new, list[int]()
    before = counts()

    def taken_back(labels: object, **how: object) -> None:
        write(labels, **how)  # type: ignore[arg-type]
        calls.append(1)
        if len(calls) == 3:
            Arrival.objects.update(key="00000000-0000-0000-0000-000000000000")

    monkeypatch.setattr(label_importer, "write_new", taken_back)
    monkeypatch.setattr(arrivals, "take_back", lambda arrival: None)
    with pytest.raises(Refused, match="stood still"):
        labels_in(study, PLAIN)
    monkeypatch.undo()
    arrivals.take_back(Arrival.objects.get())
    assert (counts(), Arrival.objects.count()) == (before, 0)


@postgresql
@pytest.mark.usefixtures("small_parts")
def test_what_is_known_of_the_tables_is_true_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_imports, "_MANY", 90)
    labels_in(made(), PLAIN)
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE oid = 'annotation_label'::regclass")
        assert cursor.fetchone() == (Label.objects.count(),)


@postgresql
def test_two_write_at_once_over_connections_of_their_own() -> None:
    both, processes = threading.Barrier(2, timeout=20), set[int]()

    def job() -> None:
        both.wait()  # each waits until the other is here
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            processes.add(cursor.fetchone()[0])

    with lanes.Lanes() as side_by_side:
        for _n in range(2):
            side_by_side.do(job)
    assert len(processes) == 2
    until = time.monotonic() + 20
    with (
        connection.cursor() as cursor
    ):  # they are closed with their threads; a process of the server's ends a moment later
        while cursor.execute("SELECT pid FROM pg_stat_activity WHERE pid = ANY(%s)", [list(processes)]).fetchall():
            assert time.monotonic() < until
            time.sleep(0.05)


@postgresql
def test_parts_wait_for_each_other_only_while_they_are_committed() -> None:
    """The second part is begun and written before the first is committed."""
    arrival = arrivals.begin(builders.study())
    written, other = threading.Event(), threading.Event()

    def first() -> None:
        with arrivals.part(arrival):
            written.set()
            assert other.wait(20)

    def second() -> None:
        assert written.wait(20)
        with arrivals.part(arrival):
            Study.objects.filter(pk=arrival.study_id).update(guideline="seen")
        other.set()

    with lanes.Lanes() as side_by_side:
        side_by_side.do(first)
        side_by_side.do(second)
    assert Study.objects.get(pk=arrival.study_id).guideline == "seen"


@postgresql
def test_what_leaves_the_block_ends_all_that_waits() -> None:
    begun, done = threading.Event(), list[int]()

    def job(n: int) -> None:
        begun.set()
        done.append(n)

    def leave() -> None:
        with lanes.Lanes() as side_by_side:
            side_by_side.do(partial(job, 1))
            assert begun.wait(20)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        leave()
    assert (done, alive()) == ([1], 0)
