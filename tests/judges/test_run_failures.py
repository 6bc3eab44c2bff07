"""Runs that do not: two workers at one row, rows that fail, workers that die."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import actions as annotation
from annotation.models import Assignment, Label, Study
from judges import actions, labelling, processes, queries
from judges.models import Judge, Run, WorkItem
from tests.judges import helpers
from tests.judges.helpers import OTHER_HOST, claim, fresh, items, later, n_events, sent, states, work

State = WorkItem.State


# --- two at once ------------------------------------------------------------------------------------------------------


def test_the_same_message_twice_changes_nothing(run: Run) -> None:
    assert work(run) == 3
    assert work(run) == 0
    assert n_events(run.rater) == 15


def test_what_another_worker_holds_is_passed_over(run: Run) -> None:
    held, *_ = items(run)
    claim(held)
    assert work(run) == 2
    assert states(run) == {"claimed": 1, "done": 2}
    assert fresh(run).state == Run.State.RUNNING


def test_a_worker_whose_row_was_given_to_another_one_writes_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = items(run)[0]
    label_row = labelling.label_row

    def slept_meanwhile(*args: Any) -> Any:
        monkeypatch.undo()
        later(run, 1000)
        WorkItem.objects.filter(pk=first.pk).update(worker=OTHER_HOST)
        actions.recover_runs()
        assert actions.score_items(item_ids=[first.pk]) == 1
        return label_row(*args)

    monkeypatch.setattr(labelling, "label_row", slept_meanwhile)
    assert actions.score_items(item_ids=[first.pk]) == 0
    assert states(run) == {"done": 1, "queued": 2}
    assert n_events(run.rater) == 5


def test_a_row_that_an_earlier_run_has_just_finished_counts_as_done(study: Study, judge: Judge, run: Run) -> None:
    item = items(run)[0]
    Assignment.objects.filter(pk=item.assignment_id).update(state="submitted", submitted_at=timezone.now())
    assert work(run) == 3
    assert fresh(run).state == Run.State.FINISHED
    assert not Label.objects.filter(assignment=item.assignment_id).exists()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time; see test_worker")
@pytest.mark.django_db(transaction=True)
def test_of_two_workers_at_the_same_moment_one_gets_the_item() -> None:
    """The second UPDATE waits for the first, and must then look at the row again."""
    run = actions.start_run(study=helpers.study_of_leases(), judge=helpers.lexical_judge(), by=None, enqueue=False)
    pk = items(run)[0].pk
    taken: list[WorkItem | None] = []

    def second() -> None:
        try:
            taken.append(actions.work._claim(pk))
        finally:
            connection.close()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        first = actions.work._claim(pk)
        thread.start()
        thread.join(1)
        assert thread.is_alive()  # it waits
    thread.join(10)
    assert first is not None
    assert taken == [None]
    assert WorkItem.objects.get(pk=pk).token == first.token


def test_an_update_of_an_item_looks_at_the_item_itself(run: Run) -> None:
    """Not at a subquery of it: PostgreSQL would not look into that again after waiting for another worker."""
    with CaptureQueriesContext(connection) as captured:
        work(run)
    said = [query["sql"] or "" for query in captured]  # of a prepared statement PostgreSQL's driver does not tell it
    updates = [sql for sql in said if sql.startswith('UPDATE "judges_workitem"')]
    assert len(updates) == 6  # claimed and done, three times
    assert not any('FROM "judges_workitem"' in sql for sql in updates)


# --- failures ---------------------------------------------------------------------------------------------------------


def test_a_row_that_cannot_be_labelled_fails_and_the_others_go_on(study: Study, judge: Judge) -> None:

    annotation.add_row(sheet=study.sheets.get(), name="Empty", evidence=[])
    run = actions.start_run(study=study, judge=judge, by=None)
    assert work(run) == 3
    failed = run.items.get(state=State.FAILED)
    assert "no evidence" in failed.error
    failed.assignment.refresh_from_db()
    assert (failed.assignment.state, failed.assignment.failure) == (Assignment.State.FAILED, failed.error)
    assert fresh(run).state == Run.State.FINISHED
    assert queries.problems(run) == [failed]


def test_a_passing_failure_is_tried_again_later_and_later_then_shown(failing_run: Run) -> None:
    run = failing_run
    pk = items(run)[0].pk
    waits = []
    for attempt in (1, 2):
        actions.score_items(item_ids=[pk])
        item = WorkItem.objects.get(pk=pk)
        assert (item.state, item.attempts, item.error) == (State.QUEUED, attempt, "Out of memory on the GPU.")
        assert item.not_before is not None
        waits.append((item.not_before - timezone.now()).total_seconds())
        assert actions.score_items(item_ids=[pk]) == 0
        assert WorkItem.objects.get(pk=pk).attempts == attempt  # not before its time
        later(run, 100)
    assert waits == pytest.approx([20, 40], abs=5)  # 10 s x 2^attempts
    actions.score_items(item_ids=[pk])
    item = WorkItem.objects.get(pk=pk)
    assert (item.state, item.attempts) == (State.FAILED, 3)
    item.assignment.refresh_from_db()
    assert item.assignment.failure == "Out of memory on the GPU."


def test_a_row_is_sent_again_when_its_time_has_come(failing_run: Run, django_capture_on_commit_callbacks: Any) -> None:
    run = failing_run
    pk = items(run)[0].pk
    actions.score_items(item_ids=[pk])
    with django_capture_on_commit_callbacks() as callbacks:
        actions.recover_runs()
    assert sent(callbacks) == []
    WorkItem.objects.filter(pk=pk).update(not_before=timezone.now())
    with django_capture_on_commit_callbacks() as callbacks:
        actions.recover_runs()
        actions.recover_runs()
    assert sent(callbacks) == [[pk]]  # once


def test_a_missing_model_fails_the_run_with_what_to_do(study: Study) -> None:
    """On a GPU worker's disk nobody looks before the worker does."""
    run = actions.start_run(study=study, judge=helpers.gpu_judge("/no/such/folder"), by=None)
    assert work(run) == 0
    run = fresh(run)
    assert run.state == Run.State.FAILED
    assert "There is no folder /no/such/folder. Name the folder that holds the model." in run.error
    assert states(run) == {"queued": 3}
    assert {item.attempts for item in items(run)} == {0}


