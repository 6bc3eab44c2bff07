"""A program takes roles away, and reads the audit log."""

from __future__ import annotations

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotation import actions
from annotation.models import AuditEvent, Label, Role
from annotation.queries import log
from tests import builders
from tests.builders import ApiOf, Leases


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    """Of a manager."""
    return api_of(leases.manager)


def test_a_role_is_taken_away_and_the_labels_stay(leases: Leases, program: APIClient) -> None:
    builders.label(leases.annas[0])
    before = Label.objects.count()
    members = program.get(reverse("api:members", args=["leases"])).json()
    assert {"anna", "boris"} <= {one["username"] for one in members if one["role"] == Role.ANNOTATOR}
    [anna] = [one for one in members if one["username"] == "anna"]
    assert anna["code"] == leases.annas[0].rater.code
    assert {one["code"] for one in members if one["role"] != Role.ANNOTATOR} == {None}

    told = program.post(reverse("api:remove-member", args=["leases", anna["id"]]))

    assert (told.status_code, told.json()) == (200, {"withdrawn": len(leases.annas)})
    assert "anna" not in {one["username"] for one in program.get(reverse("api:members", args=["leases"])).json()}
    assert Label.objects.count() == before > 0
    assert program.post(reverse("api:remove-member", args=["leases", anna["id"]])).status_code == 404


def test_the_last_manager_stays(leases: Leases, program: APIClient) -> None:
    [own] = [one for one in program.get(reverse("api:members", args=["leases"])).json() if one["role"] == Role.MANAGER]

    told = program.post(reverse("api:remove-member", args=["leases", own["id"]]))

    assert (told.status_code, "last manager" in told.json()["detail"]) == (409, True)
    assert leases.study.memberships.filter(role=Role.MANAGER).count() == 1


def test_the_log_says_who_did_what_to_whom_of_one_kind_and_in_parts(leases: Leases, program: APIClient) -> None:
    membership = leases.anna.memberships.get(study=leases.study)
    actions.remove_member(membership=membership, by=leases.manager)
    address = reverse("api:audit-log", args=["leases"])

    first = program.get(address, {"kind": "role"}).json()["results"][0]

    assert (first["kind"], first["by"], first["of"]) == ("role", leases.manager.username, "anna")
    assert first["what"] == f"-{Role.ANNOTATOR}"
    whole = program.get(address).json()
    assert whole["count"] == len(whole["results"]) == leases.study.audit_events.count() > 1
    part = program.get(address, {"limit": 1, "offset": 1}).json()
    assert (part["count"], part["results"]) == (whole["count"], whole["results"][1:2])
    assert program.get(address, {"kind": "nonsense"}).status_code == 400


def test_the_log_names_an_account_that_is_gone_by_its_number(leases: Leases) -> None:
    event = AuditEvent.objects.create(kind=AuditEvent.Kind.ROLE, by=123456, study=leases.study, what="-manager")
    [line] = log.lines([event])
    assert (line.by, line.of, line.study) == ("#123456", "", "leases")
