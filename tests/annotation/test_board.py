"""The board: counts, pace and forecast, and what a manager does from it."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts import actions as accounts
from annotation import actions, queries
from annotation.models import Assignment, Label, LabelEvent, Rater, User
from annotation.views import board as board_view
from annotation.views import paging
from tests import builders
from tests.annotation.importing import labels_in
from tests.builders import ClientOf, Leases

NOW = timezone.make_aware(datetime(2026, 3, 20, 12))


def page(client: Client, leases: Leases) -> str:
    return client.get(reverse("annotation:board", args=[leases.study.slug])).content.decode()


def post(client: Client, leases: Leases, name: str, rater: Rater) -> str:
    url = reverse(f"annotation:{name}", args=[leases.study.slug, rater.pk])
    return client.post(url, follow=True).content.decode()


def line_of(leases: Leases, rater: Rater) -> queries.BoardLine:
    lines = queries.seen(queries.board(leases.study, now=NOW).lines)
    return next(line for line in lines if line.rater == rater)


def submitted(assignment: Assignment, *, days_ago: float) -> None:
    """Labelled and submitted at a time before `NOW`."""
    builders.label(assignment)
    actions.submit(assignment=assignment)
    at = NOW - timedelta(days=days_ago)
    Assignment.objects.filter(pk=assignment.pk).update(started_at=at, submitted_at=at)
    LabelEvent.objects.filter(assignment=assignment).update(at=at)


@pytest.fixture
def eight(leases: Leases) -> list[Assignment]:
    """Anna's eight rows: the two of “Lease” and six of “Loan”."""
    loan = builders.sheet(leases.study, "Loan", n_rows=6)
    return [*leases.annas, *builders.assignments(leases.annas[0].rater, loan)]


def test_pace_and_forecast_are_those_of_the_last_week(leases: Leases, eight: list[Assignment]) -> None:
    # Four in the last 7 days, and one before: 4 / 7 rows a day. 3 left / (4 / 7) = 5.25 days, the sixth day.
    for assignment, days_ago in zip(eight, (20, 6, 4, 2, 1), strict=False):
        submitted(assignment, days_ago=days_ago)

    line = line_of(leases, leases.annas[0].rater)

    assert (line.total.done, line.total.open, line.pace) == (5, 3, pytest.approx(4 / 7))
    assert line.finish == date(2026, 3, 26)
    assert line.last_at == NOW - timedelta(days=1)
    assert [(states.done, states.rows) for _sheet, states in sorted(line.of_sheets.items())] == [(2, 2), (3, 6)]


def test_what_is_left_on_a_closed_sheet_waits_for_nobody(
    leases: Leases, eight: list[Assignment], client_of: ClientOf
) -> None:
    for assignment in eight[2:6]:
        submitted(assignment, days_ago=1)
    builders.label(leases.annas[0])
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)

    line = line_of(leases, leases.annas[0].rater)

    # Two of “Loan” are left, at 4 a day: tomorrow. Of “Lease” one is begun and one open, for good.
    assert (line.total.rows, line.total.left, line.total.closed) == (8, 2, 2)
    assert line.finish == (NOW + timedelta(days=1)).date()
    manager = client_of(leases.manager)
    assert "4 clauses of closed contracts were not submitted, and wait for nobody." in page(manager, leases)
    post(manager, leases, "remind", leases.annas[0].rater)
    assert "2 clauses of “Leases” wait for you" in mail.outbox[0].body


def test_who_has_just_begun_is_measured_from_then(leases: Leases, eight: list[Assignment]) -> None:
    submitted(eight[0], days_ago=2)
    submitted(eight[1], days_ago=1)

    # Two rows in two days, and six left.
    assert line_of(leases, leases.annas[0].rater).finish == date(2026, 3, 26)


def test_simulated_raters_have_no_pace_and_are_told_apart(
    leases: Leases, eight: list[Assignment], client_of: ClientOf
) -> None:
    simulated = Rater.objects.create(study=leases.study, kind=Rater.Kind.PERSON, code="S1", simulated=True)
    for assignment in builders.assignments(simulated, leases.sheet):
        builders.label(assignment)
        actions.submit(assignment=assignment)

    said = " ".join(page(client_of(leases.manager), leases).split())

    board = queries.board(leases.study)
    assert (board.total.done, board.simulated.done, board.simulated.rows) == (2, 2, 2)
    assert [line.pace for line in board.lines] == [0, 0, 0]
    assert "<strong>2 of 12</strong> clauses submitted, 0 begun. Simulated raters among them: 2 of 2 clauses." in said
    assert "There is no forecast: nobody with work left submitted anything in the last 7 days." in said


