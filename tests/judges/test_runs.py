"""The life of a run: started, worked at, cancelled, resumed, failed, recovered. Several processes: see test_worker."""

from __future__ import annotations

import itertools
import os
import platform
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import actions as annotation
from annotation.actions import Refused
from annotation.models import Assignment, Label, Rater, Study
from judges import actions, labelling, processes, queries, tasks
from judges.backends.base import BackendError
from judges.models import Judge, Run, WorkItem
from judges.states import LONG_WORK_PRIORITY
from tests import builders
from tests.judges import helpers
from tests.judges.helpers import items, labels_of, later, n_events, sent, states, work

State = WorkItem.State
OTHER_HOST = "elsewhere/1:4711"


@pytest.fixture
def study(db: None) -> Study:
    return helpers.study_of_leases()


@pytest.fixture
def judge(db: None) -> Judge:
    return helpers.lexical_judge()


@pytest.fixture
def run(study: Study, judge: Judge) -> Run:
    return actions.start_run(study=study, judge=judge, by=None)


def fresh(run: Run) -> Run:
    return Run.objects.select_related("judge", "rater", "study").get(pk=run.pk)


def claim(item: WorkItem, *, worker: str = OTHER_HOST, attempts: int = 1, **changes: Any) -> WorkItem:
    """As a worker that holds the item leaves it when it is killed."""
    WorkItem.objects.filter(pk=item.pk).update(
        **{
            "state": State.CLAIMED,
            "token": uuid.uuid4(),
            "worker": worker,
            "lease_until": timezone.now() + timedelta(seconds=90),
            "attempts": attempts,
            **changes,
        }
    )
    item.refresh_from_db()
    return item


class FailingBackend:
    """Fails as it is told; what a GPU out of memory does."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def score(self, rows: Sequence[Any], on_progress: Callable[[int, int], None] | None = None) -> list[Any]:
        raise self.error

    def identity(self) -> dict[str, str]:
        return {"model": "failing"}


@pytest.fixture
def failing_run(study: Study, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose backend runs out of memory each time."""
    passing = BackendError("Out of memory on the GPU.", permanent=False)
    monkeypatch.setattr(labelling, "backend_of", lambda judge: FailingBackend(passing))
    return actions.start_run(study=study, judge=helpers.gpu_judge("/models/large"), by=None)


# --- start ------------------------------------------------------------------------------------------------------------


def test_a_run_labels_every_row_once_and_ends(run: Run) -> None:
    assert work(run) == 3
    run = fresh(run)
    assert (run.state, states(run)) == (Run.State.FINISHED, {"done": 3})
    assert run.ended_at is not None
    expected = {(f"Clause {n}", *cell): option for n in (1, 2, 3) for cell, option in helpers.LEXICAL_SAYS.items()}
    assert labels_of(run.rater) == expected
    assert n_events(run.rater) == 15  # 3 rows x 5 labels
    assert set(run.rater.assignments.values_list("state", flat=True)) == {Assignment.State.SUBMITTED}


def test_a_judge_whose_labels_came_from_a_file_is_not_started(study: Study, judge: Judge) -> None:
    imported = builders.judge(study, judge.name)
    builders.assignments(imported, study.sheets.get())
    with pytest.raises(Refused, match="“words” has labels in this study that came from a file"):
        actions.start_run(study=study, judge=judge, by=None)
    assert not Run.objects.exists()


def test_a_start_lists_rows_without_their_evidence(study: Study, judge: Judge) -> None:
    with CaptureQueriesContext(connection) as captured:
        actions.start_run(study=study, judge=judge, by=None)
    listed = [query["sql"] for query in captured if query["sql"].startswith('SELECT "annotation_row"')]
    assert len(listed) == 1
    assert "evidence" not in listed[0]


def test_an_item_says_what_was_done_to_it(run: Run) -> None:
    work(run)
    item = items(run)[0]
    assert (item.cells, item.tokens, item.error) == (5, 0, "")
    assert item.seconds > 0
    assert item.worker == processes.this_process()
    assert item.lease_until is None
    assert item.done_at is not None


def test_the_work_goes_to_the_queue_in_batches_when_the_transaction_is_through(
    judge: Judge, django_capture_on_commit_callbacks: Any
) -> None:
    study = helpers.study_of_leases(n_rows=9)
    with django_capture_on_commit_callbacks() as callbacks:
        run = actions.start_run(study=study, judge=judge, by=None)
    batches = sent(callbacks)
    assert [len(batch) for batch in batches] == [4, 4, 1]
    assert [pk for batch in batches for pk in batch] == [item.pk for item in items(run)]


