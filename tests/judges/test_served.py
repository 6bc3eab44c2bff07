"""Judges whose model is on a server: created, run from end to end, and what becomes of a run when the server fails."""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError
from django.utils import timezone

from annotation.actions import Refused
from annotation.models import Label
from judges import actions
from judges.models import Judge, Run, WorkItem
from judges.runs import labelling
from llm.backends import transformers as transformers_backend
from llm.backends.base import BackendError
from llm.backends.openai import OpenAIBackend
from llm.models import LanguageModel
from tests import builders
from tests.builders import ClientOf, Leases
from tests.judges import helpers
from tests.judges.helpers import fresh, items, labels_of, later, n_events, states, work
from tests.judges.serving import Running, start
from work import actions as machine

pytestmark = pytest.mark.once

KEY = "sk-a-key-that-nobody-may-see"
NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _short_waits(settings: Any, servers_forgotten: None) -> None:
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}


def started(address: str, leases: Leases, **options: Any) -> Run:
    return actions.start_run(study=leases.study, judge=helpers.served_judge(address, **options), by=None)


def scores_of(run: Run) -> list[dict[str, Any]]:
    labels = Label.objects.filter(assignment__rater=run.rater, preset=False)
    return [label.scores for label in labels.order_by("assignment__row__name", "column__name", "question__key")]


# --- a run ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalisation", ["none", "pmi"])
def test_a_server_labels_as_the_same_model_in_a_worker(
    leases: Leases, server: Running, tmp_path: Path, normalisation: str
) -> None:
    local = actions.start_run(
        study=leases.study,
        judge=helpers.cloze_judge(helpers.save_tiny_model(tmp_path), name="local", normalisation=normalisation),
        by=None,
    )
    work(local)
    transformers_backend._loaded = None
    run = started(server.address, leases, normalisation=normalisation)
    assert work(run) == 2
    assert fresh(run).state == Run.State.FINISHED
    assert labels_of(run.rater) == labels_of(local.rater)
    for ours, theirs in zip(scores_of(run), scores_of(local), strict=True):
        assert ours["options"].keys() == theirs["options"].keys()
        for key, score in ours["options"].items():
            wanted = theirs["options"][key]
            assert score["n_tokens"] == wanted["n_tokens"]
            assert score["logprob"] == pytest.approx(wanted["logprob"], abs=1e-3)
            assert score["unconditional"] == pytest.approx(wanted["unconditional"], abs=1e-3)


def test_the_record_says_which_server_and_which_model(leases: Leases, server: Running) -> None:
    run = started(server.address, leases)
    work(run)
    (worker,) = fresh(run).provenance["workers"]  # one record, though it was asked at each row
    assert (worker["backend"], worker["server"], worker["model"]) == ("openai", server.address, "llama")
    assert worker["prompt_logprobs"] == "prompt_logprobs"
    assert items(run)[0].tokens > 0


