"""What becomes of a recipe: memorised, found inexactly, creative, nonsense; and the way back from each item."""

from __future__ import annotations

import io
import json
import time
import uuid
import zipfile
from unittest import mock

import numpy as np
import openpyxl
import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation import actions
from annotation.actions import Answer, Refused
from annotation.deriving.actions import derive_study
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Column, Option, Rater, Row, Study, User
from annotation.scheme.spec import load_scheme
from recipes.cooking.models import Document, Hit, Search
from recipes.memorization import demo_study
from recipes.memorization.actions import freeze_verdict
from recipes.memorization.models import FrozenVerdict
from recipes.memorization.verdict import freezing, queries
from recipes.memorization.verdict.contents import closest_sentence, contents_of, told
from recipes.memorization.verdict.outcomes import OUTCOMES, Closest, Item, Outcome, closest, curve, group
from reports import doors
from reports.contents import read_contents
from reports.data.arrays import MAJORITY, Filters
from reports.models import FrozenError
from tests import builders
from tests.builders import ApiOf
from tests.databases import made_once
from tests.directions import astray

pytestmark = pytest.mark.once

NONSENSE = (demo_study.ROOT / "schemes" / "recipe-nonsense.yaml").read_text(encoding="utf-8")


# --- pure -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exact", "inexact", "sensible", "outcome"),
    [
        ((1,), (2,), None, Outcome.MEMORISED),
        ((1,), (), False, Outcome.MEMORISED),  # nonsense that stands in a document was not made up
        ((), (2,), False, Outcome.INEXACT),
        ((), (), True, Outcome.CREATIVE),
        ((), (), False, Outcome.NONSENSE),
        ((), (), None, Outcome.UNEXAMINED),
    ],
)
def test_documents_come_before_sense(
    exact: tuple[int, ...], inexact: tuple[int, ...], sensible: bool | None, outcome: Outcome
) -> None:
    item = Item(0, 0, 3, exact, inexact, sensible, reason="It is no food.")
    assert item.outcome == outcome
    # Nobody reads beside “memorised” why a thing makes no sense.
    assert item.why == ("It is no food." if outcome == Outcome.NONSENSE else "")


def test_the_curve_is_the_expectation_over_draws_of_documents() -> None:
    # Of 3 documents the first has it exactly, the second inexactly. One drawn: 1/3, 1/3, 1/3; two drawn, of the three
    # pairs: two with the first (exact), one with the second alone (inexact); three: exact.
    found = curve([Item(0, 0, 3, (0,), (1,), True)])

    assert found.shares[OUTCOMES.index(Outcome.MEMORISED)].tolist() == pytest.approx([1 / 3, 2 / 3, 1])
    assert found.shares[OUTCOMES.index(Outcome.INEXACT)].tolist() == pytest.approx([1 / 3, 1 / 3, 0])
    assert found.shares[OUTCOMES.index(Outcome.CREATIVE)].tolist() == pytest.approx([1 / 3, 0, 0])


ITEMS = st.lists(
    st.builds(
        lambda recipe, n, a, b, sensible: Item(
            recipe, 0, n, tuple(range(min(a, n))), tuple(range(min(a, n), min(a + b, n))), sensible
        ),
        st.integers(0, 3),
        st.integers(1, 6),
        st.integers(0, 3),
        st.integers(0, 3),
        st.sampled_from([None, True, False]),
    ),
    min_size=1,
    max_size=20,
)


@given(ITEMS)
def test_shares_make_one_and_end_at_the_verdict(items: list[Item]) -> None:
    alike = [Item(i.recipe, i.column, 6, i.exact, i.inexact, i.sensible) for i in items]
    found, shares = curve(alike), group("", alike).shares

    assert np.allclose(found.shares.sum(axis=0), 1)
    assert np.allclose(found.shares[:, -1], [share.share for share in shares])
    assert (np.diff(found.shares[0]) >= -1e-12).all()  # more documents, more memorised


def test_intervals_draw_recipes_and_need_ten() -> None:
    few = [Item(recipe, 0, 1, (0,) if recipe % 2 else (), ()) for recipe in range(4)]
    many = [Item(recipe, n, 1, (0,) if n < recipe % 4 else (), ()) for recipe in range(12) for n in range(4)]

    assert group("", few).shares[0].low is None
    assert "too few" in group("", few).interval
    share = group("", many).shares[0]
    assert share.low is not None
    assert share.high is not None
    assert share.low < share.share == 3 * 6 / 48 < share.high


