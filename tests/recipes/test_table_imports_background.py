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
from annotation.exchange import background, new_sheets
from annotation.models import Import, Label, Rater, Sheet, Study
from annotation.scheme.spec import load_scheme
from recipes.ingredient_states import demo_study
from recipes.ingredient_states.models import Picture
from recipes.ingredient_states.recipe_files import to_json
from tests import builders
from tests.builders import ApiOf, ClientOf
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


@pytest.mark.django_db(transaction=True)
def test_how_much_is_written_is_seen_meanwhile(
    pizzas: Study, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int | None] = []
    whole = new_sheets.NewSheets.write

    def watched(*given: Any, **named: Any) -> None:
        whole(*given, **named)
        seen.append(background.percent_read(Import.objects.get()))

    monkeypatch.setattr(new_sheets.NewSheets, "write", watched)
    monkeypatch.setattr(new_sheets, "AT_ONCE", 1)
    monkeypatch.setattr("annotation.exchange.background.EVERY_S", 0)
    add(manager(pizzas, client_of), file=upload(f"{FLAT}\n{PIZZA}\n", "val.jsonl"))
    assert taken(Import.objects.get()).state == "finished"
    assert seen == [None, 5]  # one of two tables and seventeen answers was there before the second


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
    told[0]["output"] = "<in 2> dough <out 2> dough <out 5> pizza" + " " * 100
    client.post(
        "/studies/pizzas/tables/add-system/",
        {"system": "t5", "predictions": upload("\n".join(map(json.dumps, told)), "t5.jsonl"), "replace": "on"},
    )
    run = taken(Import.objects.latest("pk"))
    assert run.state == "finished", run.error
    assert "2 earlier answers were cleared: the file leaves their cells open." in run.outcome["sentences"]
    assert "1 answer was left out: its mask is of a line that the recipe has not." in run.outcome["sentences"]
    assert set(said.values_list("column__position", flat=True)) == {2}


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


# --- over the API ----------------------------------------------------------------------------------------------------


def test_a_program_is_told_where_the_import_of_many_tables_is(pizzas: Study, api_of: ApiOf, settings: Settings) -> None:
    api = api_of(pizzas.memberships.get(role="manager").user)
    answer = api.post("/api/v1/studies/pizzas/tables/add/", {"text": f"{FLAT}\n{PIZZA}"}, format="json")
    told, run = answer.json(), Import.objects.get()
    assert (answer.status_code, Sheet.objects.count()) == (202, 0)
    assert answer.headers["Location"] == told["url"] == f"/api/v1/studies/pizzas/imports/{run.pk}/"
    assert (told["state"], told["what"], told["said"]) == ("running", "tables", [])
    assert api.post(f"{told['url']}cancel/").json()["state"] == "cancelled"
    assert api.post(f"{told['url']}resume/").json()["state"] == "running"
    taken(run)
    told = api.get(told["url"]).json()
    assert (told["state"], told["said"]) == ("finished", ["2 recipes added.", "New: 1 rater, 17 labels."])
    assert [one["id"] for one in api.get("/api/v1/studies/pizzas/imports/").json()] == [run.pk]

    mud = line("mud", "c3", [("mix .", "NA; flour", "mix", "mud")])
    url = api.post("/api/v1/studies/pizzas/tables/add/", {"text": mud}, format="json").headers["Location"]
    taken(Import.objects.latest("pk"))
    told = api.get(url).json()
    assert (told["state"], told["said"]) == ("failed", [])
    assert "“mud”, line 1: " in told["problems"][0]
    assert Sheet.objects.count() == 2

    settings.PALATE_IMPORT_AT_ONCE = 2**20
    short = "\n\n".join(f"Bread {n}\nBake." for n in range(21))
    assert api.post("/api/v1/studies/pizzas/tables/add/", {"text": short}, format="json").status_code == 202
    few = api.post("/api/v1/studies/pizzas/tables/add/", {"text": "Bread\nBake."}, format="json")
    assert (few.status_code, few.json()["new"]) == (201, 1)
    stranger = api_of(builders.user("sam"))
    assert stranger.get(url).status_code == stranger.get("/api/v1/studies/pizzas/imports/").status_code == 404


def test_a_program_is_told_where_the_import_of_large_graphs_is(
    states: Study, api_of: ApiOf, settings: Settings
) -> None:
    api = api_of(states.memberships.get(role="manager").user)
    recipes = list(demo_study.demo_recipes())
    answer = api.post("/api/v1/studies/states/graphs/", to_json(recipes), format="json")
    assert (answer.status_code, Sheet.objects.count()) == (202, 0)
    taken(Import.objects.get())
    told = api.get(answer.headers["Location"]).json()
    assert (told["state"], told["what"], Sheet.objects.count()) == ("finished", "graphs", len(recipes))
    # More than a form may have at once, and less than an import.
    padded = to_json(recipes) | {"about": "x" * 3 * 2**20}
    assert api.post("/api/v1/studies/states/graphs/", padded, format="json").status_code == 202
    settings.PALATE_MAX_IMPORT_BYTES = 2**20
    refused = api.post("/api/v1/studies/states/graphs/", padded, format="json")
    assert (refused.status_code, "at most 1 MB" in refused.json()["detail"]) == (409, True)