def test_the_key_is_in_no_record_label_page_or_log(
    leases: Leases,
    server: Running,
    client_of: ClientOf,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("LAB_API_KEY", KEY)
    server.tell(key=KEY)
    run = started(server.address, leases, api_key_env="LAB_API_KEY")
    assert work(run) == 2
    page = client_of(leases.manager).get(f"/studies/{leases.study.slug}/judges/runs/{run.pk}/").content.decode()
    assert "llama" in page
    assert server.address in page
    root = client_of(builders.user("root", superuser=True))
    admin = root.get(f"/admin/judges/run/{run.pk}/change/").content.decode()
    judge = root.get(f"/admin/llm/languagemodel/{run.judge.model_id}/change/").content.decode()
    assert "LAB_API_KEY" in judge
    for text in (json.dumps(fresh(run).provenance), json.dumps(scores_of(run)), page, admin, judge, caplog.text):
        assert KEY not in text


def test_a_key_that_is_refused_fails_the_run_and_is_not_repeated(
    leases: Leases, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    server.tell(key="another")  # its refusal repeats the key that it was shown
    run = started(server.address, leases, api_key_env="LAB_API_KEY")
    work(run)
    assert fresh(run).state == Run.State.FAILED
    assert "refused the key in the environment variable LAB_API_KEY" in fresh(run).error
    assert KEY not in fresh(run).error


def test_a_key_that_the_worker_has_not_fails_the_run(
    leases: Leases, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_API_KEY", raising=False)
    run = started(server.address, leases, api_key_env="LAB_API_KEY")
    work(run)
    assert "LAB_API_KEY" in fresh(run).error
    assert "Set it where the workers start." in fresh(run).error
    assert server.seen() == []


def test_a_server_without_prompt_log_probabilities_fails_the_run(leases: Leases, server: Running) -> None:
    server.tell(forms=[])
    run = started(server.address, leases)
    assert work(run) == 0
    run = fresh(run)
    assert run.state == Run.State.FAILED
    assert "cannot return prompt log-probabilities, which cloze scoring needs" in run.error
    assert labels_of(run.rater) == {}
    assert states(run) == {"queued": 2}


def test_a_row_longer_than_the_servers_context_fails_and_the_others_go_on(leases: Leases, server: Running) -> None:
    from annotation import actions as annotating
    from annotation.evidence.blocks import Block

    annotating.add_row(sheet=leases.sheet, name="Long", evidence=[Block("paragraph", "rent " * 200)])
    run = started(server.address, leases)
    assert work(run) == 2
    assert "tokens over the model's context" in run.items.get(state="failed").error
    assert fresh(run).state == Run.State.FINISHED


@pytest.mark.parametrize(
    ("form", "lose", "said"),
    [
        ("prompt_logprobs", 1, "log-probabilities of a part of a prompt only"),
        ("prompt_logprobs", -1, "so that nobody can tell which is whose"),
        ("prompt_logprobs", 10_000, "returned no prompt log-probabilities"),
        pytest.param("echo", 1, "log-probabilities of a part of a prompt only", marks=pytest.mark.slow),
        pytest.param("echo", -1, "so that nobody can tell which is whose", marks=pytest.mark.slow),
    ],
)
@pytest.mark.sample(1)
def test_a_wrong_count_of_log_probabilities_is_one_answers_fault_while_the_server_gives_others(
    leases: Leases, server: Running, form: str, lose: int, said: str
) -> None:
    server.tell(forms=[form], lose=lose, lose_in="rent", lose_times=1)
    run = started(server.address, leases)
    assert work(run) == 1
    again = run.items.get(state="queued")
    assert (again.attempts, said in again.error) == (1, True)
    assert fresh(run).state == Run.State.RUNNING
    later(run, 60)
    assert work(run) == 1
    assert fresh(run).state == Run.State.FINISHED
    assert states(run) == {"done": 2}

    server.tell(forms=[form])
    other = started(server.address, leases, name="other")
    work(other)
    assert scores_of(run) == scores_of(other)


def test_a_row_at_which_a_server_always_counts_wrong_fails_and_the_others_go_on(
    leases: Leases, server: Running
) -> None:
    from annotation import actions as annotating
    from annotation.evidence.blocks import Block

    annotating.add_row(sheet=leases.sheet, name="Odd", evidence=[Block("paragraph", "An odd clause.")])
    server.tell(lose=1, lose_in="odd")
    run = started(server.address, leases)
    for _attempt in range(3):
        work(run)
        later(run, 60)
    assert states(run) == {"done": 2, "failed": 1}
    assert "part of a prompt only" in run.items.get(state="failed").error
    assert run.items.get(state="failed").assignment.row.name == "Odd"
    assert fresh(run).state == Run.State.FINISHED


@pytest.mark.parametrize("form", ["prompt_logprobs", "echo"])
@pytest.mark.parametrize("value", ["nan", "-inf", "inf", "null", 2.0])
@pytest.mark.sample(4)
def test_what_is_no_log_probability_is_one_answers_fault_while_the_server_gives_others(
    leases: Leases, server: Running, form: str, value: str | float
) -> None:
    server.tell(forms=[form], replace=value, replace_in="rent", replace_times=1)
    run = started(server.address, leases)
    assert work(run) == 1
    again = run.items.get(state="queued")
    assert (again.attempts, f"returned {value} as a log-probability" in again.error) == (1, True)
    assert fresh(run).state == Run.State.RUNNING
    later(run, 60)
    assert work(run) == 1
    assert fresh(run).state == Run.State.FINISHED
    assert states(run) == {"done": 2}


def test_a_row_at_which_a_server_has_no_number_fails_and_one_that_never_has_any_fails_the_run(
    leases: Leases, server: Running
) -> None:
    from annotation import actions as annotating
    from annotation.evidence.blocks import Block

    annotating.add_row(sheet=leases.sheet, name="Odd", evidence=[Block("paragraph", "An odd clause.")])
    server.tell(replace="nan", replace_in="odd")
    run = started(server.address, leases)
    for _attempt in range(3):
        work(run)
        later(run, 60)
    assert states(run) == {"done": 2, "failed": 1}
    assert "returned nan as a log-probability" in run.items.get(state="failed").error
    assert fresh(run).state == Run.State.FINISHED

    server.tell(replace="nan")
    other = started(server.address, leases, name="other")
    assert work(other) == 0
    assert fresh(other).state == Run.State.FAILED
    assert "returned nan as a log-probability" in fresh(other).error
    assert states(other) == {"queued": 3}


def fails_at_ten_rows(run: Run) -> None:
    for _attempt in range(3):
        work(run)
        later(run, 60)
    assert (fresh(run).state, fresh(run).error) == (Run.State.FAILED, items(run)[0].error)
    assert states(run) == {"failed": 9, "queued": 2}


def test_ten_rows_at_which_a_server_has_no_number_fail_the_run(db: None, server: Running) -> None:
    server.tell(replace="nan", replace_in="rent")
    study, judge = helpers.study_of_leases(n_rows=11), helpers.served_judge(server.address)
    fails_at_ten_rows(actions.start_run(study=study, judge=judge, by=None))


def test_a_server_that_counts_wrong_at_every_row_fails_the_run(db: None, server: Running) -> None:
    """At ten rows in vain; where it does so at the shortest text too, at the first."""
    study = helpers.study_of_leases(n_rows=11)
    server.tell(lose=1, lose_in="rent")
    judge = helpers.served_judge(server.address)
    fails_at_ten_rows(actions.start_run(study=study, judge=judge, by=None))

    server.tell(lose=1)
    other = actions.start_run(study=helpers.study_of_leases(slug="others"), judge=judge, by=None)
    assert work(other) == 0
    assert fresh(other).state == Run.State.FAILED
    assert "part of a prompt only" in fresh(other).error
    assert states(other) == {"queued": 3}


def test_the_command_says_whom_it_asks(leases: Leases, server: Running, capsys: pytest.CaptureFixture[str]) -> None:
    helpers.served_judge(server.address)
    call_command("judge", leases.study.slug, "served")
    said = capsys.readouterr().out
    assert f"served asks llama at {server.address}." in said
    assert "2/2 rows" in said


# --- a server that is away --------------------------------------------------------------------------------------------


def test_a_server_that_dies_in_the_middle_of_a_row_is_waited_for(leases: Leases) -> None:
    with start() as first:
        run = started(first.address, leases)
        one, two = items(run)
        actions.score_items(item_ids=[one.pk])
        first.tell(die_after=5)  # of the 13 requests or more of a row
        assert actions.score_items(item_ids=[two.pk]) == 0
        assert first.process.wait(10) == 1
    two.refresh_from_db()
    assert (two.state, two.attempts) == (WorkItem.State.QUEUED, 0)
    assert "did not answer in 3 attempts; the last one: the connection failed" in two.error
    assert {row for row, *_ in labels_of(run.rater)} == {one.assignment.row.name}
    assert actions.score_items(item_ids=[two.pk]) == 0  # not before its time
    later(run, 21)
    with start("--port", str(first.port)):
        assert work(run) == 1
    run = fresh(run)
    assert (run.state, run.rests, run.rest_until) == (Run.State.FINISHED, 0, None)
    assert n_events(run.rater) == len(labels_of(run.rater))  # each label was written once


@pytest.mark.slow
def test_a_server_that_dies_behind_a_proxy_is_waited_for(leases: Leases, server: Running) -> None:
    run = started(server.address, leases)
    one, two = items(run)
    actions.score_items(item_ids=[one.pk])
    server.tell(failures=["nobody behind it"] * 50)
    assert actions.score_items(item_ids=[two.pk]) == 0
    two.refresh_from_db()
    assert (two.state, two.attempts) == (WorkItem.State.QUEUED, 0)
    assert "Connection error." in two.error
    server.tell()
    later(run, 21)
    assert work(run) == 1
    assert (fresh(run).state, fresh(run).rests) == (Run.State.FINISHED, 0)


@pytest.mark.parametrize("failure", ["503", "hang up", "nobody behind it"])
@pytest.mark.sample(1)
def test_a_server_that_comes_back_with_another_model_fails_the_run(
    leases: Leases, server: Running, failure: str
) -> None:
    run = started(server.address, leases)
    one, two = items(run)
    assert actions.score_items(item_ids=[one.pk]) == 1
    server.tell(failures=[failure], folder="others")
    assert actions.score_items(item_ids=[two.pk]) == 0
    assert fresh(run).state == Run.State.FAILED
    assert "came back with another model: others/llama. When this run began it was weights/llama." in fresh(run).error
    assert {row for row, *_ in labels_of(run.rater)} == {one.assignment.row.name}
    actions.resume_run(run=fresh(run))
    assert work(run) == 1
    workers = fresh(run).provenance["workers"]
    assert [worker["served_model"] for worker in workers] == ["weights/llama", "others/llama"]


def test_it_fails_it_too_where_the_work_was_sent_again_meanwhile(leases: Leases, server: Running) -> None:
    run = started(server.address, leases)
    one, two = items(run)
    assert actions.score_items(item_ids=[one.pk]) == 1
    server.tell(failures=["503"] * 50)
    assert actions.score_items(item_ids=[two.pk]) == 0
    server.tell(folder="others")
    ago = timezone.now() - timedelta(minutes=2)
    Run.objects.filter(pk=run.pk).update(enqueued_at=ago, rest_until=ago)
    run.items.filter(pk=two.pk).update(not_before=ago)
    run.items.filter(pk=one.pk).update(done_at=ago - timedelta(minutes=1))
    machine.recover()
    assert fresh(run).enqueued_times == 2
    assert work(run) == 0
    assert fresh(run).state == Run.State.FAILED
    assert "came back with another model: others/llama. When this run began it was weights/llama." in fresh(run).error
    actions.resume_run(run=fresh(run))
    assert work(run) == 1
    workers = fresh(run).provenance["workers"]
    assert [worker["served_model"] for worker in workers] == ["weights/llama", "others/llama"]


def test_it_fails_a_run_in_which_nobody_found_it_away_once_another_run_has_asked_who_it_is(
    leases: Leases, server: Running
) -> None:
    run = started(server.address, leases)
    one, two = items(run)
    assert actions.score_items(item_ids=[one.pk]) == 1
    server.tell(folder="others")
    judge = Judge.objects.get()
    other = actions.start_run(study=helpers.study_of_leases(slug="others"), judge=judge, by=None)
    assert work(other) == 3
    assert actions.score_items(item_ids=[two.pk]) == 0
    assert fresh(run).state == Run.State.FAILED
    assert "came back with another model: others/llama. When this run began it was weights/llama." in fresh(run).error
    actions.resume_run(run=fresh(run))
    assert work(run) == 1


@pytest.mark.parametrize("changed", [{"failures": ["503"]}, {"failures": ["429"], "folder": "others"}])
def test_a_server_that_is_the_same_or_was_only_busy_is_asked_on(
    leases: Leases, server: Running, changed: dict[str, Any]
) -> None:
    run = started(server.address, leases)
    one, two = items(run)
    actions.score_items(item_ids=[one.pk])
    server.tell(**changed)
    assert actions.score_items(item_ids=[two.pk]) == 1
    assert fresh(run).state == Run.State.FINISHED


def test_a_server_that_stays_away_fails_the_run_which_can_be_resumed(
    leases: Leases, server: Running, client_of: ClientOf
) -> None:
    run = started(NOWHERE, leases)
    waits = []
    for rests in (1, 2):
        assert work(run) == 0
        run = fresh(run)
        assert (run.state, run.rests) == (Run.State.RUNNING, rests)
        assert run.rest_until is not None
        waits.append((run.rest_until - timezone.now()).total_seconds())
        assert {item.not_before for item in items(run)} == {run.rest_until}  # the other row waits too
        later(run, 100)
    assert waits == pytest.approx([20, 40], abs=5)  # 10 s x 2^rests
    assert work(run) == 0
    run = fresh(run)
    assert run.state == Run.State.FAILED
    assert f"{NOWHERE} did not answer in 3 attempts" in run.error
    assert states(run) == {"queued": 2}
    page = client_of(leases.manager).get(f"/studies/{leases.study.slug}/judges/runs/{run.pk}/").content.decode()
    assert "See whether the server runs, and try again." in page
    assert ">Resume</button>" in page
    LanguageModel.objects.update(location=server.address)
    actions.resume_run(run=run)
    assert work(run) == 2
    assert fresh(run).state == Run.State.FINISHED


def test_of_workers_that_find_nobody_at_the_same_time_one_counts(leases: Leases) -> None:
    run = started(NOWHERE, leases)
    for held in [helpers.held(item) for item in items(run)]:
        machine.do_held(held)
    assert fresh(run).rests == 1
    assert states(run) == {"queued": 2}


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"location": "ftp://lab/v1"}, "begins with http:// or https://"),
        ({"location": "gpu-box:8000/v1"}, "begins with http:// or https://"),
        ({"location": "https://me:secret@lab/v1"}, "carries no password"),
        ({"served_name": ""}, "the name by which the server knows the model"),
        ({"api_key_env": "sk-12345"}, "Never give the key itself"),
        ({"api_key_env": "lab_key"}, "capital letters"),
        ({"api_key_env": "1KEY"}, "capital letters"),
        ({"api_key_env": "LAB_API_KEY\n"}, "capital letters"),
        ({"api_key_env": "SECRET_KEY"}, "PALATE_KEY_VARIABLES"),
        ({"api_key_env": "AWS_SECRET_ACCESS_KEY"}, "PALATE_KEY_VARIABLES"),
    ],
)
def test_a_server_that_could_never_work_is_refused(named: dict[str, str], sentence: str) -> None:
    model = LanguageModel(**{"backend": "openai", "location": "http://lab/v1", "served_name": "llama", **named})
    with pytest.raises(BackendError, match=sentence) as refused:
        labelling.check_model(model)
    assert refused.value.permanent
    assert "secret@" not in str(refused.value)
    assert "12345" not in str(refused.value)


