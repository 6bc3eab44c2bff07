"""Who waits behind whom on a queue, and what gives way there."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Import, ImportPart, Study
from tests import builders
from tests.work import toy
from tests.work.models import Batch, Piece
from tests.work.toy import claim, fresh, later, started, states
from work import actions, kinds, line, queries
from work.actions import Held, doing
from work.states import SHORT_WORK_PRIORITY

pytestmark = pytest.mark.django_db

OTHER_HOST = "elsewhere/1:4711"
Meanwhile = Callable[[Callable[[Held[Piece]], None]], None]


def three() -> tuple[Batch, Batch, Batch]:
    """Started one after the other; a worker is at the first."""
    first, second, third = started(), started(), started()
    for n, run in enumerate((first, second, third)):
        later(run, 60 - n)
    at_work(first)
    return first, second, third


def at_work(run: Batch) -> None:
    claim(run.items.filter(state="queued").order_by("pk").first(), worker=OTHER_HOST, seconds=60)


def before(run: Batch) -> list[int]:
    return [one.pk for one in queries.progress(fresh(run)).before]


def test_a_run_waits_behind_those_that_were_started_before_it() -> None:
    first, second, third = three()
    assert (before(first), before(second), before(third)) == ([], [first.pk], [first.pk, second.pk])
    said = queries.progress(fresh(third))
    assert (said.is_behind, said.lacks_a_worker, said.n_before) == (True, False, 2)
    (one, other) = said.before
    assert (one.total, one.done, one.at_work, one.fresh) == (3, 0, 1, 2)
    assert (other.at_work, other.fresh) == (0, 3)


def test_a_run_that_is_resumed_waits_behind_those_that_came_meanwhile() -> None:
    first, second, third = three()
    actions.cancel(second)
    actions.resume(fresh(second))
    later(second, 10)
    assert before(second) == [first.pk, third.pk]


def test_work_that_is_sent_once_more_keeps_its_place() -> None:
    """The recovery cannot tell a queue that lost it from one that is long, and sends it again."""
    first, second, third = three()
    actions.recover(at_start=True)
    assert fresh(second).enqueued_times == 2
    assert (before(second), before(third)) == ([first.pk], [first.pk, second.pk])


def test_what_waits_for_another_try_is_before_nobody() -> None:
    first, second, third = three()
    second.items.update(attempts=1)
    first.items.filter(state="queued").update(attempts=1, not_before=timezone.now() + timedelta(seconds=20))
    assert before(third) == [first.pk]  # for the one that is at work
    first.items.update(state="failed")
    assert before(third) == []


@pytest.mark.parametrize("how", ["rests", "another queue", "by a process", "its worker is gone", "a moment ago"])
def test_what_does_not_stand_before_a_run(how: str) -> None:
    first, second = started(queue="gpu" if how == "another queue" else "cpu", enqueue=how != "by a process"), started()
    for n, run in enumerate((first, second)):
        later(run, 2 - n if how == "a moment ago" else 60 - n)
    claim(first.items.order_by("pk")[0], worker=OTHER_HOST, seconds=-1 if how == "its worker is gone" else 60)
    if how == "rests":
        Batch.objects.filter(pk=first.pk).update(rest_until=timezone.now() + timedelta(seconds=20))
    assert before(second) == []


def test_a_run_waits_from_its_first_moment_until_a_worker_takes_it_up(django_assert_num_queries: Any) -> None:
    """Whom it waits behind is asked after some seconds only, so that a free worker costs no query."""
    first, second = started(), started()
    at_work(first)
    second = fresh(second)
    with django_assert_num_queries(1):
        said = queries.progress(second)
    assert (said.is_waiting, said.is_behind, queries.progress(fresh(first)).is_waiting) == (True, False, False)

    # Between two items it is at work, though no worker holds one; and it waits again once it is resumed.
    item = second.items.order_by("pk")[0]
    second.items.filter(pk=item.pk).update(state="done", done_at=timezone.now(), seconds=1)
    assert not queries.progress(fresh(second)).is_waiting
    actions.cancel(fresh(second))
    assert not queries.progress(fresh(second)).is_waiting
    actions.resume(fresh(second))
    assert queries.progress(fresh(second)).is_waiting


def test_a_run_begins_when_those_before_it_are_done_at_their_pace() -> None:
    """Two of five done 10 s apart, in 10 s each: one in 10 s, three left. Of the second one nothing is known."""
    first, second, third = started(5), started(), started()
    for n, run in enumerate((first, second, third)):
        later(run, 60 - n)
    for n, item in enumerate(first.items.order_by("pk")[:2]):
        done_at = timezone.now() - timedelta(seconds=10 * n)
        first.items.filter(pk=item.pk).update(state="done", done_at=done_at, seconds=10)
    at_work(first)
    said = queries.progress(fresh(second))
    assert (said.wait, said.wait_is_least, said.seconds_until_turn) == (timedelta(seconds=30), False, 30)
    said = queries.progress(fresh(third))
    assert (said.wait, said.wait_is_least) == (timedelta(seconds=30), True)


def test_nobody_knows_when_a_run_begins_before_the_first_item_is_done() -> None:
    _first, second, _third = three()
    said = queries.progress(fresh(second))
    assert (said.wait, said.seconds_until_turn) == (None, None)


def test_places_cost_a_fixed_number_of_queries(django_assert_num_queries: Any) -> None:
    """Two of any progress, one for the line and one for the pace of the run that has begun."""
    first, _second, third = three()
    first.items.filter(pk=first.items.latest("pk").pk).update(state="done", done_at=timezone.now(), seconds=1)
    third = fresh(third)
    for _ in range(3):
        later(started(), 50)
    with django_assert_num_queries(3):
        assert len(queries.progress(third).before) == 2
    every = list(Batch.objects.all())
    with django_assert_num_queries(1):
        found = line.of_runs(every)
    assert [one.pk for one in found[Batch, third.pk]] == before(third)
    assert (Batch, first.pk) not in found


def test_many_runs_are_looked_at_in_as_many_queries_as_few() -> None:
    """The same is said of each as of it alone."""
    first, *_others = three()
    first.items.filter(pk=first.items.latest("pk").pk).update(state="done", done_at=timezone.now(), seconds=1)
    later(started(queue="gpu"), 60)  # which no worker reads
    short = short_work(builders.study())
    Import.objects.update(queued_at=timezone.now() - timedelta(seconds=5), started_at=fresh(first).started_at)
    actions.cancel(started())
    costs = []
    for _ in range(2):
        runs = [*Batch.objects.order_by("pk"), Import.objects.get(pk=short.pk)]
        with CaptureQueriesContext(connection) as asked:
            told = queries.progress_of(runs)
        costs.append(len(asked))
        for run, said in zip(runs, told, strict=True):
            alone = queries.progress(run)
            for of in ("total", "done", "at_work", "void", "before", "wait", "wait_is_least", "is_behind"):
                assert getattr(said, of) == getattr(alone, of)
            assert said.lacks_a_worker == alone.lacks_a_worker
        for _n in range(5):
            later(started(), 50)
    assert [said.n_before for said in told][:4] == [0, 2, 3, 0]
    assert costs[0] == costs[1]


def test_no_runs_are_looked_at_in_no_query(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert queries.progress_of([]) == []


# --- giving way -------------------------------------------------------------------------------------------------------


def short_work(study: Study, *, queue: str = "cpu") -> Import:
    """Somebody waits for it; it comes before any batch."""
    run = Import.objects.create(study=study, what=Import.What.ROWS, files={"rows": ["rows.csv", "1"]}, language="en")
    actions.start(run, [ImportPart(run=run)])
    Import.objects.filter(pk=run.pk).update(queue=queue)
    return run


def test_short_work_stands_before_long_work_but_for_what_a_worker_is_at() -> None:
    first, second, _third = three()
    short = short_work(builders.study())
    Import.objects.update(
        queued_at=timezone.now() - timedelta(seconds=5), started_at=timezone.now() - timedelta(seconds=5)
    )
    assert [(one.kind.run, one.pk) for one in queries.progress(Import.objects.get(pk=short.pk)).before] == [
        (Batch, first.pk)
    ]
    said = [(one.kind.run, one.pk) for one in queries.progress(fresh(second)).before]
    assert said == [(Batch, first.pk), (Import, short.pk)]


@pytest.mark.parametrize("waits", ["on the queue", "on another queue", "nobody", "a worker is at it", "it rests"])
def test_the_rest_of_a_message_goes_back_while_somebody_waits_for_short_work(
    waits: str, meanwhile: Meanwhile, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(doing, "_LOOKS_EVERY", 0)
    study, long = builders.study(), started(4)
    pks = [item.pk for item in long.items.order_by("pk")]

    def somebody_comes(held: Held[Piece]) -> None:
        if held.item.pk != pks[0] or waits == "nobody":
            return
        run = short_work(study, queue="gpu" if waits == "on another queue" else "cpu")
        if waits == "a worker is at it":
            held_until = timezone.now() + timedelta(seconds=60)
            run.items.update(state="claimed", token=uuid.uuid4(), lease_until=held_until)
        if waits == "it rests":
            Import.objects.update(rest_until=timezone.now() + timedelta(seconds=60))

    meanwhile(somebody_comes)
    with django_capture_on_commit_callbacks() as callbacks:
        done = actions.do_items(kind=toy.PIECES, item_ids=pks, gives_way=True)
    back = [(each.keywords["batches"], each.keywords["priority"]) for each in callbacks if is_of(each, "toy.piece")]
    if waits == "on the queue":
        # In messages as large as those of its kind, before what other runs have sent.
        assert (done, states(long)) == (1, ["done", "queued", "queued", "queued"])
        assert back == [([pks[1:3], pks[3:]], SHORT_WORK_PRIORITY)]
    else:
        assert (done, states(long), back) == (4, ["done"] * 4, [])


def is_of(callback: Any, key: str) -> bool:
    return bool(callback.keywords["kind"] == key)


def test_what_nobody_waits_for_is_done_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge's message would be sent back again and again while people submit rows that a webhook is told of."""
    first, second, _third = three()
    short = short_work(builders.study())
    Import.objects.update(queued_at=timezone.now() - timedelta(seconds=200))
    assert queries.somebody_waits(toy.PIECES, "cpu")
    assert (Import, short.pk) in {(one.kind.run, one.pk) for one in queries.progress(fresh(second)).before}

    kind = kinds.of(short)
    monkeypatch.setitem(kinds._kinds, kind.key, dataclasses.replace(kind, awaited=False))
    assert not queries.somebody_waits(toy.PIECES, "cpu")
    assert before(fresh(second)) == [first.pk]


def test_a_process_that_does_a_run_by_itself_gives_way_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doing, "_LOOKS_EVERY", 0)
    short_work(builders.study())
    long = started(4)
    assert toy.work(long) == 4


def test_looking_whether_somebody_waits_costs_a_query_for_each_kind_of_short_work(
    django_assert_num_queries: Any,
) -> None:
    n = sum(kind.awaited and kind.priority < toy.PIECES.priority for kind in kinds.every())
    assert n >= 3
    with django_assert_num_queries(n):
        assert not queries.somebody_waits(toy.PIECES, "cpu")
