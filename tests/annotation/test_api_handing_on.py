"""A program reassigns work, as the page does."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse
from rest_framework.test import APIClient

from annotation import actions
from annotation.models import Plan, Rater
from tests import builders
from tests.annotation.at_once import in_another_connection, postgresql
from tests.annotation.test_handing_on import asked, people_at, preview, work_of
from tests.builders import ApiOf, ClientOf, Leases


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    """Of a manager."""
    return api_of(leases.manager)


@pytest.fixture
def clara(leases: Leases) -> Rater:
    """A third rater, who has nothing yet."""
    return builders.rater(leases.study, builders.user("clara"))


def post(program: APIClient, name: str, body: dict[str, Any], *args: object) -> Any:
    return program.post(reverse(f"api:{name}", args=["leases", *args]), body, format="json")


# --- reassigning ----------------------------------------------------------------------------------------------------


def test_open_work_goes_on_as_on_the_page(
    leases: Leases, clara: Rater, program: APIClient, client_of: ClientOf
) -> None:
    builders.label(leases.annas[0])
    anna, row = leases.annas[0].rater, leases.annas[1].row
    shown = preview(client_of(leases.manager), leases, asked(leases, leaving=[anna.pk]))

    drawn = post(program, "draw-reassigned", {"leaving": ["A1"]})

    moves = [{"row": row.pk, "before": "A1", "after": "A3"}]
    assert (drawn.status_code, drawn.json()) == (200, {"digest": shown["digest"], "moves": moves, "stuck": 0})
    assert not Plan.objects.exists()
    done = post(program, "reassign", {"leaving": ["A1"], "digest": drawn.json()["digest"]})
    plan = Plan.objects.get()
    assert (done.status_code, done.json()) == (201, {**drawn.json(), "id": plan.pk})
    assert (plan.applied_by, plan.request["moves"]) == (leases.manager, [[row.pk, "A1", "A3"]])
    assert work_of(anna) == [("Clause 1", "started")]
    assert work_of(clara) == [("Clause 2", "open")]
    assert people_at("Clause 2") == ["A2", "A3"]


def test_the_same_sent_again_moves_nothing(leases: Leases, clara: Rater, program: APIClient) -> None:
    assert post(program, "reassign", {"leaving": ["A1"], "takers": ["A3"]}).status_code == 201

    again = post(program, "reassign", {"leaving": ["A1"], "takers": ["A3"]})

    assert again.status_code == 409
    assert again.json() == {"detail": "Nothing would move. Choose whose work is reassigned."}
    assert Plan.objects.count() == 1


def test_only_what_was_drawn_is_moved(leases: Leases, clara: Rater, program: APIClient) -> None:
    drawn = post(program, "draw-reassigned", {"leaving": ["A1"]}).json()
    builders.label(leases.annas[1])

    late = post(program, "reassign", {"leaving": ["A1"], "digest": drawn["digest"]})

    assert late.status_code == 409
    assert late.json()["detail"].startswith("The study has changed since this was drawn. Nothing was moved:")
    assert work_of(clara) == []


def test_work_that_nobody_has_is_given_to_who_can_take_it(leases: Leases, clara: Rater, program: APIClient) -> None:
    actions.remove_member(membership=leases.anna.memberships.get())

    assert post(program, "draw-reassigned", {"takers": ["A2"]}).json()["stuck"] == 2  # Boris has them
    done = post(program, "reassign", {}).json()

    rows = sorted(one.row_id for one in leases.annas)
    assert done["moves"] == [{"row": row, "before": None, "after": "A3"} for row in rows]
    assert work_of(clara) == [("Clause 1", "open"), ("Clause 2", "open")]


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        ({"leaving": ["A9"]}, "leaving", "The study has no rater “A9”."),
        ({"takers": ["J1"]}, "takers", "The study has no rater “J1”."),
        ({"takers": []}, "takers", "This field is required."),
        ({"leaving": "A1"}, "leaving", "Expected a list of items"),
        ({"seed": -1}, "seed", "greater than or equal to 0"),
    ],
)
def test_what_is_wrong_with_it_is_said(
    leases: Leases, program: APIClient, body: dict[str, Any], field: str, sentence: str
) -> None:
    for name in ("reassign", "draw-reassigned"):
        refused = post(program, name, body)
        assert (refused.status_code, list(refused.json())) == (400, [field])
        assert sentence in str(refused.json()[field])
    assert not Plan.objects.exists()


def test_somebody_paused_is_given_nothing(leases: Leases, clara: Rater, program: APIClient) -> None:
    actions.pause(rater=clara, by=leases.manager)

    refused = post(program, "reassign", {"leaving": ["A1"], "takers": ["A3"]})

    assert (refused.status_code, refused.json()) == (400, {"takers": ["The study has no rater “A3”."]})


@postgresql
@pytest.mark.django_db(transaction=True)
def test_of_two_who_reassign_at_once_one_moves_it(leases: Leases, clara: Rater, program: APIClient) -> None:
    said: list[object] = []
    with transaction.atomic():
        assert post(program, "reassign", {"leaving": ["A1"]}).status_code == 201
        other = in_another_connection(lambda: post(program, "reassign", {"leaving": ["A1"]}).status_code, said)
        other.join(1)
        assert said == []
    other.join(20)

    assert said == [409]
    assert Plan.objects.count() == 1
    assert people_at("Clause 1") == ["A2", "A3"]
