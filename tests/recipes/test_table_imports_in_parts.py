"""Many tables, or many recipes with graphs: checked as a whole, written in parts that nobody sees, taken back whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from pytest_django import Settings

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.exchange import arrivals, background, label_importer, new_sheets
from annotation.exchange.label_imports import Doing
from annotation.exchange.row_imports import ImportRefused
from annotation.models import Arrival, Column, Import, Label, Rater, Row, Sheet, Study
from recipes.ingredient_states import actions as graphing
from recipes.ingredient_states import demo_study, queries
from recipes.ingredient_states import exchange as graphs
from recipes.ingredient_states.models import Picture
from recipes.ingredient_states.recipe_files import to_json
from recipes.pizza_commonsense import actions, exchange, exporting
from recipes.pizza_commonsense.exporting import Wanted
from recipes.pizza_commonsense.forms import read_tables
from recipes.pizza_commonsense.models import SourceTable
from recipes.pizza_commonsense.queries import tables_of
from recipes.pizza_commonsense.records import Table
from tests import builders
from tests.recipes.test_pizza_tables import FLAT, PIZZA, line, scheme_of
from work import actions as work
from work.actions.holding import release

pytestmark = pytest.mark.django_db(transaction=True)

MADE = (Sheet, Row, Column, Rater, Label, SourceTable, Picture, Arrival)
NOTHING = dict.fromkeys((model.__name__ for model in MADE), 0)
DOING = Doing(owner="a test", beat=lambda: None)


def counts() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in MADE}


def tables() -> list[Table]:
    return read_tables(f"{FLAT}\n{PIZZA}".encode())


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> None:
    monkeypatch.setattr(new_sheets, "AT_ONCE", 1)
    monkeypatch.setattr(label_importer, "_CHECKED", 3)
    monkeypatch.setattr(arrivals, "_SHEETS_AT_ONCE", 1)
    settings.PALATE_UPLOADS = tmp_path / "uploads"


@pytest.fixture
def pizzas() -> Study:
    return builders.study("pizzas", of=scheme_of("pizza-commonsense"), by=builders.user("mara"))


@pytest.fixture
def states() -> Study:
    return builders.study("states", of=scheme_of("ingredient-states"), by=builders.user("mara"))


def after(monkeypatch: pytest.MonkeyPatch, what: Any, name: str, then: Callable[[], None]) -> None:
    """Let something happen each time after `name` is done."""
    whole = getattr(what, name)

    def watched(*given: Any, **named: Any) -> Any:
        made = whole(*given, **named)
        then()
        return made

    monkeypatch.setattr(what, name, watched)


def test_tables_in_parts_come_the_same_as_at_once(pizzas: Study) -> None:
    other = builders.study("others", of=pizzas.scheme)
    for study, doing in ((pizzas, DOING), (other, None)):
        made = actions.import_tables(study=study, tables=tables(), example=True, doing=doing)
        assert (made.new, made.known, made.answers and made.answers.labels) == (2, 0, 20)
    whole = [
        (
            exporting.exported(tables_of(study, rater="gold"), Wanted("jsonl")),
            list(study.sheets.values_list("title", "position")),
            list(Column.objects.filter(sheet__study=study).values_list("sheet__title", "name", "position")),
            list(
                Row.objects.filter(sheet__study=study).values_list(
                    "sheet__title", "name", "title", "facets", "withdrawn_at", "evidence"
                )
            ),
        )
        for study in (pizzas, other)
    ]
    assert whole[0] == whole[1]
    assert not Arrival.objects.exists()
    again = actions.import_tables(study=pizzas, tables=tables(), example=True, doing=DOING)
    assert (again.new, again.known, again.answers and again.answers.nothing_new) == (0, 2, True)


def test_before_the_end_nobody_sees_a_table_and_each_part_is_a_transaction(
    pizzas: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []

    def look() -> None:
        assert not connection.in_atomic_block
        assert not Row.objects.filter(withdrawn_at=None).exists()
        assert not Label.objects.exclude(arrivals.arriving("assignment")).exists()
        seen.append((Sheet.objects.count(), Label.objects.count()))

    told: list[tuple[int, int]] = []
    doing = Doing(owner="a test", beat=look, told=lambda done, of: told.append((done, of)))
    actions.import_tables(study=pizzas, tables=tables(), doing=doing)
    assert [sheets for sheets, labels in seen if not labels][-2:] == [1, 2]
    assert [labels for _sheets, labels in seen if labels] == [12]  # and five come with the last part
    assert told == [(1, 19), (2, 19), (14, 19), (19, 19)]
    assert Row.objects.filter(withdrawn_at=None).count() == 2


def test_a_file_that_is_refused_has_written_nothing_at_any_time(pizzas: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> None:
        raise AssertionError("It was written before all was checked.")

    after(monkeypatch, new_sheets.NewSheets, "write", never)
    mud = line("mud", "c3", [("mix .", "NA; flour", "mix", "mud")])
    with pytest.raises(ImportRefused):
        actions.import_tables(study=pizzas, tables=read_tables(f"{FLAT}\n{mud}".encode()), doing=DOING)
    monkeypatch.undo()
    assert counts() == NOTHING
    actions.import_tables(study=pizzas, tables=tables()[:1])
    before = counts()
    after(monkeypatch, new_sheets.NewSheets, "write", never)
    changed = [tables()[0].with_cells({(1, "output"): "bread"}), tables()[1]]
    with pytest.raises(ImportRefused, match="has 1 problem"):  # the gold stands, and no replacing was asked for
        actions.import_tables(study=pizzas, tables=changed, doing=DOING)
    assert counts() == before


class Killed(BaseException):
    """As if the process had ended: nobody tidies up."""


@pytest.mark.parametrize("last", ["a sheet", "a label"])
def test_a_worker_that_is_killed_leaves_what_the_next_one_takes_back(
    pizzas: Study, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    def die() -> None:
        raise Killed

    file = SimpleUploadedFile("val.jsonl", f"{FLAT}\n{PIZZA}\n".encode())
    run = exchange.start(study=pizzas, file=file, how={"rater": "gold", "kind": "gold"}, by=None)
    of, name = (new_sheets.NewSheets, "write") if last == "a sheet" else (label_importer.Importer, "_write")
    with monkeypatch.context() as patch:
        after(patch, of, name, die)
        patch.setattr(arrivals, "take_back", lambda *_given: None)
        held = work.claim(background.IMPORTING, run.items.get().pk)
        assert held is not None
        with pytest.raises(Killed):
            background.IMPORTING.do(held)
    assert Arrival.objects.get().owner == f"import {run.pk}"
    assert Sheet.objects.count() == (0 if last == "a sheet" else 2)  # the part that died is not there, those before are
    assert not Row.objects.filter(withdrawn_at=None).exists()
    with pytest.raises(Refused, match="Another file is being imported"):
        actions.import_tables(study=pizzas, tables=tables())
    release(held.item)
    work.take_up(run)
    run.refresh_from_db()
    assert (run.state, run.outcome) == ("finished", {"sentences": ["2 recipes added.", "New: 1 rater, 17 labels."]})
    assert exporting.exported(tables_of(pizzas, rater="gold"), Wanted("jsonl")).decode() == f"{FLAT}\n{PIZZA}\n"
    assert not Arrival.objects.exists()


def test_one_that_is_cancelled_is_taken_back(pizzas: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    file = SimpleUploadedFile("val.jsonl", f"{FLAT}\n{PIZZA}\n".encode())
    run = exchange.start(study=pizzas, file=file, how={"rater": "gold", "kind": "gold"}, by=None)
    with monkeypatch.context() as patch:
        after(patch, label_importer.Importer, "write_in_parts", lambda: background.cancel_import(run=run))
        work.take_up(run)
    run.refresh_from_db()
    assert (run.state, counts()) == ("cancelled", NOTHING)


def test_graphs_in_parts_with_their_pictures(states: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    recipes = list(demo_study.demo_recipes())
    other = builders.study("others", of=states.scheme)
    graphing.import_recipes(study=other, recipes=recipes)
    before = counts()
    seen: list[int] = []
    after(monkeypatch, label_importer.Importer, "write_in_parts", lambda: seen.append(Sheet.objects.count()))
    file = SimpleUploadedFile("recipes.json", json.dumps(to_json(recipes)).encode())
    run = graphs.start(study=states, files=[file], replace=False, by=None)
    work.take_up(run)
    run.refresh_from_db()
    assert (run.state, seen) == ("finished", [20])
    assert queries.recipe_files(states) == queries.recipe_files(other) == recipes
    assert Picture.objects.filter(row__sheet__study=states).count() == before["Picture"]


def test_a_title_that_somebody_takes_meanwhile_refuses_the_file(pizzas: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def take() -> None:
        annotating.add_sheet(study=pizzas, title="pizza", columns={})

    after(monkeypatch, label_importer.Importer, "check", take)
    with pytest.raises(Refused, match="Somebody else changed the study"):
        actions.import_tables(study=pizzas, tables=tables(), doing=DOING)
    assert list(Sheet.objects.values_list("title", flat=True)) == ["pizza"]
    assert not Arrival.objects.exists()
    assert not Import.objects.exists()
