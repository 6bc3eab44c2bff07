"""A program withdraws rows and closes sheets, and brings both back, as the pages do."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse
from rest_framework.test import APIClient

from annotation import actions
from annotation.models import Assignment, Row, Sheet
from tests import builders
from tests.annotation.at_once import in_another_connection, postgresql
from tests.builders import COMPLETE, ApiOf, Leases

State = Assignment.State


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    """Of a manager."""
    return api_of(leases.manager)


def withdrawn(program: APIClient, row: Row, reason: str = "The page is gone.") -> Any:
    return program.post(reverse("api:withdraw-row", args=[row.pk]), {"reason": reason}, format="json")


# --- rows -----------------------------------------------------------------------------------------------------------


def test_a_row_is_withdrawn_and_what_is_begun_stays(leases: Leases, program: APIClient, api_of: ApiOf) -> None:
    builders.label(leases.annas[0])
    row = leases.annas[0].row

    told = withdrawn(program, row)

    assert told.status_code == 200, told.content
    row.refresh_from_db()
    assert (row.withdrawn_by, row.withdrawn_reason) == (leases.manager, "The page is gone.")
    # Boris has it no more, nor has the judge.
    assert {key: told.json()[key] for key in ("id", "taken_back", "withdrawn_reason")} == {
        "id": row.pk, "taken_back": 2, "withdrawn_reason": "The page is gone.",
    }  # fmt: skip
    assert told.json()["withdrawn_at"] is not None
    leases.boriss[0].refresh_from_db()
    leases.annas[0].refresh_from_db()
    assert (leases.annas[0].state, leases.boriss[0].state) == (State.STARTED, State.WITHDRAWN)
    # Who labels is told that it is withdrawn, and not why.
    for_anna = api_of(leases.anna).get(reverse("api:row", args=[row.pk])).json()
    assert (for_anna["withdrawn_at"], for_anna["withdrawn_reason"]) == (told.json()["withdrawn_at"], "")
    listed = program.get(reverse("api:sheet", args=[leases.sheet.pk])).json()["rows"]
    assert [one["withdrawn_reason"] for one in listed] == ["The page is gone.", ""]


def test_a_row_that_is_withdrawn_keeps_its_reason(leases: Leases, program: APIClient) -> None:
    row = leases.annas[0].row
    withdrawn(program, row)

    again = withdrawn(program, row, "Another reason.")

    assert again.status_code == 409
    assert again.json() == {"detail": "That is withdrawn already, or of another study."}
    row.refresh_from_db()
    assert row.withdrawn_reason == "The page is gone."


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, None])
def test_a_reason_is_asked_for(leases: Leases, program: APIClient, reason: str | None) -> None:
    row = leases.annas[0].row

    refused = program.post(reverse("api:withdraw-row", args=[row.pk]), {"reason": reason}, format="json")

    assert (refused.status_code, list(refused.json())) == (400, ["reason"])
    assert not Row.objects.exclude(withdrawn_at=None).exists()
    assert not Assignment.objects.filter(state=State.WITHDRAWN).exists()


def test_a_row_is_brought_back_once_or_twice(leases: Leases, program: APIClient) -> None:
    row = leases.annas[0].row
    withdrawn(program, row)

    told = [program.post(reverse("api:restore-row", args=[row.pk])) for _time in range(2)]

    assert [one.status_code for one in told] == [200, 200]
    assert told[0].json() == told[1].json()
    assert (told[0].json()["withdrawn_at"], told[0].json()["withdrawn_reason"]) == (None, "")
    # Its work is given again by a plan, as on the page.
    leases.annas[0].refresh_from_db()
    assert leases.annas[0].state == State.WITHDRAWN


@pytest.mark.parametrize("name", ["withdraw-row", "restore-row"])
def test_rows_of_an_archived_study_stay(leases: Leases, program: APIClient, name: str) -> None:
    actions.archive_study(study=leases.study, by=leases.manager)
    address = reverse(f"api:{name}", args=[leases.annas[0].row_id])

    refused = program.post(address, {"reason": "The page is gone."}, format="json")

    assert refused.status_code == 403
    assert "is archived: nothing is changed in it" in refused.json()["detail"]
    assert not Row.objects.exclude(withdrawn_at=None).exists()


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_row_is_withdrawn_after_the_plan_that_is_being_applied(leases: Leases, program: APIClient) -> None:
    """What that plan gives is taken back with the rest."""
    row = builders.row(leases.sheet, "New")
    said: list[object] = []
    with transaction.atomic():
        actions.lock_study(leases.study.pk)
        other = in_another_connection(lambda: withdrawn(program, row).json()["taken_back"], said)
        other.join(1)
        assert said == []
        actions.assign(rater=leases.annas[0].rater, rows=[row])
    other.join(20)

    assert said == [1]
    assert Assignment.objects.get(row=row).state == State.WITHDRAWN


# --- sheets ---------------------------------------------------------------------------------------------------------


def closed(program: APIClient, sheet: Sheet) -> Any:
    return program.post(reverse("api:close-sheet", args=[sheet.pk]))


def opened(program: APIClient, sheet: Sheet) -> Any:
    return program.post(reverse("api:open-sheet", args=[sheet.pk]))


def test_a_closed_sheet_lets_its_people_change_nothing_until_it_is_open(leases: Leases, program: APIClient) -> None:
    builders.label(leases.annas[0], COMPLETE)
    actions.submit(assignment=leases.annas[0])

    told = closed(program, leases.sheet)

    assert (told.status_code, told.json()["not_submitted"]) == (200, 3)  # of four, a judge's not among them
    leases.sheet.refresh_from_db()
    assert leases.sheet.closed_by == leases.manager
    with pytest.raises(actions.SheetClosed):
        builders.label(leases.annas[1])
    [listed] = program.get(reverse("api:sheets", args=["leases"])).json()
    assert listed["closed_at"] == told.json()["closed_at"] is not None
    assert "not_submitted" not in listed
    assert opened(program, leases.sheet).json() == {**listed, "closed_at": None}
    builders.label(leases.annas[1])


def test_a_sheet_that_is_closed_twice_was_closed_the_first_time(leases: Leases, program: APIClient) -> None:
    first = closed(program, leases.sheet).json()
    assert closed(program, leases.sheet).json() == first
    assert opened(program, leases.sheet).json() == opened(program, leases.sheet).json()


def test_an_archived_sheet_that_is_opened_is_back(leases: Leases, program: APIClient) -> None:
    actions.archive_sheet(sheet=leases.sheet, by=leases.manager)
    assert opened(program, leases.sheet).json()["closed_at"] is None
    leases.sheet.refresh_from_db()
    assert leases.sheet.archived_at is None


@pytest.mark.parametrize("change", [closed, opened])
def test_sheets_of_an_archived_study_stay_as_they_are(leases: Leases, program: APIClient, change: Any) -> None:
    actions.archive_study(study=leases.study, by=leases.manager)
    leases.sheet.refresh_from_db()
    before = leases.sheet.closed_at

    refused = change(program, leases.sheet)

    assert refused.status_code == 403
    assert "is archived: nothing is changed in it" in refused.json()["detail"]
    leases.sheet.refresh_from_db()
    assert leases.sheet.closed_at == before
