"""What a report leaves out of comparisons and counts: labels after a look, skips, unreadable answers, other repeats."""

from __future__ import annotations

import json
import math
import uuid
import zipfile
from dataclasses import replace

import pytest
from django.urls import reverse
from pytest_django import Settings

from annotation import actions
from annotation.actions import Answer
from annotation.models import Assignment, Label, Look, Question, Rater, Role, Row, Sheet, Study
from judges import actions as judging
from judges.models import Judge, UnreadableAnswer
from reports import actions as report_actions
from reports import queries
from reports.data.arrays import INCLUDE, Filters
from reports.data.cells import study_data
from reports.exports import making
from reports.frozen.recomputing import recompute
from reports.models import Export
from reports.numbers.report import compute
from reports.stats.summary import Empty
from reports.tables import ReportTable, about
from reports.tables import tables as tables_of
from tests.builders import ClientOf, Leases
from tests.judges import helpers
from tests.reports import studies
from tests.reports.studies import answered, gold, judge, presence, rater, report, sheet

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def made(study: Study, **filters: object) -> dict[str, ReportTable]:
    return {table.key: table for table in tables_of(report(study, **filters))}


def skip(assignment: Assignment, column: str, question: str, reason: str) -> None:
    cell = assignment.row.sheet.columns.get(name=column)
    asked = Question.objects.get(key=question, section=cell.section)
    actions.record(assignment=assignment, answers=[Answer(cell, asked, None, skip=reason)], key=uuid.uuid4())


# --- labels after a look ----------------------------------------------------------------------------------------------


@pytest.fixture
def looked(study: Study, leases: Leases) -> Study:
    """A1 and A2 answer three cells blindly; then A2 looks, and answers the second page as A1 did."""
    soup = sheet(study, items=3, rows=2)
    person = rater(study, "A2")
    person.user = leases.anna
    person.save()
    answered(rater(study, "A1"), soup, ["fna", "fna"])
    answered(person, soup, ["faa", None])
    actions.note_look(sheet=soup, user=leases.anna)
    answered(person, soup, [None, "fna"])
    answered(judge(study), soup, ["fna", "fff"])
    return study


def test_labels_after_a_look_are_left_out_of_what_compares_and_counted(looked: Study) -> None:
    blind, every = presence(looked), presence(looked, exposure=INCLUDE)

    assert blind.agreement.percent.value == pytest.approx(2 / 3)
    assert every.agreement.percent.value == pytest.approx(5 / 6)
    assert [of.agreement.percent.n_comparisons for of in (blind, every)] == [3, 6]
    assert (blind.judges[0].confusion.n_comparisons, every.judges[0].confusion.n_comparisons) == (9, 12)
    assert (blind.data.n_exposed, every.data.n_exposed) == (3, 3)


def test_labels_after_a_look_are_selections(looked: Study) -> None:
    assert presence(looked).summary == presence(looked, exposure=INCLUDE).summary
    assert presence(looked).summary.n_filled == 12


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({}, "3 non-blind labels, given after a look at others', are left out."),
        ({"exposure": INCLUDE}, "3 non-blind labels, given after a look at others', count like the others."),
    ],
    ids=["left out", "included"],
)
def test_what_becomes_of_them_is_said(looked: Study, filters: dict[str, object], said: str) -> None:
    assert ("Non-blind labels", said) in about(report(looked, **filters))
    assert said in made(looked, **filters)["items.presence.agreement"].how
    [a2] = [row for row in made(looked, **filters)["raters"].rows if row[0] == "A2"]
    assert a2[-1] == 3


def test_nothing_is_said_where_nobody_looked(study: Study) -> None:
    answered(rater(study, "A1"), sheet(study, items=1), ["f"])

    assert "Non-blind labels" not in dict(about(report(study)))
    assert [head.key for head in made(study)["raters"].heads][-1] == "labels"


