"""A program pauses and reminds people, and sets and reads what they are paid, as a manager does from the board."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts import actions as accounts
from annotation import actions
from annotation.models import Assignment, Rater, Study, User
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    """Of a manager."""
    return api_of(leases.manager)


def post(program: APIClient, name: str, code: str = "A1", slug: str = "leases") -> Any:
    return program.post(reverse(f"api:{name}", args=[slug, code]))


def paused_at(program: APIClient, code: str) -> str | None:
    [told] = [one for one in program.get(reverse("api:raters", args=["leases"])).json() if one["code"] == code]
    at: str | None = told["paused_at"]
    return at


# --- pausing --------------------------------------------------------------------------------------------------------


def test_a_paused_rater_keeps_the_work_gets_no_more_and_reads_so(
    leases: Leases, program: APIClient, client_of: ClientOf
) -> None:
    told = post(program, "pause")

    assert (told.status_code, list(told.json())) == (200, ["code", "paused_at"])
    assert told.json()["code"] == "A1"
    assert told.json()["paused_at"] == paused_at(program, "A1") is not None
    assert paused_at(program, "A2") is None
    assert "You are paused in “Leases”" in client_of(leases.anna).get(reverse("annotation:my-work")).content.decode()
    assert [rater.code for rater in leases.study.raters.plannable()] == ["A2"]
    assert Rater.objects.get(user=leases.anna).paused_by == leases.manager
    builders.label(leases.annas[0])


def test_who_is_paused_twice_was_paused_the_first_time_and_goes_on(leases: Leases, program: APIClient) -> None:
    first = post(program, "pause").json()
    assert post(program, "pause").json() == first

    told = [post(program, "go-on").json() for _time in range(2)]

    assert told == [{"code": "A1", "paused_at": None}] * 2
    assert [rater.code for rater in leases.study.raters.plannable()] == ["A1", "A2"]


# --- reminding ------------------------------------------------------------------------------------------------------


def test_a_reminder_is_sent_by_mail(program: APIClient) -> None:
    told = post(program, "remind")

    [sent] = mail.outbox
    assert (told.status_code, told.json()) == (200, {"sent": True, "text": ""})
    assert sent.to == ["anna@example.org"]
    assert "2 clauses of “Leases” wait for you." in sent.body
    assert f"http://testserver{reverse('annotation:my-work')}" in sent.body


def test_without_mail_there_is_a_text_to_send(leases: Leases, program: APIClient, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    told = post(program, "remind").json()
    assert told["sent"] is False
    assert "Hello anna" in told["text"]
    assert "2 clauses of “Leases” wait for you." in told["text"]


def test_somebody_without_an_address_gets_a_text_too(leases: Leases, program: APIClient) -> None:
    User.objects.filter(pk=leases.anna.pk).update(email="")
    told = post(program, "remind").json()
    assert (told["sent"], "2 clauses of “Leases” wait for you." in told["text"]) == (False, True)
    assert mail.outbox == []


def test_a_mail_that_cannot_be_sent_is_a_text(program: APIClient, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1  # nobody listens there
    told = post(program, "remind").json()
    assert (told["sent"], "2 clauses of “Leases” wait for you." in told["text"]) == (False, True)


def test_nobody_is_reminded_of_nothing(leases: Leases, program: APIClient) -> None:
    for assignment in leases.annas:
        builders.label(assignment)
        actions.submit(assignment=assignment)

    refused = post(program, "remind")

    assert (refused.status_code, refused.json()) == (409, {"detail": "A1 has nothing left to do."})
    assert mail.outbox == []


def test_whose_account_is_closed_is_not_reminded(leases: Leases, program: APIClient) -> None:
    accounts.set_active(user=leases.anna, active=False, by=builders.user("root", superuser=True))
    refused = post(program, "remind")
    sentence = "The account of A1 is closed: reassign the work."
    assert (refused.status_code, refused.json()) == (409, {"detail": sentence})
    assert mail.outbox == []


# --- who may --------------------------------------------------------------------------------------------------------

OF_PEOPLE = ["pause", "go-on", "remind"]


@pytest.mark.parametrize("name", OF_PEOPLE)
@pytest.mark.parametrize("code", ["J1", "A9", "S1", "A2", "a1", "A 1", "ž"])
def test_a_judge_and_who_is_not_here_are_nobody(leases: Leases, program: APIClient, name: str, code: str) -> None:
    """S1 is of a program, and A2 has left."""
    Rater.objects.create(study=leases.study, kind=Rater.Kind.PERSON, code="S1", simulated=True)
    actions.remove_member(membership=leases.boris.memberships.get())

    refused = post(program, name, code)

    assert refused.status_code == 404
    assert refused.json() == {"detail": "There is nothing at this address, or not for you."}
    assert not Rater.objects.exclude(paused_at=None).exists()
    assert mail.outbox == []


@pytest.mark.parametrize("name", OF_PEOPLE)
@pytest.mark.parametrize(("who", "status"), [("anna", 403), ("researcher", 403), ("stranger", 404)])
def test_people_are_the_managers_own(leases: Leases, api_of: ApiOf, name: str, who: str, status: int) -> None:
    """The stranger manages another study, which has an A1 too."""
    other = builders.study("other", of=leases.study.scheme, by=leases.stranger)
    builders.rater(other, builders.user("olaf"))
    program = api_of(getattr(leases, who))

    assert post(program, name).status_code == status

    assert not Rater.objects.exclude(paused_at=None).exists()
    assert mail.outbox == []


@pytest.mark.parametrize("name", OF_PEOPLE)
def test_people_of_an_archived_study_are_left_alone(leases: Leases, program: APIClient, name: str) -> None:
    actions.archive_study(study=leases.study, by=leases.manager)
    refused = post(program, name)
    assert refused.status_code == 403
    assert "is archived: nothing is changed in it" in refused.json()["detail"]
    assert mail.outbox == []


# --- pay ------------------------------------------------------------------------------------------------------------


def spent(assignment: Assignment, seconds: int, days_ago: int = 1) -> None:
    """Active work that a page has counted."""
    page, start = uuid.uuid4(), timezone.now() - timedelta(days=days_ago)
    actions.beat(rater=assignment.rater, page=page, seconds={assignment.pk: 0}, now=start)
    after = start + timedelta(seconds=seconds)
    actions.beat(rater=assignment.rater, page=page, seconds={assignment.pk: seconds}, now=after)


def set_pay(program: APIClient, body: dict[str, Any], form: str = "json") -> Any:
    return program.post(reverse("api:pay", args=["leases"]), body, format=form)


def rate_of(study: Study) -> tuple[str, str]:
    study.refresh_from_db()
    return str(study.hourly_rate), study.currency


@pytest.mark.parametrize("form", ["json", "multipart"])
def test_what_is_owed_is_told_by_rater_and_sheet(leases: Leases, program: APIClient, form: str) -> None:
    loan = builders.sheet(leases.study, "Loan")
    [more, _other] = builders.assignments(leases.annas[0].rater, loan)
    spent(leases.annas[0], 3600, days_ago=2)
    spent(more, 1800)
    spent(leases.boriss[0], 600)
    hours = program.get(reverse("api:pay", args=["leases"])).json()
    assert (hours["hourly_rate"], hours["currency"], hours["pay"]) == (None, "", None)
    assert [one["pay"] for one in hours["raters"]] == [None, None]

    told = set_pay(program, {"hourly_rate": "12.50", "currency": "EUR"}, form)

    # Anna: 1.5 h at 12.50; Boris: 1/6 h, 2.08 and a third of a cent; both: 20.83 and a third.
    assert (told.status_code, told.json()) == (
        200,
        {
            "hourly_rate": "12.50",
            "currency": "EUR",
            "seconds": 6000,
            "pay": "20.83",
            "raters": [
                {
                    "rater": "A1",
                    "seconds": 5400,
                    "rows": 2,
                    "pay": "18.75",
                    "sheets": [{"sheet": leases.sheet.pk, "seconds": 3600}, {"sheet": loan.pk, "seconds": 1800}],
                },
                {
                    "rater": "A2",
                    "seconds": 600,
                    "rows": 1,
                    "pay": "2.08",
                    "sheets": [{"sheet": leases.sheet.pk, "seconds": 600}],
                },
            ],
        },
    )
    assert program.get(reverse("api:pay", args=["leases"])).json() == told.json()


def test_a_currency_stays_until_another_is_sent_and_goes_with_the_rate(leases: Leases, program: APIClient) -> None:
    set_pay(program, {"hourly_rate": 12.5, "currency": "EUR"})
    assert set_pay(program, {"hourly_rate": 13}).status_code == 200
    assert rate_of(leases.study) == ("13.00", "EUR")
    set_pay(program, {"hourly_rate": 0, "currency": ""})
    assert rate_of(leases.study) == ("0.00", "")
    set_pay(program, {"hourly_rate": None, "currency": "CZK"})
    assert rate_of(leases.study) == ("None", "")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "hourly_rate"),
        ({"currency": "EUR"}, "hourly_rate"),
        ({"hourly_rate": "much"}, "hourly_rate"),
        ({"hourly_rate": -1}, "hourly_rate"),
        ({"hourly_rate": "NaN"}, "hourly_rate"),
        ({"hourly_rate": "1.005"}, "hourly_rate"),
        ({"hourly_rate": 10**8}, "hourly_rate"),
        ({"hourly_rate": 10, "currency": "x" * 9}, "currency"),
        ({"hourly_rate": 10, "currency": None}, "currency"),
    ],
)
def test_pay_that_is_none_is_refused_and_nothing_is_stored(
    leases: Leases, program: APIClient, body: dict[str, Any], field: str
) -> None:
    set_pay(program, {"hourly_rate": 12, "currency": "EUR"})
    refused = set_pay(program, body)
    assert (refused.status_code, list(refused.json())) == (400, [field])
    assert rate_of(leases.study) == ("12.00", "EUR")


@pytest.mark.parametrize(("who", "status"), [("anna", 403), ("researcher", 403), ("stranger", 404)])
def test_pay_is_for_managers(leases: Leases, api_of: ApiOf, who: str, status: int) -> None:
    builders.study("other", of=leases.study.scheme, by=leases.stranger)
    program = api_of(getattr(leases, who))
    assert program.get(reverse("api:pay", args=["leases"])).status_code == status
    assert set_pay(program, {"hourly_rate": 10}).status_code == status
    assert rate_of(leases.study) == ("None", "")


def test_what_is_owed_in_an_archived_study_is_read_alone(leases: Leases, program: APIClient) -> None:
    spent(leases.annas[0], 3600)
    set_pay(program, {"hourly_rate": 12, "currency": "EUR"})
    actions.archive_study(study=leases.study, by=leases.manager)
    assert program.get(reverse("api:pay", args=["leases"])).json()["pay"] == "12.00"
    assert set_pay(program, {"hourly_rate": 10}).status_code == 403
    assert rate_of(leases.study) == ("12.00", "EUR")


def test_what_is_owed_is_told_however_much_it_is(leases: Leases, program: APIClient) -> None:
    Assignment.objects.filter(pk=leases.annas[0].pk).update(active_seconds=2**31 - 1)
    told = set_pay(program, {"hourly_rate": "9999999.99"}).json()
    assert told["pay"] == "5965232346812.55"  # (2³¹ − 1) · 9999999.99 / 3600 = 21474836448525163.53 / 3600
