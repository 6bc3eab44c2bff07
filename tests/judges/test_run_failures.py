"""Runs that do not: two workers at one row, rows that fail, workers that die."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from annotation import actions as annotating
from annotation.models import Assignment, Label, Study
from judges import actions, queries
from judges.models import Judge, Run, WorkItem
from judges.runs import labelling
from tests.judges import helpers
from tests.judges.helpers import OTHER_HOST, claim, fresh, items, later, n_events, sent, states, work
from tests.work.test_machine import a_dead_process
from work import actions as machine

State = WorkItem.State


# --- two at once ------------------------------------------------------------------------------------------------------


def test_the_same_message_twice_changes_nothing(run: Run) -> None:
    assert work(run) == 3
    assert work(run) == 0
    assert n_events(run.rater) == 15


def test_a_worker_whose_row_was_given_to_another_one_writes_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = items(run)[0]
    label_row = labelling.label_row

    def slept_meanwhile(*args: Any, **named: Any) -> Any:
        monkeypatch.undo()
        later(run, 1000)
        WorkItem.objects.filter(pk=first.pk).update(worker=OTHER_HOST)
        machine.recover()
        assert actions.score_items(item_ids=[first.pk]) == 1
        return label_row(*args, **named)

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


# --- failures ---------------------------------------------------------------------------------------------------------


def test_a_row_that_cannot_be_labelled_fails_and_the_others_go_on(study: Study, judge: Judge) -> None:

    annotating.add_row(sheet=study.sheets.get(), name="Empty", evidence=[])
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

    def mistaken(judge: Judge, assignment: Assignment, *rest: Any, **named: Any) -> Any:
        if assignment.row.name == "Clause 2":
            raise KeyError("oops")
        return label_row(judge, assignment, *rest, **named)

    monkeypatch.setattr(labelling, "label_row", mistaken)
    assert work(run) == 2
    assert run.items.get(state=State.FAILED).error == "A mistake in Palate: KeyError: 'oops'"
    assert "Lease · Clause 2 could not be done" in caplog.text
    assert fresh(run).state == Run.State.FINISHED


def test_a_locked_database_is_tried_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*args: Any, **named: Any) -> None:
        raise OperationalError("database is locked")

    with monkeypatch.context() as patch:
        patch.setattr(labelling, "label_row", locked)
        assert work(run) == 0
    assert states(run) == {"queued": 3}
    assert "database is locked" in items(run)[0].error
    later(run, 100)
    assert work(run) == 3
    assert {item.error for item in items(run)} == {""}


# --- recovery ---------------------------------------------------------------------------------------------------------


def test_the_row_of_a_dead_process_is_free_at_once(run: Run, django_capture_on_commit_callbacks: Any) -> None:
    item = claim(items(run)[0], worker=a_dead_process())
    with django_capture_on_commit_callbacks() as callbacks:
        machine.recover()
    assert sent(callbacks) == [[item.pk]]
    assert work(run) == 3
    assert n_events(run.rater) == 15


def test_a_row_at_which_workers_always_die_fails(run: Run) -> None:
    first, *rest = items(run)
    actions.score_items(item_ids=[item.pk for item in rest])
    for attempt in range(1, machine.MAX_DEATHS + 1):
        assert WorkItem.objects.get(pk=first.pk).state == State.QUEUED
        claim(first, worker=a_dead_process(), attempts=attempt)
        machine.recover()
    first.refresh_from_db()
    assert first.state == State.FAILED
    assert first.error == "5 workers died at this row, or fell silent."
    assert fresh(run).state == Run.State.FINISHED
