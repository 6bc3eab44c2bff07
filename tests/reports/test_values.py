"""Questions without options in a report: from labels to page, downloads, frozen report and board."""

from __future__ import annotations

import csv
import io
import json
import uuid
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import actions
from annotation.actions import Answer, drafting
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Label, Question, Rater, Role, Row, Study, User
from reports import actions as report_actions
from reports import paragraphs, queries, sentences
from reports.answers import answers_of
from reports.contents import contents_from, contents_of
from reports.data.arrays import Filters
from reports.data.label_table import unpacked
from reports.exports import labels as long_form
from reports.exports.figures import figure_csv
from reports.exports.texts import codebook
from reports.figures.svg import draw
from reports.frozen.recomputing import recompute
from reports.numbers.report import StudyReport, compute
from reports.tables import ReportTable
from reports.tables import tables as tables_of
from tests import builders
from tests.builders import ClientOf
from tests.databases import made_once

pytestmark = pytest.mark.once

SCHEME = """\
key: steps
version: 1
title: Steps
words: {sheet: recipe, sheets: recipes, row: page, rows: pages}
row: {facets: [engine, {key: generator, hidden: true}]}
sections:
  - key: steps
    title: Steps
    column: {title: Step, facets: [step]}
    questions:
      - {key: found, title: Found, kind: flag}
      - {key: weight, title: Weight, kind: number, number: {min: 0, max: 500, unit: g}}
      - {key: input, title: Input, kind: text, text: {special: [NA], separator: ";"}}
      - {key: parts, title: Parts, kind: items, items: {fields: [{key: task}, {key: things, list: true}]}}
"""
CLOSED = """\
key: names
version: 1
title: Names
sections:
  - key: text
    title: Text
    questions:
      - {key: names, title: Names, kind: items, items: {fields: [{key: words}, {key: type, options: [person, place]}]}}
"""
ENGINES = ("bing", "brave", "bing", "")


@made_once
def study() -> Study:
    """Two people, a judge and a gold over four rows with one step each; what they say is in `SAID`."""
    study = builders.study("steps", of=builders.scheme(SCHEME))
    sheet = actions.add_sheet(study=study, title="Soup", columns={"steps": [{"step": "mix"}]})
    for number, engine in enumerate(ENGINES, 1):
        row = actions.add_row(sheet=sheet, name=f"Page {number}", evidence=[Block("paragraph", "Mix.")])
        Row.objects.filter(pk=row.pk).update(facets={"engine": engine, "generator": "one" if number < 3 else "two"})
    for code, kind in (("A1", "person"), ("A2", "person"), ("J1", "judge"), ("G1", "gold")):
        rater = Rater.objects.create(study=study, kind=kind, code=code)
        for assignment, said in zip(
            actions.assign(rater=rater, rows=list(sheet.rows.order_by("position"))), SAID[code], strict=True
        ):
            say(assignment, said)
    return study


# weight, input, parts of each page; None leaves the cell open.
Said = tuple[float | None, str | None, list[dict[str, Any]] | None]
MIX = [{"task": "mix", "things": ["flour", "water"]}]
STIR = [{"task": "stir", "things": []}]
SAID: dict[str, list[Said]] = {
    "A1": [(10, "flour; water", MIX), (20, "salt", MIX), (30, "NA", STIR), (40, None, None)],
    "A2": [(12, "Water;flour", MIX), (20, "pepper", STIR), (30, "na", STIR), (None, None, None)],
    "J1": [(10, "flour", MIX), (26, "salt", MIX), (33, "NA", STIR), (44, "oil", MIX)],
    "G1": [(11, "flour; water", MIX), (20, "salt", MIX), (31, "oil", STIR), (40, "oil", MIX)],
}


def say(assignment: Assignment, said: Said) -> None:
    column = assignment.row.sheet.columns.get()
    questions = {
        question.key: question
        for question in Question.objects.filter(section__scheme=assignment.row.sheet.study.scheme)
    }
    answers = [
        Answer(column=column, question=questions[key], value=value)
        for key, value in zip(("weight", "input", "parts"), said, strict=True)
        if value is not None
    ]
    actions.record(assignment=assignment, answers=answers, key=uuid.uuid4())


