"""What the plan's page counts, against the same counted one row, one rater and one section at a time."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import actions, queries
from annotation.models import Assignment, Rater, Row, Study
from annotation.queries import Given, SheetToPlan
from annotation.queries.plan_picture import Times, coverage, labels_asked
from tests import builders
from tests.builders import ClientOf, Leases

SECTIONS = ("duties", "acts")


def make_odd(leases: Leases, seed: int) -> None:
    """People who are here, paused, gone or were never, with all sections of a row or some, once or again; sheets that
    are closed, empty or lack columns; rows that were withdrawn before or after somebody had them."""
    drawn, study = random.Random(seed), leases.study
    for n, rows in enumerate((0, 1, 3, 5)):
        duties = builders.DUTIES if drawn.random() < 0.7 else ()
        builders.sheet(study, f"Sheet {n}", n_rows=rows, duties=duties)
    everybody = [builders.rater(study, builders.user(f"person {n}")) for n in range(4)]
    actions.pause(rater=everybody[0], by=leases.manager)
    everybody.append(Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code="old", active=False))
    everybody.append(Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code="S1", simulated=True))
    everybody += study.raters.judges()
    sections = drawn.choice([[()], [("duties",), ("acts",)], [(), ("duties",), ("acts",), SECTIONS]])
    for rater in everybody:
        for row in Row.objects.filter(sheet__study=study).exclude(sheet=leases.sheet):
            if drawn.random() < 0.06:
                actions.withdraw_row(row=row, reason="gone", by=leases.manager)
            elif drawn.random() < 0.4 and row.withdrawn_at is None:
                [seat] = actions.assign(rater=rater, rows=[row], sections=drawn.choice(sections))
                if drawn.random() < 0.3:
                    Assignment.objects.filter(pk=seat.pk).update(state=Assignment.State.STARTED)
                if drawn.random() < 0.1:
                    actions.assign(rater=rater, rows=[row], sections=drawn.choice(sections), repeat=2)
    actions.remove_member(membership=everybody[1].user.memberships.get())  # type: ignore[union-attr]
    actions.withdraw(rater=everybody[2])
    actions.close_sheet(sheet=study.sheets.order_by("position")[drawn.randrange(5)], by=leases.manager)


def live(study: Study) -> list[Assignment]:
    of_people = Assignment.objects.filter(rater__study=study, rater__kind=Rater.Kind.PERSON)
    return list(of_people.exclude(state=Assignment.State.WITHDRAWN).select_related("rater", "row__sheet"))


def free(row: Row, work: list[Assignment]) -> bool:
    at_work = [one for one in work if one.row_id == row.pk and one.rater.active and one.rater.user_id]
    return not all(any(one.asks_key(section) for one in at_work) for section in SECTIONS)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.sample(2)
def test_what_is_given_is_as_counted_one_by_one(leases: Leases, seed: int) -> None:
    make_odd(leases, seed)
    work, study = live(leases.study), leases.study

    given = queries.work_given(study)

    to_label = {
        sheet.pk: list(sheet.rows.filter(withdrawn_at=None)) if sheet.closed_at is None else []
        for sheet in study.sheets.order_by("position")
    }
    assert list(given.sheets.items()) == [
        (pk, SheetToPlan(len(rows), sum(free(row, work) for row in rows))) for pk, rows in to_label.items() if rows
    ]
    seats = {Given(a.row_id, a.rater_id, tuple(a.sections), a.state != "open") for a in work if a.repeat == 1}
    assert sorted(given.seats) == sorted(seats) == sorted(queries.seats(study))
    assert given.any_lost is True  # of whoever was taken off their work
    assert set(given.rows.to_label) == {row.pk for rows in to_label.values() for row in rows}
    assert set(given.rows.withdrawn) == set(Row.objects.exclude(withdrawn_at=None).values_list("pk", flat=True))


@pytest.mark.parametrize("section", ["", *SECTIONS])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.sample(2)
def test_the_picture_is_as_counted_one_by_one(
    leases: Leases, seed: int, section: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.queries.plan_picture.WHOLE", 3)
    make_odd(leases, seed)
    study = leases.study
    given = queries.work_given(study)

    picture = coverage(study, given.seats, rows=given.rows, section=section)

    work = [a for a in live(study) if a.repeat == 1 and (not section or a.asks_key(section))]
    people = Counter(a.row_id for a in work)
    pairs = Counter(
        pair for row in people for pair in combinations(sorted(a.rater_id for a in work if a.row_id == row), 2)
    )
    labels: Counter[int] = Counter()
    for a in work:
        for column in a.row.sheet.columns.select_related("section"):
            if a.asks(column.section) and section in ("", column.section.key):
                labels[a.rater_id] += column.section.questions.count()
    gone = set(Row.objects.exclude(withdrawn_at=None).values_list("pk", flat=True)) & people.keys()
    assert picture.times == Times.of(n for row, n in people.items() if row not in gone)
    assert picture.withdrawn == len(gone)
    assert picture.shared == pairs
    assert picture.labels == labels.total()
    assert {load.rater.pk: (load.times.rows, load.labels) for load in picture.loads} == {
        pk: (n, labels[pk]) for pk, n in Counter(a.rater_id for a in work).items()
    }
    if not section:
        assert labels_asked(study, given.seats, given.rows) == labels.total()
    assert {matrix.sheet.pk for matrix in picture.matrices} == {a.row.sheet_id for a in work}
    for matrix in picture.matrices:
        rows = list(matrix.sheet.rows.order_by("position"))
        here = [row for row in rows if row.pk in people or len(rows) <= 3]
        assert matrix.rows == tuple((row.pk, row.name) for row in here)
        assert (matrix.left_out, matrix.nobodys) == (0, len(rows) - len(here))
        for rater, places in matrix.lines:
            mine = {a.row_id: a for a in work if a.rater_id == rater.pk}
            assert [(place.people, place.began) for place in places] == [
                (min(people[row.pk], 3) if row.pk in mine else 0, row.pk in mine and mine[row.pk].state != "open")
                for row in here
            ]
        assert [rater.pk for rater, _places in matrix.lines] == [
            load.rater.pk
            for load in picture.loads
            if any(a.rater_id == load.rater.pk and a.row.sheet_id == matrix.sheet.pk for a in work)
        ]


def test_a_study_without_anything_has_nothing_given(leases: Leases) -> None:
    empty = builders.study("empty", of=leases.study.scheme)

    given = queries.work_given(empty)

    assert (given.seats, dict(given.sheets), given.any_lost) == ([], {}, False)
    assert not given.rows.to_label
    picture = coverage(empty, given.seats, rows=given.rows)
    assert (picture.times, picture.matrices, picture.intervals) == (Times(), (), ())


def test_what_was_handed_on_is_not_lost(leases: Leases) -> None:
    """As replanning withdraws it: somebody else has it instead."""
    clara = builders.rater(leases.study, builders.user("clara"))
    anna = leases.annas[0].rater
    taken = Assignment.objects.filter(rater=anna)
    assert not queries.work_given(leases.study).any_lost

    taken.update(state=Assignment.State.WITHDRAWN, handed_to=clara)
    builders.assignments(clara, leases.sheet)
    assert not queries.work_given(leases.study).any_lost

    taken.update(handed_to=None)
    assert queries.work_given(leases.study).any_lost
    assert queries.vacancies(leases.study).seats == 2


def test_the_page_costs_the_same_for_a_few_sheets_and_many(
    leases: Leases, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    manager, path = client_of(leases.manager), reverse("annotation:plan", args=["leases"])
    builders.sheet(leases.study, "Loan")  # something is free, so that the form is drawn
    manager.get(path)
    with CaptureQueriesContext(connection) as few:
        manager.get(path)
    for n in range(5):
        more = builders.sheet(leases.study, f"More {n}", n_rows=7)
        builders.assignments(builders.rater(leases.study, builders.user(f"person {n}")), more)
    with django_assert_num_queries(len(few)):
        manager.get(path)