def test_the_closest_document_has_most_of_both_sections_alike() -> None:
    ingredients = [Item(0, n, 3, (1,), (2,)) for n in range(3)] + [Item(0, 3, 3, (), (2,))]
    tasks = [Item(0, 4, 3, (3,), ()), Item(1, 5, 1, (), ())]
    # Of four ingredients 1 has three, 2 all four in another form; 3 has the only task. Sections count alike, so that 2
    # and 3 have as much, and the same words decide. Of the second recipe nothing stands anywhere.
    assert closest([ingredients, tasks]) == [Closest(0, (3,), (0.0, 1.0), (0.0, 1.0))]
    # Without any tasks the recipe's ingredients decide alone; documents with as much are all named.
    alike = [Item(0, 0, 3, (1, 2), (3,))]
    assert closest([alike, []]) == [Closest(0, (1, 2), (1.0, None), (1.0, None))]
    assert closest([]) == []


def test_the_closest_of_many_documents_is_soon_found() -> None:
    """Each document was held against the best of all anew: eleven seconds for 3,000 of them, now a twentieth of one."""
    many = range(3_000)
    items = [Item(0, n, len(many), tuple(many), ()) for n in range(5)]
    begun = time.monotonic()
    (found,) = closest([items])
    assert (found.rows, time.monotonic() - begun < 5) == (tuple(many), True)


# --- a study from the recipe to the verdict ---------------------------------------------------------------------------


def say(rater: Rater, row: Row, answers: dict[tuple[str, str], str]) -> None:
    """Record {(column, question): option key}."""
    [assignment] = actions.assign(rater=rater, rows=[row])
    columns = {column.name: column for column in row.sheet.columns.select_related("section")}
    scheme = row.sheet.study.scheme_id
    made = []
    for (name, key), said in answers.items():
        column = columns[name]
        option = Option.objects.select_related("question").get(
            question__section__scheme=scheme, question__section=column.section, question__key=key, key=said
        )
        made.append(Answer(column=column, question=option.question, option=option))
    actions.record(assignment=assignment, answers=made, key=uuid.uuid4())


@made_once
def study() -> Study:
    """Coleslaw: cabbage stands in a document, carrots in another form, mustard and yeast in none; two people."""
    study = builders.study("slaw", of=demo_study.paper_scheme())
    names = ["cabbage", "carrots", "mustard", "yeast"]
    sheet = actions.add_sheet(
        study=study,
        title="Coleslaw",
        columns={
            "ingredients": [{"ingredient": name} for name in names],
            "tasks": [{"task": "shred", "tool": "knife", "ingredients": "cabbage"}],
        },
    )
    pages = [
        actions.add_row(
            sheet=sheet,
            name=f"Google {n}",
            url=f"https://example.org/{n}",
            evidence=[Block("ingredient", "1 small white cabbage"), Block("ingredient", "2 grated carrots")],
        )
        for n in (1, 2)
    ]
    first, second = (Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code=code) for code in ("A1", "A2"))
    judge = Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, code="J1")
    said = ["found", "found-not-perfect", "not-found", "not-found"]
    for rater, page, answers in (
        (first, pages[0], said),
        (second, pages[0], ["not-found", "found-not-perfect", "not-found", "not-found"]),
        (first, pages[1], ["not-found", "not-found", "implied", "not-found"]),
        (judge, pages[0], ["found", "found", "found", "not-found"]),
    ):
        say(rater, page, {(name, "presence"): key for name, key in zip(names, answers, strict=True)})
    return study


def examined(
    study: Study, sense: dict[str, str], *, kind: Rater.Kind = Rater.Kind.PERSON, by: User | None = None
) -> Study:
    scheme = actions.store_scheme(spec=load_scheme(NONSENSE), source=NONSENSE)
    made = derive_study(source=study, deriver="examined-recipes", scheme=scheme, slug="sense", title="Sense", by=by)
    rater = Rater.objects.create(study=made, kind=kind, code="N1")
    say(rater, made.sheets.get().rows.get(), {(name, "sense"): key for name, key in sense.items()})
    return made


def outcomes(study: Study, examination: Study | None = None, **filters: object) -> dict[str, Outcome]:
    found = queries.examination(examination) if examination else None
    made = queries.load(study, Filters(**filters), found)  # type: ignore[arg-type]
    columns = made.data.table.columns
    return {columns[item.column].name: item.outcome for of in made.sections for item in of.items}


def test_each_item_has_its_verdict(study: Study) -> None:
    sense = examined(study, {"mustard": "sensible", "yeast": "nonsensical", "cabbage": "nonsensical"})

    assert outcomes(study, sense) == {
        "cabbage": Outcome.MEMORISED,
        "carrots": Outcome.INEXACT,
        "mustard": Outcome.CREATIVE,
        "yeast": Outcome.NONSENSE,
    }


