"""Questions that may be left open: a row is submitted without them, and everything that counts knows it."""

from __future__ import annotations

import uuid

import pytest
from django.urls import reverse

from annotation import actions, queries
from annotation.models import Assignment, Rater, Study, User
from annotation.scheme.rewording import differences, refusals
from annotation.scheme.spec import load_scheme
from reports import queries as report_queries
from reports.contents import contents_of
from reports.data.arrays import Filters
from reports.numbers.report import compute
from tests import builders
from tests.builders import ApiOf, ClientOf, label

SCHEME = """\
key: mails
version: 1
title: Mails
words: {sheet: batch, sheets: batches, row: mail, rows: mails}
sections:
  - key: mail
    title: The mail
    questions:
      - {key: urgent, title: Urgent, kind: flag}
      - {key: tone, title: Tone, kind: scale, min: 1, max: 3, optional: true}
      - {key: remark, title: Remark, kind: text, optional: true}
"""
URGENT, TONE, REMARK = ("The mail", "urgent"), ("The mail", "tone"), ("The mail", "remark")


@pytest.fixture
def anna(db: None) -> User:
    return builders.user("anna")


@pytest.fixture
def study(anna: User) -> Study:
    made = builders.study("mails", of=builders.scheme(SCHEME))
    sheet = actions.add_sheet(study=made, title="Monday", columns={})
    for n in range(3):
        builders.row(sheet, f"Mail {n}")
    builders.assignments(builders.rater(made, anna), sheet)
    return made


def work(study: Study) -> list[Assignment]:
    return list(Assignment.objects.filter(rater__study=study).order_by("row__position"))


def name_of(study: Study) -> str:
    [column] = study.sheets.get().columns.all()
    return column.name


def said(study: Study, **answers: str) -> dict[tuple[str, str], str | None]:
    return {(name_of(study), key): code for key, code in answers.items()}


def test_a_row_is_submitted_without_them_and_not_without_the_others(study: Study) -> None:
    first, second, _third = work(study)
    label(first, said(study, urgent="yes"))
    assert actions.submit(assignment=first).state == Assignment.State.SUBMITTED
    label(second, said(study, tone="2", remark=':"Late."'))
    with pytest.raises(actions.Unanswered) as refused:
        actions.submit(assignment=second)
    assert [cell.question.key for cell in refused.value.cells] == ["urgent"]


def test_they_are_neither_left_nor_done(study: Study, anna: User) -> None:
    [before] = queries.my_sheets(anna)
    label(work(study)[0], said(study, tone="2"))
    label(work(study)[1], said(study, urgent="yes"))
    [progress] = queries.my_sheets(anna)
    assert (before.cells, before.left, progress.cells, progress.left) == (3, 3, 3, 2)


def test_rows_that_owe_nothing_and_nobody_has_looked_at_are_work_to_do(anna: User, client_of: ClientOf) -> None:
    made = builders.study("remarks", of=builders.scheme(SCHEME.replace("kind: flag", "kind: flag, optional: true")))
    sheet = actions.add_sheet(study=made, title="Monday", columns={})
    for n in range(3):
        builders.row(sheet, f"Mail {n}")
    builders.assignments(builders.rater(made, anna), sheet)
    client, at = client_of(anna), reverse("annotation:my-work")

    [progress] = queries.my_sheets(anna)
    assert (progress.left, progress.untouched) == (0, 3)
    page = client.get(at).content.decode()
    assert '<span class="left">3 mails to look at</span>' in page
    first, *others = work(made)
    label(first, said(made, tone="2"))
    for assignment in others:
        actions.submit(assignment=assignment)
    assert '<span class="left">only to submit</span>' in client.get(at).content.decode()
    actions.submit(assignment=first)
    assert '<span class="left">nothing</span>' in client.get(at).content.decode()


def test_a_draft_in_one_waits_to_be_confirmed_as_any_other(study: Study) -> None:
    first = work(study)[0]
    source = Rater.objects.create(study=study, kind="judge", code="J1")
    [judged] = actions.assign(rater=source, rows=[first.row])
    label(judged, said(study, urgent="yes", tone="2"))
    actions.submit(assignment=judged)
    actions.draft(assignment=first, rater=source, key=uuid.uuid4())
    with pytest.raises(actions.Unconfirmed):
        actions.submit(assignment=first)
    assert actions.submit(assignment=first, confirm=True).state == Assignment.State.SUBMITTED


def test_the_grid_and_the_api_say_so(study: Study, anna: User, client_of: ClientOf, api_of: ApiOf) -> None:
    page = client_of(anna).get(reverse("annotation:sheet", args=[study.sheets.get().pk])).content.decode()
    assert "Remark (optional)" in page
    assert "Urgent (optional)" not in page
    [section] = api_of(anna).get(reverse("api:study", args=["mails"])).json()["sections"]
    assert [question["optional"] for question in section["questions"]] == [False, True, True]


def test_reports_tell_what_was_left_open_from_what_nobody_came_to(study: Study) -> None:
    first, second, _third = work(study)
    label(first, said(study, urgent="yes"))
    actions.submit(assignment=first)
    label(second, said(study, urgent="yes", tone="2"))
    found = {
        table.key: table for table in contents_of(compute(report_queries.load(study, Filters()), Filters())).tables
    }
    tone = {row[0].strip(): row[1] for row in found["mail.tone.selections"].rows}
    remark = {row[0].strip(): row[1] for row in found["mail.remark.answers"].rows}
    assert (tone["2"], tone["left open: the question is optional"], tone["not reached"]) == (1, 1, 1)
    assert (remark["left open: the question is optional"], remark["not reached"]) == (1, 2)


def test_a_question_may_become_optional_under_answers_and_not_the_other_way_round() -> None:
    all_asked, now = load_scheme(SCHEME.replace(", optional: true", "")), load_scheme(SCHEME)
    assert refusals(differences(all_asked, now)) == []
    assert len(refusals(differences(now, all_asked))) == 2
