"""Models by tasks: the table over the probing studies of one source, its page and its files."""

from __future__ import annotations

import codecs
import csv
import io
import json
import uuid
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from openpyxl import load_workbook

from annotation import actions
from annotation.actions import Answer
from annotation.deriving.actions import derive_study
from annotation.models import Assignment, Look, Role, Study
from judges import actions as judging
from judges.models import Judge
from recipes.ingredient_states.probing.across import TaskResults, intervals_of, lines_of, table_of
from recipes.ingredient_states.probing.scores import Asked, Score, interval, mean_interval
from recipes.ingredient_states.probing.tasks import Chance, Task
from reports.data.arrays import Filters
from reports.data.label_table import RaterEntry
from reports.stats.bootstrap import TOO_FEW_CLUSTERS, Interval
from tests import builders
from tests.builders import ClientOf
from tests.judges import helpers
from tests.recipes.test_probing import annotated, answer, derived, lines, prompt_text

pytestmark = pytest.mark.once

__all__ = ["annotated"]
PAGE = "ingredient_states:probing"


def score(right: str, code: str, *, model: str = "", kind: str = "judge") -> Score:
    """Of the instances from the first on; "1" where it is right."""
    entry = RaterEntry(code, kind, model=model)
    return Score(entry, np.arange(len(right)), np.array([sign == "1" for sign in right]), 0)


def results(*scores: Score, chance: Chance | None = None) -> TaskResults:
    n = max(score.right.size for score in scores)
    return TaskResults("s", "S", scores, (None,) * len(scores), chance, tuple(f"Recipe {place}" for place in range(n)))


TASKS = {
    Task.STEP_REFERENCE: results(
        score("1100", "small-step", model="small"),
        score("1111", "tuned-step", model="tuned"),
        score("1110", "A1", kind="person"),
        chance=Chance(0.4, 0.3, 4),
    ),
    Task.USAGE: results(
        score("10", "small-usage", model="small"), score("11", "tuned-usage", model="tuned"), chance=Chance(0.5, 0.5, 2)
    ),
    Task.TRACING: results(
        score("1000000", "small-trace", model="small"),
        score("1111100", "tuned-trace", model="tuned"),
        score("0100000", "other-trace", model="other"),
        chance=Chance(0.3, 0.25, 7),
    ),
}


def test_judges_of_one_model_are_one_line_with_the_mean_of_three_tasks() -> None:
    found = lines(table_of(TASKS))
    assert list(found) == ["other", "small", "tuned", "A1", "by chance, each", "by chance, mean"]
    small = found["small"]
    assert (small["step-reference.accuracy"], small["step-reference.n"]) == (2 / 4, 4)
    assert (small["usage.accuracy"], small["usage.n"]) == (1 / 2, 2)
    assert (small["tracing.accuracy"], small["tracing.n"]) == (pytest.approx(1 / 7), 7)
    assert small["mean"] == pytest.approx((1 / 2 + 1 / 2 + 1 / 7) / 3)  # of tasks, not of the 13 instances
    assert found["tuned"]["mean"] == pytest.approx((1 + 1 + 5 / 7) / 3)
    assert found["by chance, each"]["mean"] == pytest.approx((0.4 + 0.5 + 0.3) / 3)
    assert found["by chance, mean"]["mean"] == pytest.approx((0.3 + 0.5 + 0.25) / 3)


def test_accuracies_and_their_mean_have_intervals_by_recipes() -> None:
    """Instances of one recipe are drawn together, those of other tasks too."""
    rng = np.random.default_rng(1)
    recipes = [f"Recipe {n % 20}" for n in range(80)]
    asked = [Asked((n,), n % 20, 4) for n in range(80)]
    filters = Filters(by="sheet", n_draws=4000)
    alike = rng.random(20) < 0.6  # who is right in a recipe is so in all of its instances
    one = Score(RaterEntry("J1", "judge"), np.arange(80), np.array([alike[n % 20] for n in range(80)]), 0)
    drawn = interval(one, asked, filters)
    assert drawn is not None
    assert drawn.standard_error == pytest.approx(np.std(alike) / np.sqrt(20), rel=0.05)
    # Three tasks alike are no more than one; three that have nothing in common a mean of three.
    same = mean_interval([(one, recipes)] * 3, filters)
    assert (same.low, same.high) == pytest.approx((drawn.low, drawn.high))
    apart = [(one, [f"{name} of {task}" for name in recipes]) for task in range(3)]
    assert mean_interval(apart, filters).standard_error == pytest.approx(drawn.standard_error / np.sqrt(3), rel=0.05)