def test_raters_of_an_imported_file_have_no_pace(leases: Leases) -> None:
    """Their rows came in all at once."""
    labels_in(leases.study, "rater,row,section,column,question,answer\nX,Clause 1,duties,Pay rent,stated,stated\n")

    [line] = [line for line in queries.board(leases.study).lines if line.rater.code == "X"]

    assert (line.total.done, line.pace, line.finish) == (1, 0.0, None)


def test_raters_of_an_imported_file_did_not_leave(leases: Leases, client_of: ClientOf) -> None:
    labels_in(leases.study, "rater,row,section,column,question,answer\nX,Clause 1,duties,Pay rent,stated,stated\n")
    said = page(client_of(leases.manager), leases)
    assert ('<span class="tag">no login</span>' in said, '<span class="tag">left</span>' in said) == (True, False)


def test_the_forecast_says_that_it_leaves_out_what_lost_its_rater(
    leases: Leases, eight: list[Assignment], client_of: ClientOf
) -> None:
    builders.label(eight[0])
    actions.submit(assignment=eight[0])
    actions.withdraw(rater=leases.boriss[0].rater)

    said = page(client_of(leases.manager), leases)

    assert "At the pace of the last 7 days everything is done on" in said
    assert "2 clauses that lost a rater are not counted." in said


def test_there_is_no_forecast_without_a_pace(leases: Leases, eight: list[Assignment], client_of: ClientOf) -> None:
    submitted(eight[0], days_ago=20)

    board = queries.board(leases.study, now=NOW)

    assert board.finish is None
    assert [rater.code for rater in board.without_pace] == ["A1", "A2"]
    assert "There is no forecast: nobody with work left submitted anything in the last 7 days." in page(
        client_of(leases.manager), leases
    )


def test_withdrawn_work_is_nobodys(leases: Leases) -> None:
    actions.remove_member(membership=leases.anna.memberships.get())

    board = queries.board(leases.study, now=NOW)

    assert [(line.rater.code, line.total.rows) for line in board.lines] == [("A2", 2)]


def test_the_board_costs_the_same_for_few_rows_and_many(
    leases: Leases, eight: list[Assignment], django_assert_num_queries: Any
) -> None:
    for assignment in eight[:3]:
        builders.label(assignment)

    with django_assert_num_queries(5):
        board = queries.board(leases.study)
    with django_assert_num_queries(2):
        queries.seen(board.lines)


def test_what_waits_for_the_manager_is_said(leases: Leases, client_of: ClientOf) -> None:
    actions.remove_member(membership=leases.boris.memberships.get())

    assert "2 clauses lost a rater" in page(client_of(leases.manager), leases)


# --- remind ---------------------------------------------------------------------------------------------------------


def test_a_reminder_is_sent_by_mail(leases: Leases, client_of: ClientOf) -> None:
    said = post(client_of(leases.manager), leases, "remind", leases.annas[0].rater)

    [sent] = mail.outbox
    assert "A reminder was sent to anna@example.org." in said
    assert sent.to == ["anna@example.org"]
    assert "2 clauses of “Leases” wait for you." in sent.body
    assert "http://testserver/" in sent.body