def test_rows_let_others_go_first_on_the_queue(
    study: Study, judge: Judge, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    """Else the dead are recovered, and downloads made, after a long run: Redis gives out a lower number first."""
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(actions.runs.current_app, "send_task", lambda *_args, **options: sent.append(options))
    with django_capture_on_commit_callbacks(execute=True):
        actions.start_run(study=study, judge=judge, by=None)
    assert [options["priority"] for options in sent] == [LONG_WORK_PRIORITY]
    assert (tasks.recover_runs.priority or 0) < LONG_WORK_PRIORITY


def test_a_run_is_there_though_the_queue_cannot_be_reached(
    study: Study,
    judge: Judge,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: Any,
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(actions.runs.current_app, "send_task", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        run = actions.start_run(study=study, judge=judge, by=None)
    assert fresh(run).state == Run.State.RUNNING
    assert "The queue cannot be reached" in caplog.text


def test_only_some_sheets(study: Study, judge: Judge) -> None:
    second = builders.sheet(study, "Loan", n_rows=2)
    run = actions.start_run(study=study, judge=judge, by=None, sheets=[second])
    assert {item.assignment.row.sheet for item in items(run)} == {second}


def test_a_second_run_takes_the_rows_that_came_since(study: Study, judge: Judge, run: Run) -> None:
    work(run)
    builders.row(study.sheets.get(), "Clause 4")
    second = actions.start_run(study=study, judge=judge, by=None)
    assert [item.assignment.row.name for item in items(second)] == ["Clause 4"]
    assert second.rater == run.rater


def test_a_judge_is_assigned_the_sections_that_it_is_asked_about(study: Study) -> None:
    text = "questions: {duties.stated: {lexical: {in: [paragraph], same: stated, part: implied, none: absent}}}"
    judge = actions.create_judge(name="duties-only", method=Judge.Method.LEXICAL, prompt_text=text)
    run = actions.start_run(study=study, judge=judge, by=None)
    assert items(run)[0].assignment.sections == ["duties"]


def test_provenance_of_a_lexical_run(run: Run) -> None:
    work(run)
    said = fresh(run).provenance
    assert said["prompt"] == helpers.LEXICAL
    assert said["prompt_sha256"] == run.judge.prompt.digest
    assert (said["method"], said["normalisation"], said["chat_template"]) == ("lexical", "none", False)
    assert said["workers"] == [
        {"snowballstemmer": said["workers"][0]["snowballstemmer"], "python": platform.python_version()}
    ]


def test_provenance_of_a_models_run(study: Study, tmp_path: Path) -> None:
    judge = helpers.cloze_judge(helpers.save_tiny_model(tmp_path), normalisation="character")
    run = actions.start_run(study=study, judge=judge, by=None)
    work(run)
    said = fresh(run).provenance
    assert said["normalisation"] == "character"
    (worker,) = said["workers"]  # three rows, one kind of worker
    for key in (
        "model",
        "weights",
        "weights_sha256",
        "dtype",
        "device",
        "terminator",
        "torch",
        "transformers",
        "python",
    ):
        assert worker[key], key
    assert len(worker["weights_sha256"]) == 64


# --- refused ----------------------------------------------------------------------------------------------------------


def refusal(study: Study, judge: Judge) -> str:
    with pytest.raises(Refused) as refused:
        actions.start_run(study=study, judge=judge, by=None)
    return str(refused.value)


def test_a_judge_is_at_work_once_in_a_study(study: Study, judge: Judge, run: Run) -> None:
    assert "“words” is at work in this study already" in refusal(study, judge)


def test_the_same_judge_works_in_two_studies_at_once(judge: Judge, run: Run) -> None:
    other = helpers.study_of_leases(slug="loans")
    assert actions.start_run(study=other, judge=judge, by=None).state == Run.State.RUNNING


def test_nothing_is_left(study: Study, judge: Judge, run: Run) -> None:
    work(run)
    assert "has labelled everything already" in refusal(study, judge)


def test_there_is_nothing_to_label(judge: Judge) -> None:
    study = builders.study("empty", of=builders.scheme())
    assert "Import documents first" in refusal(study, judge)
    assert not study.raters.exists()


def test_the_name_of_another_rater(study: Study, judge: Judge) -> None:
    Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code="words")
    assert "Another rater of this study has the code “words”" in refusal(study, judge)


def test_a_prompt_of_another_scheme(judge: Judge) -> None:
    scheme = builders.scheme(
        builders.SCHEME.replace("key: contracts", "key: statutes").replace("key: acts", "key: deeds")
    )
    study = builders.study("statutes", of=scheme)
    assert "no question of the scheme “statutes”" in refusal(study, judge)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("package:no_such_weights", "The Python package no_such_weights, which carries the model, is not installed"),
        ("/no/such/folder", "There is no folder /no/such/folder"),
        ("/no/such/model.gguf", "holds no model.gguf"),
        (__file__, "is a file. Name the folder"),
        ("my model", "“my model” is no place of a model"),
        ("models/llama/8b", "is no place of a model"),
    ],
)
def test_a_model_that_is_missing(study: Study, location: str, said: str) -> None:
    assert said in refusal(study, helpers.cloze_judge(location))


