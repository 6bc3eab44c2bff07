"""A program takes the gold of an import back, as it was shown."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from tests import builders
from tests.annotation.test_undoing import decided, gold_now, gold_of
from tests.builders import ApiOf, Leases


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    return api_of(leases.manager)


def address(name: str, key: object = None, slug: str = "leases") -> str:
    return reverse(f"api:{name}", args=[slug] if key is None else [slug, key])


def take_back(program: APIClient, key: object, digest: str) -> Any:
    return program.post(address("take-back-gold", key), {"digest": digest}, format="json")


def test_gold_is_listed_shown_and_taken_back(leases: Leases, program: APIClient) -> None:
    gold_of(leases, "Clause 1,duties,Pay rent,stated,stated,")
    key = gold_of(
        leases,
        "Clause 1,duties,Pay rent,stated,absent,",
        "Clause 2,duties,Pay rent,stated,stated,",
        "Clause 2,duties,Insure,stated,absent,",
        replace=True,
    )
    decided(leases, "Insure", "stated", "implied")  # of the first clause: no answer of the file's

    last, first = program.get(address("gold-imports")).json()
    assert (last["key"], last["answers"], last["as_they_came"], last["sheets"]) == (str(key), 3, 3, ["Lease"])
    assert (first["answers"], first["as_they_came"]) == (1, 0)
    shown = program.get(address("gold-import", key)).json()
    assert {name: n for name, n in shown.items() if name != "digest"} == {"undecided": 2, "before": 1, "stay": 0}

    told = take_back(program, key, shown["digest"])

    assert (told.status_code, told.json()) == (200, {"answers": 3})
    assert {cell: said for cell, (said, _why) in gold_now(leases).items()} == {
        ("Clause 1", "Pay rent", "stated"): "stated",
        ("Clause 1", "Insure", "stated"): "implied",
    }
    again = take_back(program, key, shown["digest"])
    assert (again.status_code, "look again" in again.json()["detail"]) == (409, True)


def test_what_was_decided_since_is_looked_at_again(leases: Leases, program: APIClient) -> None:
    key = gold_of(leases, "Clause 1,duties,Pay rent,stated,absent,", "Clause 2,duties,Pay rent,stated,absent,")
    before = program.get(address("gold-import", key)).json()["digest"]
    decided(leases, "Pay rent", "stated", "implied")

    told = take_back(program, key, before)

    assert (told.status_code, "has changed since you looked" in told.json()["detail"]) == (409, True)
    assert len(gold_now(leases)) == 2
    shown = program.get(address("gold-import", key)).json()
    assert (shown["undecided"], shown["stay"]) == (1, 1)


def test_an_import_of_another_study_is_none_of_this(leases: Leases, program: APIClient) -> None:
    key = gold_of(leases, "Clause 1,duties,Pay rent,stated,absent,")
    builders.study("other", of=leases.study.scheme, by=leases.manager)
    digest = program.get(address("gold-import", key)).json()["digest"]
    for slug, one in (("other", key), ("leases", uuid.uuid4())):
        assert program.get(address("gold-import", one, slug)).status_code == 404
        sent = program.post(address("take-back-gold", one, slug), {"digest": digest}, format="json")
        assert sent.status_code == 404
    assert list(program.post(address("take-back-gold", key), {}, format="json").json()) == ["digest"]
    assert len(gold_now(leases)) == 1