def test_a_run_that_failed_resumes_when_the_cause_is_mended(study: Study, tmp_path: Path) -> None:
    judge = helpers.gpu_judge(str(tmp_path / "later"))
    run = actions.start_run(study=study, judge=judge, by=None)
    work(run)
    assert judge.model is not None
    judge.model.device = "cpu"
    judge.model.save()
    helpers.save_tiny_model(tmp_path / "later")
    actions.resume_run(run=fresh(run))
    assert work(run) == 3
    run = fresh(run)
    assert (run.state, run.error) == (Run.State.FINISHED, "")


def test_a_mistake_of_ours_is_shown_and_the_other_rows_go_on(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    label_row = labelling.label_row

    def mistaken(judge: Judge, assignment: Assignment, *rest: Any) -> Any:
        if assignment.row.name == "Clause 2":
            raise KeyError("oops")
        return label_row(judge, assignment, *rest)

    monkeypatch.setattr(labelling, "label_row", mistaken)
    assert work(run) == 2
    assert run.items.get(state=State.FAILED).error == "A mistake in Palate: KeyError: 'oops'"
    assert "Lease · Clause 2 could not be labelled" in caplog.text
    assert fresh(run).state == Run.State.FINISHED


def test_a_locked_database_is_tried_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*args: Any) -> None:
        raise OperationalError("database is locked")

    with monkeypatch.context() as patch:
        patch.setattr(labelling, "label_row", locked)
        assert work(run) == 0
    assert states(run) == {"queued": 3}
    assert "database is locked" in items(run)[0].error
    later(run, 100)
    assert work(run) == 3
    assert {item.error for item in items(run)} == {""}


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_process_that_is_told_to_stop_gives_its_row_back(
    run: Run, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    def stopped(*args: Any) -> None:
        raise stop

    monkeypatch.setattr(labelling, "label_row", stopped)
    with pytest.raises(stop):
        work(run)
    assert states(run) == {"queued": 3}
    assert items(run)[0].attempts == 0


# --- recovery ---------------------------------------------------------------------------------------------------------


def a_dead_process() -> str:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return processes.this_process().replace(f":{os.getpid()}", f":{child.pid}")


def test_a_process_is_dead_when_it_is_gone_from_this_host() -> None:
    assert processes.is_dead(a_dead_process())
    assert not processes.is_dead(processes.this_process())
    assert not processes.is_dead(processes.this_process().rpartition(":")[0] + ":1")  # somebody else's
    assert not processes.is_dead(OTHER_HOST)
    assert not processes.is_dead("")


def test_the_row_of_a_dead_process_is_free_at_once(run: Run, django_capture_on_commit_callbacks: Any) -> None:
    item = claim(items(run)[0], worker=a_dead_process())
    with django_capture_on_commit_callbacks() as callbacks:
        actions.recover_runs()
    assert sent(callbacks) == [[item.pk]]
    assert work(run) == 3
    assert n_events(run.rater) == 15


def test_the_row_of_a_silent_worker_is_free_when_its_lease_is_over(run: Run) -> None:
    item = claim(items(run)[0])
    actions.recover_runs()
    assert WorkItem.objects.get(pk=item.pk).state == State.CLAIMED
    later(run, 91)
    actions.recover_runs()
    assert WorkItem.objects.get(pk=item.pk).state == State.QUEUED


def test_a_row_at_which_workers_die_comes_after_the_others(run: Run, django_capture_on_commit_callbacks: Any) -> None:
    first, *rest = items(run)
    claim(first, worker=a_dead_process())
    actions.recover_runs()
    with django_capture_on_commit_callbacks() as callbacks:
        actions.recover_runs(at_start=True)
    assert sent(callbacks) == [[*(item.pk for item in rest), first.pk]]


def test_a_row_at_which_workers_always_die_fails(run: Run) -> None:
    first, *rest = items(run)
    actions.score_items(item_ids=[item.pk for item in rest])
    for attempt in range(1, actions.recovery.MAX_DEATHS + 1):
        assert WorkItem.objects.get(pk=first.pk).state == State.QUEUED
        claim(first, worker=a_dead_process(), attempts=attempt)
        actions.recover_runs()
    first.refresh_from_db()
    assert first.state == State.FAILED
    assert first.error == "5 workers died at this row, or fell silent."
    assert fresh(run).state == Run.State.FINISHED


def test_the_row_of_a_dead_worker_of_a_cancelled_run_is_left_queued(run: Run) -> None:
    item = claim(items(run)[0], worker=a_dead_process(), attempts=9)
    actions.cancel_run(run=run)
    actions.recover_runs()
    assert WorkItem.objects.get(pk=item.pk).state == State.QUEUED
    actions.resume_run(run=run)
    assert work(run) == 3


def test_a_run_whose_worker_died_just_before_its_end_is_ended(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(actions.work, "finish_run", lambda **kwargs: None)
        work(run)
    assert fresh(run).state == Run.State.RUNNING
    actions.recover_runs()
    assert fresh(run).state == Run.State.FINISHED


def resent(run: Run, capture: Any, *, at_start: bool = False) -> bool:
    with capture() as callbacks:
        actions.recover_runs(at_start=at_start)
    return bool(sent(callbacks))


def test_lost_messages_are_sent_again_with_growing_patience(run: Run, django_capture_on_commit_callbacks: Any) -> None:
    capture = django_capture_on_commit_callbacks
    for patience in (40, 80, 160):  # 20 s x 2^n after the n-th sending
        later(run, patience - 5)
        assert not resent(run, capture)
        later(run, 10)
        assert resent(run, capture)
    assert fresh(run).enqueued_times == 4


def test_patience_is_short_again_when_work_was_done_since(run: Run, django_capture_on_commit_callbacks: Any) -> None:
    Run.objects.filter(pk=run.pk).update(enqueued_times=7)
    actions.score_items(item_ids=[items(run)[0].pk])
    later(run, 41)
    assert resent(run, django_capture_on_commit_callbacks)


def test_nothing_is_sent_again_while_a_worker_is_at_it(run: Run, django_capture_on_commit_callbacks: Any) -> None:
    claim(items(run)[0], lease_until=timezone.now() + timedelta(hours=1))
    later(run, 1000)
    assert not resent(run, django_capture_on_commit_callbacks)


def test_the_start_of_a_worker_does_not_wait(run: Run, django_capture_on_commit_callbacks: Any) -> None:
    assert not resent(run, django_capture_on_commit_callbacks)
    assert resent(run, django_capture_on_commit_callbacks, at_start=True)


def test_a_finished_run_is_left_alone(run: Run, django_capture_on_commit_callbacks: Any) -> None:
    work(run)
    assert not resent(run, django_capture_on_commit_callbacks, at_start=True)