def test_what_nobody_examined_is_not_called_creative(study: Study) -> None:
    assert outcomes(study)["mustard"] == Outcome.UNEXAMINED


def test_a_judges_word_on_sense_counts_only_by_name(study: Study) -> None:
    sense = examined(study, {"mustard": "sensible"}, kind=Rater.Kind.JUDGE)

    assert outcomes(study, sense)["mustard"] == Outcome.UNEXAMINED
    assert queries.examination(sense, rater="N1").said["Coleslaw", "ingredients", "mustard", 1] == (True, "")


def test_the_verdict_is_any_raters(study: Study) -> None:
    """The judge found the mustard; most people did not find the cabbage: one of two each, and the first option wins."""
    assert outcomes(study, voices=("rater.J1",))["mustard"] == Outcome.MEMORISED
    assert outcomes(study, voices=("rater.A2",))["cabbage"] == Outcome.UNEXAMINED
    assert outcomes(study, voices=(MAJORITY,))["cabbage"] == Outcome.MEMORISED


def test_which_classes_count_is_the_researchers_choice(study: Study) -> None:
    both = {"ingredients.presence": ("found", "found-not-perfect")}

    assert outcomes(study, found=both)["carrots"] == Outcome.MEMORISED


def test_a_recipe_is_examined_in_its_parts_and_as_a_whole(study: Study) -> None:
    made = examined(study, {})
    sheet = made.sheets.get()

    assert [c.name for c in sheet.columns.order_by("section__position", "position")] == [
        "", "cabbage", "carrots", "mustard", "yeast", "shred · knife · cabbage",
    ]  # fmt: skip
    assert next(block.text for block in sheet.rows.get().blocks) == "cabbage"


@pytest.fixture
def stirred_twice(db: None) -> tuple[Study, Study]:
    """A recipe stirs, fries and stirs; nothing of it stands in the document. The first stirring makes no sense, nor the
    frying; nor does the recipe as a whole."""
    study = builders.study("stew", of=demo_study.paper_scheme())
    tasks = [{"task": task, "tool": "", "ingredients": ""} for task in ("stir", "fry", "stir")]
    sheet = actions.add_sheet(study=study, title="Stew", columns={"tasks": tasks})
    page = actions.add_row(sheet=sheet, name="Google 1", evidence=[Block("step", "Boil it.")])
    first = Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code="A1")
    [assignment] = actions.assign(rater=first, rows=[page])
    answer_all(assignment, "task", ["task-not-found"] * 3)
    scheme = actions.store_scheme(spec=load_scheme(NONSENSE), source=NONSENSE)
    made = derive_study(source=study, deriver="examined-recipes", scheme=scheme, slug="sense", title="Sense", by=None)
    examiner = Rater.objects.create(study=made, kind=Rater.Kind.PERSON, code="N1")
    [assignment] = actions.assign(rater=examiner, rows=[made.sheets.get().rows.get()])
    answer_all(assignment, "sense", ["nonsensical", "nonsensical", "nonsensical", "sensible"])
    return study, made


def answer_all(assignment: Assignment, key: str, said: list[str]) -> None:
    """One answer a column, in their order; none for the ingredients, which the recipe has not."""
    columns = assignment.row.sheet.columns.select_related("section").order_by("section__position", "position")
    columns = columns.exclude(section__key="ingredients")
    options = Option.objects.select_related("question").filter(question__key=key)
    made = []
    for column, word in zip(columns, said, strict=True):
        option = options.get(question__section=column.section, key=word)
        made.append(Answer(column=column, question=option.question, option=option))
    actions.record(assignment=assignment, answers=made, key=uuid.uuid4())


def test_items_of_one_name_have_each_their_own_sense(stirred_twice: tuple[Study, Study]) -> None:
    study, made = stirred_twice
    said = queries.examination(made)
    verdict = queries.load(study, Filters(), said)
    [of_tasks] = [of for of in verdict.sections if of.items]
    assert [item.outcome for item in of_tasks.items] == [Outcome.NONSENSE, Outcome.NONSENSE, Outcome.CREATIVE]
    kept = freezing.beside(verdict)
    again = freezing.verdict_from(verdict.data.table, kept, Filters())
    assert contents_of(again).content == contents_of(verdict).content
    # Frozen before, one answer stood for all of a name, and recipes as a whole were not shown.
    told = json.loads(kept)
    told["examination"]["said"] = [["Stew", "tasks", "stir", True, ""], ["Stew", "tasks", "fry", False, ""]]
    del told["examination"]["whole_is_shown"]
    before = freezing.verdict_from(verdict.data.table, json.dumps(told), Filters())
    [of_tasks] = [of for of in before.sections if of.items]
    assert [item.outcome for item in of_tasks.items] == [Outcome.CREATIVE, Outcome.NONSENSE, Outcome.CREATIVE]
    assert [part.key for part in contents_of(before).parts] == ["tasks"]


