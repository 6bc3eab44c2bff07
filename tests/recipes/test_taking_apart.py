"""Recipes taken apart by rules: what a model wrote, headings and all, and the recipes of the demo."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml
from django.urls import reverse

from annotation import actions
from annotation.answers import kind_of
from annotation.answers.places import read_places, words_at
from annotation.deriving.actions import derive_study
from annotation.evidence.blocks import Block
from annotation.models import Label, Rater
from annotation.scheme.spec import load_scheme
from judges import actions as judging
from judges.doors import NothingStated, item_parser
from judges.models import UnreadableAnswer
from judges.runs import labelling
from llm.backends.base import Generated
from recipes.cooking.taking_apart.ingredients import names_in
from recipes.cooking.taking_apart.outline import Line, Part, outline
from recipes.cooking.taking_apart.tasks import tasks_in
from recipes.memorization import demo_study
from tests import builders
from tests.judges import generations
from tests.recipes.parsing import CURRY, PARSING, PROMPTS, blocks, rules


def test_a_written_recipe_is_taken_apart_and_each_part_knows_its_words() -> None:
    of = blocks(CURRY)
    lines = outline(of)
    names = names_in(lines)
    assert [name.text for name in names] == [
        "lemongrass",
        "garlic",
        "ground white pepper",
        "salt",
        "pepper",
        "coconut milk",
        "chicken thighs",
        "brown sugar",
        "crushed tomatoes",
        "basil leaves",
        "rice",
    ]
    texts = [block.text for block in of]
    assert [words_at(texts, [name.place]).casefold() for name in names] == [name.text.casefold() for name in names]
    tasks = tasks_in(lines, [name.text for name in names])
    assert [(task.task, task.tool, ", ".join(task.ingredients)) for task in tasks] == [
        ("place", "food processor", "lemongrass, garlic, ground white pepper"),
        ("blend", "", ""),
        ("heat", "large wok", ""),
        ("add", "", "paste"),
        ("fry", "", ""),
        ("add", "", "chicken thighs"),
        ("cook", "", ""),
        ("pour in", "", "coconut milk, brown sugar"),
        ("bring to a boil", "", ""),
        ("reduce the heat", "", ""),
        ("simmer", "", ""),
        ("whisk together", "small bowl", "salt, pepper"),
        ("rest", "", "sauce"),
        ("transfer", "bowls", "curry"),
        ("garnish", "", "basil leaves"),
    ]
    said = [words_at(texts, list(task.places)) for task in tasks]
    assert said[0] == "Place the lemongrass, garlic and white pepper in a food processor"
    assert said[4] == "fry for 2-3 minutes"
    assert said[11] == "In a small bowl … whisk the salt and pepper together"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("2 large eggs, beaten", "eggs"),
        ("¾ cup (150 g) sugar", "sugar"),
        ("1-2 tablespoons extra-virgin olive oil", "extra-virgin olive oil"),
        ("4 cloves", "cloves"),
        ("3 garlic cloves, minced", "garlic cloves"),
        ("Freshly ground black pepper to taste", "ground black pepper"),
        ("Parmesan cheese", "Parmesan cheese"),
        ("Flour: 200 g", "flour"),
        ("a pinch of salt", "salt"),
        ("juice of 1 lime", "juice of 1 lime"),
        ("2 cups of hot water (plus more if needed)", "water"),
    ],
)
def test_the_name_in_a_line(line: str, name: str) -> None:
    assert [found.text for found in names_in([Line(Part.INGREDIENT, 0, line, 0)])] == [name]


@pytest.mark.parametrize(
    ("step", "tasks"),
    [
        ("Sift the flour, cocoa and salt into the bowl.", ["sift into"]),
        ("Roll out the dough on a floured surface, and cut it.", ["roll out", "cut"]),
        ("Season with salt and pepper and mix gently by hand.", ["season", "mix"]),
        ("Let the dough rise until doubled.", ["rise"]),
        ("Once cold, cut into squares.", ["cut into"]),
        ("Carefully pour the batter into a cake pan.", ["pour into"]),
        ("Set the sauce aside and keep it warm.", ["set aside"]),
        ("The oven should be hot.", []),
        ("Enjoy!", []),
    ],
)
def test_the_tasks_of_a_step(step: str, tasks: list[str]) -> None:
    found = tasks_in([Line(Part.STEP, 0, step, 0)], ["flour", "salt", "pepper"])
    assert [task.task for task in found] == tasks


def test_of_the_demos_recipes_nearly_all_tasks_are_found() -> None:
    """Held against what people wrote: verbs found 0.99, right 0.88 (they leave some of the text's tasks out)."""
    found = right = wanted = 0
    for file in sorted((demo_study.ROOT / "demo" / "recipes").glob("*.yaml")):
        recipe = yaml.safe_load(file.read_text(encoding="utf-8"))
        of = [Block("ingredient", text) for text in recipe["ingredients"]]
        lines = outline([*of, *(Block("step", text) for text in recipe["steps"])])
        names = [name.text for name in names_in(lines)]
        assert names == recipe["ingredients"], file.stem
        theirs = Counter(task["task"].split()[0] for task in recipe["tasks"])
        ours = Counter(task.task.split()[0] for task in tasks_in(lines, names))
        found, wanted, right = found + ours.total(), wanted + theirs.total(), right + (ours & theirs).total()
    assert right / wanted > 0.95
    assert right / found > 0.85


def test_what_the_rules_cannot_read_is_said() -> None:
    spec = load_scheme(PARSING).section("recipe")
    tasks, ingredients = item_parser("recipe-tasks"), item_parser("recipe-ingredients")
    assert tasks is not None
    assert ingredients is not None
    own, of_ingredients = spec.question("tasks").items, spec.question("ingredients").items
    assert own is not None
    assert of_ingredients is not None
    with pytest.raises(NothingStated, match="in English"):
        tasks.read(own, blocks(CURRY), "cs")
    with pytest.raises(NothingStated, match="no steps"):
        tasks.read(own, blocks("I don't know how to make it."), "en")
    with pytest.raises(NothingStated, match="no list of ingredients"):
        ingredients.read(of_ingredients, blocks("I don't know how to make it."), "en")
    with pytest.raises(NothingStated, match="no field “ingredient”"):
        ingredients.read(own, blocks(CURRY), "en")


# --- as judges --------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_rules_are_a_rater_of_their_own() -> None:
    rater = rules("parsing-lexical-carried", texts={"Curry": CURRY, "Nothing": "I don't know how to make it."})
    labels = {label.question.key: label for label in Label.objects.filter(assignment__rater=rater)}
    assert set(labels) == {"ingredients", "tasks"}
    tasks = labels["tasks"].value
    assert [(task["task"], task["tool"], task["ingredients"]) for task in tasks[:3]] == [
        ("place", "food processor", ["lemongrass", "garlic", "ground white pepper"]),
        ("blend", "food processor", ["mixture"]),
        ("heat", "large wok", ["mixture"]),
    ]
    texts = [block.text for block in labels["tasks"].assignment.row.blocks]
    assert words_at(texts, read_places(tasks[1]["words"])) == "blend until smooth"
    told = dict(UnreadableAnswer.objects.values_list("question__key", "detail"))
    assert told["tasks"] == "There are no steps in the text that say what to do."
    assert told["ingredients"] == "There is no list of ingredients in the text."


@pytest.mark.django_db
def test_words_of_a_list_that_a_model_wrote_are_looked_for() -> None:
    study = builders.study("parsing", of=builders.scheme(PARSING))
    sheet = actions.add_sheet(study=study, title="Curry", columns={})
    row = actions.add_row(sheet=sheet, name="1", evidence=blocks(CURRY), language="en")
    text = (PROMPTS / "parsing-writing.yaml").read_text(encoding="utf-8")
    judge = judging.create_judge(
        name="writer", method="writing", prompt_text=text, model=generations.model(), temperature=0, max_new_tokens=400
    )
    rater = Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, code="writer")
    (assignment,) = actions.assign(rater=rater, rows=[row])

    class Writes:
        def generate(self, prompts: list[str], *_rest: object) -> list[Generated]:
            said = ["lemongrass\nsaffron", "whisk together | small bowl | salt, pepper"]
            return [Generated(text, cut=False) for text, _prompt in zip(said, prompts, strict=True)]

    labelled = labelling.label_row(judge, assignment, Writes())  # type: ignore[arg-type]
    said = {answer.question.key: answer.value for answer in labelled.answers}
    assert [record["ingredient"] for record in said["ingredients"]] == ["lemongrass", "saffron"]
    assert [bool(record["words"]) for record in said["ingredients"]] == [True, False]
    texts = [block.text for block in row.blocks]
    assert words_at(texts, read_places(said["tasks"][0]["words"])) == "whisk the salt and pepper together"