def researcher(study: Study) -> User:
    user = builders.user("rene")
    actions.add_member(study=study, user=user, role=Role.RESEARCHER)
    return user


def report(study: Study, **filters: Any) -> StudyReport:
    chosen = Filters(**filters)
    return compute(queries.load(study, chosen), chosen)


def made(study: Study, **filters: Any) -> dict[str, ReportTable]:
    return {table.key: table for table in tables_of(report(study, **filters))}


def rows_of(table: ReportTable) -> dict[str, tuple[Any, ...]]:
    return {str(row[0]).strip(): row[1:] for row in table.rows}


# --- tables ---


def test_answers_are_counted_in_their_own_sense(study: Study) -> None:
    rows = rows_of(made(study)["steps.input.answers"])

    assert rows["Answered"][:2] == (6, 0.75)  # 4 pages × 2 people, of which A1 and A2 left the last open
    assert [count for name, (count, _share) in rows.items() if "water" in name.casefold()] == [2]
    assert rows["not reached"][0] == 2
    assert rows["Total"][0] == 8


def test_answers_add_up_with_those_that_were_given_after_a_look(study: Study) -> None:
    Label.objects.filter(assignment__rater__code="A2", assignment__row__name="Page 3").update(exposed=True)
    table = made(study)["steps.input.answers"]
    rows = rows_of(table)

    assert (
        rows["Answered"][0] == sum(row[1] for row in table.rows if str(row[0]).startswith(" ")) - rows["not reached"][0]
    )
    assert rows["NA"][:2] == (2, 2 / 8)
    assert table.rows == made(study, exposure="include")["steps.input.answers"].rows
    # As before methods 10: without them.
    assert rows_of(made(study, methods=9)["steps.input.answers"])["NA"][0] == 1


def test_people_agree_where_they_gave_the_same_answer(study: Study) -> None:
    table = made(study)["steps.input.agreement"]
    rows = {row[0]: row[1] for row in table.rows}

    # Of three shared cells: the same list in another order, salt against pepper, NA twice.
    assert rows["Percent agreement, each cell alike"] == pytest.approx(2 / 3)
    # Three answers twice or once: 6² - (2² + 1 + 1 + 2²) = 26; 1 - 5 · 2 / 26.
    assert rows["Krippendorff's α, nominal"] == pytest.approx(1 - 5 * 2 / 26)


def test_a_judge_of_values_has_no_ceiling_and_no_test_and_the_page_says_why(study: Study) -> None:
    of = answers_of(report(study))
    assert [tile.value for tile in sentences.tiles(of)[1:]] == ["Cannot be said"] * 2
    ceiling, verdict = (tile.under for tile in sentences.tiles(of)[1:])
    assert ceiling == "the human ceiling is of options and scales, and this is answered by values"
    assert verdict == "the judge “J1” comes nearest: the test is for options and scales, and it answers none"
    told = " ".join(sentence.text for sentence in sentences.about_judges(of))
    assert "how far a person would is not known: the human ceiling is of options and scales" in told
    assert ": ." not in told


def test_questions_that_nobody_has_answered_are_told_of_in_one_sentence(study: Study) -> None:
    Label.objects.filter(question__key__in=["found", "parts"]).exclude(assignment__rater__code="G1").delete()
    of = answers_of(report(study))
    told = [sentence.text for sentence in (*sentences.about_people(of, "steps"), *sentences.about_judges(of))]
    assert [text for text in told if "Parts" in text] == ["Nobody has answered “Found”, “Parts”."]
    paragraph = paragraphs.results(of, "steps")
    assert paragraph.count("Parts") == 1
    assert "Nobody has answered “Found”, “Parts”." in paragraph


def test_the_only_section_stands_before_no_question_but_in_reports_that_were_frozen_so(study: Study) -> None:
    now, then = ({table.about for table in contents_of(report(study, words=n)).tables} for n in (3, 2))
    assert {"Found", "Parts"} <= now
    assert {"Steps: Found", "Steps: Parts"} <= then
    assert not any(about.startswith("Steps: ") for about in now)
    assert {line.name for line in answers_of(report(study)).lines} & {"Found", "Steps: Found"} == {"Found"}