def test_a_recipe_that_makes_no_sense_as_a_whole_is_shown(stirred_twice: tuple[Study, Study]) -> None:
    study, made = stirred_twice
    whole = contents_of(queries.load(study, Filters(), queries.examination(made))).parts[-1]
    assert (whole.key, whole.title) == ("recipe", "Recipes")
    assert whole.tables[0].rows == (("Stew", "nonsense", ""),)
    assert whole.tables[0].how == "As said in “Sense”. The verdicts of its parts do not depend on it."


def test_what_counts_as_not_found_and_says_more_is_told(study: Study) -> None:
    """The mustard is implied by one document: not found, by the scheme."""
    [of_ingredients] = told(queries.load(study, Filters(), None))
    assert (
        "Of those in none, 1 was answered “Implied” in a document, which counts as not found."
        in of_ingredients.sentences
    )
    ticked = {"ingredients.presence": ("found", "implied")}
    [of_ingredients] = told(queries.load(study, Filters(found=ticked), None))
    assert not any("Implied" in sentence for sentence in of_ingredients.sentences)


def test_the_first_sentences_say_it(study: Study) -> None:
    sense = examined(study, {"mustard": "sensible", "yeast": "nonsensical"})
    made = queries.load(study, Filters(), queries.examination(sense))
    [of_ingredients] = told(made)

    assert of_ingredients.sentences[:3] == (
        "Of 4 ingredients, 1 (25 %) stand in at least one document in the same words: the model may well have read "
        "them there.",
        "In another form only: 1. In none of the documents: 2.",
        "Of those in none, 1: creative, since they make sense; 1: nonsense.",
    )
    assert contents_of(made).content == contents_of(made).content


