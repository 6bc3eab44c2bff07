"""Whoever reads or takes along labels of documents that are held back for a test has looked at them, also by the pages
and programs of a domain pack."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation import actions
from annotation.models import Column, Look, Rater, Study, User
from recipes.ingredient_states import actions as graphs
from recipes.ingredient_states.exports import ENDINGS
from recipes.memorization.actions import freeze_verdict
from recipes.pizza_commonsense import actions as pizza
from recipes.pizza_commonsense.exporting import TYPES
from recipes.pizza_commonsense.forms import read_tables
from reports.data.arrays import Filters
from reports.hiring import actions as hiring
from reports.models import TestLook
from tests import builders
from tests.builders import ApiOf, ClientOf
from tests.recipes import test_ingredient_states, test_pizza_tables, test_verdict

pytestmark = pytest.mark.once

states_study = test_ingredient_states.study
pizza_study = test_pizza_tables.study
verdict_study = test_verdict.study


def split(study: Study) -> None:
    """Hold a part of a study back, to test a judge on. Nobody has looked yet."""
    Rater.objects.get_or_create(study=study, kind=Rater.Kind.JUDGE, code="held-back")
    hiring.draw_split(study=study, unit="row", share=50, seed=1, by=None)
    assert not TestLook.objects.exists()


def looks(study: Study, user: User) -> list[str]:
    """Kinds of the looks of a study, which are forgotten then."""
    found = TestLook.objects.filter(study=study, by=user)
    kinds = list(found.order_by("what").values_list("what", flat=True))
    found.delete()
    return kinds


@pytest.fixture
def states(states_study: Study) -> Study:
    graphs.import_recipes(study=states_study, recipes=test_ingredient_states.RECIPES[:4])
    split(states_study)
    return states_study


@pytest.mark.parametrize("ending", ENDINGS)
def test_graphs_that_are_taken_along_are_a_look(states: Study, client_of: ClientOf, api_of: ApiOf, ending: str) -> None:
    mara = User.objects.get(username="mara")
    page = client_of(mara)
    page.get(reverse("ingredient_states:graphs", args=[states.slug]))
    assert looks(states, mara) == []

    page.get(reverse("ingredient_states:download", args=[states.slug, ending]))
    assert looks(states, mara) == ["download"]
    page.get(reverse("ingredient_states:download", args=[states.slug, ending]), {"rater": "R1"})
    assert looks(states, mara) == ["download"]
    api_of(mara).get(reverse("api:graphs", args=[states.slug]), {"as": ending})
    assert looks(states, mara) == ["download"]


@pytest.fixture
def tables(pizza_study: Study) -> Study:
    read = read_tables(test_pizza_tables.PIZZA.encode())
    for code, kind in (("gold", Rater.Kind.GOLD), ("T5", Rater.Kind.JUDGE)):
        pizza.import_tables(study=pizza_study, tables=read, rater=code, kind=kind)
    for n in range(4):
        sheet = actions.add_sheet(study=pizza_study, title=f"Recipe {n}", columns={})
        actions.add_row(sheet=sheet, name="Row", evidence=[])
    split(pizza_study)
    return pizza_study


@pytest.mark.parametrize("form", TYPES)
def test_tables_with_answers_that_are_taken_along_are_a_look(
    tables: Study, client_of: ClientOf, api_of: ApiOf, form: str
) -> None:
    mara = User.objects.get(username="mara")
    page, api = client_of(mara), api_of(mara)
    at, by_program = (
        reverse("pizza_commonsense:export", args=[tables.slug]),
        reverse("api:pizza-export", args=[tables.slug]),
    )

    page.get(at, {"rater": "", "form": form})
    api.get(by_program, {"form": form})
    assert looks(tables, mara) == []  # tables without answers show nothing
    page.get(at, {"rater": "gold", "form": form})
    assert looks(tables, mara) == ["download"]
    api.get(by_program, {"rater": "gold", "form": form})
    assert looks(tables, mara) == ["download"]


def test_lines_of_systems_side_by_side_are_a_look(tables: Study, client_of: ClientOf, api_of: ApiOf) -> None:
    mara = User.objects.get(username="mara")
    page, at = client_of(mara), reverse("pizza_commonsense:examples", args=[tables.slug])
    asked = {"truth": "gold", "systems": "T5", "which": "any", "n": 10, "seed": 1}

    page.get(at)
    assert looks(tables, mara) == []
    for more in ({}, {"csv": "1"}):
        assert page.get(at, {**asked, **more}).status_code == 200
        assert looks(tables, mara) == ["download"]
    api_of(mara).get(reverse("api:pizza-examples", args=[tables.slug]), {"systems": "T5"})
    assert looks(tables, mara) == ["download"]


@pytest.fixture
def examination(verdict_study: Study) -> Study:
    user = builders.user("root")
    made = test_verdict.examined(verdict_study, {"mustard": "sensible", "yeast": "nonsensical"}, by=user)
    actions.add_member(study=verdict_study, user=user, role="researcher")
    other = actions.add_sheet(study=made, title="Another recipe", columns={})
    actions.add_row(sheet=other, name="Another", evidence=[])
    for study in (verdict_study, made):
        Rater.objects.get_or_create(study=study, kind=Rater.Kind.JUDGE, code="held-back")
        hiring.draw_split(study=study, unit="row", share=50, seed=1, by=None)
    return made


def test_a_verdict_is_a_look_in_its_study_and_in_the_one_that_examined(
    examination: Study, verdict_study: Study, client: Client
) -> None:
    root, slug = User.objects.get(username="root"), verdict_study.slug
    client.force_login(root)
    cabbage = Column.objects.get(sheet__study=verdict_study, name="cabbage")
    frozen = freeze_verdict(study=verdict_study, title="First", filters=Filters(), examination=None, by=None)
    figure = "ingredients.verdict-documents"
    own = {
        "report": [
            reverse("memorization:verdict", args=[slug]),
            reverse("memorization:verdict-item", args=[slug, cabbage.pk]),
            reverse("memorization:compare-verdicts", args=[slug]),
            reverse("memorization:verdict-figure", args=[slug, figure, "svg"]),
        ],
        "download": [
            *(reverse("memorization:verdict-file", args=[slug, ending]) for ending in ("csv", "json", "xlsx", "zip")),
            *(reverse("memorization:compared-verdicts-file", args=[slug, ending]) for ending in ("csv", "xlsx")),
        ],
    }
    of_frozen = {
        "report": [
            frozen.get_absolute_url(),
            reverse("memorization:frozen-verdict-figure", args=[slug, frozen.pk, figure, "svg"]),
        ],
        "download": [reverse("memorization:frozen-verdict-file", args=[slug, frozen.pk, "csv"])],
    }
    client.get(reverse("memorization:frozen-verdicts", args=[slug]))
    assert looks(verdict_study, root) == []
    for addresses, there in ((own, True), (of_frozen, False)):
        for what, urls in addresses.items():
            for url in urls:
                assert client.get(url).status_code == 200, url
                assert looks(verdict_study, root) == [what], url
                assert looks(examination, root) == ([what] if there else []), url


def test_the_page_of_an_item_is_a_look_at_the_sheets_that_examined_it(
    examination: Study, verdict_study: Study, client: Client
) -> None:
    root = User.objects.get(username="root")
    client.force_login(root)
    mustard = Column.objects.get(sheet__study=verdict_study, name="mustard")

    page = client.get(reverse("memorization:verdict-item", args=[verdict_study.slug, mustard.pk]))

    assert "it was said to make sense" in page.content.decode()
    seen = Look.objects.filter(user=root).values_list("sheet__study__slug", "sheet__title")
    assert sorted(seen) == [(examination.slug, "Coleslaw"), (verdict_study.slug, "Coleslaw")]
