"""A judge labels what a plan gave it, and nothing else; the board's panel of runs."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.models import Assignment
from judges import actions
from judges.models import Judge, WorkItem
from judges.runs import labelling
from llm.models import LanguageModel
from reports import actions as reporting
from reports.data.arrays import Filters
from tests import builders
from tests.builders import Leases
from tests.test_access import PROMPT
from work import actions as machine


@pytest.fixture
def judge(leases: Leases) -> Judge:
    return actions.create_judge(name="lexical", method=Judge.Method.LEXICAL, prompt_text=PROMPT)


def plan(leases: Leases, rows: list[int], sections: list[str] | None = None, judge: str = "lexical") -> None:
    builders.plan_for_judge(leases, judge, rows, sections=sections)


def test_a_judge_of_the_study_is_offered_to_the_planner(leases: Leases, judge: Judge) -> None:
    assert doors.judge_names(leases.study) == ["lexical"]


def test_a_run_labels_what_the_plan_gave(leases: Leases, judge: Judge) -> None:
    first, _second = leases.sheet.rows.values_list("pk", flat=True)
    plan(leases, [first])

    run = actions.start_run(study=leases.study, judge=judge, by=leases.manager)

    assert [item.assignment.row_id for item in run.items.all()] == [first]
    assert actions.score_items(item_ids=list(run.items.values_list("pk", flat=True))) == 1
    run.refresh_from_db()
    assert run.state == "finished"


def test_a_run_after_it_labels_the_rest(leases: Leases, judge: Judge) -> None:
    first, second = leases.sheet.rows.values_list("pk", flat=True)
    plan(leases, [first])
    run = actions.start_run(study=leases.study, judge=judge, by=leases.manager)
    actions.score_items(item_ids=list(run.items.values_list("pk", flat=True)))

    rest = actions.start_run(study=leases.study, judge=judge, by=leases.manager)

    assert [item.assignment.row_id for item in rest.items.all()] == [second]


def test_a_planned_section_is_the_only_one_that_is_answered(leases: Leases) -> None:
    both = PROMPT + "  acts.act:\n    lexical: {in: [paragraph], same: found, part: reworded, none: absent}\n"
    judge = actions.create_judge(name="lexical", method=Judge.Method.LEXICAL, prompt_text=both)
    rows = list(leases.sheet.rows.values_list("pk", flat=True))
    plan(leases, rows, ["acts"])

    run = actions.start_run(study=leases.study, judge=judge, by=leases.manager)
    actions.score_items(item_ids=list(WorkItem.objects.filter(run=run).values_list("pk", flat=True)))

    labels = {
        section
        for assignment in Assignment.objects.filter(rater=run.rater)
        for section in assignment.labels.values_list("question__section__key", flat=True)
    }
    assert labels == {"acts"}


def test_repeats_are_asked_what_the_plan_gave(leases: Leases) -> None:
    asked = "{writing: {name: A, wording: Say it}}"
    text = f"row: $evidence\nquestions: {{duties.stated: {asked}, acts.act: {asked}}}"
    method, model = Judge.Method.WRITING, LanguageModel.objects.create(name="small", location="nobody/model")
    judge, other = (
        actions.create_judge(name=name, method=method, model=model, prompt_text=text, temperature=0.7)
        for name in ("judge", "other")
    )
    rows = list(leases.sheet.rows.values_list("pk", flat=True))
    plan(leases, rows[:1], ["acts"], judge.name)
    run, whole = (actions.start_run(study=leases.study, judge=one, by=None, repeats=2) for one in (judge, other))
    assert {tuple(item.assignment.sections) for item in run.items.all()} == {("acts",)}
    assert {tuple(item.assignment.sections) for item in whole.items.all()} == {tuple(labelling.sections_of(other))}


def test_a_withdrawn_row_is_not_labelled(leases: Leases, judge: Judge) -> None:
    first, second = leases.sheet.rows.all()
    annotating.withdraw_row(row=first, reason="gone", by=leases.manager)

    run = actions.start_run(study=leases.study, judge=judge, by=leases.manager)

    assert [item.assignment.row_id for item in run.items.all()] == [second.pk]


def test_a_row_that_is_withdrawn_under_a_run_is_left_alone(leases: Leases, judge: Judge) -> None:
    run = actions.start_run(study=leases.study, judge=judge, by=leases.manager)
    items = list(run.items.order_by("pk").values_list("pk", flat=True))
    annotating.withdraw_row(row=leases.sheet.rows.all()[0], reason="gone", by=leases.manager)

    actions.score_items(item_ids=items)

    assert sorted(run.rater.assignments.values_list("state", flat=True)) == ["submitted", "withdrawn"]
    with pytest.raises(Refused, match="Nothing is left to do"):
        actions.resume_run(run=run)


def test_a_row_that_is_withdrawn_while_it_is_labelled_leaves_the_run(
    leases: Leases, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = actions.start_run(study=leases.study, judge=judge, by=leases.manager)
    first, second = run.items.order_by("pk")
    label_row = labelling.label_row

    def withdrawn_meanwhile(judge: Judge, assignment: Assignment, *rest: Any, **named: Any) -> labelling.Labelled:
        annotating.withdraw_row(row=assignment.row, reason="gone", by=leases.manager)
        return label_row(judge, assignment, *rest, **named)

    monkeypatch.setattr(labelling, "label_row", withdrawn_meanwhile)
    actions.score_items(item_ids=[first.pk])

    assert list(run.items.values_list("pk", "state")) == [(second.pk, "queued")]


def test_a_plan_does_not_open_the_way_into_labels_from_a_file(leases: Leases) -> None:
    """J1 has assignments that no plan and no run gave it."""
    judge = actions.create_judge(name="J1", method=Judge.Method.LEXICAL, prompt_text=PROMPT)
    third = builders.row(leases.sheet, "Clause 3")
    plan(leases, [third.pk], judge="J1")

    with pytest.raises(Refused, match="came from a file"):
        actions.start_run(study=leases.study, judge=judge, by=leases.manager)


def test_the_board_says_what_keeps_a_run(leases: Leases, judge: Judge) -> None:
    client = Client()
    client.force_login(leases.manager)
    url = reverse("judges:board", args=[leases.study.slug])
    assert "No judge has worked here yet." in client.get(url).content.decode()
    run = actions.start_run(study=leases.study, judge=judge, by=leases.manager)
    assert "nothing</span>" in client.get(url).content.decode()

    machine.end(run, run.State.FAILED, error="The model is gone.")

    assert "The model is gone." in client.get(url).content.decode()


def test_the_board_asks_no_more_for_many_runs_of_a_judge_than_for_one(leases: Leases, judge: Judge) -> None:
    client = Client()
    client.force_login(leases.manager)
    url = reverse("judges:board", args=[leases.study.slug])
    asked = []
    for _run in range(3):
        run = actions.start_run(study=leases.study, judge=judge, by=leases.manager)
        machine.end(run, run.State.FAILED, error="The model is gone.")
        with CaptureQueriesContext(connection) as queries:
            client.get(url)
        asked.append(len(queries))

    assert asked[2] == asked[1]


def test_the_board_knows_work_of_every_kind(leases: Leases, judge: Judge) -> None:
    client = Client()
    client.force_login(leases.manager)
    extractor = actions.create_extractor(name="stated", parser="schema-org")
    extraction = actions.start_extraction(study=leases.study, extractor=extractor, by=None)
    download = reporting.ask_for_export(study=leases.study, form="jsonl", filters=Filters(), by=leases.manager)
    machine.end(extraction, extraction.State.FAILED, error="The parser is gone.")

    shown = client.get(reverse("judges:board", args=[leases.study.slug])).content.decode()

    assert f'<a href="{extraction.get_absolute_url()}">stated</a>' in shown
    assert "The parser is gone." in shown
    assert download.get_absolute_url() in shown

    machine.cancel(download)
    shown = client.get(reverse("judges:board", args=[leases.study.slug])).content.decode()
    assert download.get_absolute_url() not in shown  # it is over: nothing keeps it
