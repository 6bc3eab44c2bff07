"""Files of many tables, and of many recipes with graphs: imported by a worker, all or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from annotation import actions as annotating
from annotation.exchange import background
from annotation.models import Import, Label, Rater, Sheet, Study
from annotation.scheme.spec import load_scheme
from recipes.ingredient_states import demo_study
from recipes.ingredient_states.models import Picture
from recipes.ingredient_states.recipe_files import to_json
from tests import builders
from tests.builders import ClientOf
from tests.recipes.test_pizza_tables import FLAT, PIZZA, line, scheme_of
from work import actions as work

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.PALATE_UPLOADS = tmp_path / "uploads"
    settings.PALATE_IMPORT_AT_ONCE = 100
    return settings.PALATE_UPLOADS


@pytest.fixture
def pizzas(db: None) -> Study:
    return builders.study("pizzas", of=scheme_of("pizza-commonsense"), by=builders.user("mara"))


@pytest.fixture
def states(db: None) -> Study:
    source = (demo_study.ROOT / "schemes" / "ingredient-states.yaml").read_text(encoding="utf-8")
    scheme = annotating.store_scheme(spec=load_scheme(source), source=source)
    return builders.study("states", of=scheme, by=builders.user("mara"))


def manager(study: Study, client_of: ClientOf) -> Client:
    return client_of(study.memberships.get(role="manager").user)


def upload(text: str, name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def add(client: Client, **data: Any) -> Any:
    return client.post("/studies/pizzas/tables/add/", {"text": "", "rater": "gold"} | data)


def taken(run: Import) -> Import:
    work.take_up(run)
    run.refresh_from_db()
    return run


def test_a_large_file_of_tables_is_read_by_a_worker(pizzas: Study, client_of: ClientOf, folder: Path) -> None:
    client = manager(pizzas, client_of)
    response = add(client, file=upload(f"{FLAT}\n{PIZZA}\n", "val.jsonl"), example="on")
    run = Import.objects.get()
    assert response.headers["Location"] == run.get_absolute_url()
    assert (run.names, Sheet.objects.count()) == ("val.jsonl", 0)
    page = client.get(run.get_absolute_url()).content.decode()
    assert "It waits for a worker." in page
    assert "The file goes in whole or not at all." in page
    assert taken(run).state == "finished"
    assert "2 recipes added." in client.get(run.get_absolute_url()).content.decode()
    said = Label.objects.filter(
        assignment__rater__code="gold", column__sheet__title="flat bread", question__key="input"
    )
    assert [label.value for label in said.order_by("column__position")] == [
        "NA",
        "flour; water",
        "bread dough",
        "bread dough",
    ]
    assert Rater.objects.filter(study=pizzas, code="example").exists()
    assert list(folder.iterdir()) == []


def test_what_is_pasted_can_be_large_too(pizzas: Study, client_of: ClientOf) -> None:
    text = "Long bread\n- flour\n- water\n" + "\n".join(f"Knead it for the time number {n}." for n in range(9))
    add(manager(pizzas, client_of), text=text)
    assert taken(Import.objects.get()).outcome == {"sentences": ["1 recipe added."]}
    assert Sheet.objects.get().columns.count() == 9


def test_many_recipes_are_read_by_a_worker_however_short(
    pizzas: Study, client_of: ClientOf, settings: Settings
) -> None:
    settings.PALATE_IMPORT_AT_ONCE = 2**20
    client = manager(pizzas, client_of)
    add(client, text="\n\n".join(f"Bread {n}\nBake." for n in range(20)))
    assert (Import.objects.count(), Sheet.objects.count()) == (0, 20)
    tables = [line(f"pizza {n}", f"p{n}", [("bake .", "dough", "bake", "pizza")]) for n in range(21)]
    add(client, file=upload("\n".join(tables), "many.jsonl"))
    assert taken(Import.objects.get()).state == "finished"  # the file was read before, to count them, and is whole
    assert Sheet.objects.count() == 41


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{FLAT}\n{{broken", "Line 2 is no JSON"),
        (
            f"{FLAT}\n" + line("mud", "c3", [("mix .", "2 cups water", "mix", "mud")]),
            "“mud”, line 1: Write no amounts.",
        ),
    ],
    ids=["no JSON", "no answer"],
)
def test_nothing_of_a_file_that_is_refused_is_there(
    pizzas: Study, client_of: ClientOf, text: str, sentence: str
) -> None:
    client = manager(pizzas, client_of)
    add(client, file=upload(text, "val.jsonl"))
    run = taken(Import.objects.get())
    assert run.state == "failed"
    assert sentence in client.get(run.get_absolute_url()).content.decode()
    assert not Sheet.objects.exists()
    assert not Label.objects.exists()


def test_one_that_is_cancelled_begins_anew(pizzas: Study, client_of: ClientOf) -> None:
    client = manager(pizzas, client_of)
    add(client, file=upload(FLAT, "flat.jsonl"))
    run = Import.objects.get()
    background.cancel_import(run=run)
    assert "Nothing of the file is in the study." in client.get(run.get_absolute_url()).content.decode()
    run.refresh_from_db()
    background.resume_import(run=run)
    run.refresh_from_db()
    assert taken(run).outcome == {"sentences": ["1 recipe added.", "New: 1 rater, 12 labels."]}


def test_how_many_recipes_are_made_is_seen_meanwhile(
    pizzas: Study, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int | None] = []
    whole = annotating.add_sheet

    def watched(**given: Any) -> Sheet:
        seen.append(background.percent_read(Import.objects.get()))
        return whole(**given)

    monkeypatch.setattr(annotating, "add_sheet", watched)
    monkeypatch.setattr("annotation.exchange.background.EVERY_S", 0)
    add(manager(pizzas, client_of), file=upload(f"{FLAT}\n{PIZZA}\n", "val.jsonl"))
    assert taken(Import.objects.get()).state == "finished"
    assert seen == [0, 50]


def test_a_large_file_of_a_system_is_read_by_a_worker(pizzas: Study, client_of: ClientOf) -> None:
    client = manager(pizzas, client_of)
    add(client, file=upload(f"{FLAT}\n{PIZZA}\n", "val.jsonl"))
    taken(Import.objects.get())
    told = [{"id": "a1", "output": "<in 1> flour <out 1> dough"}, {"id": "b2", "output": "x" * 100}]
    client.post(
        "/studies/pizzas/tables/add-system/",
        {"system": "t5", "predictions": upload("\n".join(map(json.dumps, told)), "t5.jsonl")},
    )
    run = taken(Import.objects.latest("pk"))
    assert run.state == "finished", run.error
    assert run.outcome["sentences"][-1] == "Of 1 text nothing can be read."
    said = Label.objects.filter(assignment__rater__code="t5").values_list("question__key", flat=True)
    assert sorted(said) == ["input", "output"]


def test_a_large_file_of_graphs_is_read_by_a_worker(states: Study, client_of: ClientOf) -> None:
    client = manager(states, client_of)
    recipes = list(demo_study.demo_recipes())
    address = f"/studies/{states.slug}/graphs/import/"
    client.post(address, {"files": [upload(json.dumps(to_json(recipes)), "recipes.json")]})
    run = Import.objects.get()
    assert (run.what, Sheet.objects.count()) == ("graphs", 0)
    assert taken(run).state == "finished", run.error
    assert Sheet.objects.count() == len(recipes)
    assert Picture.objects.exists()
    n_answers = sum(answer is not None for recipe in recipes for graph in recipe.graphs for answer in graph.answers)
    assert Label.objects.count() == n_answers
    broken = json.dumps({"recipes": [{"title": "Soup", "ingredients": ["water"]}] * 4})
    client.post(address, {"files": [upload(broken, "soup.json")]})
    run = taken(Import.objects.latest("pk"))
    assert run.state == "failed"
    assert "soup.json" in client.get(run.get_absolute_url()).content.decode()
    assert Sheet.objects.count() == len(recipes)