def test_the_single_document_that_a_recipe_comes_closest_to(
    study: Study, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Potential plagiarism is a recipe that closely matches a public one, not parts that stand in many (footnote 1)."""
    made = queries.load(study, Filters(), None)
    tables = {table.key: table for table in contents_of(made).tables}
    assert tables["recipe.closest"].rows == (("Coleslaw", "Google 1", 0.25, 0.5),)
    assert [head.group for head in tables["recipe.closest"].heads[2:]] == ["Ingredients", "Ingredients"]
    sentence = (
        "“Coleslaw” comes closest to a single document: what Google 1 alone has of it, in some form, is 50 % of "
        "“Ingredients”."
    )
    assert closest_sentence(made) == sentence
    user = builders.user("root")
    actions.add_member(study=study, user=user, role="researcher")
    client.force_login(user)
    counted = mock.Mock(wraps=closest)
    monkeypatch.setattr(queries, "closest", counted)
    assert sentence in client.get(reverse("memorization:verdict", args=[study.slug])).content.decode()
    assert counted.call_count == 1  # the page has it as a sentence and as a table
    # Verdicts that were frozen before tell of no single document, and compute as they did.
    told_beside = json.loads(freezing.beside(made))
    del told_beside["closest_is_shown"]
    before = freezing.verdict_from(made.data.table, json.dumps(told_beside), Filters())
    assert [part.key for part in contents_of(before).parts] == ["ingredients"]


def test_the_page_leads_back_to_documents_people_and_lines(study: Study, client: Client) -> None:
    user = builders.user("root")
    examined(study, {"mustard": "sensible", "yeast": "nonsensical"}, by=user)
    actions.add_member(study=study, user=user, role="researcher")
    client.force_login(user)
    page = client.get(reverse("memorization:verdict", args=[study.slug]), {"outcome": "never"})
    assert [line.name for line in page.context["page"]] == ["mustard", "yeast"]

    cabbage = Column.objects.get(sheet__study=study, name="cabbage")
    back = client.get(reverse("memorization:verdict-item", args=[study.slug, cabbage.pk]))
    first, second = back.context["documents"]
    assert (first.row.name, list(first.lines)) == ("Google 1", ["1 small white cabbage"])
    assert [label.assignment.rater.code for label in first.answers] == ["A1", "A2", "J1"]
    assert (second.row.name, list(second.lines)) == ("Google 2", [])

    for ending in ("csv", "json", "tex", "xlsx", "zip"):
        file = client.get(reverse("memorization:verdict-file", args=[study.slug, ending]))
        assert file.status_code == 200
        if ending == "json":
            tables = {table["key"]: table for part in json.loads(file.content)["parts"] for table in part["tables"]}
            assert [row[1] for row in tables["ingredients.verdict"]["rows"]] == [1, 1, 1, 1]
        if ending == "zip":
            names = zipfile.ZipFile(io.BytesIO(file.content)).namelist()
            assert {"figures/ingredients.verdict-documents.pdf", "tables/ingredients.verdict.tex"} <= set(names)


def test_programs_have_the_verdict_of_the_page(study: Study, client: Client, api_of: ApiOf) -> None:
    user = builders.user("root")
    examined(study, {"mustard": "sensible", "yeast": "nonsensical"}, by=user)
    actions.add_member(study=study, user=user, role="researcher")
    client.force_login(user)
    api, address = api_of(user), reverse("api:verdict", args=[study.slug])
    found = api.get(address).json()

    assert (found["study"], found["examined"]) == ("slaw", "sense")
    assert found["told"][0]["section"] == "ingredients"
    file = json.loads(client.get(reverse("memorization:verdict-file", args=[study.slug, "json"])).content)
    tables = [table for part in file["parts"] for table in part["tables"]]
    assert [table["key"] for table in found["tables"]] == [table["key"] for table in tables]
    assert [figure["key"] for figure in found["figures"]] == [
        figure["key"] for part in file["parts"] for figure in part["figures"]
    ]
    [counts] = [table for table in found["tables"] if table["key"] == "ingredients.verdict"]
    assert [list(row.values())[1] for row in counts["rows"]] == [1, 1, 1, 1]

    by_judge = api.get(address, {"voice": "rater.J1"}).json()
    assert by_judge["tables"] != found["tables"]
    assert list(api.get(address, {"voice": "rater.J9"}).json()) == ["voice"]
    assert list(api.get(address, {"found.nosuch.q": "x"}).json()) == ["non_field_errors"]


def test_only_who_may_make_a_study_is_led_to_it(study: Study, client: Client) -> None:
    """Others would be refused there."""
    researcher, manager, root = builders.user("rene"), builders.user("mara"), builders.user("root", superuser=True)
    actions.add_member(study=study, user=researcher, role="researcher")
    actions.add_member(study=study, user=manager, role="manager")
    there = reverse("annotation:derive", args=[study.slug]) + "?deriver=examined-recipes"
    for user in (researcher, manager, root):
        client.force_login(user)
        page = client.get(reverse("memorization:verdict", args=[study.slug])).content.decode()
        assert "Nothing here was examined for nonsense yet." in page
        assert (f'href="{there}"' in page) == (client.get(there).status_code == 200) == (user == root)
    form = client.get(there).context["form"]
    assert form["scheme"].value() == "recipe-nonsense"  # which is chosen, as no other makes a verdict


def test_texts_from_right_to_left_run_so(study: Study, client: Client) -> None:
    user = builders.user("root")
    actions.add_member(study=study, user=user, role="researcher")
    client.force_login(user)
    study.sheets.update(title="סלט כרוב")
    Column.objects.filter(sheet__study=study, name="cabbage").update(name="כרוב")
    Column.objects.filter(sheet__study=study, name="mustard").update(name="חרדל")
    Row.objects.filter(sheet__study=study, name="Google 1").update(
        name="דף", evidence=[{"kind": "ingredient", "text": "כרוב לבן קטן"}]
    )
    cabbage = Column.objects.get(name="כרוב")
    verdict = client.get(reverse("memorization:verdict", args=[study.slug])).content.decode()
    item = client.get(reverse("memorization:verdict-item", args=[study.slug, cabbage.pk])).content.decode()
    compared = client.get(reverse("memorization:compare-verdicts", args=[study.slug])).content.decode()

    for page in (verdict, item, compared):
        assert "כרוב" in page
        assert astray(page) == []


def test_what_was_never_found_can_be_handed_on(study: Study, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that a floor above registers is given the columns that are ticked."""
    monkeypatch.setattr(doors, "_item_actions", [])
    doors.register_item_action(label="Search again", url_name="annotation:study", roles={"researcher"})
    user = builders.user("root")
    actions.add_member(study=study, user=user, role="researcher")
    client.force_login(user)
    page = client.get(reverse("memorization:verdict", args=[study.slug])).content.decode()

    yeast = Column.objects.get(sheet__study=study, name="yeast")
    assert f'name="column" value="{yeast.pk}" aria-label="yeast" checked' in page
    assert f'formaction="{reverse("annotation:study", args=[study.slug])}"' in page


def test_a_recipe_knows_its_generator_through_what_it_was_made_of(db: None) -> None:
    parsing = """\
key: parsing
version: 1
title: Parsing
row: {facets: [generator, prompt]}
sections:
  - key: recipe
    title: Recipe
    column: {title: Recipe, facets: [part]}
    questions:
      - {key: ingredients, title: Ingredients, kind: items, items: {fields: [{key: ingredient, title: Ingredient}]}}
"""
    source = builders.study("parsing", of=builders.scheme(parsing))
    sheet = actions.add_sheet(study=source, title="Slaw", columns={})
    facets = {"generator": "mixtral", "prompt": "general"}
    row = actions.add_row(sheet=sheet, name="Text 1", evidence=[Block("paragraph", "Shred it.")], facets=facets)
    rater = Rater.objects.create(study=source, kind=Rater.Kind.PERSON, code="P1")
    [assignment] = actions.assign(rater=rater, rows=[row])
    column = sheet.columns.select_related("section").get()
    question = column.section.questions.get()
    value = [{"ingredient": "cabbage"}]
    actions.record(
        assignment=assignment, answers=[Answer(column=column, question=question, value=value)], key=uuid.uuid4()
    )
    study = derive_study(
        source=source, deriver="parsed-recipes", scheme=demo_study.paper_scheme(), slug="looked", title="L", by=None
    )
    [origin] = queries.load(study, Filters(), None).origins

    assert (origin.row, dict(origin.words)) == (row, facets)


def test_a_sentence_rests_on_all_items(study: Study) -> None:
    """Behind the fewest documents of an item the curve is of other items, and no sentence says so many “together”."""
    actions.add_row(sheet=study.sheets.get(), name="Bing 1", evidence=[Block("ingredient", "cabbage")])
    rater = study.raters.get(code="A1")
    say(rater, Row.objects.get(name="Bing 1"), {("cabbage", "presence"): "not-found"})
    [of_ingredients] = told(queries.load(study, Filters(), None))

    # Of four items one is found, in one of its three documents: in two of them with 2/3.
    assert any("2 together have 17 %" in sentence for sentence in of_ingredients.sentences)
    assert not any("3 together" in sentence for sentence in of_ingredients.sentences)


def test_the_blank_column_of_a_recipe_without_tasks_is_no_item(study: Study) -> None:
    sheet = actions.add_sheet(study=study, title="Bread", columns={"ingredients": [{"ingredient": "flour"}]})
    row = actions.add_row(sheet=sheet, name="Bing 1", evidence=[Block("ingredient", "flour")])
    say(study.raters.get(code="A1"), row, {("", "task"): "task-not-found", ("flour", "presence"): "found"})
    made = queries.load(study, Filters(), None)

    assert {of.section.key: len(of.items) for of in made.sections if of.items} == {"ingredients": 5}


# --- frozen -----------------------------------------------------------------------------------------------------------


def frozen(study: Study, **filters: object) -> FrozenVerdict:
    sense = examined(study, {"mustard": "sensible", "yeast": "nonsensical"})
    return freeze_verdict(
        study=study,
        title="First",
        filters=Filters(**filters),  # type: ignore[arg-type]
        examination=queries.examination(sense),
        by=None,
    )


def test_a_frozen_verdict_computes_again_to_the_same_bytes(study: Study) -> None:
    kept = frozen(study, seed=3)
    # Whatever is labelled, examined, renamed or withdrawn from now on.
    say(
        study.raters.get(code="J1"),
        Row.objects.get(sheet__study=study, name="Google 2"),
        {("yeast", "presence"): "found"},
    )
    Column.objects.filter(sheet__study=study, name="mustard").update(name="horseradish")
    Study.objects.filter(slug="sense").update(title="Other")
    again = freezing.recompute(FrozenVerdict.objects.get(pk=kept.pk))

    assert (again.equal, again.labels_intact, again.other_code) == (True, True, None)
    assert again.comparison.n_numbers > 20
    table = {row[0]: row[1] for row in next(read_contents(kept.results).tables).rows}
    assert table["creative"] == table["nonsense"] == 1


def test_a_frozen_verdict_is_never_changed(study: Study) -> None:
    kept = frozen(study)
    kept.title = "Second"
    with pytest.raises(FrozenError):
        kept.save()
    with pytest.raises(FrozenError):
        FrozenVerdict.objects.update(title="Second")
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE memorization_frozenverdict SET title = 'Second'")


def test_what_was_changed_behind_our_back_is_found_out(study: Study) -> None:
    kept = frozen(study)
    kept.beside = kept.beside.replace('"yeast",1,false', '"yeast",1,true')
    again = freezing.recompute(kept)

    assert not again.labels_intact
    assert {change.row for change in again.comparison.changes} >= {"creative"}


def test_nothing_is_frozen_of_nothing(db: None) -> None:
    empty = builders.study("empty", of=demo_study.paper_scheme())
    with pytest.raises(Refused, match="No item has an answer"):
        freeze_verdict(study=empty, title="x", filters=Filters(), examination=None, by=None)


def test_a_verdict_is_frozen_read_and_downloaded_in_the_browser(study: Study, client: Client) -> None:
    user = builders.user("root")
    examined(study, {"mustard": "sensible", "yeast": "nonsensical"}, by=user)
    actions.add_member(study=study, user=user, role="researcher")
    client.force_login(user)
    page = client.post(
        reverse("memorization:freeze-verdict", args=[study.slug]) + "?voice=rater.J1", {"title": "By J1"}, follow=True
    )
    kept = FrozenVerdict.objects.get()
    assert kept.filters["voices"] == ["rater.J1"]
    assert "By J1" in page.content.decode()
    again = client.post(reverse("memorization:recompute-verdict", args=[study.slug, kept.pk]))
    assert "Recomputed, and equal" in again.content.decode()
    assert "By J1" in client.get(reverse("memorization:frozen-verdicts", args=[study.slug])).content.decode()
    for ending in ("csv", "json", "tex", "xlsx", "zip"):
        first, second = (
            client.get(reverse("memorization:frozen-verdict-file", args=[study.slug, kept.pk, ending]))
            for _time in range(2)
        )
        assert first.status_code == 200
        if ending != "xlsx":  # bears the time of its making
            assert first.content == second.content
    client.post(reverse("memorization:freeze-verdict", args=[study.slug]), {"title": "By people"})
    kept = FrozenVerdict.objects.get(title="By people")
    key = next(read_contents(kept.results).figures).key
    for ending, kind in (("svg", "image/svg+xml"), ("csv", "text/csv; charset=utf-8")):
        address = reverse("memorization:frozen-verdict-figure", args=[study.slug, kept.pk, key, ending])
        assert address in client.get(kept.get_absolute_url()).content.decode()
        assert client.get(address)["Content-Type"] == kind
    out = io.StringIO()
    call_command("recompute_verdict", str(kept.pk), stdout=out)
    assert "Equal: all" in out.getvalue()
    nobody = builders.user("nobody")
    client.force_login(nobody)
    assert client.get(kept.get_absolute_url()).status_code == 404


# --- two verdicts -----------------------------------------------------------------------------------------------------


def test_by_hand_against_by_a_judge_item_by_item(study: Study, client: Client) -> None:
    user = builders.user("root")
    sense = examined(study, {"mustard": "sensible", "yeast": "nonsensical"}, by=user)
    judge = Rater.objects.create(study=sense, kind=Rater.Kind.JUDGE, code="N2")
    say(judge, sense.sheets.get().rows.get(), {("yeast", "sense"): "sensible"})
    actions.add_member(study=study, user=user, role="researcher")
    client.force_login(user)
    page = client.get(reverse("memorization:compare-verdicts", args=[study.slug]))
    assert page.context["names"] == ("anybody among people", "J1")
    [section] = page.context["sections"]
    told = {
        line.pair.name: tuple(side and side.outcome for side in (line.pair.first, line.pair.second))
        for line in section["lines"]
    }
    # J1 found all but the yeast, of which the judge N2 says that it makes sense.
    assert told == {
        "cabbage": (Outcome.MEMORISED, Outcome.MEMORISED),
        "carrots": (Outcome.INEXACT, Outcome.MEMORISED),
        "mustard": (Outcome.CREATIVE, Outcome.MEMORISED),
        "yeast": (Outcome.NONSENSE, Outcome.CREATIVE),
    }
    of = section["of"]
    assert (of.n, of.same, of.one_sided) == (4, 1, (0, 0))
    # In the one document that they looked at J1 says as A1 of the cabbage and the yeast, as A2 of the yeast alone.
    assert (of.answers, of.same_answers) == (8, 3)
    # One of four alike; by chance memorised meets memorised in 1/4 · 3/4, creative in 1/4 · 1/4: (1/4 - 1/4) / (3/4).
    assert of.kappa == pytest.approx(0)
    cabbage = Column.objects.get(sheet__study=study, name="cabbage")
    assert reverse("memorization:verdict-item", args=[study.slug, cabbage.pk]) in page.content.decode()

    unlike = client.get(page.request["PATH_INFO"], {"only": "unlike"})
    assert [line.pair.name for line in unlike.context["sections"][0]["lines"]] == ["carrots", "mustard", "yeast"]
    refused = client.get(page.request["PATH_INFO"], {"first": "elsewhere people"})
    assert "Which two sides are meant is not understood" in refused.content.decode()
    for ending in ("csv", "json", "tex", "xlsx"):
        file = client.get(reverse("memorization:compared-verdicts-file", args=[study.slug, ending]))
        assert file.status_code == 200
        if ending == "json":
            tables = {table["key"]: table for part in json.loads(file.content)["parts"] for table in part["tables"]}
            assert tables["ingredients.compared"]["rows"][0][:3] == ["verdicts of items", 4, 0.25]
            assert len(tables["ingredients.compared-items"]["rows"]) == 4


def test_the_same_dish_in_another_study_is_compared_by_its_items(study: Study, client: Client) -> None:
    user, stranger = builders.user("root"), builders.user("stranger")
    other = builders.study("again", of=demo_study.paper_scheme())
    sheet = actions.add_sheet(
        study=other, title="Coleslaw", columns={"ingredients": [{"ingredient": name} for name in ("Cabbage", "salt")]}
    )
    row = actions.add_row(sheet=sheet, name="Bing 1", evidence=[Block("ingredient", "cabbage")])
    rater = Rater.objects.create(study=other, kind=Rater.Kind.JUDGE, code="lexical")
    say(rater, row, {("Cabbage", "presence"): "found", ("salt", "presence"): "not-found"})
    for one, of in ((user, study), (user, other), (stranger, study)):
        actions.add_member(study=of, user=one, role="researcher")
    sides = {"first": f"{study.slug} people", "second": f"{other.slug} rater.lexical"}
    client.force_login(user)
    page = client.get(reverse("memorization:compare-verdicts", args=[study.slug]), sides)
    [section] = page.context["sections"]
    assert (section["of"].n, section["of"].same, section["of"].one_sided) == (1, 1, (3, 1))
    assert section["of"].answers is None  # other documents
    assert page.context["names"] == (f"anybody among people ({study.title})", f"lexical ({other.title})")

    file = client.get(reverse("memorization:compared-verdicts-file", args=[study.slug, "xlsx"]), sides)
    assert "Labels" not in openpyxl.load_workbook(io.BytesIO(file.content)).sheetnames  # they would be of one side

    client.force_login(stranger)  # who has no part in the other study
    hidden = client.get(reverse("memorization:compare-verdicts", args=[study.slug]), sides)
    assert hidden.context["sections"] is None
    assert other.title not in hidden.content.decode()


# --- what is reserved -------------------------------------------------------------------------------------------------


def test_what_an_opt_out_covers(study: Study, client: Client) -> None:
    """Cabbage stands in a document whose site says noai; frozen it is the same without the documents."""
    sheet = study.sheets.get()
    search = Search.objects.create(sheet=sheet, engine="searxng", query="slaw")
    row = sheet.rows.get(name="Google 1")
    document = Document.objects.create(row=row, source=row.url, parser="text", html_gz=b"", sha256="0" * 64)
    said = [{"kind": "noai", "said": "noai", "where": "meta robots"}]
    Hit.objects.create(
        search=search, rank=1, url=row.url, canonical=row.url, state="document", document=document, opt_outs=said
    )
    made = queries.load(study, Filters(), None)
    [of_ingredients] = told(made)
    assert of_ingredients.sentences[-1] == (
        "Sites have reserved 1 of the documents against use by such programs: of the memorised, 1 stands in those "
        "alone, and 0 in those and in others."
    )
    tables = {table.key: table for table in contents_of(made).tables}
    assert tables["ingredients.verdict-reserved"].rows == (
        ("any of these", 1, 1, 0, 0, 1, 0, 0),
        ("the page says noai or noimageai", 1, 1, 0, 0, 1, 0, 0),
    )
    assert tables["recipe.closest"].rows == (("Coleslaw", "Google 1", 0.25, 0.5, "the page says noai or noimageai"),)
    user = builders.user("root")
    actions.add_member(study=study, user=user, role="researcher")
    client.force_login(user)
    cabbage = Column.objects.get(sheet__study=study, name="cabbage")
    page = client.get(reverse("memorization:verdict-item", args=[study.slug, cabbage.pk]))
    assert [list(each.reserved) for each in page.context["documents"]] == [["the page says noai or noimageai"], []]

    frozen = freeze_verdict(study=study, title="Now", filters=Filters(), examination=None, by=None)
    Hit.objects.all().delete()
    assert freezing.recompute(frozen).equal
    now = contents_of(queries.load(study, Filters(), None))
    assert not [table.key for table in now.tables if table.key.endswith("reserved")]