def test_the_table_of_intervals_has_those_of_each_task_and_of_the_mean() -> None:
    drawn = Interval(0.4, 0.8, 0.1, 0.0, "", "sheet", 12, 2000, 0, 0)
    none = replace(drawn, low=None, high=None, reason=TOO_FEW_CLUSTERS)
    tasks = {
        task: replace(
            of,
            scores=(score("10" * 10, "small-judge", model="small"), *of.scores[1:]),
            intervals=(drawn, *[none] * (len(of.scores) - 1)),
            recipes=tuple(f"Recipe {n}" for n in range(20)),
        )
        for task, of in TASKS.items()
    }
    found = lines(intervals_of(tasks))
    small, other = found["small"], found["other"]
    assert (small["usage.value"], small["usage.low"], small["usage.high"]) == (1 / 2, 0.4, 0.8)
    assert small["mean.low"] < small["mean.value"] == 1 / 2 < small["mean.high"]
    assert found["tuned"]["usage.low"] is None
    assert (other["usage.value"], other["mean.value"], other["mean.low"]) == (None, None, None)


def test_who_lacks_a_task_has_a_gap_and_no_mean() -> None:
    other = lines(table_of(TASKS))["other"]
    assert (other["usage.accuracy"], other["usage.n"], other["mean"]) == (None, None, None)
    two = lines(table_of({task: of for task, of in TASKS.items() if task != Task.USAGE}))
    assert two["small"]["mean"] is two["by chance, each"]["mean"] is two["by chance, each"]["usage.n"] is None


def test_others_are_held_against_a_model_task_by_task() -> None:
    found = lines(table_of(TASKS, base="small"))
    # Step references: the tuned one alone is right in 2, the small one in none: 1 / 2^2.
    assert found["tuned"]["step-reference.better"] == pytest.approx(1 / 4)
    assert found["tuned"]["usage.better"] == pytest.approx(1 / 2)
    assert found["tuned"]["tracing.better"] == pytest.approx(1 / 2**4)
    assert found["A1"]["step-reference.better"] == pytest.approx(1 / 2)
    assert found["A1"]["tracing.better"] is None
    # Each alone is right once: 1 or 2 of 2 tosses, 3 / 4.
    assert found["other"]["tracing.better"] == pytest.approx(3 / 4)
    assert {found["small"][f"{task}.better"] for task in Task} == {None}
    assert found["by chance, each"]["mean"] == pytest.approx(0.4)
    alike = {**TASKS, Task.USAGE: results(score("10", "a", model="small"), score("10", "b", model="tuned"))}
    assert (
        lines(table_of(alike, base="small"))["tuned"]["because"] == "the judges are right and wrong in the same cells"
    )


def test_several_judges_of_a_model_stand_by_their_own_names() -> None:
    twice = {**TASKS, Task.USAGE: results(score("10", "plain", model="small"), score("01", "polite", model="small"))}
    found = lines_of(twice)
    assert [name for name in found if "small" in name or name.startswith("p")] == [
        "plain",
        "polite",
        "small-step",
        "small-trace",
    ]
    assert {name: len(line) for name, line in found.items()}["tuned"] == 2


@pytest.fixture
def tasks(annotated: Study) -> dict[str, Study]:
    return {name: derived(annotated, name) for name in ("probing-step-number", "probing-usage", "probing-tracing")}