def test_gold_is_decided_by_a_look(study: Study) -> None:
    soup = sheet(study, items=2)
    answered(rater(study, "A1"), soup, ["fn"])
    answered(gold(study), soup, ["ff"])
    Label.objects.filter(assignment__rater__code="G1").update(exposed=True)

    [result] = presence(study).golds
    assert (result.people.value, result.people.n_cells) == (0.5, 2)


def test_a_frozen_report_knows_who_had_looked(looked: Study) -> None:
    frozen = [
        report_actions.freeze(study=looked, title="T", filters=Filters(exposure=exposure), by=None)
        for exposure in ("leave_out", INCLUDE)
    ]
    Label.objects.update(exposed=False)

    assert [recompute(each).equal for each in frozen] == [True, True]
    assert frozen[0].filters["exposure"] == "leave_out"
    assert frozen[0].results_digest != frozen[1].results_digest
    assert frozen[0].data_digest == frozen[1].data_digest


def test_the_page_leaves_them_out_or_includes_them(looked: Study, leases: Leases, client_of: ClientOf) -> None:
    actions.add_member(study=looked, user=leases.researcher, role=Role.RESEARCHER)
    client = client_of(leases.researcher)
    address = reverse("reports:report", args=[looked.slug])

    assert "are left out." in client.get(address).content.decode()
    assert "count like the others." in client.get(f"{address}?exposure=include").content.decode()


# --- looks that the report is -----------------------------------------------------------------------------------------


LOOKS = {
    "cells": "?cell.question=items.presence&cell.judge=J1&cell.person=found&cell.chosen=found",
    "labels": "",
    "xlsx": "",
}


@pytest.mark.parametrize(("page", "query"), LOOKS.items(), ids=LOOKS)
def test_pages_that_show_labels_are_looks(
    study: Study, leases: Leases, client_of: ClientOf, page: str, query: str
) -> None:
    soup, stew = sheet(study, items=1), sheet(study, "Stew", items=1)
    actions.add_member(study=study, user=leases.researcher, role=Role.RESEARCHER)
    for who in (rater(study, "A1"), judge(study)):
        answered(who, soup, ["f"])
    client = client_of(leases.researcher)
    client.get(reverse("reports:report", args=[study.slug]))
    assert not Look.objects.exists()

    client.get(reverse(f"reports:{page}", args=[study.slug]) + query)
    seen = [soup.title] if page == "cells" else [soup.title, stew.title]
    assert sorted(Look.objects.values_list("sheet__title", flat=True)) == seen
    assert set(Look.objects.values_list("user", flat=True)) == {leases.researcher.pk}


def test_fetching_a_download_is_a_look(
    study: Study, leases: Leases, client_of: ClientOf, settings: Settings, tmp_path: object
) -> None:
    settings.PALATE_EXPORTS = tmp_path
    soup = sheet(study, items=1)
    sheet(study, "Stew", items=1)
    answered(rater(study, "A1"), soup, ["f"])
    actions.add_member(study=study, user=leases.researcher, role=Role.RESEARCHER)
    export = report_actions.ask_for_export(study=study, form="jsonl", filters=Filters(sheets=(soup.pk,)), by=None)
    report_actions.make_export(export_id=export.pk)
    assert not Look.objects.exists()

    response = client_of(leases.researcher).get(reverse("reports:download-file", args=[study.slug, export.pk]))
    assert response.getvalue()
    assert [look.sheet for look in Look.objects.all()] == [soup]


# --- skips ------------------------------------------------------------------------------------------------------------


def test_a_skipped_cell_is_empty_for_a_reason_of_its_own(study: Study) -> None:
    soup = sheet(study, items=3)
    [of_anna] = answered(rater(study, "A1"), soup, ["f.."])
    answered(rater(study, "A2"), soup, ["fff"])
    skip(of_anna, "item 2", "presence", "Two readings.")

    question = presence(study)
    assert sorted(question.data.selections.tolist()) == [Empty.SKIPPED, Empty.NOT_REACHED, 0, 0, 0, 0]
    assert question.agreement.percent.n_comparisons == 1
    rows = made(study)["items.presence.selections"].rows
    assert [row[1] for row in rows if row[0] == "    skipped: the person could not tell"] == [1]
    [of_a1, of_a2] = made(study)["raters"].rows
    assert (of_a1[-2:], of_a2[-2:]) == ((1, 1), (3, 0))