def test_an_address_is_no_place_of_weights() -> None:
    with pytest.raises(BackendError, match="Say that the model is on a server"):
        labelling.check_model(LanguageModel(location="http://lab:8000/v1"))


@pytest.mark.django_db
def test_the_chat_form_of_a_server_is_refused_when_the_judge_is_created() -> None:
    with pytest.raises(Refused, match="A server scores plain prompts only"):
        helpers.served_judge("http://lab/v1", chat_template=True)
    assert not Judge.objects.exists()
    assert not LanguageModel.objects.exists()


def test_a_model_that_was_moved_to_a_server_afterwards_is_refused_at_the_start(leases: Leases) -> None:
    judge = helpers.cloze_judge("nobody/model", chat_template=True)
    assert judge.model is not None
    judge.model.backend, judge.model.location, judge.model.served_name = "openai", "http://lab/v1", "llama"
    judge.model.save()
    with pytest.raises(Refused, match="plain prompts only"):
        actions.start_run(study=leases.study, judge=judge, by=None)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "named",
    [
        {"backend": "openai", "served_name": ""},
        {"backend": "openai", "served_name": "llama", "revision": "main"},
        {"backend": "openai", "served_name": "llama", "device": "cuda"},
        {"backend": "openai", "served_name": "llama", "requests_per_minute": 0},
        {"backend": "transformers", "served_name": "llama"},
        {"backend": "transformers", "api_key_env": "LAB_API_KEY"},
        {"backend": "transformers", "requests_per_minute": 60},
    ],
)
def test_the_database_keeps_backends_apart(named: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError):
        LanguageModel.objects.create(name="x", location="http://lab/v1", **named)