def values(page: bytes) -> dict[tuple[str, str], str]:
    """A tidy file: (row, statistic) -> value."""
    told = csv.DictReader(io.StringIO(page.decode("utf-8-sig")))
    return {(line["row"], line["statistic"]): line["value"] for line in told}


def test_the_page_stands_by_the_source_and_by_each_task(
    annotated: Study, tasks: dict[str, Study], client_of: ClientOf
) -> None:
    rene, stranger = builders.user("rene"), builders.user("zoe")
    for study in (annotated, *tasks.values()):
        actions.add_member(study=study, user=rene, role=Role.RESEARCHER)
    actions.add_member(study=annotated, user=stranger, role=Role.MANAGER)
    for study in tasks.values():
        answer(study, "A1", "person", 10)
        answer(study, "A2", "person", 20)
    n = {name: sum(sheet.rows.count() for sheet in study.sheets.all()) for name, study in tasks.items()}

    client = client_of(rene)
    for study in (annotated, tasks["probing-usage"]):
        page = client.get(reverse(PAGE, args=[study.slug]), {"base": "A1"}).content.decode()
        assert "Ingredient tracing" in page
        assert "by chance, each" in page
        assert "p, McNemar, one-sided" in page
    report = client.get(reverse("reports:report", args=[tasks["probing-usage"].slug])).content.decode()
    assert reverse(PAGE, args=["probing-usage"]) in report

    url = reverse("ingredient_states:probing-file", args=[annotated.slug, "csv"])
    told = values(client.get(url, {"base": "A1"}).content)
    assert float(told["A1", "Ingredient usage: Accuracy"]) == pytest.approx(10 / n["probing-usage"])
    assert float(told["A2", "Ingredient usage: p, McNemar, one-sided"]) == pytest.approx(1 / 2**10)
    assert float(told["A2", "Mean"]) == pytest.approx(sum(20 / of for of in n.values()) / 3)
    assert told["A1", "Ingredient usage: Instances"] == str(n["probing-usage"]) == "33"
    assert Look.objects.filter(user=rene).count() == sum(study.sheets.count() for study in tasks.values())
    latex = client.get(url.replace(".csv", ".tex")).content.decode()
    assert r"\multicolumn{2}{c}{Step reference}" in latex
    assert "A2 & " in latex
    book = load_workbook(io.BytesIO(client.get(url.replace(".csv", ".xlsx")).content))
    assert book.sheetnames == [
        "Contents",
        "probing.across",
        "probing.intervals",
    ]  # and no labels, which are of several studies
    assert [cell.value for cell in book["probing.across"]["A"]][:3] == ["Model", "A1", "A2"]
    (part,) = json.loads(client.get(url.replace(".csv", ".json")).content)["parts"]
    assert part["tables"][0]["key"] == "probing.across"

    # Of studies whose answers one may not read there is nothing to see.
    empty = client_of(stranger).get(reverse(PAGE, args=[annotated.slug])).content.decode()
    assert "Make a study of this one for each task" in empty
    leads = f'href="{reverse("annotation:derive", args=[annotated.slug])}"' in empty
    assert not leads  # who manages the study, and may make none
    assert "A1" not in empty.partition("<main")[2]  # a token above may have it
    assert client_of(stranger).get(url).status_code == 400


def test_one_chooses_among_the_studies_of_a_task(
    annotated: Study, tasks: dict[str, Study], client_of: ClientOf
) -> None:
    rene = builders.user("rene")
    later = derive_study(
        source=annotated,
        deriver="probing-tasks",
        scheme=tasks["probing-usage"].scheme,
        slug="later",
        title="Later",
        settings={"seed": ["6"]},
        by=None,
    )
    for study in (annotated, later, *tasks.values()):
        actions.add_member(study=study, user=rene, role=Role.RESEARCHER)
    answer(tasks["probing-usage"], "A1", "person", 9)
    answer(later, "A1", "person", 18)
    url, client = reverse("ingredient_states:probing-file", args=[annotated.slug, "csv"]), client_of(rene)

    assert float(values(client.get(url).content)["A1", "Ingredient usage: Accuracy"]) == pytest.approx(18 / 33)
    earlier = client.get(url, {"usage": "probing-usage"}).content
    assert float(values(earlier)["A1", "Ingredient usage: Accuracy"]) == pytest.approx(9 / 33)
    assert client.get(url, {"usage": "states-here"}).status_code == 400
    page = client.get(reverse(PAGE, args=[annotated.slug]), {"base": "nobody"}).content.decode()
    assert "is not understood" in page


