"""Texts that models write for the rows of a study: what is asked for, runs, the record, pages, files, API."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from annotation.actions import Refused
from annotation.models import Row
from judges.generating import actions, planning, queries
from judges.generating.planning import Named, PlanRefused
from judges.models import GenerationItem, GenerationRun
from llm import actions as llm
from llm.backends.base import BackendError, Unavailable
from llm.engine.prompt import PromptTooLong
from llm.generating.wordings import PromptType
from llm.models import Generation
from recipes.memorization.actions import add_names
from recipes.memorization.names import read_names
from tests import builders
from tests.builders import ApiOf, ClientOf
from tests.judges import generations
from tests.judges.completion_server import THOUGHT
from tests.judges.generations import BARE, GENERAL, SMOLLM2, dishes, model, started, wanted, work, writes
from tests.judges.helpers import later
from tests.judges.serving import Running
from work import actions as machine
from work.states import RunState

pytestmark = [pytest.mark.django_db, pytest.mark.once]

# --- what is asked for ------------------------------------------------------------------------------------------------


def test_each_text_of_a_type_has_another_wording_and_a_seed_of_its_own() -> None:
    names = [Named(1, "Paella", {"region": "Spain"}), Named(2, "Gyoza", {})]
    texts = planning.texts(names, wanted(GENERAL, BARE, per_type=3))
    assert [(text.name, text.type, text.number, text.seed) for text in texts[:4]] == [
        ("Paella", "general", 1, 7),
        ("Paella", "general", 2, 8),
        ("Paella", "general", 3, 9),
        ("Paella", "freestyle", 1, 7),
    ]
    assert [text.asked for text in texts[:4]] == [
        "Write a recipe for Paella.", "How is Paella made?", "Write a recipe for Paella.", "Paella",
    ]  # fmt: skip
    assert len({(text.row, text.asked, text.seed) for text in texts}) == len(texts) == 12


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (wanted(GENERAL, temperature=0, per_type=3), "has 2"),
        (wanted(GENERAL, GENERAL), "Two types"),
        (wanted(per_type=0), "From 1 to 100"),
        (planning.Wanted((), 1, 0.7, 10), "Choose a type"),
    ],
    ids=["the same again", "twice", "none", "no type"],
)
def test_a_plan_that_makes_no_sense_is_refused(of: planning.Wanted, said: str) -> None:
    with pytest.raises(PlanRefused, match=said):
        planning.texts([Named(1, "Paella", {})], of)


def test_no_model_is_asked_with_a_gap() -> None:
    """Two dishes of three have no region, and nothing would stand behind “as in”."""
    of = PromptType("region", "Region", ("Cook $name.", "Cook $name as in $region."))
    names = [Named(1, "Paella", {"region": "Spain"}), Named(2, "Gyoza", {"region": ""}), Named(3, "Coleslaw", {})]
    with pytest.raises(PlanRefused, match=r"“Gyoza”, which has nothing for \$region \(2 of 3 have not\)"):
        planning.texts(names, wanted(of))
    assert [text.asked for text in planning.texts(names[:1], wanted(of))] == [
        "Cook Paella.",
        "Cook Paella as in Spain.",
    ]
    assert len(planning.texts(names, wanted(of, per_type=1))) == 3  # the second wording is not taken


# --- runs -------------------------------------------------------------------------------------------------------------


def test_texts_that_were_asked_for_before_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second click, more texts of a type, a dish that came later: none is written twice."""
    writes(monkeypatch, lambda prompt, seed: f"{prompt} {seed}")
    study = dishes()
    first = started(study)
    with pytest.raises(Refused, match="All of these texts were asked for before"):
        started(study)
    work(first)
    add_names(study=study, sheet="Dishes", names=read_names("Gyoza"))
    found = queries.names_of(study)
    more = wanted(per_type=3)
    estimated = queries.estimate(study=study, names=found, models=[first.model], wanted=more)
    assert (estimated.texts, estimated.before, estimated.tokens) == (9, 4, 5 * 40)
    second = started(study, more)
    asked = second.items.order_by("pk").values_list("row__name", "number", "generation__seed")
    assert list(asked) == [("Koshari", 3, 9), ("Coleslaw", 3, 9), ("Gyoza", 1, 7), ("Gyoza", 2, 8), ("Gyoza", 3, 9)]
    work(second)
    assert started(study, wanted(longest=80)).items.count() == 6  # longer ones are others
    assert started(study, wanted(temperature=0)).items.count() == 6
    with pytest.raises(Refused, match="asked for before"):
        started(study, replace(wanted(temperature=0), seed=70))  # nothing is drawn by it