def test_without_mail_there_is_a_text_to_copy(leases: Leases, client_of: ClientOf, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    manager = client_of(leases.manager)

    said = post(manager, leases, "remind", leases.annas[0].rater)

    assert "No mail was sent to A1." in said
    assert said.count("2 clauses of “Leases” wait for you.") == 2  # to read, and in the button
    assert "wait for you" not in page(manager, leases)


def test_somebody_without_an_address_gets_a_text_too(leases: Leases, client_of: ClientOf) -> None:
    User.objects.filter(pk=leases.anna.pk).update(email="")

    assert "No mail was sent to A1." in post(client_of(leases.manager), leases, "remind", leases.annas[0].rater)
    assert mail.outbox == []


def test_who_has_nothing_left_is_not_reminded(leases: Leases, client_of: ClientOf) -> None:
    """The board of a manager who looked at it before still offers it."""
    for assignment in leases.annas:
        builders.label(assignment)
        actions.submit(assignment=assignment)

    assert "A1 has nothing left to do." in post(client_of(leases.manager), leases, "remind", leases.annas[0].rater)
    assert mail.outbox == []


# --- pause ----------------------------------------------------------------------------------------------------------


def test_a_paused_rater_keeps_the_work_and_reads_so(leases: Leases, client_of: ClientOf) -> None:
    anna = client_of(leases.anna)
    assert "You are paused" not in anna.get(reverse("annotation:my-work")).content.decode()

    said = post(client_of(leases.manager), leases, "pause", leases.annas[0].rater)

    assert "A1 is paused: the work stays theirs, and they get no more." in said
    assert "You are paused in “Leases”" in anna.get(reverse("annotation:my-work")).content.decode()
    # Saving goes on.
    builders.label(leases.annas[0])
    assert Label.objects.filter(assignment=leases.annas[0]).exists()
    leases.annas[0].rater.refresh_from_db()
    assert leases.annas[0].rater.paused_by == leases.manager


def test_a_paused_rater_is_not_offered_for_plans_until_let_go_on(leases: Leases, client_of: ClientOf) -> None:
    builders.sheet(leases.study, "Loan", n_rows=4)
    manager = client_of(leases.manager)

    def offered() -> list[str]:
        form = manager.get(reverse("annotation:plan", args=[leases.study.slug])).context["form"]
        return [rater.code for rater in form.fields["raters"].queryset]

    post(manager, leases, "pause", leases.annas[0].rater)
    assert offered() == ["A2"]
    assert "A1 goes on." in post(manager, leases, "go-on", leases.annas[0].rater)
    assert offered() == ["A1", "A2"]


def test_who_cannot_log_in_any_more_is_marked_and_given_nothing(leases: Leases, client_of: ClientOf) -> None:
    """An owner closes an account; its work waited for somebody who could not come, and plans gave it more."""
    builders.sheet(leases.study, "Loan", n_rows=4)
    manager, rater = client_of(leases.manager), leases.annas[0].rater
    owner = builders.user("root", superuser=True)
    assert "account closed" not in page(manager, leases)
    accounts.set_active(user=leases.anna, active=False, by=owner)

    shown = page(manager, leases)
    assert "account closed" in shown
    assert reverse("annotation:remind", args=[leases.study.slug, rater.pk]) not in shown
    assert f"{reverse('annotation:replan', args=[leases.study.slug])}?leaving={rater.pk}" in shown
    assert "The account of A1 is closed: reassign the work." in post(manager, leases, "remind", rater)
    assert "account closed" in manager.get(reverse("annotation:people", args=[leases.study.slug])).content.decode()
    form = manager.get(reverse("annotation:plan", args=[leases.study.slug])).context["form"]
    assert [rater.code for rater in form.fields["raters"].queryset] == ["A2"]
    assert rater not in leases.study.raters.given_more()
    assert leases.judges[0].rater in leases.study.raters.given_more()

    accounts.set_active(user=leases.anna, active=True, by=owner)
    assert "account closed" not in page(manager, leases)
    assert rater in leases.study.raters.plannable()


def test_a_judge_cannot_be_reminded(leases: Leases, client_of: ClientOf) -> None:
    url = reverse("annotation:remind", args=[leases.study.slug, leases.judges[0].rater_id])

    assert client_of(leases.manager).post(url).status_code == 404


def test_a_long_board_has_pages_and_keeps_the_other_list(
    leases: Leases, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_view, "PEOPLE_A_PAGE", 1)
    monkeypatch.setattr(paging, "SHEETS_A_PAGE", 1)
    actions.add_sheet(study=leases.study, title="Second", columns={})
    path = reverse("annotation:board", args=[leases.study.slug])
    shown = client_of(leases.manager).get(path, {"people": "2", "sheets": "2"}).content.decode()
    assert 'href="?people=1&amp;sheets=2"' in shown
    assert 'href="?people=2&amp;sheets=1"' in shown
    assert "page 2 of 2" in shown
    assert '<th scope="row">Second</th>' in shown
    assert '<th scope="row">Lease</th>' not in shown


def test_more_people_than_sheets_stand_below_each_other(leases: Leases, client_of: ClientOf) -> None:
    loan = builders.sheet(leases.study, "Loan", n_rows=1)
    for n in (*range(1, 8), 10, 9, 8):
        student = Rater.objects.create(study=leases.study, code=f"student{n}", kind=Rater.Kind.PERSON)
        builders.assignments(student, loan)
    table = page(client_of(leases.manager), leases).split('class="matrix board"')[1].split("</table>")[0]
    names = re.findall(r'<th scope="row">.*?(\w+)</code>', table)
    assert names[-10:] == [f"student{n}" for n in range(1, 11)]
    assert [word in table.split("</thead>")[0] for word in ("Lease", "Loan")] == [True, True]
    assert "<strong>0 / 10</strong>" in table.split("<tfoot>")[1]