def test_judges_are_known_by_the_model_behind_them(
    annotated: Study, tasks: dict[str, Study], client_of: ClientOf, tmp_path: Path
) -> None:
    location = helpers.save_tiny_model(tmp_path)
    for name, right in (("probing-step-number", 12), ("probing-usage", 11)):
        judge = judging.create_judge(
            name=f"of-{name}",
            method=Judge.Method.WRITING,
            location=location,
            prompt_text=prompt_text(name),
            temperature=0,
            max_new_tokens=8,
        )
        run = judging.start_run(study=tasks[name], judge=judge, by=None, enqueue=False)
        items = run.items.select_related("assignment__row__sheet").order_by("assignment__row_id")
        for n, item in enumerate(items):
            row, question = item.assignment.row, tasks[name].scheme.sections.get().questions.get()
            said = row.facets["answer"] if n < right else {"yes": "no", "no": "yes"}.get(row.facets["answer"], "99")
            column = row.sheet.columns.get()
            if question.options.exists():
                given = Answer(column=column, question=question, option=question.options.get(key=said))
            else:
                given = Answer(column=column, question=question, value=said)
            actions.record(assignment=item.assignment, answers=[given], key=uuid.uuid4())
    user = builders.user("root", superuser=True)
    url = reverse("ingredient_states:probing-file", args=[annotated.slug, "csv"])
    told = values(client_of(user).get(url).content)
    assert judge.model is not None
    model = judge.model.name
    assert float(told[model, "Step reference: Accuracy"]) == pytest.approx(12 / 36)
    assert float(told[model, "Ingredient usage: Accuracy"]) == pytest.approx(11 / 33)
    assert told[model, "Mean"] == ""


# --- wrong answers ----------------------------------------------------------------------------------------------------


def wrong_rows(client: Client, study: Study, **asked: object) -> list[dict[str, str]]:
    page = client.get(
        reverse("ingredient_states:probing-instances", args=[study.slug]), {"n": 5, "seed": 1, "csv": 1, **asked}
    )
    assert page.content.startswith(codecs.BOM_UTF8)  # by which Excel knows the encoding
    return list(csv.DictReader(io.StringIO(page.content.decode("utf-8-sig"))))


def test_who_reads_how_models_do_sees_what_they_get_wrong(
    annotated: Study, tasks: dict[str, Study], client_of: ClientOf
) -> None:
    made, rene = tasks["probing-usage"], builders.user("rene")
    actions.add_member(study=made, user=rene, role=Role.RESEARCHER)
    answer(made, "reader", "judge", 31)
    answer(made, "guesser", "judge", 20)
    client = client_of(rene)

    found = wrong_rows(client, made)
    assert len(found) == 2 * 13  # each instance that one of them got wrong, with what both say
    assert [row["is_right"] for row in found if row["rater"] == "reader"].count("no") == 2
    assert {row["answer"] == row["right"] for row in found if row["is_right"] == "no"} == {False}
    assert {row["right"] for row in found} <= {"True", "False"}  # as the question says them
    assert len(wrong_rows(client, made, rater="reader")) == 2 * 2

    page = client.get(reverse("ingredient_states:probing-instances", args=[made.slug]), {"n": 5, "seed": 1})
    said = page.content.decode()
    assert "13 instances are answered wrongly; 5 shown." in said
    assert said.count(">Right</strong>") == 5
    (first,) = {row["recipe"] for row in found[:1]}
    assert (
        reverse("annotation:lens", args=[made.sheets.get(title=first).pk])
        in (
            client.get(reverse("ingredient_states:probing-instances", args=[made.slug]), {"n": 200, "seed": 1})
        ).content.decode()
    )
    again = client.get(reverse("ingredient_states:probing-instances", args=[made.slug]), {"n": 5, "seed": 1})
    assert again.content.decode().partition("<main")[2] == said.partition("<main")[2]
    assert Look.objects.filter(user=rene, sheet__study=made).exists()
    overview = client.get(reverse(PAGE, args=[made.slug])).content.decode()
    assert reverse("ingredient_states:probing-instances", args=[made.slug]) in overview
    assert (
        "is not understood"
        in client.get(
            reverse("ingredient_states:probing-instances", args=[made.slug]), {"n": 0, "seed": 1}
        ).content.decode()
    )