def test_texts_that_a_run_never_wrote_can_be_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    writes(monkeypatch, "Boil it.")
    study = dishes()
    actions.cancel(run=started(study))
    assert started(study).items.count() == 4


def test_a_run_writes_each_text_once_with_its_whole_record(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = writes(monkeypatch, lambda prompt, seed: f"{prompt} Boil it, {seed}.")
    run = started(dishes())
    work(run)
    assert run.state == RunState.FINISHED
    assert run.provenance["workers"][0]["model"] == "scripted"
    texts = [item.generation for item in queries.texts_of(run)]
    assert [(one.input, one.seed, one.text) for one in texts] == [
        ("Koshari", 7, "Write a recipe for Koshari. Boil it, 7."),
        ("Koshari", 8, "How is Koshari made? Boil it, 8."),
        ("Coleslaw", 7, "Write a recipe for Coleslaw. Boil it, 7."),
        ("Coleslaw", 8, "How is Coleslaw made? Boil it, 8."),
    ]
    first = texts[0]
    assert (first.prompt.text, first.asked) == ("Write a recipe for $name.\n", "Write a recipe for Koshari.")
    assert (first.finish, first.identity, first.temperature, first.max_new_tokens) == (
        "stop",
        {"model": "scripted"},
        0.7,
        40,
    )
    assert first.written_at is not None
    assert len(backend.asked) == 4


def test_texts_are_written_together_with_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    backend, calls = writes(monkeypatch, lambda prompt, seed: f"{prompt} {seed}."), []
    whole = backend.generate

    def counted(prompts: Sequence[str], *args: Any, **named: Any) -> list[Any]:
        calls.append(len(prompts))
        return whole(prompts, *args, **named)

    monkeypatch.setattr(backend, "generate", counted)
    study, writer = dishes(), model()

    call_command("generate", study.slug, writer.name, "--type=general", "--per-type=2", "--together")

    run = GenerationRun.objects.get()
    assert run.request["together"] is True
    assert calls == [4]
    texts = [item.generation for item in queries.texts_of(run)]
    assert [one.seed for one in texts] == [1, 2, 1, 2]
    assert [one.text for one in texts] == [f"{one.asked} {one.seed}." for one in texts]


def test_texts_that_are_written_together_are_given_back_where_the_run_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = started(dishes(), replace(wanted(), together=True))

    def pressed(prompt: str, _seed: int) -> str:
        if GenerationRun.objects.get(pk=run.pk).state != RunState.CANCELLED:
            actions.cancel(run=run)
        return prompt

    backend = writes(monkeypatch, pressed)
    work(run)
    assert not Generation.objects.filter(text__isnull=False).exists()
    assert run.items.filter(state="queued", attempts=0).count() == 4
    backend.says = lambda prompt, _seed: prompt
    actions.resume(run=run, enqueue=False)
    work(run)
    assert (run.state, {item.generation.text for item in queries.texts_of(run)}) == (
        RunState.FINISHED,
        {
            wording
            for name in ("Koshari", "Coleslaw")
            for wording in (f"Write a recipe for {name}.", f"How is {name} made?")
        },
    )


def test_signs_are_stored_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {7: "I'm sorry, but I cannot help with that.", 8: "Add the rice and stir it. " * 9}
    writes(monkeypatch, lambda _prompt, seed: said[seed], cut=True)
    run = started(dishes())
    work(run)
    given = queries.written(run)
    assert ({str(sign): n for sign, n in given.signs.items()}, given.cut, given.texts) == (
        {"refusal": 2, "loop": 2},
        4,
        4,
    )
    assert queries.having(queries.texts_of(run), sign="loop").count() == 2
    assert queries.having(queries.texts_of(run), sign="none").count() == 0


def test_cancelled_and_resumed_no_text_is_written_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = writes(monkeypatch, lambda prompt, _seed: prompt)
    run = started(dishes())
    assert machine.take_up(run)
    actions.cancel(run=run)
    work(run)
    assert (run.state, len(backend.asked)) == (RunState.CANCELLED, 1)
    actions.resume(run=run, enqueue=False)
    work(run)
    assert (run.state, len(backend.asked)) == (RunState.FINISHED, 4)
    with pytest.raises(Refused, match="Nothing is left"):
        actions.resume(run=run)


def test_a_run_that_is_cancelled_while_a_text_is_written_stores_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(dishes())

    def pressed(prompt: str, _seed: int) -> str:
        actions.cancel(run=run)
        return prompt

    writes(monkeypatch, pressed)
    work(run)
    assert not Generation.objects.filter(text__isnull=False).exists()
    assert run.items.filter(state="queued").count() == 4


@pytest.mark.parametrize(
    ("error", "state", "said"),
    [
        (BackendError("No such model.", permanent=True), RunState.FAILED, "No such model."),
        (Unavailable("The server is away."), RunState.RUNNING, ""),
    ],
    ids=["missing", "away"],
)
def test_what_is_wrong_with_the_model_is_said(
    error: Exception, state: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_prompt: str, _seed: int) -> str:
        raise error

    writes(monkeypatch, fails)
    run = started(dishes())
    assert machine.take_up(run)
    run.refresh_from_db()
    assert (run.state, run.error) == (state, said)


def test_a_prompt_that_does_not_fit_fails_its_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = writes(monkeypatch, "Boil it.")
    whole = backend.generate

    def some_too_long(prompts, sampling, on_progress=None):  # type: ignore[no-untyped-def]
        too_long = [PromptTooLong(tokens=90, context=80) for prompt in prompts if "Koshari" in prompt]
        return too_long or whole(prompts, sampling, on_progress)

    monkeypatch.setattr(backend, "generate", some_too_long)
    run = started(dishes())
    work(run)
    assert [item.state for item in queries.texts_of(run)] == ["failed", "failed", "done", "done"]
    assert "model takes 80" in run.items.filter(state="failed")[0].error


THOUGHT_ALONE = "The model thought until its text was cut off, so that there is none."


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("<think>\nIs it rice?\n</think>\n\nBoil the rice.", "Boil the rice."),
        ("Is it rice?</think>\n\nBoil the rice.", "Boil the rice."),  # the prompt began the thought
        ("\n Boil the rice.\n", "\n Boil the rice.\n"),  # nothing was thought, and the text stays as it was written
        ("<think>Well.</think>", ""),
    ],
    ids=["first", "begun by the prompt", "none", "nothing else"],
)
def test_what_a_model_thinks_first_is_no_part_of_its_text(
    answer: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes(monkeypatch, answer)
    run = started(dishes("Coleslaw"), wanted(per_type=1))
    work(run)
    generation = run.items.get().generation
    assert (generation.text, list(generation.signs)) == (text, [] if text else ["empty"])


@pytest.mark.parametrize("together", [False, True])
def test_a_text_that_is_cut_off_in_a_thought_fails_alone(together: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    writes(
        monkeypatch, lambda prompt, _seed: "<think>Is it" if "Koshari" in prompt else "<think>?</think>Cut", cut=True
    )
    run = started(dishes(), replace(wanted(), together=together))
    work(run)
    assert [item.state for item in queries.texts_of(run)] == ["failed", "failed", "done", "done"]
    for item in run.items.filter(state="failed"):
        assert item.error.startswith(THOUGHT_ALONE)
        assert item.generation.text is None
    assert {item.generation.text for item in run.items.filter(state="done")} == {"Cut"}


@pytest.mark.model
@pytest.mark.parametrize("where", ["text", "reasoning_content"])
@pytest.mark.sample(1)
def test_thoughts_that_a_server_leaves_in_its_answers_are_left_out(server: Running, where: str) -> None:
    served = llm.store_model(location=server.address, backend="openai", served_name="chat")

    def texts(longest: int) -> GenerationRun:
        of = wanted(per_type=1, longest=longest)
        (run,) = actions.start(study=study, models=[served], wanted=of, by=None, enqueue=False)
        work(run)
        return run

    study = dishes("Coleslaw")
    plain = texts(longest=8).items.get().generation
    server.tell(thinks=where)
    thinking = texts(longest=8 + len(THOUGHT)).items.get().generation
    assert plain.text
    assert thinking.text == (plain.text.lstrip() if where == "text" else plain.text)
    failed = texts(longest=12).items.get()
    assert failed.error.startswith(THOUGHT_ALONE)
    assert failed.tokens > failed.written >= 12  # what it took is counted


def test_a_dead_workers_text_goes_to_another_and_is_there_once(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = writes(monkeypatch, lambda prompt, _seed: prompt)
    run = started(dishes())
    item = run.items.first()
    assert machine.claim(actions.GENERATING, item.pk) is not None
    GenerationItem.objects.filter(pk=item.pk).update(worker="elsewhere/1:4711")
    later(run, 3600)
    machine.recover()
    work(run)
    assert (run.state, len(backend.asked)) == (RunState.FINISHED, 4)


def test_names_can_be_those_with_a_chosen_answer_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    study = dishes()
    rater = builders.rater(study, builders.user("anna"))
    sheet = study.sheets.get()
    first, second = builders.assignments(rater, sheet)
    column = sheet.columns.get().name
    builders.label(first, {(column, "examined"): "yes", (column, "reason"): "region"})
    builders.label(second, {(column, "examined"): "no", (column, "reason"): "known"})
    assert [name.name for name in queries.names_of(study, answer="choice.examined=yes")] == ["Koshari"]
    run = started(study, answer="choice.examined=yes")
    assert run.items.count() == 2
    Row.objects.filter(name="Koshari").delete()
    with pytest.raises(Refused, match="no row to write about"):
        started(study, answer="choice.examined=yes")


# --- the same record writes the same text -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.once
def test_smollm2_writes_the_same_text_again_from_the_same_record() -> None:
    """Drawn, not greedy: the same seed draws the same words, another seed others, whatever was written in between."""
    study = dishes("Coleslaw")
    of = wanted(GENERAL, per_type=2, temperature=0.9, longest=24)
    (run,) = actions.start(study=study, models=[generations.model(SMOLLM2)], wanted=of, by=None, enqueue=False)
    work(run)
    one, other = queries.texts_of(run)
    assert one.generation.text
    assert one.generation.text != other.generation.text
    assert (one.generation.finish, one.generation.tokens) == ("length", 24)
    assert len(one.generation.weights) == 64
    again = actions.write_again(item=one, by=None, enqueue=False)
    work(again)
    (told,) = queries.written_again(one.generation)
    assert (told.is_same, told.same_weights) == (True, True)
    assert told.item.generation.pk != one.generation.pk
    once_more = actions.write_again(item=told.item, by=None, enqueue=False)  # of a repeat: of the same record
    work(once_more)
    assert [each.is_same for each in queries.written_again(one.generation)] == [True, True]


def test_a_text_that_comes_out_otherwise_is_told_from_where_on(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = writes(monkeypatch, "Boil the rice.")
    run = started(dishes("Coleslaw"), wanted(per_type=1))
    with pytest.raises(Refused, match="not written yet"):
        actions.write_again(item=run.items.get(), by=None)
    work(run)
    backend.says = "Boil the beans."
    work(actions.write_again(item=run.items.get(), by=None, enqueue=False))
    (told,) = queries.written_again(run.items.get().generation)
    assert (told.is_same, told.differs_at) == (False, 9)
    assert list(queries.source_texts(run.study)) == [run.items.get().row_id]
    assert [text.text for text in queries.source_texts(run.study)[run.items.get().row_id]] == ["Boil the rice."]


# --- pages, files, API ------------------------------------------------------------------------------------------------


def test_from_the_form_to_the_texts(client_of: ClientOf, monkeypatch: pytest.MonkeyPatch) -> None:
    writes(monkeypatch, lambda prompt, seed: f"=1+1 {prompt}" if seed == 1 else "I'm sorry, but I can't help.")
    mara = builders.user("mara")
    study, writer = dishes(by=mara), generations.model()
    browser, base = client_of(mara), f"/studies/{study.slug}/texts/"
    assert "come here when you start a run" in browser.get(base).content.decode()
    page = browser.get(f"{base}new/").content.decode()
    assert "More detail" in page
    assert "Sketch a recipe for $name" in page
    form = {
        "models": [writer.pk], "types": ["general", "freestyle"],
        "own": "type;wording\nLetter;Dear cook, how is $name made?",
        "per_type": 2, "temperature": 0.7, "max_new_tokens": 50, "seed": 1, "answer": "",
    }  # fmt: skip
    told = browser.post(f"{base}estimate/", form).content.decode()
    assert "<strong>12</strong> texts: 2 (dishes) × 3 (types of prompts) × 2 (K) × 1 (models)." in told
    assert "At most <strong>600</strong> tokens" in told
    assert "nothing is known yet of its pace" in told
    assert not GenerationRun.objects.exists()
    assert (
        "where the name goes" in browser.post(f"{base}new/", {**form, "own": "type;wording\na;Cook."}).content.decode()
    )
    assert (
        "where the name goes" in browser.post(f"{base}estimate/", {**form, "own": "type;wording\na;b"}).content.decode()
    )
    gap = {**form, "own": "type;wording\na;Cook $name as in $region."}
    for address in ("estimate/", "new/"):  # Coleslaw has no region
        assert "“Coleslaw”, which has nothing for $region" in browser.post(f"{base}{address}", gap).content.decode()
    file = SimpleUploadedFile("p.csv", b"\xff\xfe")
    assert "not in UTF-8" in browser.post(f"{base}new/", {**form, "file": file}).content.decode()
    address = browser.post(f"{base}new/", form).headers["Location"]
    run = GenerationRun.objects.get()
    assert address == run.get_absolute_url()
    assert 'hx-trigger="every 2s"' in browser.get(address).content.decode()
    work(run)
    page = browser.get(address).content.decode()
    assert "12 of 12 texts" in page
    assert f'href="{base}{run.pk}/all/?sign=refusal">6</a>' in page
    assert "Dear cook, how is $name made?" in page
    refused = browser.get(f"{base}{run.pk}/all/?sign=refusal").content.decode()
    assert refused.count("<tr>") == 7
    item = run.items.first()
    page = browser.get(f"{base}{run.pk}/{item.pk}/").content.decode()
    assert item.generation.asked_digest in page
    browser.post(f"{base}{run.pk}/{item.pk}/again/")
    work(GenerationRun.objects.first())  # type: ignore[arg-type]  # there is one
    assert "the same text" in browser.get(f"{base}{run.pk}/{item.pk}/").content.decode()
    told = browser.post(f"{base}estimate/", form).content.decode()
    assert "nothing is known" in told  # nobody counted tokens: no pace is made up


def test_downloads_hold_the_whole_record(client_of: ClientOf, monkeypatch: pytest.MonkeyPatch) -> None:
    writes(monkeypatch, lambda prompt, _seed: f"=1+1 of {prompt}\nSecond line.")
    mara = builders.user("mara")
    study = dishes(by=mara)
    run = started(study, wanted(per_type=1))
    work(run)
    base = f"/studies/{study.slug}/texts/{run.pk}/texts"
    lines = b"".join(client_of(mara).get(f"{base}.jsonl").streaming_content).decode().splitlines()  # type: ignore[arg-type]
    records = [json.loads(line) for line in lines]
    assert [record["input"] for record in records] == ["Koshari", "Coleslaw"]
    assert records[0]["text"] == "=1+1 of Write a recipe for Koshari.\nSecond line."
    assert records[0]["prompt_sha256"] == Generation.objects.earliest("pk").asked_digest
    table = b"".join(client_of(mara).get(f"{base}.csv").streaming_content).decode()  # type: ignore[arg-type]
    rows = list(csv.DictReader(io.StringIO(table)))
    assert rows[1]["text"].startswith("'=1+1 of")
    assert set(rows[0]) == set(records[0])
    assert client_of(mara).get(f"{base}.xml").status_code == 404


def test_over_the_api(api_of: ApiOf, monkeypatch: pytest.MonkeyPatch) -> None:
    writes(monkeypatch, lambda prompt, _seed: prompt)
    mara = builders.user("mara")
    study, writer = dishes(by=mara), generations.model()
    program, base = api_of(mara), f"/api/v1/studies/{study.slug}/generations/"
    asked = {
        "models": [writer.name], "types": ["origin"],
        "own": [{"type": "letter", "wordings": ["Dear cook: [recipe name]?"]}],
        "per_type": 1, "temperature": 0, "max_new_tokens": 20,
    }  # fmt: skip
    for wrong, said in [
        ({"models": ["gpt"]}, "no model"),
        ({"types": ["orgin"]}, "no type"),
        ({"own": [{"type": "letter", "wordings": ["Dear cook?"]}]}, "where the name goes"),
    ]:
        response = program.post(f"{base}start/", {**asked, **wrong}, format="json")
        assert (response.status_code, said in str(response.data)) == (400, True), response.data
    assert program.post(f"{base}start/", {**asked, "per_type": 9}, format="json").status_code == 409
    (made,) = program.post(f"{base}start/", asked, format="json").data
    assert (made["texts"], made["model"]) == (4, writer.name)
    work(GenerationRun.objects.get())
    run = program.get(f"{base}{made['id']}/").data
    assert (run["state"], run["progress"]["done"], run["cut"]) == ("finished", 4, 0)
    texts = program.get(f"{base}{made['id']}/texts/").data
    assert [text["text"] for text in texts[:2]] == [
        "Which cuisine is Koshari from, and how do you cook it?", "Dear cook: Koshari?",
    ]  # fmt: skip
    assert program.get(f"{base}{made['id']}/texts/?begin=3").data == texts[3:]
    assert program.post(f"{base}texts/{texts[0]['id']}/again/").status_code == 201
    assert [each["request"].get("again") for each in program.get(base).data] == [texts[0]["id"], None]


def test_a_model_that_could_never_write_is_refused_before_anything_is_made() -> None:
    study = dishes()
    nowhere = llm.store_model(location="/nowhere/model.gguf")
    with pytest.raises(Refused, match="nowhere"):
        actions.start(study=study, models=[nowhere], wanted=wanted(), by=None)
    with pytest.raises(Refused, match="Choose a model"):
        actions.start(study=study, models=[], wanted=wanted(), by=None)
    assert not Generation.objects.exists()
