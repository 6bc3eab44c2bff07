"""What goes on beside the work: begun before it is waited for, and closed where nobody wants it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from tests.work import toy
from tests.work.models import Batch, Piece
from tests.work.toy import claim, fresh, started, states, written
from work import actions, kinds
from work.actions import Held, holding
from work.outcomes import GiveUp

pytestmark = pytest.mark.django_db


class Beside:
    """A kind of work of which two pieces are taken up together, and what happened at it in which order."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.before_the_end: Callable[[Sequence[Held[Piece]]], None] = lambda _helds: None
        self.kind = dataclasses.replace(
            toy.PIECES, do=self.do, together=lambda _run: 2, groups=lambda _run: 3, ahead=self.ahead
        )

    def ahead(self, helds: Sequence[Held[Piece]]) -> Iterator[None]:
        name = "+".join(str(held.item.number) for held in helds)
        self.events.append(f"begin {name}")
        try:
            yield
        except GeneratorExit:
            self.events.append(f"close {name}")
            raise
        self.before_the_end(helds)
        self.events.append(f"end {name}")

    def do(self, held: Held[Piece]) -> None:
        self.events.append(f"do {held.item.number}")
        toy.write_down(held)

    def work(self, run: Batch) -> int:
        return actions.do_items(kind=self.kind, item_ids=list(run.items.order_by("pk").values_list("pk", flat=True)))


@pytest.fixture
def beside() -> Beside:
    return Beside()


def test_the_next_items_are_begun_before_the_end_of_these_is_waited_for(beside: Beside) -> None:
    run = started(5)
    assert beside.work(run) == 5
    assert beside.events == [
        *("begin 1+2", "begin 3+4", "end 1+2", "do 1", "do 2"),
        *("end 3+4", "do 3", "do 4"),
        "do 5",  # alone, it has nothing to share
    ]
    assert (fresh(run).state, written()) == ("finished", [1, 2, 3, 4, 5])
    assert beside.kind.in_a_message(run) == 6


def test_the_leases_of_what_was_begun_are_renewed(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(4)
    renewed: list[list[int]] = []

    def waits(helds: Sequence[Held[Piece]]) -> None:
        toy.later(run, 60)
        before = dict(run.items.values_list("number", "lease_until"))
        helds[0].hold()
        after = dict(run.items.values_list("number", "lease_until"))
        renewed.append([number for number in sorted(before) if before[number] and after[number] != before[number]])

    beside.before_the_end = waits
    beside.work(run)
    assert renewed == [[1, 2, 3, 4], [3, 4]]


def test_what_was_renewed_with_another_is_not_renewed_again_within_the_second(
    beside: Beside, django_assert_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def waits(helds: Sequence[Held[Piece]]) -> None:
        now = iter(range(10**6))
        monkeypatch.setattr(holding, "time", SimpleNamespace(monotonic=lambda: next(now) * 0.4 + 10**9))
        helds[0].hold()
        with django_assert_num_queries(0):
            helds[1].beat()
        with django_assert_num_queries(1):
            helds[1].beat()
            helds[1].beat()
        monkeypatch.undo()

    run = started(4)
    beside.before_the_end = waits
    assert beside.work(run) == 4


def test_what_was_tried_before_is_not_begun_beside_others(beside: Beside) -> None:
    """A worker that dies at it takes no other with it."""
    run = started(4)
    third = run.items.get(number=3)
    claim(third, worker="", attempts=kinds.of(third.run).most_attempts - 1)
    Piece.objects.filter(pk=third.pk).update(state="queued", token=None, lease_until=None)
    assert beside.work(run) == 4
    assert beside.events == ["begin 1+2", "end 1+2", "do 1", "do 2", "do 3", "do 4"]


def test_a_cancelled_run_gives_back_what_was_begun(beside: Beside) -> None:
    run = started(4)

    def cancelled(helds: Sequence[Held[Piece]]) -> None:
        actions.cancel(run)
        helds[0].hold()

    beside.before_the_end = cancelled
    assert beside.work(run) == 0
    assert states(run) == ["queued"] * 4
    assert set(run.items.values_list("attempts", flat=True)) == {0}
    assert written() == []


def test_a_process_that_is_told_to_stop_closes_and_gives_back(beside: Beside) -> None:
    run = started(4)

    def stop(_held: Held[Piece]) -> None:
        raise SystemExit

    toy.meanwhile.append(stop)
    try:
        with pytest.raises(SystemExit):
            beside.work(run)
    finally:
        toy.meanwhile.pop()
    assert beside.events == ["begin 1+2", "begin 3+4", "end 1+2", "do 1", "close 3+4"]
    assert states(run) == ["queued"] * 4
    assert beside.work(run) == 4


def test_what_fails_beside_is_no_items_end(beside: Beside) -> None:
    run = started(4)

    def fails(_helds: Sequence[Held[Piece]]) -> None:
        raise OSError("no memory")

    beside.before_the_end = fails
    assert beside.work(run) == 4
    assert written() == [1, 2, 3, 4]


def test_what_gives_up_beside_says_so_by_the_items_themselves(beside: Beside) -> None:
    run = started(2)

    def gives_up(_helds: Sequence[Held[Piece]]) -> None:
        raise GiveUp

    beside.before_the_end = gives_up
    assert beside.work(run) == 2  # nothing is wrong with them


def test_one_process_takes_up_a_message_at_a_time(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "of", lambda _run: beside.kind)
    run = started(7)
    assert actions.take_up(run)
    assert written() == [1, 2, 3, 4, 5, 6]