def test_skips_go_out_with_their_reasons_and_are_frozen(study: Study, settings: Settings, tmp_path: object) -> None:
    settings.PALATE_EXPORTS = tmp_path
    [of_anna] = answered(rater(study, "A1"), sheet(study, items=2), ["f."])
    skip(of_anna, "item 2", "presence", "Two readings.")
    frozen = report_actions.freeze(study=study, title="T", filters=Filters(), by=None)
    of_anna.skips.all().delete()
    export = report_actions.ask_for_export(study=study, form="zip", filters=Filters(), by=None, report=frozen)
    report_actions.make_export(export_id=export.pk)
    export.refresh_from_db()
    assert export.state == Export.State.FINISHED, export.error

    with zipfile.ZipFile(making.path_of(export)) as archive:
        lines = archive.read("labels/labels.csv").decode().splitlines()
        [only] = archive.read("labels/labels.jsonl").decode().splitlines()
    assert len(lines) == 3
    assert "Two readings." in lines[2]
    assert json.loads(only)["exposed"] is False
    assert "skipped" not in json.loads(only)
    assert recompute(frozen).equal


# --- judges -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def rated(study: Study) -> Study:
    """Two people answer four cells; the judge two of them, one unreadably, and it fails on the second page."""
    soup = sheet(study, items=3, rows=2)
    for code in ("A1", "A2"):
        answered(rater(study, code), soup, ["ffn", "f.."])
    first, second = answered(judge(study), soup, ["f..", "..."])
    unreadable(first, "item 2", UnreadableAnswer.Why.CUT_OFF)
    Assignment.objects.filter(pk=second.pk).update(state=Assignment.State.FAILED, failure="It is too long.")
    return study


def unreadable(assignment: Assignment, column: str, why: UnreadableAnswer.Why) -> None:
    cell = assignment.row.sheet.columns.get(name=column)
    UnreadableAnswer.objects.create(
        assignment=assignment, column=cell, question=cell.section.questions.get(), why=why, raw="It is"
    )


def test_why_a_judge_has_no_label_is_told_apart(rated: Study) -> None:
    table = made(rated)["items.presence.judges"]
    judged = dict(zip([head.key for head in table.heads], table.rows[0], strict=True))

    assert (judged["unreadable"], judged["failed"], judged["unlabelled"]) == (1, 1, 1)
    assert presence(rated).judges[0].accuracy.n_unlabelled == 3


def test_unreadable_answers_are_counted_by_their_reasons(rated: Study) -> None:
    assert made(rated)["items.presence.unreadable"].rows == (
        ("J1", 1, 2, 0.5),
        ("    the answer is cut off", 1, None, 0.5),
    )
    raters = made(rated)["raters"]
    assert dict(zip([head.key for head in raters.heads], raters.rows[-1], strict=True))["unreadable"] == 1


def test_unreadable_answers_are_frozen(rated: Study) -> None:
    frozen = report_actions.freeze(study=rated, title="T", filters=Filters(), by=None)
    UnreadableAnswer.objects.all().delete()

    assert recompute(frozen).equal


def test_a_rating_has_scores_without_options(study: Study) -> None:
    soup = sheet(study, items=2)
    answered(rater(study, "A1"), soup, ["fn"])
    answered(judge(study), soup, ["ff"])
    Label.objects.filter(assignment__rater__code="J1").update(scores={"answer": "ITEM: 3", "cut": False})

    [result] = presence(study).judges
    assert (result.accuracy.value, result.sureness) == (0.5, None)
    assert queries.label_table(study, Filters()).scored.size == 0