def test_numbers_have_interval_statistics(study: Study) -> None:
    tables = made(study)
    rows = {row[0]: row[1] for row in tables["steps.weight.agreement"].rows}
    judges = rows_of(tables["steps.weight.judges"])
    gold = rows_of(tables["steps.weight.gold.G1"])

    assert rows["Mean absolute difference"] == pytest.approx(2 / 3)
    assert rows["Limits of agreement, plus and minus"] == pytest.approx(1.96 * (4 / 3) ** 0.5)
    # The judge less people: 0, -2, 6, 6, 3, 3, 4.
    assert judges["J1"][2:4] == (pytest.approx(24 / 7), pytest.approx(20 / 7))
    assert judges["J1"][0] == pytest.approx(1 / 4)
    # People's means 11, 20, 30, 40 against 11, 20, 31, 40.
    assert gold["mean of people"][:3] == (None, pytest.approx(1 / 4), 4)


def test_numbers_have_figures_and_their_unit(study: Study) -> None:
    figures = {figure.key: figure for figure in contents_of(report(study)).figures}
    spread, differences = (figures[f"steps.weight.{name}"] for name in ("distribution", "differences.J1"))

    assert set(figures) == {spread.key, differences.key}
    people, judge = spread.data["series"]
    assert (people["name"], judge["name"]) == ("people", "J1")
    edges = spread.data["edges"]
    assert people["values"] == pytest.approx(np.histogram([10, 20, 30, 40, 12, 20, 30], edges)[0] / 7)
    assert judge["values"] == pytest.approx(np.histogram([10, 26, 33, 44], edges)[0] / 4)
    # The mean of both, the judge less the person, and how many pairs.
    points = [[10, 0, 1], [11, -2, 1], [23, 6, 2], [31.5, 3, 2], [42, 4, 1]]
    assert [list(point) for point in differences.data["points"]] == points
    assert differences.data["bias"] == pytest.approx(20 / 7)
    tables = made(study)
    assert [figure.data["x_title"] for figure in (spread, differences)] == ["Weight (g)", "Mean of both (g)"]
    assert "in g." in tables["steps.weight.agreement"].how
    assert "Judge less person (g)" in [head.title for head in tables["steps.weight.judges"].heads]
    for figure in (spread, differences):
        assert draw(figure).startswith(b"<?xml")
    lines = figure_csv(differences).splitlines()
    assert (lines[0], lines[1]) == ("\ufeffmean,difference,n", "10.0,0.0,1")
    assert len(figure_csv(spread).splitlines()) == 1 + 2 * (len(edges) - 1)


def test_the_figures_of_numbers_stand_with_the_question_and_with_its_judges(study: Study, client_of: ClientOf) -> None:
    reader = client_of(researcher(study))
    for name, key in (("question", "distribution"), ("judges-on", "differences.J1")):
        page = reader.get(reverse(f"reports:{name}", args=["steps", "steps.weight"])).content.decode()
        assert f'id="steps.weight.{key}"' in page


def test_the_codebook_has_the_unit_of_a_number(study: Study) -> None:
    book = {value: meaning for _column, value, meaning in codebook(queries.label_table(study, Filters()))}
    assert book["steps.weight"] == "Weight: a number, in g"


@pytest.mark.django_db
def test_the_codebook_has_the_options_of_a_field() -> None:
    study = builders.study("names", of=builders.scheme(CLOSED))
    book = {value: meaning for _column, value, meaning in codebook(queries.label_table(study, Filters()))}
    assert book["text.names.type"] == "Type: person, place"


def test_gold_is_called_so_once_in_titles(study: Study) -> None:
    assert made(study)["steps.input.gold.G1"].title == "Against gold G1"
    study.raters.filter(code="G1").update(code="gold")
    tables = made(study)
    assert tables["steps.input.gold.gold"].title == "Against gold"
    assert tables["steps.input.texts"].title == "Text metrics against gold"
    before = contents_from(queries.label_table(study, Filters()), Filters(methods=9), "en")
    assert next(of.title for of in before.tables if of.key == "steps.input.texts") == "Text metrics against gold gold"


def test_the_overview_has_questions_of_both_kinds(study: Study) -> None:
    table = made(study)["overview"]

    assert [row[0] for row in table.rows][:4] == ["Steps: Found", "Steps: Weight", "Steps: Input", "Steps: Parts"]
    assert table.rows[1][1:3] == (8, 7)


