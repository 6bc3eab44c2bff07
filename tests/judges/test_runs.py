"""Runs that go well: started, refused, cancelled, resumed. Several processes: see test_worker."""

from __future__ import annotations

import itertools
import json
import platform
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.models import Assignment, Label, Rater, Role, Study, User
from judges import actions, queries
from judges.models import Judge, Run, WorkItem
from judges.runs import labelling
from llm.backends.transformers import TransformersBackend
from reports import actions as reporting
from reports.data.arrays import Filters
from reports.exports.making import path_of
from tests import builders
from tests.annotation.importing import problems_of
from tests.builders import ClientOf
from tests.judges import helpers
from tests.judges.helpers import fresh, items, labels_of, later, n_events, sent, states, work
from work import actions as machine
from work import processes
from work.actions import holding

State = WorkItem.State


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


def test_a_file_adds_nothing_to_a_judge_that_has_run(run: Run) -> None:
    work(run)
    text = "rater,rater_kind,row,section,column,question,answer\nwords,judge,Clause 4,duties,Insure,stated,absent\n"
    (problem,) = problems_of(run.study, text)
    assert "“words” is a judge of this study already" in problem


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


def test_a_judge_that_is_made_in_a_study_takes_no_raters_code(study: Study) -> None:
    Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code="A1")
    with pytest.raises(Refused, match="Another rater of this study has the code “A1”"):
        actions.create_judge(name="A1", method="lexical", prompt_text="", study=study)
    assert not Judge.objects.filter(name="A1").exists()


def test_its_page_says_that_its_name_is_taken(study: Study, judge: Judge, client_of: ClientOf) -> None:
    Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code="words")
    manager = User.objects.create_user("mia")
    annotating.add_member(study=study, user=manager, role=Role.MANAGER)
    page = client_of(manager).get(f"/studies/{study.slug}/judges/{judge.pk}/").content.decode()
    assert "Another rater of this study has the code “words”." in page
    assert "A run over the study" not in page
    assert "/start/" not in page


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
        ("/no/such/model.gguf", "There is no file /no/such/model.gguf."),
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


def test_a_run_that_is_cancelled_while_a_row_is_at_work_writes_nothing_of_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_row = labelling.label_row

    def cancelled_meanwhile(*args: Any, **named: Any) -> Any:
        actions.cancel_run(run=run)
        return label_row(*args, **named)

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
    monkeypatch.setattr(holding, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    identity = TransformersBackend.identity

    def cancelled_once_loaded(backend: Any) -> dict[str, str]:
        said = identity(backend)
        hold = holding.Held.hold
        monkeypatch.setattr(holding.Held, "hold", lambda *args: (hold(*args), actions.cancel_run(run=run))[0])
        return said

    monkeypatch.setattr(TransformersBackend, "identity", cancelled_once_loaded)
    told: list[int] = []
    score = TransformersBackend.score

    def listen(backend: Any, rows: Any, on_progress: Any) -> Any:
        return score(backend, rows, lambda tokens, cells: (told.append(tokens), on_progress(tokens, cells))[1])

    monkeypatch.setattr(TransformersBackend, "score", listen)
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
    held = helpers.held(items(run)[0])
    actions.cancel_run(run=run)
    actions.resume_run(run=run)
    assert machine.do_held(held) is False
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


def test_a_download_has_what_each_judge_was_asked_and_what_did_it(
    study: Study, run: Run, settings: Any, tmp_path: Path
) -> None:
    settings.PALATE_EXPORTS = tmp_path
    work(run)
    export = reporting.ask_for_export(study=study, form="zip", filters=Filters(), by=None)
    reporting.make_export(export_id=export.pk)
    export.refresh_from_db()
    with zipfile.ZipFile(path_of(export)) as archive:
        told = json.loads(archive.read("judges/words.json"))
        readme = archive.read("README.md").decode()
    assert (told["prompt"], told["method"]) == (helpers.LEXICAL, "lexical")
    assert told["prompt_sha256"] == run.judge.prompt.digest
    (record,) = told["runs"]
    assert record["workers"][0]["snowballstemmer"]
    assert "judges/*.json" in readme
    assert queries.records(study, before=run.started_at) == {}
