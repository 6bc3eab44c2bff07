"""A program makes gold of what everybody agrees on, and takes it back."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import Decision
from tests import builders
from tests.annotation.test_lens import COMPLETE, RENT, gold
from tests.builders import ApiOf, Leases


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    """Of a manager; two people have labelled a row, and differ in one cell."""
    builders.label(leases.annas[0], COMPLETE)
    builders.label(leases.boriss[0], {**COMPLETE, RENT: "absent"})
    return api_of(leases.manager)


def shown(leases: Leases, program: APIClient) -> Any:
    return program.get(reverse("api:agreed", args=[leases.sheet.pk])).json()


def test_what_all_agree_on_becomes_gold_and_is_undecided_again(leases: Leases, program: APIClient) -> None:
    found = shown(leases, program)
    assert (found["cells"], found["accepted"]) == (5, [])

    made = program.post(reverse("api:agreed", args=[leases.sheet.pk]), {"digest": found["digest"]}, format="json")

    assert (made.status_code, made.json()) == (201, {"cells": 5})
    assert gold(leases) == {("Clause 1", *of): option for of, option in COMPLETE.items() if of != RENT}
    after = shown(leases, program)
    [batch] = after["accepted"]
    assert (after["cells"], batch["cells"], batch["by"]) == (0, 5, leases.manager.username)
    address = reverse("api:take-back-agreed", args=[leases.sheet.pk])
    back = program.post(address, {"batch": batch["batch"]}, format="json")
    assert (back.status_code, back.json()) == (200, {"cells": 5})
    assert gold(leases) == {}
    assert shown(leases, program)["cells"] == 5
    again = program.post(address, {"batch": batch["batch"]}, format="json")
    assert (again.status_code, again.json()) == (400, {"batch": ["Nothing of it stands on this sheet."]})


def test_only_what_was_shown_is_accepted(leases: Leases, program: APIClient) -> None:
    before = shown(leases, program)["digest"]
    builders.label(leases.boriss[0], {RENT: COMPLETE[RENT]})

    told = program.post(reverse("api:agreed", args=[leases.sheet.pk]), {"digest": before}, format="json")

    assert (told.status_code, "have changed since you looked" in told.json()["detail"]) == (409, True)
    assert not Decision.objects.exists()


def test_a_number_that_is_none_is_refused(leases: Leases, program: APIClient) -> None:
    address = reverse("api:take-back-agreed", args=[leases.sheet.pk])
    for sent in ({}, {"batch": "x"}, {"batch": str(uuid.uuid4())}):
        assert list(program.post(address, sent, format="json").json()) == ["batch"]