def test_intervals_come_with_enough_pages(study: Study) -> None:
    table = made(study, by="document")["steps.weight.agreement"]

    assert {head.key for head in table.heads} >= {"low", "high"}
    assert "too little data" in table.how


# --- facets of rows ---


def test_a_facet_filters_rows(study: Study) -> None:
    only = report(study, facets={"engine": ("bing",)})

    assert [row.name for row in only.data.table.rows] == ["Page 1", "Page 3"]
    assert only.sections[0].value_questions[0].summary.n == 4


@pytest.mark.parametrize("name", ["labels", "labels-wide"])
def test_files_of_labels_are_of_these_rows_too(study: Study, client_of: ClientOf, name: str) -> None:
    """They had all rows, and only those that a worker makes went by the filter."""
    client, url = client_of(researcher(study)), reverse(f"reports:{name}", args=["steps"])

    def rows_in(**asked: str) -> set[str]:
        text = b"".join(client.get(url, asked).streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
        return {line["row"] for line in csv.DictReader(io.StringIO(text))}

    assert rows_in() == {"Page 1", "Page 2", "Page 3", "Page 4"}
    assert rows_in(**{"facet.engine": "bing"}) == {"Page 1", "Page 3"}


def test_figures_are_told_apart_by_a_hidden_facet(study: Study) -> None:
    table = made(study, group="generator")["steps.input.by.generator"]

    assert [row[:4] for row in table.rows] == [("one", 2, 4, 2), ("two", 2, 2, 1)]
    assert [row[4] for row in table.rows] == [0.5, 1.0]
    assert table.heads[-2].key == "judge.J1"


def test_the_page_offers_facets(study: Study, client_of: ClientOf) -> None:
    client, url = client_of(researcher(study)), reverse("reports:whole", args=["steps"])

    page = client.get(url).content.decode()
    assert 'name="facet.generator"' in page
    found = client.get(url, {"facet.engine": ["brave", "-"], "group": "generator"}).content.decode()
    assert "Told apart by Generator" in found
    assert "brave, –" in found


# --- drafts ---


def test_edit_rates_hold_what_was_drafted_against_what_stands(study: Study) -> None:
    judge = study.raters.get(code="J1")
    person = Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code="A3")
    judge.assignments.update(state=Assignment.State.SUBMITTED, submitted_at=timezone.now())
    rows = list(Row.objects.filter(sheet__study=study).order_by("position"))
    first, second, third = actions.assign(rater=person, rows=rows[:3])
    for assignment in (first, second, third):
        drafting.draft(assignment=assignment, rater=judge, key=uuid.uuid4())
    drafting.confirm(assignment=first, key=uuid.uuid4())
    say(second, (21, "salt", MIX))  # of 26 in 500; the other two as they were drafted
    found = {(of.question, of.rater): of for of in report(study).edit_rates}

    assert {of.drafted_by for of in found.values()} == {"J1"}
    weight = found["steps.weight", "A3"]
    assert (weight.n, weight.n_confirmed, weight.n_changed, weight.rate) == (3, 2, 1, 0.5)
    assert weight.distance == pytest.approx(5 / 500 / 2)
    assert found["steps.parts", "A3"].n_changed == 0
    # The third is confirmed by nobody: it is no answer. The others were given after a look.
    included = report(study, exposure="include").sections[0].value_questions[0]
    assert included.data.people.cell.size == 7 + 2
    assert report(study).sections[0].value_questions[0].data.people.cell.size == 7
    assert "drafts" in made(study)


# --- downloads, frozen reports, pages ---


def test_a_table_with_values_comes_back_as_it_was(study: Study) -> None:
    table = queries.label_table(study, Filters(), notes=True)
    again = unpacked(table.packed())

    assert json.loads(table.content)["format"] == 2
    assert again.content == table.content
    assert again.rows[0].facets == {"engine": "bing", "generator": "one"}


def test_a_frozen_report_with_values_recomputes_to_the_same_bytes(study: Study) -> None:
    filters = Filters(group="engine", facets={"generator": ("one", "two")}, by="document")
    frozen = report_actions.freeze(study=study, title="Values", filters=filters, by=None)

    assert recompute(frozen).equal
    assert Filters.from_json(frozen.filters) == filters


