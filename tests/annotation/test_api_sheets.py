"""A program renames, archives and deletes sheets, as the page of a sheet's settings does."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotation import actions, queries
from annotation.models import Assignment, AuditEvent, Label, Sheet
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases

State = Assignment.State


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    """Of a manager."""
    return api_of(leases.manager)


def post(program: APIClient, name: str, sheet: Sheet, body: dict[str, Any] | None = None) -> Any:
    return program.post(reverse(f"api:{name}", args=[sheet.pk]), body, format="json")


def listed(program: APIClient, sheet: Sheet) -> dict[str, Any]:
    [one] = [one for one in program.get(reverse("api:sheets", args=["leases"])).json() if one["id"] == sheet.pk]
    return one


# --- its title ------------------------------------------------------------------------------------------------------


def test_a_sheet_gets_another_title(leases: Leases, program: APIClient) -> None:
    before = listed(program, leases.sheet)

    told = post(program, "rename-sheet", leases.sheet, {"title": "  Lease of today "})

    assert (told.status_code, told.json()) == (200, {**before, "title": "Lease of today"})
    assert listed(program, leases.sheet) == told.json()
    assert post(program, "rename-sheet", leases.sheet, {"title": "Lease of today"}).json() == told.json()


def test_two_sheets_cannot_have_one_title(leases: Leases, program: APIClient) -> None:
    builders.sheet(leases.study, "Loan")
    refused = post(program, "rename-sheet", leases.sheet, {"title": "Loan"})
    assert (refused.status_code, refused.json()) == (409, {"detail": "“Loan” is there already."})
    assert listed(program, leases.sheet)["title"] == "Lease"


@pytest.mark.parametrize("body", [{}, {"title": " "}, {"title": None}, {"title": "x" * 201}, {"title": ["a"]}])
def test_what_is_no_title_changes_nothing(leases: Leases, program: APIClient, body: dict[str, Any]) -> None:
    refused = post(program, "rename-sheet", leases.sheet, body)
    assert (refused.status_code, list(refused.json())) == (400, ["title"])
    assert listed(program, leases.sheet)["title"] == "Lease"


# --- archived -------------------------------------------------------------------------------------------------------


def test_an_archived_sheet_leaves_the_work_and_keeps_its_labels(
    leases: Leases, program: APIClient, client_of: ClientOf
) -> None:
    builders.label(leases.annas[0])
    n = Label.objects.count()

    told = post(program, "archive-sheet", leases.sheet)

    assert told.status_code == 200
    assert told.json()["archived_at"] == told.json()["closed_at"] is not None
    assert told.json() == listed(program, leases.sheet)
    assert Label.objects.count() == n > 0
    assert leases.sheet.title not in client_of(leases.anna).get(reverse("annotation:my-work")).content.decode()
    assert not queries.work_given(leases.study).sheets
    leases.annas[0].refresh_from_db()
    leases.annas[1].refresh_from_db()
    assert (leases.annas[0].state, leases.annas[1].state) == (State.STARTED, State.WITHDRAWN)


def test_a_sheet_that_is_archived_twice_was_archived_the_first_time(leases: Leases, program: APIClient) -> None:
    first = post(program, "archive-sheet", leases.sheet).json()
    assert post(program, "archive-sheet", leases.sheet).json() == first


def test_an_archived_sheet_is_brought_back_open(leases: Leases, program: APIClient) -> None:
    before = listed(program, leases.sheet)
    builders.label(leases.annas[0])
    post(program, "archive-sheet", leases.sheet)

    told = [post(program, "bring-sheet-back", leases.sheet) for _time in range(2)]

    assert [one.json() for one in told] == [before, before]
    leases.annas[0].refresh_from_db()
    builders.label(leases.annas[0], {("Insure", "stated"): "absent"})


def test_a_sheet_that_is_closed_and_not_archived_is_not_opened_by_bringing_it_back(
    leases: Leases, program: APIClient
) -> None:
    closed = post(program, "close-sheet", leases.sheet).json()["closed_at"]
    assert post(program, "bring-sheet-back", leases.sheet).json()["closed_at"] == closed is not None


# --- deleted --------------------------------------------------------------------------------------------------------


def test_a_sheet_made_by_mistake_says_what_goes_along_and_goes(leases: Leases, program: APIClient) -> None:
    sheet = builders.sheet(leases.study, "Mistake", duties=["Pay"], n_rows=3)
    builders.assignments(leases.annas[0].rater, sheet)
    address = reverse("api:delete-sheet", args=[sheet.pk])

    told = program.get(address).json()

    assert (told["may_go"], told["built"]) == (True, {})
    assert (told["goes"]["rows"], told["goes"]["assignments"]) == (3, 3)
    assert Sheet.objects.filter(pk=sheet.pk).exists()
    gone = program.post(address)
    assert (gone.status_code, gone.content) == (204, b"")
    assert Sheet.objects.get() == leases.sheet
    [event] = AuditEvent.objects.filter(kind=AuditEvent.Kind.DELETION)
    assert (event.by, event.study) == (leases.manager.pk, leases.study)
    assert event.what.startswith(f"sheet #{sheet.pk}, 3 assignments, ")
    assert program.post(address).status_code == 404


def test_a_sheet_with_labels_stays(leases: Leases, program: APIClient) -> None:
    builders.label(leases.annas[0])
    address = reverse("api:delete-sheet", args=[leases.sheet.pk])

    told = program.get(address).json()
    refused = program.post(address)

    assert (told["may_go"], told["goes"], told["built"]["labels"]) == (False, {}, Label.objects.count())
    sentence = "“Lease” cannot be deleted: work was begun on it. It can be archived."
    assert (refused.status_code, refused.json()) == (409, {"detail": sentence})
    assert Label.objects.exists()


# --- who may --------------------------------------------------------------------------------------------------------

DOORS = ["rename-sheet", "archive-sheet", "bring-sheet-back", "delete-sheet"]


@pytest.mark.parametrize("name", DOORS)
@pytest.mark.parametrize(("who", "status"), [("anna", 403), ("researcher", 403), ("stranger", 404)])
def test_a_sheet_is_changed_by_managers_alone(
    leases: Leases, api_of: ApiOf, program: APIClient, name: str, who: str, status: int
) -> None:
    """Of its own study: the stranger manages another one."""
    builders.study("other", of=leases.study.scheme, by=leases.stranger)
    before = listed(program, leases.sheet)

    refused = post(api_of(getattr(leases, who)), name, leases.sheet, {"title": "Mine"})

    assert (refused.status_code, list(refused.json())) == (status, ["detail"])
    assert listed(program, leases.sheet) == before


@pytest.mark.parametrize("name", DOORS)
def test_a_sheet_of_an_archived_study_stays_as_it_is(leases: Leases, program: APIClient, name: str) -> None:
    sheet = builders.sheet(leases.study, "Mistake")
    actions.archive_study(study=leases.study, by=leases.manager)
    before = listed(program, sheet)

    refused = post(program, name, sheet, {"title": "Other"})

    assert refused.status_code == 403
    assert "is archived: nothing is changed in it" in refused.json()["detail"]
    assert listed(program, sheet) == before
