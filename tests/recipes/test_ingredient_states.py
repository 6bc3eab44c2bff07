"""Recipes and graphs of states in and out, and who sees them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import actions as annotating
from annotation import queries as annotation_queries
from annotation.models import AuditEvent, Label, Role, Sheet, Study
from annotation.scheme.spec import load_scheme
from annotation.views import paging
from recipes.ingredient_states import actions, demo_study, graph_files, queries, reading
from recipes.ingredient_states.exports import written
from recipes.ingredient_states.models import Picture
from recipes.ingredient_states.recipe_files import FileRefused, Graph, RecipeFile, graph_in, read_json, to_json
from tests import builders
from tests.builders import ApiOf, ClientOf
from tests.databases import made_once

RECIPES = demo_study.demo_recipes()
DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)


@made_once
def study() -> Study:
    source = (demo_study.ROOT / "schemes" / "ingredient-states.yaml").read_text(encoding="utf-8")
    scheme = annotating.store_scheme(spec=load_scheme(source), source=source)
    return annotating.create_study(slug="states", title="States", scheme=scheme, by=builders.user("mara"))


def test_the_demo_has_ten_recipes_of_which_three_are_japanese_annotated_twice_and_differently() -> None:
    assert len(RECIPES) == 10
    assert sum(recipe.language == "ja" for recipe in RECIPES) == 3
    for recipe in RECIPES:
        graphs = [graph_in(recipe, one) for one in recipe.graphs]
        assert [graph.problems for graph in graphs] == [(), ()]
        assert {state.name for state in graphs[0].states} != {state.name for state in graphs[1].states}
    (decided,) = demo_study.demo_recipes(gold=True)
    assert (decided.graphs[0].rater, decided.graphs[0].kind) == ("gold", "gold")
    assert graph_in(decided, decided.graphs[0]).problems == ()
    assert decided.picture is not None
    assert decided.picture.media_type == "image/png"
    assert any(graph_in(recipe, recipe.graphs[0]).stayed for recipe in RECIPES)
    assert any(graph_in(recipe, recipe.graphs[0]).thrown for recipe in RECIPES)


def test_json_and_graphml_come_back_as_they_went_out() -> None:
    assert read_json(json.dumps(to_json(RECIPES))) == RECIPES
    told = to_json(RECIPES)
    for recipe in told["recipes"]:
        for graph in recipe["graphs"]:
            del graph["transitions"]  # so that states and edges count
    again = read_json(json.dumps(told))
    graphs = [(r.title, g.rater, g.kind, graph_in(r, g)) for r in RECIPES for g in r.graphs]
    from_graphml = graph_files.read_graphml(graph_files.to_graphml(graphs))
    from_states = [graph_in(recipe, one) for recipe in again for one in recipe.graphs]
    for (*names, graph), (*others, second), third in zip(graphs, from_graphml, from_states, strict=True):
        assert names == others
        for other in (second, third):
            assert _worlds(other) == _worlds(graph)
            assert len(other.edges) == len(graph.edges)
            assert sorted(other.thrown.values()) == sorted(graph.thrown.values())


def _worlds(graph: Any) -> list[list[str]]:
    return [sorted(state.name for state in graph.world(step)) for step in range(graph.steps + 1)]


@pytest.mark.parametrize(
    ("states", "edges", "why"),
    [
        ([("a", 0), ("b", 1), ("c", 2)], [("a", "b"), ("b", "c"), ("c", "b")], "circle"),
        ([("a", 0), ("b", 1)], [("a", "x")], "does not lead from one of the states"),
        ([("a", 0), ("a", 0), ("b", 1)], [("0", "2")], "told apart|from one of the states"),
        ([("a", 0), ("b", 3)], [], "of no step"),
        ([], [], "no states"),
    ],
)
def test_what_is_no_graph_is_refused(states: Any, edges: Any, why: str) -> None:
    nodes = [{"id": name, "name": name, "step": step} for name, step in states]
    if len({node["id"] for node in nodes}) < len(nodes):
        nodes = [node | {"id": str(n)} for n, node in enumerate(nodes)]
    links = [{"source": source, "target": target} for source, target in edges]
    with pytest.raises(graph_files.GraphRefused, match=why):
        graph_files.from_states(nodes, links, 2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "no JSON"),
        ("[]", "no recipe"),
        ('[{"title": "A", "ingredients": ["b"]}]', "“A” has no steps"),
        ('[{"title": "A", "ingredients": ["b"], "steps": ["c"], "graphs": [{}]}]', "does not say its rater"),
        ('[{"title": "A", "ingredients": ["b"], "steps": ["c"], "picture": "x"}]', "picture"),
        ('[{"title": "A", "ingredients": ["b"], "steps": ["c"], "picture": "data:image/png;base64,é"}]', "picture"),
        (
            '[{"title": "A", "ingredients": ["b"], "steps": ["c"], "graphs": [{"rater": "R", "transitions": []}]}]',
            "1 step",
        ),
    ],
)
def test_what_is_no_recipe_is_refused_with_its_name(text: str, why: str) -> None:
    with pytest.raises(FileRefused, match=why):
        read_json(text)


def test_recipes_come_in_once_and_bring_their_graphs(study: Study) -> None:
    done = actions.import_recipes(study=study, recipes=RECIPES[:2])
    steps = sum(len(recipe.steps) for recipe in RECIPES[:2])
    assert (len(done.added), done.known, done.graphs, done.labels) == (2, 0, 4, 2 * steps)
    assert queries.recipe_files(study) == RECIPES[:2]

    again = actions.import_recipes(study=study, recipes=RECIPES[:2])
    assert (again.added, again.known, again.labels) == ([], 2, 0)
    other = RecipeFile(RECIPES[0].title, ("egg",), ("Boil it.",))
    with pytest.raises(annotating.Refused, match="another recipe"):
        actions.import_recipes(study=study, recipes=[RECIPES[2], other])
    assert Sheet.objects.count() == 2


def test_the_first_step_of_a_study_leads_to_its_graphs(study: Study, client_of: ClientOf) -> None:
    client = client_of(study.memberships.first().user)  # type: ignore[union-attr]
    for page in ("", "documents/", "plan/"):
        below_the_tabs = client.get(f"/studies/states/{page}").content.decode().split("</nav>")[-1]
        assert 'href="/studies/states/graphs/"' in below_the_tabs


def test_the_page_brings_files_and_gives_them_back(study: Study, client_of: ClientOf) -> None:
    client = client_of(study.memberships.get(role=Role.MANAGER).user)
    told = to_json(RECIPES[:1])
    told["recipes"][0]["picture"] = DOT
    page = b"""<html><head><title>Tea</title><script type="application/ld+json">{"@type": "Recipe", "name": "Tea",
        "recipeIngredient": ["1 l water", "2 tsp tea"], "recipeInstructions": ["Boil the water.", "Add the tea."]}
        </script></head><body></body></html>"""
    files = [
        SimpleUploadedFile("r.json", json.dumps(told).encode()),
        SimpleUploadedFile("tea.html", page),
    ]
    answer = client.post("/studies/states/graphs/import/", {"files": files}, follow=True)
    assert "2 recipes are new." in answer.content.decode()
    assert [sheet.title for sheet in study.sheets.all()] == [RECIPES[0].title, "Tea"]
    row = Picture.objects.get().row_id
    assert client.get(f"/rows/{row}/picture/")["Content-Type"] == "image/png"
    assert client_of(builders.user("nobody")).get(f"/rows/{row}/picture/").status_code == 404

    for ending, sign in (("json", '"worlds"'), ("graphml", "<graphml"), ("dot", "digraph")):
        assert sign in client.get(f"/studies/states/graphs/graphs.{ending}").content.decode()
    assert client.get("/studies/states/graphs/graphs.exe").status_code == 404

    refused = client.post("/studies/states/graphs/import/", {"files": [SimpleUploadedFile("x.json", b"{")]})
    assert "x.json: This is no JSON" in refused.content.decode()


def test_the_page_asks_no_more_for_many_recipes_than_for_one(study: Study, client_of: ClientOf) -> None:
    client = client_of(study.memberships.get(role=Role.MANAGER).user)
    asked = []
    for some in (RECIPES[:1], RECIPES[1:2], RECIPES[2:4]):  # the first time, what is kept is read
        actions.import_recipes(study=study, recipes=some)
        with CaptureQueriesContext(connection) as queries:
            page = client.get("/studies/states/graphs/").content.decode()
        asked.append(len(queries))

    assert all(recipe.title in page for recipe in RECIPES[:4])
    assert asked[2] == asked[1]


def test_many_recipes_come_in_pages(study: Study, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "SHEETS_A_PAGE", 3)
    actions.import_recipes(study=study, recipes=RECIPES[:4])
    client = client_of(study.memberships.get(role=Role.MANAGER).user)
    first, second = (client.get(f"/studies/states/graphs/?page={number}").content.decode() for number in (1, 2))

    assert [recipe.title in first for recipe in RECIPES[:4]] == [True, True, True, False]
    assert [recipe.title in second for recipe in RECIPES[:4]] == [False, False, False, True]
    assert "page 1 of 2" in first
    # Files have all of them, whatever page is open.
    assert all(
        recipe.title in client.get("/studies/states/graphs/graphs.json").content.decode() for recipe in RECIPES[:4]
    )


def test_the_lens_and_the_grid_draw_the_graphs(study: Study, client_of: ClientOf) -> None:
    actions.import_recipes(study=study, recipes=RECIPES[1:2])
    sheet = study.sheets.get()
    manager = client_of(study.memberships.get(role=Role.MANAGER).user)
    beside = manager.get(f"/rows/{sheet.rows.get().pk}/states/").content.decode()
    assert beside.count("<svg") == 2
    assert sheet.looks.count() == 1  # what the manager labels from now on is exposed
    assert "differ" in beside
    anna = builders.user("anna")
    [mine] = builders.assignments(builders.rater(study, anna), sheet)
    assert "not answered yet" in client_of(anna).get(f"/assignments/{mine.pk}/states/").content.decode()
    assert manager.get(f"/assignments/{mine.pk}/states/").status_code == 404


def test_what_is_made_of_nothing_is_warned_of_and_counted(study: Study, client_of: ClientOf) -> None:
    changes = [
        [{"from": ["2 eggs"], "to": ["beaten eggs"]}, {"from": [], "to": ["water"]}],
        [{"from": ["beaten eggs", "water"], "to": ["soup"]}],
    ]
    recipe = RecipeFile("Egg soup", ("2 eggs",), ("Beat the eggs.", "Boil them."), graphs=(Graph("R1", changes),))
    actions.import_recipes(study=study, recipes=[recipe])

    (mine,) = annotation_queries.warned(study)
    assert (mine.rater.code, mine.cells, mine.answers) == ("R1", 1, 2)
    (sheet,) = study.sheets.all()
    first = sheet.columns.order_by("position")[0]
    place = {"row": sheet.rows.get().pk, "column": first.pk, "question": first.section.questions.get().pk}
    client = client_of(study.memberships.get(role=Role.MANAGER).user)
    cell = client.get(reverse("annotation:lens-cell", args=[sheet.pk]), place).content.decode()
    assert "This is made of nothing: water." in cell


def test_the_api_and_the_command(study: Study, api_of: ApiOf, tmp_path: Path) -> None:
    api = api_of(study.memberships.get(role=Role.MANAGER).user)
    made = api.post("/api/v1/studies/states/graphs/", to_json(RECIPES[:1]), format="json")
    assert (made.status_code, made.json()["graphs"]) == (201, 2)
    assert api.get("/api/v1/studies/states/graphs/?rater=R1").json()["recipes"][0]["graphs"][0]["rater"] == "R1"
    nobody = api.get("/api/v1/studies/states/graphs/?rater=R9")
    assert (nobody.status_code, nobody.json()) == (400, {"rater": ["The study has no rater “R9”."]})
    assert AuditEvent.objects.get(kind=AuditEvent.Kind.EXPORT).what == "API: graphs"
    assert study.sheets.get().looks.count() == 1
    assert api.post("/api/v1/studies/states/graphs/", {"recipes": [{}]}, format="json").status_code == 409

    out = tmp_path / "out.json"
    call_command("graphs", "states", out=out)
    assert read_json(out.read_text(encoding="utf-8")) == RECIPES[:1]
    assert AuditEvent.objects.filter(kind=AuditEvent.Kind.EXPORT, study=study).first().what == "graphs"
    with pytest.raises(CommandError, match="no rater “R9”"):
        call_command("graphs", "states", out=tmp_path / "none.json", rater=["R1", "R9"])
    assert not (tmp_path / "none.json").exists()
    graphml = tmp_path / "graphs.graphml"
    graphml.write_text(written(RECIPES[:1], "graphml"), encoding="utf-8")
    call_command("graphs", "states", bring=[graphml])
    assert Label.objects.count() == 2 * len(RECIPES[0].steps)
    (tmp_path / "bad.json").write_text("[", encoding="utf-8")
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("graphs", "other", new="Other", bring=[tmp_path / "bad.json"])
    assert not Study.objects.filter(slug="other").exists()


def test_a_page_that_comes_again_is_the_recipe_that_is_there(study: Study) -> None:
    def page(*steps: str) -> bytes:
        told = {"@type": "Recipe", "name": "Tea", "recipeIngredient": ["salt", "Salt", "leaves"]}
        told["recipeInstructions"] = [{"@type": "HowToStep", "text": step} for step in steps]
        return f'<html><script type="application/ld+json">{json.dumps(told)}</script></html>'.encode()

    files = [("tea.html", page("Boil  the water.", "Pour.")), ("other.html", page("Pour cold water on."))]
    for added in ("Tea", "Tea (2)"), ():
        found = reading.read(files, known=queries.recipe_files(study))
        assert actions.import_recipes(study=study, recipes=found.recipes).added == list(added)
    assert sorted(study.sheets.values_list("title", flat=True)) == ["Tea", "Tea (2)"]


@pytest.mark.slow
def test_real_pages_come_in_as_recipes_that_nobody_has_annotated(study: Study) -> None:
    shared = os.environ.get("PALATE_SHARED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
    pages = sorted(Path(shared, "recipe-pages").rglob("*.gz"))
    if not pages:
        pytest.skip("the pages are not there")
    found = reading.read((path.name, path.read_bytes()) for path in pages)
    assert found.recipes
    done = actions.import_recipes(study=study, recipes=found.recipes)
    assert len(done.added) == len(found.recipes)
    assert len(found.recipes) + len(found.refused) == len(pages) == 79