def test_labels_in_all_forms_have_the_text_form_and_the_facets(study: Study) -> None:
    table = queries.label_table(study, Filters())
    lines = [dict(zip(long_form.header(table), line, strict=True)) for line in long_form.records(table)]
    [weight] = [line for line in lines if (line["rater"], line["row"], line["question"]) == ("A2", "Page 1", "weight")]
    assert (weight["answer"], weight["answer_label"], weight["row_facet_engine"]) == ("12", "12 g", "bing")
    parquet = pq.read_table(io.BytesIO(long_form.parquet(table))).to_pylist()
    assert [(line["answer"], line["row_facet_generator"]) for line in parquet] == [
        (line["answer"], line["row_facet_generator"]) for line in lines
    ]
    jsonl = [json.loads(line) for line in long_form.jsonl(table)]
    assert [line["answer"] for line in jsonl] == [line["answer"] for line in lines]
    tasks = json.loads("".join(long_form.label_studio(table)))
    results = [result for task in tasks for of in task["annotations"] + task["predictions"] for result in of["result"]]
    assert {result["type"] for result in results} == {"number", "textarea"}
    assert len(results) == len(lines)


def test_every_address_of_a_report_with_values_answers(study: Study, client_of: ClientOf) -> None:
    client = client_of(researcher(study))
    for name in ("report", "csv", "xlsx", "labels", "board"):
        response = client.get(reverse(f"reports:{name}", args=["steps"]))
        assert response.status_code == 200
        content = b"".join(response) if response.streaming else response.content
        if name == "labels":
            [first, *_rest] = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
            assert first["answer"] not in ("", "None")


def test_the_live_report_rounds_as_the_frozen_one(study: Study) -> None:
    live = contents_of(report(study))
    frozen = contents_from(queries.label_table(study, Filters()), Filters(), "en")

    assert [table.rows for table in live.tables] == [table.rows for table in frozen.tables]
    assert all(
        value == float(f"{value:.10g}")
        for table in live.tables
        for row in table.rows
        for value in row
        if isinstance(value, float)
    )


def test_lists_are_held_against_each_other_entry_by_entry(study: Study) -> None:
    made = {table.key: table for table in tables_of(report(study, by="document"))}
    table = made["steps.parts.entries"]
    heads = [head.key for head in table.heads]
    lines = {
        (line["rater_a"], line["rater_b"]): line for line in (dict(zip(heads, row, strict=True)) for row in table.rows)
    }
    # Page 2: A1 says mix, A2 says stir; nothing in common. Pages 1 and 3: the same.
    ours = lines["A1", "A2"]
    assert (ours["lists"], ours["equal"], ours["same"], ours["changed"], ours["dropped"], ours["added"]) == (
        3,
        2,
        2,
        0,
        1,
        1,
    )
    assert ours["edit_rate"] == pytest.approx(2 / 4)
    assert ours["edit_rate_low"] is None  # of three documents
    assert set(lines) == {("A1", "A2"), ("J1", "A1"), ("J1", "A2"), ("J1", "G1"), ("A1", "G1"), ("A2", "G1")}
    edits = [row for row in made["steps.parts.edits"].rows if row[:2] == ("A1", "A2")]
    assert edits == [("A1", "A2", "dropped", "mix · flour, water", "", 1), ("A1", "A2", "added", "", "stir", 1)]
    before = {table.key for table in tables_of(report(study, methods=3))}
    assert "steps.parts.entries" not in before


# --- texts ---


def test_texts_are_measured_against_gold(study: Study) -> None:
    tables = made(study)
    rows = rows_of(tables["steps.input.texts"])

    # A1 wrote "flour; water", "salt" and "NA" where gold has "flour; water", "salt" and "oil".
    exact, sets, rouge, _bleu, _meteor, cells, left_out = rows["A1"]
    assert (exact, sets, cells, left_out) == (pytest.approx(2 / 3), pytest.approx(2 / 3), 3, 0)
    assert rouge == pytest.approx(2 / 3)
    # A2's "Water; flour" is the same list and another text.
    assert rows["A2"][:2] == (0, pytest.approx(1 / 3))
    assert rows["J1"][5] == 4
    assert "G1" not in rows
