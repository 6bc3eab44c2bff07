"""A program brings labels back to a moment, as the page does: shown first, then done by its digest."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rest_framework.test import APIClient

from annotation import actions
from annotation.models import LabelEvent, Look
from tests import builders
from tests.annotation.test_history import INSURE, RENT, a_moment, skip
from tests.builders import COMPLETE, ApiOf, ClientOf, Leases, label, standing


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    """Of a manager."""
    return api_of(leases.manager)


def post(program: APIClient, leases: Leases, name: str, moment: datetime | str, **more: Any) -> Any:
    said = moment if isinstance(moment, str) else moment.isoformat()
    return program.post(reverse(f"api:{name}", args=[leases.sheet.pk]), {"moment": said, **more}, format="json")


def drawn(program: APIClient, leases: Leases, moment: datetime, **more: Any) -> dict[str, Any]:
    told = post(program, leases, "draw-restore", moment, **more)
    assert told.status_code == 200, told.content
    said: dict[str, Any] = told.json()
    return said


def test_what_would_change_is_shown_and_then_done(leases: Leases, program: APIClient) -> None:
    mine = leases.annas[0]
    label(mine, {RENT: "stated"}, note="sure")
    moment = a_moment()
    label(mine, {RENT: "absent", INSURE: "implied"}, note="no")

    told = drawn(program, leases, moment)

    assert {key: told[key] for key in ("cells", "left", "taken_back", "withdrawn", "raters")} == {
        "cells": 2, "left": 0, "taken_back": 0, "withdrawn": 0,
        "raters": [{"rater": "A1", "rows": 1, "cells": 2, "left": 0}],
    }  # fmt: skip
    columns = {column.name: column.pk for column in leases.sheet.columns.all()}
    nothing = {"value_before": None, "value_after": None, "skip_before": "", "skip_after": ""}
    assert told["changes"] == [
        {
            "rater": "A1", "row": mine.row_id, "row_name": "Clause 1", "repeat": mine.repeat, "section": "duties",
            "question": "stated", "column": columns[name], "column_name": name, "before": before, "after": after,
            "note": note, **nothing,
        }
        for name, before, after, note in (("Pay rent", "absent", "stated", "sure"), ("Insure", "implied", None, ""))
    ]  # fmt: skip
    assert standing(mine) == {RENT: "absent", INSURE: "implied"}

    done = post(program, leases, "restore", moment, digest=told["digest"])

    assert (done.status_code, done.json()) == (200, {"cells": 2})
    assert standing(mine) == {RENT: "stated"}
    added = LabelEvent.objects.filter(restored_to__isnull=False)
    assert {(event.by, event.restored_to) for event in added} == {(leases.manager, moment)}
    assert drawn(program, leases, moment)["cells"] == 0


def test_what_is_submitted_stays_unless_it_is_asked_for(leases: Leases, program: APIClient) -> None:
    moment = a_moment()
    label(leases.boriss[0], COMPLETE)
    actions.submit(assignment=leases.boriss[0])

    told = drawn(program, leases, moment)
    assert (told["cells"], told["left"], told["changes"]) == (0, 6, [])
    assert told["raters"] == [{"rater": "A2", "rows": 0, "cells": 0, "left": 6}]
    assert post(program, leases, "restore", moment, digest=told["digest"]).json() == {"cells": 0}
    assert standing(leases.boriss[0]) == COMPLETE

    # More than was shown is not done.
    refused = post(program, leases, "restore", moment, submitted=True, digest=told["digest"])
    assert (refused.status_code, standing(leases.boriss[0])) == (409, COMPLETE)

    told = drawn(program, leases, moment, submitted=True)
    assert (told["cells"], told["left"], told["taken_back"]) == (6, 0, 1)
    done = post(program, leases, "restore", moment, submitted=True, digest=told["digest"])
    assert done.json() == {"cells": 6}
    leases.boriss[0].refresh_from_db()
    assert (standing(leases.boriss[0]), leases.boriss[0].submitted_at) == ({}, None)


def test_the_labels_of_one_rater_alone(leases: Leases, program: APIClient) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    skip(leases.boriss[0], RENT, "torn page")

    told = drawn(program, leases, moment, rater="A2")

    assert [(one["rater"], one["skip_before"], one["skip_after"]) for one in told["changes"]] == [
        ("A2", "torn page", "")
    ]
    post(program, leases, "restore", moment, rater="A2", digest=told["digest"])
    assert standing(leases.annas[0]) == {RENT: "stated"}
    assert not leases.boriss[0].skips.exists()


def test_cells_of_withdrawn_work_are_counted_and_left(leases: Leases, program: APIClient) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    actions.remove_member(membership=leases.anna.memberships.get())
    told = drawn(program, leases, moment)
    assert (told["cells"], told["withdrawn"]) == (0, 1)


def test_labels_that_have_changed_since_are_not_restored(leases: Leases, program: APIClient) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    digest = drawn(program, leases, moment)["digest"]
    label(leases.annas[0], {RENT: "absent"})

    refused = post(program, leases, "restore", moment, digest=digest)

    sentence = (
        "The labels have changed since you looked. Nothing was restored: look again. "
        "If it was sent before, it may be done already."
    )
    assert (refused.status_code, refused.json()) == (409, {"detail": sentence})
    assert standing(leases.annas[0]) == {RENT: "absent"}


def test_labels_of_a_closed_sheet_stay(leases: Leases, program: APIClient) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)

    refused = post(program, leases, "restore", moment, digest=drawn(program, leases, moment)["digest"])

    sentence = "“Lease” is closed. Open it again to restore labels of it."
    assert (refused.status_code, refused.json()) == (409, {"detail": sentence})
    assert standing(leases.annas[0]) == {RENT: "stated"}


@pytest.mark.parametrize("name", ["draw-restore", "restore"])
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"moment": ""}, "moment"),
        ({"moment": "yesterday"}, "moment"),
        ({"moment": "0001-01-01T00:00:00+14:00"}, "moment"),
        ({"moment": "9999-12-31T23:59:59-12:00"}, "moment"),
        ({"rater": "A9"}, "rater"),
        ({"rater": "J1"}, "rater"),
        ({"rater": ""}, "rater"),
        ({"submitted": "perhaps"}, "submitted"),
    ],
)
def test_what_is_not_understood_is_said_and_nothing_is_restored(
    leases: Leases, program: APIClient, name: str, body: dict[str, Any], field: str
) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})

    refused = post(program, leases, name, **{"moment": moment.isoformat(), "digest": "x", **body})

    assert (refused.status_code, list(refused.json())) == (400, [field])
    assert standing(leases.annas[0]) == {RENT: "stated"}


def test_nothing_is_restored_that_was_not_shown(leases: Leases, program: APIClient) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    refused = post(program, leases, "restore", moment)
    assert (refused.status_code, list(refused.json())) == (400, ["digest"])
    assert standing(leases.annas[0]) == {RENT: "stated"}


@pytest.mark.parametrize("name", ["draw-restore", "restore"])
@pytest.mark.parametrize(("who", "status"), [("anna", 403), ("researcher", 403), ("stranger", 404)])
def test_a_sheet_is_restored_by_managers_alone(leases: Leases, api_of: ApiOf, name: str, who: str, status: int) -> None:
    builders.study("other", of=leases.study.scheme, by=leases.stranger)
    refused = post(api_of(getattr(leases, who)), leases, name, a_moment(), digest="x")
    assert (refused.status_code, list(refused.json())) == (status, ["detail"])


@pytest.mark.parametrize("name", ["draw-restore", "restore"])
def test_labels_of_an_archived_study_stay(leases: Leases, program: APIClient, name: str) -> None:
    actions.archive_study(study=leases.study, by=leases.manager)
    refused = post(program, leases, name, a_moment(), digest="x")
    assert refused.status_code == 403
    assert "is archived: nothing is changed in it" in refused.json()["detail"]


@pytest.mark.parametrize("name", ["draw-restore", "restore"])
def test_who_labels_here_too_has_looked(leases: Leases, api_of: ApiOf, name: str) -> None:
    """What is shown has everybody's answers."""
    builders.rater(leases.study, leases.manager)
    post(api_of(leases.manager), leases, name, a_moment(), digest="x")
    assert Look.objects.filter(sheet=leases.sheet, user=leases.manager).exists()


def test_whose_labels_were_restored_is_told_as_by_the_page(
    leases: Leases, program: APIClient, client_of: ClientOf
) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    post(program, leases, "restore", moment, digest=drawn(program, leases, moment)["digest"])
    shown = client_of(leases.anna).get(reverse("annotation:my-work")).content.decode()
    assert "mara brought your labels back to how they were at" in shown


def test_showing_costs_the_same_for_few_changes_and_many(leases: Leases, program: APIClient) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    with CaptureQueriesContext(connection) as few:
        drawn(program, leases, moment)
    for assignment in (*leases.annas, *leases.boriss):
        label(assignment)
    with CaptureQueriesContext(connection) as many:
        drawn(program, leases, moment)
    assert len(many) == len(few)
