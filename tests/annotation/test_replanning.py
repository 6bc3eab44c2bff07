"""Who takes over open work: pure, on the paper's design."""

from __future__ import annotations

import hashlib
import time
from collections import Counter, defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.planning import OverlapRequest, balanced_design
from annotation.planning.replanning import Replan, Seat, replan

PAPER = balanced_design(OverlapRequest(raters=7, sheets=(18,) * 20, raters_per_sheet=3, share_twice=0.5, seed=1))


def paper(begun: int = 0) -> list[Seat]:
    """The paper's seats; the first `begun` sheets are begun."""
    return [Seat((sheet, document), rater, open=sheet >= begun) for sheet, document, rater in PAPER.assignments]


def load(plan: Replan) -> Counter[int | None]:
    return Counter(plan.after)


def blocks(seats: list[Seat], plan: Replan) -> list[int]:
    """How many raters each sheet has."""
    raters: dict[int, set[int | None]] = defaultdict(set)
    for seat, rater in zip(seats, plan.after, strict=True):
        raters[seat.document[0]].add(rater)
    return [len(there) for there in raters.values()]


def test_the_open_work_of_one_goes_to_the_others_in_level_parts() -> None:
    seats = paper()

    plan = replan(seats, takers=range(7), leaving=[0])

    # 540 seats for six instead of seven: 90 each.
    assert max(load(plan).values()) - min(load(plan).values()) <= 2
    assert 0 not in load(plan)
    assert len(plan.moved(seats)) == PAPER.documents_of_rater[0]


def test_nobody_gets_a_document_twice() -> None:
    seats = paper()

    plan = replan(seats, takers=range(7), leaving=[0])

    there = Counter((seat.document, rater) for seat, rater in zip(seats, plan.after, strict=True))
    assert set(there.values()) == {1}


def test_few_raters_have_to_learn_another_sheet() -> None:
    seats = paper()

    plan = replan(seats, takers=range(7), leaving=[0])

    # A sheet that loses one of three raters gets at most one new one.
    assert set(blocks(seats, plan)) <= {2, 3}


def test_what_is_begun_stays() -> None:
    seats = paper(begun=10)

    plan = replan(seats, takers=range(7), leaving=[0], level=True)

    assert all(rater == seat.rater for seat, rater in zip(seats, plan.after, strict=True) if not seat.open)
    assert {seat.document[0] for seat, rater in zip(seats, plan.after, strict=True) if rater == 0} <= set(range(10))


def test_a_seat_that_everybody_has_stays_without_anybody() -> None:
    seats = [Seat((0, 0), 0), Seat((0, 0), 1), Seat((0, 0), None)]

    assert replan(seats, takers=[0, 1]).after == (0, 1, None)


def test_the_open_work_of_one_stays_where_nobody_can_take_it() -> None:
    seats = [Seat((0, 0), 0), Seat((0, 0), 1)]

    assert replan(seats, takers=[1], leaving=[0]).after == (None, 1)


def test_somebody_new_gets_a_fair_part_when_it_is_levelled() -> None:
    seats = paper()

    plan = replan(seats, takers=range(8), level=True)

    # 540 / 8 = 67.5
    assert load(plan)[7] >= 64
    assert max(load(plan).values()) - min(load(plan).values()) <= 3
    # Nobody's work moves but what the new one gets, and a few documents around it.
    assert len(plan.moved(seats)) <= load(plan)[7] + 10


def test_level_work_is_left_alone() -> None:
    design = balanced_design(OverlapRequest(10, (10,) * 40, 4, 0.5, seed=1))  # 60 documents each
    seats = [Seat((sheet, document), rater) for sheet, document, rater in design.assignments]

    assert replan(seats, takers=range(10), level=True).moved(seats) == []


def test_without_anything_to_do_nothing_moves() -> None:
    seats = paper()

    assert replan(seats, takers=range(7)).moved(seats) == []


def test_the_same_seed_gives_the_same_moves() -> None:
    seats = paper()

    assert replan(seats, takers=range(7), leaving=[0], seed=3) == replan(seats, takers=range(7), leaving=[0], seed=3)


def test_a_seed_moves_what_it_moved_before() -> None:
    """What plans were drawn with keeps its meaning: the digest is of the moves of every way to ask."""
    seats = paper(begun=3)
    free = [Seat(seat.document, None) for seat in seats[::2]]
    asked: list[dict[str, Any]] = [
        {"leaving": [0]},
        {"leaving": [1, 2], "level": True, "seed": 4},
        {"takers": [*range(1, 7), 9], "level": True, "seed": 5},
        {"learning": 0.25, "seed": 6},
    ]

    moves = [replan([*seats, *free], **{"takers": range(7), **one}).after for one in asked]

    assert hashlib.sha256(repr(moves).encode()).hexdigest()[:16] == "7c9285f22c94eb9d"


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[Seat], list[int], list[int], bool]:
    documents = [(sheet, n) for sheet in range(draw(st.integers(1, 4))) for n in range(draw(st.integers(1, 6)))]
    seats = []
    for document in documents:
        raters = draw(st.lists(st.integers(0, 4), max_size=3, unique=True))
        seats += [Seat(document, rater, open=draw(st.booleans())) for rater in raters]
        seats += [Seat(document, None)] * draw(st.integers(0, 1))
    return (
        seats,
        draw(st.lists(st.integers(0, 4), unique=True)),
        draw(st.lists(st.integers(0, 4), unique=True)),
        draw(st.booleans()),
    )


@settings(max_examples=150, deadline=None)
@given(situations())
def test_any_replan_keeps_the_rules(situation: tuple[list[Seat], list[int], list[int], bool]) -> None:
    seats, takers, leaving, level = situation

    after = replan(seats, takers=takers, leaving=leaving, level=level).after

    there = Counter((seat.document, rater) for seat, rater in zip(seats, after, strict=True) if rater is not None)
    assert all(n == 1 for n in there.values())
    for seat, rater in zip(seats, after, strict=True):
        if not seat.open:
            assert rater == seat.rater
        elif rater != seat.rater and rater is not None:
            assert rater in takers
            assert rater not in leaving
        if rater is None:
            # Nobody who may take it is missing at the document.
            missing = set(takers) - set(leaving) - {r for (document, r) in there if document == seat.document}
            assert not missing


@pytest.mark.no_cover
def test_a_large_study_is_replanned_in_seconds() -> None:
    design = balanced_design(OverlapRequest(20, (80,) * 50, 3, 0.5, seed=1))
    seats = [Seat((sheet, document), rater) for sheet, document, rater in design.assignments]
    start = time.process_time()

    replan(seats, takers=range(20), leaving=[0], level=True)

    assert time.process_time() - start < 5


@pytest.mark.no_cover
def test_hundreds_of_raters_are_compared_at_once() -> None:
    seats = [Seat((row // 100, row), row % 500, open=False) for row in range(2000)]
    seats += [Seat((row // 100, row), None) for row in range(2000) for _place in range(2)]
    start = time.process_time()

    replan(seats, takers=range(500), learning=3.0)

    assert time.process_time() - start < 3