def test_repeats_are_held_against_each_other_and_nothing_else(study: Study) -> None:
    soup = sheet(study, items=2)
    machine = judge(study)
    answered(machine, soup, ["fn"])
    answered(machine, soup, ["ff"], repeat=2)
    alone = made(study)

    assert alone["items.presence.consistency"].rows == (("J1", 0.5, 0.5, 0.0, 2, 2),)
    assert "(repeat 1)" in alone["items.presence.consistency"].how
    answered(rater(study, "A1"), soup, ["fn"])
    assert presence(study).judges[0].accuracy.value == 1.0


# --- models -----------------------------------------------------------------------------------------------------------


def with_sources(study: Study, *sources: tuple[str, str, str]) -> dict[str, ReportTable]:
    """The report's tables as if its judges, in their order, were of these models and extractors."""
    table = queries.label_table(study, Filters())
    of = iter(sources)
    raters = tuple(
        replace(r, model=source[0], extractor=source[1], extraction_model=source[2])
        if r.kind == "judge" and (source := next(of))
        else r
        for r in table.raters
    )
    found = compute(study_data(replace(table, raters=raters), Filters()), Filters())
    return {table.key: table for table in tables_of(found)}


@pytest.fixture
def three_judges(study: Study) -> Study:
    soup = sheet(study, items=2)
    answered(rater(study, "A1"), soup, ["ff"])
    for code, said in (("J1", "ff"), ("J2", "fn"), ("J3", "nn")):
        answered(judge(study, code), soup, [said])
    return study


def test_annotation_models_are_crossed_with_extractions(three_judges: Study) -> None:
    crossed = with_sources(three_judges, ("llama", "x", "llama"), ("llama", "", ""), ("phi", "x", "llama"))
    table = crossed["items.presence.models"]

    assert [head.title for head in table.heads] == ["Annotation model", "llama (x)", "the documents themselves"]
    assert table.rows == (("llama", 1.0, 0.5), ("phi", 0.0, None))
    assert "The highest is llama with llama (x), 1.000" in table.how


def test_models_on_one_extraction_are_a_list(three_judges: Study) -> None:
    listed = with_sources(three_judges, ("llama", "", ""), ("phi", "", ""), ("mistral", "", ""))[
        "items.presence.models"
    ]

    assert [row[:4] for row in listed.rows] == [
        ("llama", "J1", 1.0, 2), ("phi", "J2", 0.5, 2), ("mistral", "J3", 0.0, 2),
    ]  # fmt: skip
    assert "The highest is llama." in listed.how


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ([("llama", "", "")] * 3, "J1 and J2 are the same model"),
        ([("", "", "")] * 3, ""),
    ],
    ids=["two in one place", "without models"],
)
def test_there_is_no_table_of_models_where_none_can_be(
    three_judges: Study, sources: list[tuple[str, str, str]], said: str
) -> None:
    without = with_sources(three_judges, *sources)

    assert "items.presence.models" not in without
    assert said in without["items.presence.judges"].how
    assert bool(said) == ("table by models" in without["items.presence.judges"].how)


def test_a_judges_model_and_extractor_are_read(leases: Leases) -> None:
    """By the run: a judge whose labels came from a file has neither."""
    by = judging.create_extractor(name="parsed", parser="schema-org")
    prompt = helpers.LEXICAL.replace("paragraph", "ingredient")
    made_by = judging.create_judge(name="words", method=Judge.Method.LEXICAL, prompt_text=prompt, evidence=by)
    judging.start_run(study=leases.study, judge=made_by, by=None, enqueue=False)

    raters = {r.code: (r.model, r.extractor) for r in queries.label_table(leases.study, Filters()).raters}
    assert (raters["words"], raters["J1"]) == (("", "parsed"), ("", ""))


# --- places and withdrawn rows ----------------------------------------------------------------------------------------