def test_pmi_without_the_question_without_evidence(study: Study) -> None:
    text = "questions: {duties.stated: {cell: x}}"
    judge = helpers.cloze_judge("/models/large", prompt_text=text, normalisation="pmi")
    assert "no “unconditional” text" in refusal(study, judge)


# --- cancel and resume ------------------------------------------------------------------------------------------------


def test_cancelled_work_is_not_taken_up(run: Run) -> None:
    first, *rest = [item.pk for item in items(run)]
    actions.score_items(item_ids=[first])
    actions.cancel_run(run=run)
    assert actions.score_items(item_ids=rest) == 0
    assert fresh(run).state == Run.State.CANCELLED
    assert states(run) == {"done": 1, "queued": 2}


def test_a_run_that_is_cancelled_while_a_row_is_at_work_writes_nothing_of_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_row = labelling.label_row

    def cancelled_meanwhile(*args: Any) -> Any:
        actions.cancel_run(run=run)
        return label_row(*args)

    monkeypatch.setattr(labelling, "label_row", cancelled_meanwhile)
    assert work(run) == 0
    assert states(run) == {"queued": 3}
    assert items(run)[0].attempts == 0
    assert not Label.objects.filter(assignment__rater=run.rater).exists()


def test_a_model_notices_a_cancelled_run_in_the_middle_of_a_row(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = helpers.cloze_judge(helpers.save_tiny_model(tmp_path))
    run = actions.start_run(study=study, judge=judge, by=None)
    ticks = itertools.count(0, 2)  # a clock on which two seconds pass between two looks
    monkeypatch.setattr(actions.work, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    identity = labelling.TransformersBackend.identity

    def cancelled_once_loaded(backend: Any) -> dict[str, str]:
        said = identity(backend)
        hold = actions.work._hold
        monkeypatch.setattr(actions.work, "_hold", lambda *args: (hold(*args), actions.cancel_run(run=run))[0])
        return said

    monkeypatch.setattr(labelling.TransformersBackend, "identity", cancelled_once_loaded)
    told: list[int] = []
    score = labelling.TransformersBackend.score

    def listen(backend: Any, rows: Any, on_progress: Any) -> Any:
        return score(backend, rows, lambda tokens, cells: (told.append(tokens), on_progress(tokens, cells))[1])

    monkeypatch.setattr(labelling.TransformersBackend, "score", listen)
    assert work(run) == 0
    assert len(told) == 1  # it was stopped after the first forward
    assert states(run) == {"queued": 3}


def test_resumed_it_goes_on_with_the_rest(run: Run, django_capture_on_commit_callbacks: Any) -> None:
    first, *rest = [item.pk for item in items(run)]
    actions.score_items(item_ids=[first])
    actions.cancel_run(run=run)
    with django_capture_on_commit_callbacks() as callbacks:
        actions.resume_run(run=run)
    assert sent(callbacks) == [rest]
    assert work(run) == 2
    assert fresh(run).state == Run.State.FINISHED
    assert n_events(run.rater) == 15


def test_a_worker_that_still_holds_a_row_of_a_run_that_was_cancelled_and_resumed_gives_it_up(run: Run) -> None:
    item = actions.work._claim(items(run)[0].pk)
    assert item is not None
    actions.cancel_run(run=run)
    actions.resume_run(run=run)
    assert actions.work._work_at(item) is False
    assert work(run) == 3
    assert n_events(run.rater) == 15


def test_failed_rows_are_tried_again_on_resume(failing_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run = failing_run
    for _ in range(3):
        later(run, 1000)
        work(run)
    assert states(run) == {"failed": 3}
    monkeypatch.undo()
    Judge.objects.filter(pk=run.judge_id).update(method="lexical", model=None, prompt=helpers.lexical_judge().prompt)
    actions.resume_run(run=fresh(run))
    assert set(run.rater.assignments.values_list("state", flat=True)) == {Assignment.State.OPEN}
    assert work(run) == 3
    assert fresh(run).state == Run.State.FINISHED


def test_nothing_is_left_to_resume(run: Run) -> None:
    work(run)
    with pytest.raises(Refused, match="Nothing is left to do"):
        actions.resume_run(run=run)


def test_an_older_run_does_not_resume_beside_a_running_one(study: Study, judge: Judge, run: Run) -> None:
    actions.cancel_run(run=run)
    actions.start_run(study=study, judge=judge, by=None)
    with pytest.raises(Refused, match="at work in this study already"):
        actions.resume_run(run=run)


def test_an_older_run_leaves_what_a_newer_one_has_labelled(study: Study, judge: Judge, run: Run) -> None:
    actions.cancel_run(run=run)
    newer = actions.start_run(study=study, judge=judge, by=None)
    actions.score_items(item_ids=[item.pk for item in items(newer)[:2]])
    actions.cancel_run(run=newer)
    actions.resume_run(run=run)
    assert work(run) == 1
    assert fresh(run).state == Run.State.FINISHED
    assert n_events(run.rater) == 15


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
    updates = [query["sql"] for query in captured if query["sql"].startswith('UPDATE "judges_workitem"')]
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


# --- progress ---------------------------------------------------------------------------------------------------------


def test_progress_counts_rows_and_labels(run: Run) -> None:
    first, second, third = items(run)
    actions.score_items(item_ids=[first.pk])
    claim(second)
    said = queries.progress(fresh(run))
    assert (said.rows, said.done, said.at_work, said.waiting, said.failed) == (3, 1, 1, 1, 0)
    assert (said.cells, said.tokens) == (5, 0)
    assert third.state == State.QUEUED


def test_the_pace_is_that_of_the_last_two_minutes(run: Run, study: Study) -> None:
    """Rows done 0 s, 10 s and 500 s before the last one, each in 6 s: 2 rows, 200 cells, 4,000 tokens in 10 + 6 s."""
    for number, item in enumerate(items(run)):
        ago = timedelta(seconds=(0, 10, 500)[number])
        run.items.filter(pk=item.pk).update(
            state=State.DONE, done_at=timezone.now() - ago, seconds=6, cells=100, tokens=2000
        )
    builders.row(study.sheets.get(), "Clause 4")
    more = WorkItem.objects.create(
        run=run,
        assignment=annotation.assign(rater=run.rater, rows=[study.sheets.get().rows.get(name="Clause 4")])[0],
    )
    said = queries.progress(fresh(run))
    assert said.cells_per_second == pytest.approx(200 / 16, rel=0.01)
    assert said.tokens_per_second == pytest.approx(4000 / 16, rel=0.01)
    assert said.left == timedelta(seconds=8)  # one row at 16 s / 2
    assert more.state == State.QUEUED


def test_no_pace_before_the_first_row(run: Run) -> None:
    said = queries.progress(run)
    assert (said.cells_per_second, said.tokens_per_second, said.left) == (None, None, None)


def test_a_run_that_no_worker_takes_up_says_so(run: Run) -> None:
    assert not queries.progress(fresh(run)).lacks_a_worker
    later(run, 31)
    assert queries.progress(fresh(run)).lacks_a_worker
    claim(items(run)[0])
    assert not queries.progress(fresh(run)).lacks_a_worker


@pytest.mark.parametrize(("seconds", "is_behind"), [(60, True), (-1, False)], ids=["held", "its worker is gone"])
def test_a_run_waits_behind_another_one_while_a_worker_is_at_that(
    study: Study, run: Run, seconds: int, is_behind: bool
) -> None:
    waits = actions.start_run(study=study, judge=helpers.lexical_judge("behind"), by=None)
    claim(items(run)[0])
    later(waits, 31)
    run.items.filter(state=State.CLAIMED).update(lease_until=timezone.now() + timedelta(seconds=seconds))
    said = queries.progress(fresh(waits))
    assert (said.is_behind, said.lacks_a_worker) == (is_behind, not is_behind)
    assert not queries.works_elsewhere("gpu", now=timezone.now())


def test_progress_and_the_list_of_runs_cost_a_fixed_number_of_queries(
    study: Study, run: Run, django_assert_num_queries: Any
) -> None:
    actions.score_items(item_ids=[items(run)[0].pk])
    run = fresh(run)
    with django_assert_num_queries(2):
        queries.progress(run)
    work(run)
    builders.row(study.sheets.get(), "Clause 4")
    actions.start_run(study=study, judge=run.judge, by=None)
    with django_assert_num_queries(1):
        rows = [(each.n_rows, each.n_done, each.n_cells) for each in queries.runs_with_counts(study)]
    assert rows == [(1, 0, 0), (3, 3, 15)]


def test_judges_that_fit_a_study(study: Study) -> None:
    fits = helpers.lexical_judge()
    text = "questions: {duties.kept: {cell: x}}"
    helpers.cloze_judge("/models/large", name="of-another-scheme", prompt_text=text)
    assert queries.judges_for(study) == [fits]


def test_models_with_long_places_get_names_of_their_own(db: None) -> None:
    places = [f"/models/{'deep/' * 40}{name}" for name in ("one", "two")]
    judges = [helpers.cloze_judge(place, name=f"j{n}") for n, place in enumerate(places)]
    again = helpers.cloze_judge(places[0], name="again")
    models = [judge.model for judge in judges]
    assert models[0] is not None
    assert models[1] is not None
    assert models[0].name != models[1].name
    assert again.model == models[0]
