"""What recipes were taken apart into becomes the columns of the study that looks for it in documents."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation import actions
from annotation.actions import Refused
from annotation.answers import kind_of
from annotation.deriving.actions import derive_study
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Assignment, Label, Question, Rater, Row, Study
from annotation.scheme.spec import load_scheme
from recipes.memorization import demo_study
from tests import builders
from tests.annotation.lineage import rests_of

pytestmark = pytest.mark.django_db

PARSING = (demo_study.ROOT / "schemes" / "recipe-parsing.yaml").read_text(encoding="utf-8")
INGREDIENTS = "eggs\nmilk\nsalt"
TASKS = "whisk | large bowl | eggs, milk\nseason | | salt"


def parsed(*, recipes: int = 1) -> tuple[Study, Rater]:
    """A study of one dish with some recipes, each a row; one rater."""
    study = builders.study("parsing", of=builders.scheme(PARSING))
    sheet = actions.add_sheet(study=study, title="Pancakes", columns={})
    for n in range(1, recipes + 1):
        actions.add_row(sheet=sheet, name=f"Model {n}", evidence=[Block(PARAGRAPH, "Whisk eggs and milk. Season.")])
    rater = Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code="R1")
    return study, rater


def answer(rater: Rater, row: Row, **texts: str) -> None:
    """Labels of values, as they stand in the database."""
    assignment, _ = Assignment.objects.get_or_create(rater=rater, row=row)
    column = row.sheet.columns.get()
    for key, text in texts.items():
        question = Question.objects.get(section=column.section, key=key)
        value = kind_of(question.spec).read(question.spec, text)
        Label.objects.create(assignment=assignment, column=column, question=question, value=value)


def derived(study: Study, slug: str = "labelling") -> Study:
    return derive_study(
        source=study, deriver="parsed-recipes", scheme=demo_study.paper_scheme(), slug=slug, title="Looked for", by=None
    )


def test_items_become_columns_with_their_fields_as_facets() -> None:
    study, rater = parsed()
    answer(rater, Row.objects.get(), ingredients=INGREDIENTS, tasks=TASKS)
    made = derived(study)
    sheet = made.sheets.get()
    assert sheet.title == "Pancakes"
    columns = {(c.section.key, c.position): c.facets for c in sheet.columns.select_related("section")}
    assert columns == {
        ("ingredients", 0): {"ingredient": "eggs"},
        ("ingredients", 1): {"ingredient": "milk"},
        ("ingredients", 2): {"ingredient": "salt"},
        ("tasks", 0): {"task": "whisk", "tool": "large bowl", "ingredients": "eggs, milk"},
        ("tasks", 1): {"task": "season", "tool": "", "ingredients": "salt"},
    }
    assert not sheet.rows.exists()
    assert made.derivation["made"] == {"sheets": 1, "rows": 0, "columns": 5}


def test_each_column_rests_on_the_label_that_it_was_in() -> None:
    study, rater = parsed()
    answer(rater, Row.objects.get(), ingredients=INGREDIENTS, tasks=TASKS)
    sheet = derived(study).sheets.get()
    whisk = sheet.columns.get(section__key="tasks", position=0)
    (rest,) = rests_of(whisk)
    label = Label.objects.get(question__key="tasks")
    assert (rest.lineage.assignment, rest.lineage.question, rest.lineage.code) == (
        label.assignment,
        label.question,
        label.code,
    )
    assert not rest.changed


def test_recipes_of_one_dish_become_sheets_of_their_own() -> None:
    study, rater = parsed(recipes=2)
    for row in Row.objects.all():
        answer(rater, row, ingredients=INGREDIENTS, tasks=TASKS)
    titles = list(derived(study).sheets.order_by("position").values_list("title", flat=True))
    assert titles == ["Pancakes · Model 1", "Pancakes · Model 2"]


def test_what_two_people_took_apart_differently_is_a_tie_and_not_guessed() -> None:
    study, rater = parsed()
    row = Row.objects.get()
    answer(rater, row, ingredients=INGREDIENTS, tasks=TASKS)
    other = Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code="R2")
    answer(other, row, ingredients="eggs\nmilk", tasks=TASKS)
    made = derived(study)
    assert made.derivation["ties"]["n"] == 1
    columns = made.sheets.get().columns
    assert columns.filter(section__key="ingredients").get().name == ""  # the blank column of a section without any
    assert columns.filter(section__key="tasks").count() == 2


def test_nothing_taken_apart_and_schemes_that_do_not_fit_are_refused() -> None:
    study, rater = parsed()
    with pytest.raises(Refused, match="No recipe has been taken apart yet"):
        derived(study)
    answer(rater, Row.objects.get(), ingredients=INGREDIENTS)
    with pytest.raises(Refused, match="No list of the one scheme has the name of a section of the other"):
        derive_study(source=study, deriver="parsed-recipes", scheme=builders.scheme(), slug="x", title="x", by=None)


def test_the_scheme_takes_a_recipe_apart_into_what_the_paper_labels() -> None:
    parsing, labelling = load_scheme(PARSING), demo_study.paper_scheme().parsed
    for section in labelling.sections:
        items = parsing.section("recipe").question(section.key).items
        assert items is not None
        assert {field.key for field in items.said} == set(section.column.facets)


def test_schemes_of_packs_are_offered_until_they_are_stored(client_of: builders.ClientOf) -> None:
    root = builders.user("root", superuser=True)
    address = reverse("annotation:new-study")
    page = client_of(root).get(address).content.decode()
    assert "recipe-parsing" in page
    made = client_of(root).post(address, {"title": "Parsing", "slug": "parsing", "scheme": "recipe-parsing"})
    assert made.status_code == 302
    stored = Study.objects.get(slug="parsing").scheme
    assert (stored.slug, stored.source) == ("recipe-parsing", PARSING)
    page = client_of(root).get(address).content.decode()
    assert "recipe-parsing" not in page
    assert f'value="{stored.pk}"' in page


def test_prompts_of_packs_are_offered_where_they_fit_the_scheme(client_of: builders.ClientOf) -> None:
    root = builders.user("root", superuser=True)
    study = builders.study("memory", of=demo_study.paper_scheme())
    address = reverse("judges:new-judge", args=[study.slug])
    asked = {"method": "lexical", "method_before": "cloze"}

    def offered() -> str:
        return client_of(root).get(address, asked, headers={"HX-Request": "true"}).content.decode()

    assert 'value="shipped:memorization-lexical"' in offered()
    assert "ash-rating" not in offered()
    data = {"name": "words", "method": "lexical", "normalisation": "none", "shipped": "memorization-lexical"}
    made = client_of(root).post(address, data)
    assert made.status_code == 302, made.content.decode()
    assert 'value="shipped:memorization-lexical"' not in offered()  # it is stored now