@pytest.mark.django_db
def test_judges_share_a_server_only_with_the_same_key_and_limit() -> None:
    first = helpers.served_judge("http://lab/v1", name="a", api_key_env="LAB_API_KEY", requests_per_minute=60)
    again = helpers.served_judge("http://lab/v1", name="b", api_key_env="LAB_API_KEY", requests_per_minute=60)
    other = helpers.served_judge("http://lab/v1", name="c", api_key_env="OTHER_API_KEY", requests_per_minute=60)
    assert first.model == again.model
    assert other.model is not None
    assert other.model.name == "llama http://lab/v1 (2)"
    backend = labelling.backend_of(first)
    assert isinstance(backend, OpenAIBackend)
    assert (backend.base_url, backend.model) == ("http://lab/v1", "llama")
    assert (backend.api_key_env, backend.requests_per_minute) == ("LAB_API_KEY", 60)


def test_other_variables_may_hold_a_key_where_the_installation_lists_them(settings: Any) -> None:
    settings.PALATE_KEY_VARIABLES = ["LAB_TOKEN"]
    made = LanguageModel(backend="openai", location="http://lab/v1", served_name="m", api_key_env="LAB_TOKEN")
    labelling.check_model(made)
    made.api_key_env = "OTHER_TOKEN"
    with pytest.raises(BackendError, match="PALATE_KEY_VARIABLES"):
        labelling.check_model(made)
