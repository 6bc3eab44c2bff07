"""A recipe in a model's words: what is proposed of it, and that only what a person has read over is added."""

from __future__ import annotations

from django.urls import reverse

from annotation import actions
from annotation.models import Sheet
from recipes.cooking.taking_apart.proposing import propose
from recipes.memorization import demo_study
from tests import builders
from tests.builders import ApiOf, ClientOf

ANSWER = """Sure! Here is a recipe for you:

## Creamy Coleslaw

**Ingredients:**
- 1/2 small head white cabbage, finely shredded
- 2 large carrots, peeled and grated
- salt and pepper to taste

**Instructions:**
1. Shred the cabbage with a knife and place it in a large bowl.
2. Whisk the mayonnaise in a small bowl.

Enjoy!
"""


def test_names_stand_without_amounts_and_the_lines_are_kept_apart() -> None:
    proposal = propose(ANSWER)
    assert proposal.name == "Creamy Coleslaw"
    assert proposal.ingredients == (
        ("white cabbage", "1/2 small head white cabbage, finely shredded"),
        ("carrots", "2 large carrots, peeled and grated"),
        ("salt", "salt and pepper to taste"),
        ("pepper", "salt and pepper to taste"),
    )
    assert len(proposal.steps) == 2
    assert [(task.task, task.tool, task.ingredients) for task in proposal.tasks][:1] == [
        ("shred", "knife", "white cabbage")
    ]


def test_a_text_without_a_recipe_comes_to_nothing() -> None:
    proposal = propose("Dear all,\n\nthe meeting is on Friday.")
    assert not proposal.ingredients
    assert not proposal.tasks


def test_a_models_answer_is_read_over_and_then_added_as_it_was_changed(db: None, client_of: ClientOf) -> None:
    manager = builders.user("mia")
    actions.create_study(slug="slaw", title="Slaw", scheme=demo_study.paper_scheme(), by=manager)
    client, address = client_of(manager), reverse("recipes:add-recipe", args=["slaw"])

    page = client.post(address, {"text": ANSWER})
    assert not Sheet.objects.exists()
    initial = page.context["form"].initial
    assert "carrots | 2 large carrots, peeled and grated" in initial["ingredients"]

    changed = initial | {"name": "Slaw", "tasks": "shred | knife | white cabbage\nwhisk | | mayonnaise"}
    refused = client.post(address, changed | {"proposed": "1", "tasks": "a | b | c | d"}).content.decode()
    assert "should read: task | tool | ingredients" in refused
    assert "large carrots, peeled and grated" in refused  # nothing that was written is lost
    assert "write at least one" in client.post(address, changed | {"proposed": "1", "tasks": ""}).content.decode()
    client.post(address, changed | {"proposed": "1"})

    recipe = Sheet.objects.get().recipe
    assert recipe.name == "Slaw"
    assert recipe.ingredients == ["white cabbage", "carrots", "salt", "pepper"]
    assert recipe.written[1] == "2 large carrots, peeled and grated"
    assert [task["task"] for task in recipe.tasks] == ["shred", "whisk"]
    documents = client.get(reverse("recipes:documents", args=["slaw"])).content.decode()
    assert "2 large carrots, peeled and grated" in documents


def test_a_program_adds_a_recipe_as_the_page_does(db: None, api_of: ApiOf) -> None:
    manager = builders.user("mia")
    actions.create_study(slug="slaw", title="Slaw", scheme=demo_study.paper_scheme(), by=manager)
    api, address = api_of(manager), reverse("api:add-recipe", args=["slaw"])

    proposed = api.post(address, {"text": ANSWER}, format="json")
    assert (proposed.status_code, Sheet.objects.count()) == (200, 0)
    parts = proposed.json()
    assert "carrots | 2 large carrots, peeled and grated" in parts["ingredients"]
    bad = api.post(address, parts | {"tasks": ["a | b | c | d"]}, format="json")
    assert (bad.status_code, "task | tool | ingredients" in str(bad.json())) == (400, True)
    assert list(api.post(address, parts | {"tasks": []}, format="json").json()) == ["tasks"]
    assert list(api.post(address, parts | {"text": ANSWER}, format="json").json()) == ["non_field_errors"]
    added = api.post(address, parts, format="json")

    sheet = Sheet.objects.get()
    assert (added.status_code, added.json()) == (201, {"sheet": sheet.pk, "title": sheet.title})
    assert sheet.recipe.written[1] == "2 large carrots, peeled and grated"
    again = api.post(address, parts, format="json")
    assert (again.status_code, Sheet.objects.count()) == (409, 1)
    whole = "name: Toast\ningredients: [bread]\nsteps: [Toast the bread.]\ntasks: [{task: toast, ingredients: bread}]\n"
    assert api.post(address, {"text": whole}, format="json").status_code == 201

    leases = builders.leases()
    elsewhere = api_of(leases.manager).post(reverse("api:add-recipe", args=["leases"]), parts, format="json")
    assert (elsewhere.status_code, "no section “ingredients”" in elsewhere.json()["detail"]) == (409, True)


def test_a_study_of_something_else_is_not_asked_for_recipes(db: None, client_of: ClientOf) -> None:
    leases = builders.leases()
    manager = client_of(leases.manager)
    own, of_recipes = manager.get(reverse("recipes:documents", args=["leases"])).content.decode().split("<details>")
    assert "Clauses come from a table: a line each, with its name and its text." in own
    assert f'<a class="button primary" href="{reverse("annotation:import", args=["leases"])}">' in own
    assert "recipe" not in own.lower()
    assert "Pages of one recipe each (others are refused)" in of_recipes  # for who has some all the same
    tried = manager.post(reverse("recipes:import-documents", args=["leases"]), {"sheet": leases.sheet.pk})
    assert "<details open>" in tried.content.decode()