def assigned(rater: Rater, sheet: Sheet) -> Assignment:
    [assignment] = actions.assign(rater=rater, rows=list(sheet.rows.all()))
    return assignment


def test_a_first_answer_that_is_shared_with_nobody_does_not_move_macro_accuracy(study: Study) -> None:
    """In each sheet three are to answer; in the second, the first of them has not yet."""
    soup, stew = sheet(study, items=2), sheet(study, "Stew", items=3)
    a1, a2, a3 = (rater(study, code) for code in ("A1", "A2", "A3"))
    answered(a1, soup, ["ff"])
    answered(a2, soup, ["fn"])
    answered(a3, soup, ["nn"])
    waiting = assigned(a1, stew)
    answered(a2, stew, ["ff."])
    answered(a3, stew, ["ff."])
    before = presence(study).agreement.accuracy

    # (1,2): 1/2; (1,3): 0; (2,3): (1/2 + 1) / 2
    assert before.value == pytest.approx((1 / 2 + 0 + 3 / 4) / 3)
    assert {row.position for row in before.rows if row.sheet == 1} == {(2, 3)}
    studies.say(waiting, {("item 3", "presence"): "f"})
    assert presence(study).agreement.accuracy.value == before.value


def test_places_stand_where_only_submitted_work_counts(study: Study) -> None:
    soup = sheet(study, items=1)
    assigned(rater(study, "A1"), soup)
    for code in ("A2", "A3"):
        [work] = answered(rater(study, code), soup, ["f"])
        actions.submit(assignment=work, allow_open=True)

    [row] = presence(study, submitted_only=True).agreement.accuracy.rows
    assert row.position == (2, 3)
    assert [work.rows for work in report(study, submitted_only=True).data.work] == [0, 1, 1]


def test_labels_of_withdrawn_rows_count_and_it_is_said(study: Study) -> None:
    soup = sheet(study, items=1, rows=2)
    for code in ("A1", "A2"):
        answered(rater(study, code), soup, ["f", "n"])
    before = presence(study).agreement.percent
    assert "withdrawn:" not in made(study)["overview"].how
    actions.withdraw_row(row=Row.objects.first() or Row(), reason="It is no recipe.", by=None)

    assert presence(study).agreement.percent == before
    assert "1 of the documents was withdrawn: nobody else is asked" in made(study)["overview"].how
    assert "1 of the documents was withdrawn" in made(study)["raters"].how


# --- how sure a judge is ----------------------------------------------------------------------------------------------


def test_doubt_is_entropy_and_margin_and_recall_is_at_a_set_precision(study: Study) -> None:
    """Three sure cells that are right, and a wrong one of which the judge was least sure."""
    soup = sheet(study, items=4)
    answered(rater(study, "A1"), soup, ["fffn"])
    answered(judge(study), soup, ["ffff"])
    for place, label in enumerate(Label.objects.filter(assignment__rater__code="J1").order_by("column__position")):
        probabilities = {"found": 0.9, "near": 0.05, "absent": 0.05} if place < 3 else {"found": 0.4, "near": 0.35}
        label.scores = {
            "options": {
                key: {"logprob": math.log(p), "n_tokens": 1, "n_characters": 1, "unconditional": None}
                for key, p in probabilities.items()
            },
            "normalisation": "none",
        }
        label.save()
    tables = made(study)

    calibration, thresholds = tables["items.presence.calibration"], tables["items.presence.thresholds.J1"]
    sure = dict(zip([head.key for head in calibration.heads], calibration.rows[0], strict=True))
    assert (sure["entropy"], sure["margin"]) == (1.0, 1.0)
    [found, near] = [dict(zip([head.key for head in thresholds.heads], row, strict=True)) for row in thresholds.rows]
    assert (found["option"], found["people"], found["recall_0.8"], found["recall_0.9"]) == ("Found", 3, 1.0, 1.0)
    assert found["threshold_0.9"] == pytest.approx(0.9)
    assert (near["recall_0.9"], near["because"]) == (1.0, "")