@pytest.mark.django_db
def test_the_confirmed_parse_becomes_columns_and_its_words_stay_behind() -> None:
    rater = rules("parsing-lexical", texts={"Curry": CURRY})
    parsed = rater.study
    spec = parsed.scheme.parsed.section("recipe").question("tasks")
    person = Rater.objects.create(study=parsed, kind=Rater.Kind.PERSON, code="P1")
    (assignment,) = actions.assign(rater=person, rows=parsed.sheets.get().rows.all())
    drafted = Label.objects.get(assignment__rater=rater, question__key="tasks")
    column = drafted.column
    Label.objects.create(assignment=assignment, column=column, question=drafted.question, value=drafted.value)
    made = derive_study(
        source=parsed, deriver="parsed-recipes", scheme=demo_study.paper_scheme(), slug="looked-for", title="x", by=None
    )
    columns = made.sheets.get().columns.filter(section__key="tasks").order_by("position")
    assert [column.facets for column in columns][:2] == [
        {"task": "place", "tool": "food processor", "ingredients": "lemongrass, garlic, ground white pepper"},
        {"task": "blend", "tool": "", "ingredients": ""},
    ]
    assert columns.count() == len(kind_of(spec).entries(spec, drafted.value))


@pytest.mark.django_db
def test_the_prompt_of_the_rules_is_offered_for_a_study_that_takes_recipes_apart(
    client_of: builders.ClientOf,
) -> None:
    study = builders.study("parsing", of=builders.scheme(PARSING))
    page = client_of(builders.user("root", superuser=True)).get(
        reverse("judges:new-judge", args=[study.slug]),
        {"method": "lexical", "method_before": "writing"},
        headers={"HX-Request": "true"},
    )
    assert "parsing-lexical-carried" in page.content.decode()