def test_what_contains_an_ingredient_is_told_by_names(annotated: Study, client_of: ClientOf) -> None:
    whole, each = derived(annotated, "probing-tracing"), derived(annotated, "probing-tracing-each")
    root = builders.user("root", superuser=True)
    for made in (whole, each):
        answer(made, "J", "judge", 0)
    client = client_of(root)
    letters, things = wrong_rows(client, whole)[0], wrong_rows(client, each)[0]
    names = dict(thing.split(") ") for thing in letters["things"].split("; "))
    assert [names[letter] for letter in letters["right"].split(", ")] == things["right"].split("; ")
    assert letters["ingredient"] == things["ingredient"]
    assert (letters["rater"], letters["is_right"], things["is_right"]) == ("J", "no", "no")
    assert set(things["right"].split("; ")).isdisjoint(things["answer"].split("; "))  # all were said the wrong way


def test_of_what_nobody_has_answered_no_answer_is_said_to_be_right(annotated: Study, client_of: ClientOf) -> None:
    made, client = derived(annotated, "probing-usage"), client_of(builders.user("root", superuser=True))
    page = reverse("ingredient_states:probing-instances", args=[made.slug])
    assert "Nobody has answered this yet." in client.get(page).content.decode()
    answer(made, "right", "judge", 10**6)
    builders.judge(made, "silent")
    assert "No answer is wrong." in client.get(page).content.decode()
    asked = {"n": 10, "seed": 1, "rater": "silent"}
    assert "Nobody has answered this yet." in client.get(page, asked).content.decode()


def test_rows_that_somebody_put_together_are_shown_as_they_are(annotated: Study, client_of: ClientOf) -> None:
    """Two rows of one instance that name no thing, or one that lacks its own, ended in an error of the server."""
    usage, each = derived(annotated, "probing-usage"), derived(annotated, "probing-tracing-each")
    for made in (usage, each):
        answer(made, "J", "judge", 0)
    one, two, *_others = usage.sheets.order_by("position")[0].rows.order_by("position")
    for row in (one, two):
        row.facets |= {"instance": "both"}
        row.save(update_fields=["facets"])
    row = each.sheets.order_by("position")[0].rows.order_by("position")[1]
    del row.facets["thing"]
    row.save(update_fields=["facets"])
    client = client_of(builders.user("root", superuser=True))

    (both,) = [line for line in wrong_rows(client, usage) if line["instance"] == "both"]
    assert len(both["answer"].split("; ")) == len(both["right"].split("; ")) == 2
    assert both["is_right"] == "no"
    assert wrong_rows(client, each)


def test_an_answer_that_cannot_be_read_is_wrong_and_said_to_be_none(annotated: Study, client_of: ClientOf) -> None:
    made = derived(annotated, "probing-usage")
    rater = answer(made, "J", "judge", 10**6)
    work = rater.assignments.order_by("row__sheet__position", "row__position")[0]
    work.labels.all().delete()
    rater.assignments.filter(pk=work.pk).update(state=Assignment.State.FAILED, failure="The model said nothing.")
    (row,) = wrong_rows(client_of(builders.user("root", superuser=True)), made)
    assert (row["answer"], row["is_right"]) == ("", "no")
    assert row["right"] in ("True", "False")
