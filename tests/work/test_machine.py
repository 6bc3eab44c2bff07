"""The work machine with a kind of work that is the tests' own; several processes: see test_killed."""

from __future__ import annotations

import dataclasses
import errno
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.work import toy
from tests.work.models import Batch, Piece, Written
from tests.work.toy import claim, fresh, later, sent, started, states, work, written
from work import actions, kinds, processes, queries, tasks
from work.actions import Held, doing, holding, runs, spreading
from work.outcomes import Away, GiveUp, ItemFailed, RunFailed, TryAgain
from work.states import LONG_WORK_PRIORITY, SHORT_WORK_PRIORITY, RunState

pytestmark = pytest.mark.django_db

OTHER_HOST = "elsewhere/1:4711"
Meanwhile = Callable[[Callable[[Held[Piece]], None]], None]


@pytest.fixture
def run() -> Batch:
    return started()


def raising(error: Exception) -> Callable[[Held[Piece]], None]:
    def do(_held: Held[Piece]) -> None:
        raise error

    return do


def a_dead_process() -> str:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return processes.this_process().replace(f":{os.getpid()}", f":{child.pid}")


# --- start to end -----------------------------------------------------------------------------------------------------


def test_every_item_is_done_once_and_the_run_ends(run: Batch) -> None:
    assert work(run) == 3
    run = fresh(run)
    assert (run.state, states(run), written()) == (RunState.FINISHED, ["done"] * 3, [1, 2, 3])
    assert run.ended_at is not None
    assert [worker["pen"] for worker in run.provenance["workers"]] == ["blue"]  # once for all that are alike
    item = run.items.first()
    assert (item.attempts, item.error, item.lease_until, item.weight) == (1, "", None, 10)
    assert item.worker == processes.this_process()


def test_the_same_message_twice_changes_nothing(run: Batch) -> None:
    assert (work(run), work(run)) == (3, 0)
    assert written() == [1, 2, 3]


@pytest.mark.parametrize(
    ("n_workers", "kept", "passed_on"),
    [(1, 12, []), (2, 6, [6]), (3, 4, [4, 4]), (9, 2, [2] * 5)],
    ids=["alone", "two", "three", "no part is smaller than a message"],
)
def test_the_items_of_a_short_run_are_shared_with_the_other_workers(
    n_workers: int,
    kept: int,
    passed_on: list[int],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    monkeypatch.setattr(spreading, "_n_workers", lambda queue: n_workers)
    together = dataclasses.replace(toy.PIECES, together=lambda run: 12)
    pks = [item.pk for item in started(12).items.order_by("pk")]
    with django_capture_on_commit_callbacks() as callbacks:
        mine = spreading.shared_out(together, pks)
    assert [len(part) for part in sent(callbacks)] == passed_on
    assert mine == pks[:kept]
    assert [pk for part in sent(callbacks) for pk in part] == pks[kept:]
    # Before what another run has sent meanwhile: the order of runs holds for the end of each too.
    assert {each.keywords["priority"] for each in callbacks} <= {SHORT_WORK_PRIORITY}
    with django_capture_on_commit_callbacks() as callbacks:  # what is taken up one by one has no reason to be parted
        assert spreading.shared_out(toy.PIECES, pks) == pks
    assert callbacks == []


def test_a_long_run_keeps_its_large_messages_until_its_end(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(spreading, "_n_workers", lambda queue: 3)
    together = dataclasses.replace(toy.PIECES, together=lambda run: 12)
    run = started(60)
    pks = [item.pk for item in run.items.order_by("pk")]
    with django_capture_on_commit_callbacks() as callbacks:
        assert spreading.shared_out(together, pks[:12]) == pks[:12]
        run.items.filter(pk__in=pks[:36]).update(state="done", done_at=timezone.now())
        assert spreading.shared_out(together, pks[36:48]) == pks[36:44]
    assert sent(callbacks) == [pks[44:48]]


def test_the_work_goes_to_the_queue_when_the_transaction_is_through(django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks() as callbacks:
        run = started(5, queue="gpu")
    pks = [item.pk for item in run.items.order_by("pk")]
    assert sent(callbacks) == [pks[:2], pks[2:4], pks[4:]]
    assert [(each.keywords["kind"], each.keywords["queue"]) for each in callbacks] == [("toy.piece", "gpu")]
    assert fresh(run).queue == "gpu"


def test_items_let_others_go_first_on_the_queue(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    """Else the dead are recovered after a long run: Redis gives out a lower number first."""
    options: list[dict[str, Any]] = []
    monkeypatch.setattr(runs.current_app, "send_task", lambda *_args, **said: options.append(said))
    with django_capture_on_commit_callbacks(execute=True):
        started(1)
    assert [said["priority"] for said in options] == [LONG_WORK_PRIORITY]
    assert (tasks.recover.priority or 0) < LONG_WORK_PRIORITY


def test_a_run_is_there_though_the_queue_cannot_be_reached(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    def refuse(*_args: Any, **_options: Any) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(runs.current_app, "send_task", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        run = started()
    assert fresh(run).is_running
    assert "The queue cannot be reached" in caplog.text


def test_a_run_of_one_process_needs_no_queue() -> None:
    run = started(enqueue=False)
    while actions.take_up(run):
        pass
    assert (fresh(run).state, written()) == (RunState.FINISHED, [1, 2, 3])


def test_the_task_knows_the_kind_by_its_name(run: Batch) -> None:
    tasks.do_items(kinds.of(run).key, [item.pk for item in run.items.all()])
    assert written() == [1, 2, 3]


# --- two at once ------------------------------------------------------------------------------------------------------


def test_what_another_worker_holds_is_passed_over(run: Batch) -> None:
    claim(run.items.order_by("pk")[0], worker=OTHER_HOST)
    assert work(run) == 2
    assert states(run) == ["claimed", "done", "done"]
    assert fresh(run).is_running


def test_a_worker_whose_item_was_given_to_another_one_writes_nothing(run: Batch, meanwhile: Meanwhile) -> None:
    first = run.items.order_by("pk")[0]

    def slept(held: Held[Piece]) -> None:
        toy.meanwhile.pop()
        later(run, 1000)
        Piece.objects.filter(pk=first.pk).update(worker=OTHER_HOST)
        actions.recover()
        assert actions.do_items(kind=toy.PIECES, item_ids=[first.pk]) == 1

    toy.meanwhile.append(slept)
    assert actions.do_items(kind=toy.PIECES, item_ids=[first.pk]) == 0
    assert (states(run), written()) == (["done", "queued", "queued"], [1])


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time; see test_killed")
@pytest.mark.django_db(transaction=True)
def test_of_two_workers_at_the_same_moment_one_gets_the_item() -> None:
    """The second UPDATE waits for the first, and must then look at the item again."""
    pk = started(1, enqueue=False).items.get().pk
    taken: list[Held[Piece] | None] = []

    def second() -> None:
        try:
            taken.append(actions.claim(toy.PIECES, pk))
        finally:
            connection.close()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        first = actions.claim(toy.PIECES, pk)
        thread.start()
        thread.join(1)
        assert thread.is_alive()  # it waits
    thread.join(10)
    assert first is not None
    assert taken == [None]
    assert Piece.objects.get(pk=pk).token == first.key


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time; see test_killed")
@pytest.mark.django_db(transaction=True)
def test_of_two_workers_that_take_several_each_item_has_one() -> None:
    one, two, three = started(3, enqueue=False).items.order_by("pk").values_list("pk", flat=True)
    theirs: list[Held[Piece]] = []

    def second() -> None:
        try:
            theirs.extend(actions.claim_all(toy.PIECES, [two, three]))
        finally:
            connection.close()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        ours = actions.claim_all(toy.PIECES, [two, one])
        thread.start()
        thread.join(1)
        assert thread.is_alive()  # it waits
    thread.join(10)
    assert [held.item.pk for held in ours] == [two, one]  # as they were named
    assert [held.item.pk for held in theirs] == [three]
    tokens = dict(Piece.objects.values_list("pk", "token"))
    assert tokens == {held.item.pk: held.key for held in [*ours, *theirs]}
    assert len(set(tokens.values())) == 3
    assert ours[0].item.run is ours[1].item.run


def test_items_of_one_run_come_with_one_object_for_it() -> None:
    known, other = started(2, enqueue=False), started(2, enqueue=False)
    pks = [pk for run in (known, other) for pk in run.items.order_by("pk").values_list("pk", flat=True)]
    runs = [held.item.run for held in actions.claim_all(toy.PIECES, pks, known=known)]
    assert runs == [known, known, other, other]
    assert [run is known for run in runs] == [True, True, False, False]
    assert runs[2] is runs[3]


def test_none_of_nothing_is_taken(run: Batch) -> None:
    actions.cancel(run)
    assert actions.claim_all(toy.PIECES, [item.pk for item in run.items.all()]) == []
    assert actions.claim_all(toy.PIECES, []) == []


def test_an_item_that_is_named_twice_is_taken_once(run: Batch) -> None:
    first, second, _third = run.items.order_by("pk").values_list("pk", flat=True)
    assert [held.item.pk for held in actions.claim_all(toy.PIECES, [second, first, second])] == [second, first]


def test_a_message_with_items_of_two_runs_ends_both(run: Batch) -> None:
    other = started(2)
    pks = [*run.items.values_list("pk", flat=True), *other.items.values_list("pk", flat=True)]
    assert actions.do_items(kind=toy.PIECES, item_ids=pks[::2] + pks[1::2]) == 5
    assert (fresh(run).state, fresh(other).state) == (RunState.FINISHED, RunState.FINISHED)


def test_an_update_of_an_item_looks_at_the_item_itself(run: Batch) -> None:
    """Not at a subquery of it: PostgreSQL would not look into that again after waiting for another worker."""
    with CaptureQueriesContext(connection) as captured:
        work(run)
    said = [query["sql"] or "" for query in captured]  # of a prepared statement PostgreSQL's driver does not tell it
    updates = [sql for sql in said if sql.startswith('UPDATE "toy_piece"')]
    assert len(updates) == 6  # claimed and done, three times
    assert not any('FROM "toy_piece"' in sql for sql in updates)


# --- what may go wrong with an item -----------------------------------------------------------------------------------


def test_an_item_that_cannot_be_done_fails_and_the_others_go_on(run: Batch, meanwhile: Meanwhile) -> None:
    def fails(held: Held[Piece]) -> None:
        if held.item.number == 2:
            raise ItemFailed("No 2.")

    meanwhile(fails)
    assert work(run) == 2
    assert (states(run), written()) == (["done", "failed", "done"], [1, 3])
    assert run.items.get(state="failed").error == "No 2."
    assert Written.objects.get(number=2).note == "No 2."  # what the kind writes besides
    assert fresh(run).state == RunState.FINISHED


def test_what_finds_the_disk_full_is_tried_again(run: Batch, meanwhile: Meanwhile) -> None:
    meanwhile(raising(OSError(errno.ENOSPC, "No space left on device")))
    work(run)
    assert states(run) == ["queued"] * 3
    assert {item.error for item in run.items.all()} == {"No room is left on the disk."}
    meanwhile(lambda held: None)
    later(run, 60)
    work(run)
    assert states(run) == ["done"] * 3


def test_a_mistake_of_ours_is_shown_and_the_others_go_on(
    run: Batch, meanwhile: Meanwhile, caplog: pytest.LogCaptureFixture
) -> None:
    meanwhile(raising(KeyError("oops")))
    assert work(run) == 0
    assert {item.error for item in run.items.all()} == {"A mistake in Palate: KeyError: 'oops'"}
    assert "Number 2 could not be done" in caplog.text


def test_an_action_that_forgets_to_finish_is_a_mistake(run: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    forgetful = kinds.Kind(Piece, lambda held: None)
    assert actions.do_items(kind=forgetful, item_ids=[run.items.order_by("pk")[0].pk]) == 0
    assert "was left unfinished" in run.items.order_by("pk")[0].error


def test_a_passing_fault_is_tried_again_later_and_later_then_shown(run: Batch, meanwhile: Meanwhile) -> None:
    meanwhile(raising(TryAgain("Busy.")))
    pk, waits = run.items.order_by("pk")[0].pk, []
    for attempt in (1, 2):
        actions.do_items(kind=toy.PIECES, item_ids=[pk])
        item = Piece.objects.get(pk=pk)
        assert (item.state, item.attempts, item.error) == ("queued", attempt, "Busy.")
        waits.append((item.not_before - timezone.now()).total_seconds())
        actions.do_items(kind=toy.PIECES, item_ids=[pk])
        assert Piece.objects.get(pk=pk).attempts == attempt  # not before its time
        later(run, 100)
    assert waits == pytest.approx([20, 40], abs=5)  # 10 s x 2^attempts
    actions.do_items(kind=toy.PIECES, item_ids=[pk])
    item = Piece.objects.get(pk=pk)
    assert (item.state, item.attempts) == ("failed", 3)


def test_when_nobody_is_there_the_whole_run_rests_and_in_the_end_fails(run: Batch, meanwhile: Meanwhile) -> None:
    meanwhile(raising(Away("Nobody is there.")))
    for rests, wait in ((1, 20), (2, 40)):
        assert work(run) == 0
        run = fresh(run)
        assert (run.state, run.rests) == (RunState.RUNNING, rests)
        assert run.rest_until is not None
        assert (run.rest_until - timezone.now()).total_seconds() == pytest.approx(wait, abs=5)
        assert {item.not_before for item in run.items.all()} == {run.rest_until}  # the other items wait too
        assert {item.attempts for item in run.items.all()} == {0}
        later(run, 100)
    work(run)
    run = fresh(run)
    assert (run.state, run.error, states(run)) == (RunState.FAILED, "Nobody is there.", ["queued"] * 3)


def test_who_is_there_again_is_forgiven(run: Batch, meanwhile: Meanwhile) -> None:
    meanwhile(raising(Away("Nobody is there.")))
    work(run)
    toy.meanwhile.pop()
    later(run, 21)
    assert work(run) == 3
    assert (fresh(run).rests, fresh(run).rest_until) == (0, None)


def test_of_workers_that_find_nobody_at_the_same_time_one_counts(run: Batch, meanwhile: Meanwhile) -> None:
    meanwhile(raising(Away("Nobody is there.")))
    both = [actions.claim(toy.PIECES, item.pk) for item in run.items.order_by("pk")[:2]]
    for held in both:
        assert held is not None
        actions.do_held(held)
    assert (fresh(run).rests, states(run)) == (1, ["queued"] * 3)


def test_what_no_item_can_help_fails_the_run_and_it_resumes_when_that_is_mended(
    run: Batch, meanwhile: Meanwhile
) -> None:
    meanwhile(raising(RunFailed("No pen.")))
    assert work(run) == 0
    assert (fresh(run).state, fresh(run).error, states(run)) == (RunState.FAILED, "No pen.", ["queued"] * 3)
    assert {item.attempts for item in run.items.all()} == {0}
    toy.meanwhile.pop()
    assert actions.resume(fresh(run)) == 3
    assert work(run) == 3
    assert (fresh(run).state, fresh(run).error) == (RunState.FINISHED, "")


def test_an_item_that_has_become_void_leaves_the_run(run: Batch) -> None:
    run.items.filter(number=2).update(void=True)
    assert work(run) == 2
    assert (states(run), fresh(run).state) == (["done", "done"], RunState.FINISHED)


def test_a_run_of_one_piece_fails_with_it(run: Batch, meanwhile: Meanwhile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds._kinds, "toy.piece", kinds.Kind(Piece, toy.write_down, fails_the_run=True))
    meanwhile(raising(ItemFailed("No.")))
    actions.do_items(kind=kinds.called("toy.piece"), item_ids=[item.pk for item in run.items.all()])
    assert (fresh(run).state, fresh(run).error) == (RunState.FAILED, "No.")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_process_that_is_told_to_stop_gives_its_item_back(
    run: Batch, meanwhile: Meanwhile, stop: type[BaseException]
) -> None:
    meanwhile(raising(stop()))  # type: ignore[arg-type]
    with pytest.raises(stop):
        work(run)
    assert states(run) == ["queued"] * 3
    assert run.items.order_by("pk")[0].attempts == 0


# --- the database -----------------------------------------------------------------------------------------------------


def test_a_locked_database_is_tried_again(run: Batch, meanwhile: Meanwhile) -> None:
    meanwhile(raising(OperationalError("database is locked")))
    assert work(run) == 0
    assert states(run) == ["queued"] * 3
    assert "database is locked" in run.items.order_by("pk")[0].error
    toy.meanwhile.pop()
    later(run, 100)
    assert work(run) == 3
    assert {item.error for item in run.items.all()} == {""}


@pytest.mark.django_db(transaction=True)
def test_a_worker_asks_until_the_database_is_back(
    meanwhile: Meanwhile, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = started(1, enqueue=False)
    meanwhile(raising(OperationalError("the connection is lost")))
    away = iter([OperationalError("starting up"), OperationalError("starting up")])
    retry, pauses = doing._retry, list[float]()

    def twice_away(*args: Any) -> None:
        for error in away:
            raise error
        retry(*args)

    monkeypatch.setattr(doing, "_retry", twice_away)
    monkeypatch.setattr(doing, "time", SimpleNamespace(monotonic=time.monotonic, sleep=pauses.append))
    assert work(run) == 0
    assert pauses == [0.25, 0.5]
    assert (states(run), run.items.get().attempts) == (["queued"], 1)


def test_what_a_process_holds_in_the_database_alone_is_put_back(run: Batch) -> None:
    """A living worker, and a lease of an hour: as after a database that stayed away for very long."""
    stray, ours, other = run.items.order_by("pk")
    claim(stray, worker=processes.this_process(), seconds=3600)
    claim(other, worker=OTHER_HOST, seconds=1200)
    held = actions.claim(toy.PIECES, ours.pk)
    assert held is not None
    actions.recover()
    assert states(run) == ["queued", "claimed", "claimed"]  # what it is really at, and another's, are left alone
    assert Piece.objects.get(pk=stray.pk).attempts == 0
    actions.do_held(held)
    assert states(run) == ["queued", "done", "claimed"]


def test_a_process_looks_after_strays_before_it_takes_something_up(run: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    claim(run.items.order_by("pk")[0], worker=processes.this_process(), seconds=3600)
    monkeypatch.setattr(doing, "_strays_seen", -1000.0)
    assert work(run) == 3


# --- lease ------------------------------------------------------------------------------------------------------------


def clock(monkeypatch: pytest.MonkeyPatch, *, step: float) -> None:
    """Each look at the clock finds it `step` seconds on."""
    now = iter(range(10**6))
    monkeypatch.setattr(holding, "time", SimpleNamespace(monotonic=lambda: next(now) * step))


def test_a_beat_renews_the_lease_at_most_once_a_second(
    run: Batch, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    clock(monkeypatch, step=0.4)
    held = actions.claim(toy.PIECES, run.items.order_by("pk")[0].pk)
    assert held is not None
    with django_assert_num_queries(1):
        held.beat(1, 2)
        held.beat()
        held.beat()


def test_a_cancelled_run_is_noticed_at_the_next_beat(run: Batch, meanwhile: Meanwhile) -> None:
    def cancelled(held: Held[Piece]) -> None:
        actions.cancel(run)
        held._renewed -= 2

    meanwhile(cancelled)
    assert work(run) == 0
    assert (states(run), written()) == (["queued"] * 3, [])
    assert run.items.order_by("pk")[0].attempts == 0


def test_a_run_that_is_cancelled_at_the_last_moment_writes_nothing(run: Batch, meanwhile: Meanwhile) -> None:
    meanwhile(lambda _held: bool(actions.cancel(run)) and None)
    assert work(run) == 0
    assert written() == []


def test_a_worker_that_loads_a_model_may_be_silent_for_long(run: Batch) -> None:
    held = actions.claim(toy.PIECES, run.items.order_by("pk")[0].pk)
    assert held is not None
    with held.quiet(actions.LOADING):
        later(run, 1000)
        actions.recover()
        assert states(run)[0] == "claimed"
    lease = Piece.objects.get(pk=held.item.pk).lease_until
    assert lease - timezone.now() < timedelta(seconds=91)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_dies_while_it_loads_a_model_is_missed_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """On another host too: half an hour went by before, since nobody knows of processes there."""
    monkeypatch.setattr(holding, "_SAID_EVERY", 0.05)
    run = started()
    held = actions.claim(toy.PIECES, run.items.order_by("pk")[0].pk)
    assert held is not None

    def left() -> timedelta:
        lease = Piece.objects.get(pk=held.item.pk).lease_until
        assert lease is not None
        return lease - timezone.now()

    with held.loading():
        assert timedelta(seconds=280) < left() <= timedelta(minutes=5)
        for _time in range(3):  # a slow loader is heard of again and again
            Piece.objects.filter(pk=held.item.pk).update(lease_until=timezone.now() + timedelta(seconds=10))
            assert eventually(lambda: left() > timedelta(seconds=280))
        later(run, 10)
        actions.recover()
        assert states(run)[0] == "claimed"
    assert left() < timedelta(seconds=91)
    time.sleep(0.2)
    assert left() < timedelta(seconds=91)  # nobody says so any more

    Piece.objects.filter(pk=held.item.pk).update(worker=OTHER_HOST, lease_until=timezone.now() + timedelta(minutes=5))
    later(run, 301)
    actions.recover()
    assert states(run)[0] == "queued"


@pytest.mark.django_db(transaction=True)
def test_a_loader_that_hangs_is_heard_of_for_half_an_hour_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "_SAID_EVERY", 0.02)
    monkeypatch.setattr(holding, "LOADING", timedelta(seconds=0.1))
    held = actions.claim(toy.PIECES, started().items.order_by("pk")[0].pk)
    assert held is not None
    with held.loading():
        assert eventually(lambda: not [one for one in threading.enumerate() if "_beat_beside" in one.name])


@pytest.mark.django_db(transaction=True)
def test_a_run_that_is_cancelled_while_a_model_is_loaded_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "_SAID_EVERY", 0.02)
    run = started()
    held = actions.claim(toy.PIECES, run.items.order_by("pk")[0].pk)
    assert held is not None
    loading = held.loading()
    loading.__enter__()
    actions.cancel(run)
    assert eventually(lambda: not [one for one in threading.enumerate() if "_beat_beside" in one.name])
    with pytest.raises(GiveUp):
        loading.__exit__(None, None, None)


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_for_a_moment_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "_SAID_EVERY", 0.02)
    held = actions.claim(toy.PIECES, started().items.order_by("pk")[0].pk)
    assert held is not None
    hold, asked = held.hold, []

    def away_at_first(*of: Any, **told: Any) -> None:
        asked.append(threading.current_thread() is threading.main_thread())
        if asked.count(False) == 1 and not asked[-1]:
            raise OperationalError
        hold(*of, **told)

    monkeypatch.setattr(held, "hold", away_at_first)
    with held.loading():
        assert eventually(lambda: asked.count(False) > 2)
    assert asked[-1]


def eventually(happens: Callable[[], bool]) -> bool:
    until = time.monotonic() + 10
    while not happens():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_what_is_told_meanwhile_is_seen(run: Batch) -> None:
    held = actions.claim(toy.PIECES, run.items.order_by("pk")[0].pk)
    assert held is not None
    held.hold(weight=7)
    assert Piece.objects.get(pk=held.item.pk).weight == 7


# --- cancel and resume ------------------------------------------------------------------------------------------------


def test_cancelled_work_is_not_taken_up(run: Batch) -> None:
    first, *rest = [item.pk for item in run.items.order_by("pk")]
    actions.do_items(kind=toy.PIECES, item_ids=[first])
    assert actions.cancel(run)
    assert not actions.cancel(run)
    assert actions.do_items(kind=toy.PIECES, item_ids=rest) == 0
    assert not actions.take_up(run)
    assert (fresh(run).state, states(run)) == (RunState.CANCELLED, ["done", "queued", "queued"])


def test_resumed_it_goes_on_with_the_rest(run: Batch, django_capture_on_commit_callbacks: Any) -> None:
    first, *rest = [item.pk for item in run.items.order_by("pk")]
    actions.do_items(kind=toy.PIECES, item_ids=[first])
    actions.cancel(run)
    with django_capture_on_commit_callbacks() as callbacks:
        assert actions.resume(run) == 2
    assert sent(callbacks) == [rest]
    assert work(run) == 2
    assert (fresh(run).state, written()) == (RunState.FINISHED, [1, 2, 3])


def test_what_has_become_void_is_not_resumed(run: Batch) -> None:
    actions.cancel(run)
    run.items.filter(number=2).update(void=True)
    assert actions.resume(run) == 2
    work(run)
    assert written() == [1, 3]


def test_an_ended_run_says_how_many_it_would_do(run: Batch) -> None:
    first, *_rest = run.items.order_by("pk")
    actions.do_items(kind=toy.PIECES, item_ids=[first.pk])
    run.items.filter(number__lte=2).update(void=True)
    assert queries.progress(fresh(run)).left_over == 2  # it looks at each when its turn comes
    actions.cancel(run)
    assert queries.progress(fresh(run)).left_over == 1
    assert actions.resume(fresh(run)) == 1


def test_nothing_is_left_to_resume(run: Batch) -> None:
    work(run)
    assert actions.resume(fresh(run)) == 0
    assert fresh(run).state == RunState.FINISHED


def test_a_worker_that_still_holds_an_item_of_a_resumed_run_gives_it_up(run: Batch) -> None:
    held = actions.claim(toy.PIECES, run.items.order_by("pk")[0].pk)
    assert held is not None
    actions.cancel(run)
    actions.resume(run)
    assert actions.do_held(held) is False
    assert work(run) == 3
    assert written() == [1, 2, 3]


# --- recovery ---------------------------------------------------------------------------------------------------------


def test_a_process_is_dead_when_it_is_gone_from_this_host() -> None:
    assert processes.is_dead(a_dead_process())
    assert not processes.is_dead(processes.this_process())
    assert not processes.is_dead(processes.this_process().rpartition(":")[0] + ":1")  # somebody else's
    assert not processes.is_dead(OTHER_HOST)
    assert not processes.is_dead("")


def test_the_item_of_a_dead_process_is_free_at_once(run: Batch, django_capture_on_commit_callbacks: Any) -> None:
    item = claim(run.items.order_by("pk")[0], worker=a_dead_process(), seconds=3600)
    with django_capture_on_commit_callbacks() as callbacks:
        actions.recover()
    assert sent(callbacks) == [[item.pk]]
    assert work(run) == 3


def test_the_item_of_a_silent_worker_is_free_when_its_lease_is_over(run: Batch) -> None:
    claim(run.items.order_by("pk")[0], worker=OTHER_HOST)
    actions.recover()
    assert states(run)[0] == "claimed"
    later(run, 91)
    actions.recover()
    assert states(run)[0] == "queued"


def test_an_item_at_which_workers_die_comes_last_and_in_the_end_fails(
    run: Batch, django_capture_on_commit_callbacks: Any
) -> None:
    first, *rest = run.items.order_by("pk")
    dead = a_dead_process()
    claim(first, worker=dead)
    actions.recover()
    with django_capture_on_commit_callbacks() as callbacks:
        actions.recover(at_start=True)
    assert [pk for batch in sent(callbacks) for pk in batch] == [*(item.pk for item in rest), first.pk]
    actions.do_items(kind=toy.PIECES, item_ids=[item.pk for item in rest])
    claim(first, worker=dead, attempts=actions.MAX_DEATHS)
    actions.recover()
    first.refresh_from_db()
    assert (first.state, first.error) == ("failed", "5 workers died at this, or fell silent.")
    assert fresh(run).state == RunState.FINISHED


def test_a_worker_that_renews_its_lease_as_it_is_declared_dead_keeps_its_item(run: Batch) -> None:
    read = claim(run.items.order_by("pk")[0], worker=OTHER_HOST, attempts=actions.MAX_DEATHS)
    type(read)._default_manager.filter(pk=read.pk).update(lease_until=timezone.now() + timedelta(minutes=5))
    assert read.lease_until is not None
    doing.fail(toy.PIECES, read, "5 workers died at this.", unrenewed_since=read.lease_until)
    assert states(run)[0] == "claimed"
    doing.fail(toy.PIECES, read, "5 workers died at this.")
    assert states(run)[0] == "failed"


def test_the_item_of_a_dead_worker_of_a_cancelled_run_is_left_queued(run: Batch) -> None:
    claim(run.items.order_by("pk")[0], worker=a_dead_process(), attempts=9)
    actions.cancel(run)
    actions.recover()
    assert states(run) == ["queued"] * 3


def test_a_run_whose_worker_died_just_before_its_end_is_ended(run: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(doing, "finish", lambda _run: None)
        work(run)
    assert fresh(run).is_running
    actions.recover()
    assert fresh(run).state == RunState.FINISHED


def resent(capture: Any, *, at_start: bool = False) -> bool:
    with capture() as callbacks:
        actions.recover(at_start=at_start)
    return bool(sent(callbacks))


def test_lost_messages_are_sent_again_with_growing_patience(
    run: Batch, django_capture_on_commit_callbacks: Any
) -> None:
    for patience in (40, 80, 160):  # 20 s x 2^n after the n-th sending
        later(run, patience - 5)
        assert not resent(django_capture_on_commit_callbacks)
        later(run, 10)
        assert resent(django_capture_on_commit_callbacks)
    assert fresh(run).enqueued_times == 4


@pytest.mark.parametrize("ahead", [3_600, 86_400], ids=["an hour", "a day"])
def test_what_a_clock_that_was_ahead_has_written_holds_nobody_up(
    run: Batch, ahead: int, django_capture_on_commit_callbacks: Any
) -> None:
    """The messages are lost too. One item is done, one was put back, one is held by a process that died."""
    done, put_back, left = run.items.order_by("pk")
    actions.do_items(kind=toy.PIECES, item_ids=[done.pk])
    holding.release(claim(put_back, worker=OTHER_HOST))
    claim(left, worker=OTHER_HOST if ahead > 7_200 else a_dead_process())
    Batch.objects.filter(pk=run.pk).update(rest_until=timezone.now(), enqueued_times=5)
    later(run, -ahead)

    with django_capture_on_commit_callbacks() as callbacks:
        actions.recover()
    assert sent(callbacks)
    rested = fresh(run).rest_until
    assert rested is not None
    assert rested <= timezone.now()
    [standing] = queries.standing(now=timezone.now() + timedelta(minutes=10))
    assert standing.silent >= timedelta(minutes=9)  # the alarm does not wait for that clock either
    assert work(run) == 2
    assert fresh(run).state == RunState.FINISHED


def test_work_that_was_done_by_a_clock_that_was_ahead_does_not_hide_lost_messages(
    run: Batch, django_capture_on_commit_callbacks: Any
) -> None:
    actions.do_items(kind=toy.PIECES, item_ids=[run.items.order_by("pk")[0].pk])
    run.items.filter(state="done").update(done_at=timezone.now() + timedelta(days=1))
    Batch.objects.filter(pk=run.pk).update(enqueued_at=timezone.now() - timedelta(minutes=2), enqueued_times=1)
    assert resent(django_capture_on_commit_callbacks)


def test_who_holds_an_item_for_as_long_as_may_be_keeps_it(run: Batch, meanwhile: Meanwhile) -> None:
    def do(held: Held[Piece]) -> None:
        with held.quiet(actions.LONGEST_HOLD):
            actions.recover()
            held.item.refresh_from_db()
            assert held.item.state == "claimed"

    meanwhile(do)
    work(run)
    assert written() == [1, 2, 3]


def test_patience_is_short_again_when_work_was_done_since(run: Batch, django_capture_on_commit_callbacks: Any) -> None:
    Batch.objects.filter(pk=run.pk).update(enqueued_times=7)
    actions.do_items(kind=toy.PIECES, item_ids=[run.items.order_by("pk")[0].pk])
    later(run, 41)
    assert resent(django_capture_on_commit_callbacks)


def test_nothing_is_sent_again_while_a_worker_is_at_it(run: Batch, django_capture_on_commit_callbacks: Any) -> None:
    claim(run.items.order_by("pk")[0], worker=OTHER_HOST, seconds=1200)
    later(run, 1000)
    Piece.objects.filter(state="claimed").update(lease_until=timezone.now() + timedelta(minutes=20))
    assert not resent(django_capture_on_commit_callbacks)


def test_the_start_of_a_worker_does_not_wait(run: Batch, django_capture_on_commit_callbacks: Any) -> None:
    assert not resent(django_capture_on_commit_callbacks)
    assert resent(django_capture_on_commit_callbacks, at_start=True)
    work(run)
    assert not resent(django_capture_on_commit_callbacks, at_start=True)


def test_an_item_is_sent_again_when_its_time_has_come(
    run: Batch, meanwhile: Meanwhile, django_capture_on_commit_callbacks: Any
) -> None:
    meanwhile(raising(TryAgain("Busy.")))
    pk = run.items.order_by("pk")[0].pk
    actions.do_items(kind=toy.PIECES, item_ids=[pk])
    assert not resent(django_capture_on_commit_callbacks)
    Piece.objects.filter(pk=pk).update(not_before=timezone.now())
    with django_capture_on_commit_callbacks() as callbacks:
        actions.recover()
        actions.recover()
    assert sent(callbacks) == [[pk]]  # once


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> kinds.Kind[Piece]:
    """A kind that tries four times within hours; and which runs have ended, in `told`."""
    waits = [timedelta(seconds=10), timedelta(minutes=10), timedelta(hours=5)]
    kind = dataclasses.replace(toy.PIECES, waits=waits, ended=lambda run, state: told.append((run.pk, state)))
    monkeypatch.setitem(kinds._kinds, kind.key, kind)
    told.clear()
    return kind


told: list[tuple[int, RunState]] = []


def test_a_kind_says_how_long_its_items_wait(
    run: Batch, meanwhile: Meanwhile, patient: kinds.Kind[Piece], django_capture_on_commit_callbacks: Any
) -> None:
    """The recovery takes hours for no clock that was ahead; a wait that is over is told to the alarm of the queue."""
    meanwhile(raising(TryAgain("Busy.")))
    pk = run.items.order_by("pk")[0].pk
    Piece.objects.exclude(pk=pk).delete()
    for attempt, wait in enumerate((10, 600, 18_000), start=1):
        actions.do_items(kind=patient, item_ids=[pk])
        actions.recover()
        item = Piece.objects.get(pk=pk)
        assert (item.attempts, item.state, item.not_before is None) == (attempt, "queued", False)
        assert (item.not_before - timezone.now()).total_seconds() == pytest.approx(wait, abs=5)
        Batch.objects.filter(pk=run.pk).update(enqueued_at=timezone.now())  # no worker is missed
        later(run, wait + 1)
        if attempt < 3:
            Piece.objects.filter(pk=pk).update(not_before=None)
    long_ago = timezone.now() - timedelta(minutes=20)  # of what was sent so often, nobody is missed for longer
    Batch.objects.filter(pk=run.pk).update(started_at=long_ago, enqueued_at=long_ago, enqueued_times=9)
    with django_capture_on_commit_callbacks() as callbacks:
        actions.recover()
    assert sent(callbacks) == [[pk]]
    assert Piece.objects.get(pk=pk).not_before is None
    [queue] = queries.standing()
    assert queue.silent < timedelta(minutes=1)
    actions.do_items(kind=patient, item_ids=[pk])
    assert Piece.objects.get(pk=pk).state == "failed"
    assert told == [(run.pk, RunState.FINISHED)]


def test_what_has_ended_by_itself_is_told_and_what_was_cancelled_is_not(
    run: Batch, meanwhile: Meanwhile, patient: kinds.Kind[Piece]
) -> None:
    actions.cancel(run)
    actions.recover()
    assert told == []
    meanwhile(raising(RunFailed("No ink.")))
    other = started()
    actions.do_items(kind=patient, item_ids=[other.items.order_by("pk")[0].pk])
    assert told == [(other.pk, RunState.FAILED)]


# --- progress ---------------------------------------------------------------------------------------------------------


def test_progress_counts(run: Batch) -> None:
    actions.do_items(kind=toy.PIECES, item_ids=[run.items.order_by("pk")[0].pk])
    claim(run.items.order_by("pk")[1], worker=OTHER_HOST)
    said = queries.progress(fresh(run), sums=["weight"])
    assert (said.total, said.done, said.at_work, said.waiting, said.failed) == (3, 1, 1, 1, 0)
    assert (said.sums, said.left_over) == ({"weight": 10}, 2)


def test_the_pace_is_that_of_the_last_two_minutes(run: Batch) -> None:
    """Done 0 s, 10 s and 500 s before the last one, each in 6 s: two pieces of 100 each in 10 + 6 s."""
    for number, item in enumerate(run.items.order_by("pk")):
        done_at = timezone.now() - timedelta(seconds=(0, 10, 500)[number])
        run.items.filter(pk=item.pk).update(state="done", done_at=done_at, seconds=6, weight=100)
    Piece.objects.create(run=run, number=4)
    said = queries.progress(fresh(run), paces={"weight": "weight"})
    assert said.paces["weight"] == pytest.approx(200 / 16, rel=0.01)
    assert said.left == timedelta(seconds=8)  # one item at 16 s / 2


def test_before_the_first_item_there_is_no_pace(run: Batch) -> None:
    said = queries.progress(run, paces={"weight": "weight"})
    assert (said.paces, said.left) == ({"weight": None}, None)


def test_a_run_that_no_worker_takes_up_says_so(run: Batch) -> None:
    assert not queries.progress(fresh(run)).lacks_a_worker
    later(run, 31)
    said = queries.progress(fresh(run))
    assert said.lacks_a_worker
    claim(run.items.order_by("pk")[0], worker=OTHER_HOST)
    assert not queries.progress(fresh(run)).lacks_a_worker


def test_a_run_whose_only_worker_died_at_an_item_says_so(run: Batch) -> None:
    """With no other worker nobody puts back what it held, which stood as one at work for ever."""
    later(run, 200)
    claim(run.items.order_by("pk")[0], worker=OTHER_HOST, seconds=60)
    assert not queries.progress(fresh(run)).lacks_a_worker
    run.items.filter(state="claimed").update(lease_until=timezone.now() - timedelta(seconds=20))
    said = queries.progress(fresh(run))
    assert (said.at_work, said.waiting, said.lacks_a_worker) == (0, 3, False)  # another one may be on its way
    run.items.filter(state="claimed").update(lease_until=timezone.now() - timedelta(seconds=45))
    said = queries.progress(fresh(run))
    assert said.lacks_a_worker
    assert 44 <= said.silent_for.total_seconds() <= 47


@pytest.mark.parametrize(("queue", "seconds", "is_behind"), [("cpu", 60, True), ("cpu", -1, False), ("gpu", 60, False)])
def test_a_run_waits_behind_another_one_while_a_worker_is_at_that(queue: str, seconds: int, is_behind: bool) -> None:
    waits, other = started(), started(queue=queue)
    later(waits, 31)
    claim(other.items.order_by("pk")[0], worker=OTHER_HOST, seconds=seconds)
    said = queries.progress(fresh(waits))
    assert (said.is_behind, said.lacks_a_worker) == (is_behind, not is_behind)


def test_a_run_waits_behind_one_that_has_ended_a_moment_ago() -> None:
    """The worker comes to it next: it was said that there is none."""
    waits, other = started(), started()
    later(waits, 31)
    while actions.take_up(other):
        pass
    other = fresh(other)
    assert other.ended_at is not None

    said = queries.progress(fresh(waits))
    assert (said.is_behind, said.lacks_a_worker) == (True, False)
    other.items.update(done_at=timezone.now() - timedelta(seconds=15))  # it loads the next one's model
    assert queries.progress(fresh(waits)).is_behind
    other.items.update(done_at=timezone.now() - timedelta(seconds=21))
    said = queries.progress(fresh(waits))
    assert (said.is_behind, said.lacks_a_worker) == (False, True)


def test_progress_costs_two_queries(run: Batch, django_assert_num_queries: Any) -> None:
    actions.do_items(kind=toy.PIECES, item_ids=[run.items.order_by("pk")[0].pk])
    run = fresh(run)
    with django_assert_num_queries(2):
        queries.progress(run, sums=["weight"], paces={"weight": "weight"})


def test_a_kind_is_found_by_its_run_and_by_its_name(run: Batch) -> None:
    assert kinds.of(run) is toy.PIECES
    assert kinds.called("toy.piece") is toy.PIECES
    assert toy.PIECES.run is Batch
    with pytest.raises(KeyError):
        kinds.called(f"toy.{uuid.uuid4().hex}")
