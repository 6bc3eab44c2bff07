"""A program reassigns work, gives it to more people and takes plans back, as the pages do."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse
from rest_framework.test import APIClient

from annotation import actions
from annotation.models import Assignment, Plan, Rater, Sheet
from tests import builders
from tests.annotation import test_more_raters as more_raters
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
        ({"takers": ["J1"]}, "takers", "“J1” is a judge: only people can be named here. Judges get rows by a plan."),
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

    assert (refused.status_code, refused.json()) == (
        400,
        {"takers": ["“A3” is in the study, but cannot be chosen here as things stand."]},
    )


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


@postgresql
@pytest.mark.django_db(transaction=True)
def test_what_somebody_begins_meanwhile_is_not_moved(leases: Leases, clara: Rater, program: APIClient) -> None:
    said: list[Any] = []
    with transaction.atomic():
        builders.label(leases.annas[1])
        other = in_another_connection(lambda: post(program, "reassign", {"leaving": ["A1"]}), said)
        other.join(1)
        assert said == []
    other.join(20)

    assert [(one.status_code, one.json()["detail"][:49]) for one in said] == [
        (409, "The study has changed since this was drawn. Nothi")
    ]
    assert work_of(leases.annas[0].rater) == [("Clause 1", "open"), ("Clause 2", "started")]
    assert (work_of(clara), Plan.objects.count()) == ([], 0)


# --- more raters ----------------------------------------------------------------------------------------------------


def test_more_people_get_rows_as_on_the_page(
    leases: Leases, clara: Rater, loan: Sheet, program: APIClient, client_of: ClientOf
) -> None:
    builders.assignments(leases.annas[0].rater, loan)
    body = {"sheets": [loan.pk], "size": 3, "seed": 2}
    shown = more_raters.preview(client_of(leases.manager), leases, more_raters.asked(leases, loan, size=3, seed=2))

    drawn = post(program, "draw-more-raters", body)

    told = drawn.json()
    assert (drawn.status_code, told["digest"]) == (200, shown["more"].digest)
    assert {key: told[key] for key in ("fit", "drawn", "fewer", "lacking")} == {
        "fit": 4, "drawn": 3, "fewer": 3, "lacking": 0,
    }  # fmt: skip
    assert told["raters"] == {line["rater"].code: line["n"] for line in shown["given"]}
    assert not Plan.objects.exists()
    done = post(program, "more-raters", {**body, "digest": told["digest"]})
    plan = Plan.objects.get()
    assert (done.status_code, done.json()) == (201, {**told, "id": plan.pk})
    assert plan.applied_by == leases.manager
    given = plan.assignments.values_list("row", "rater__code")
    assert {(seat["row"], seat["rater"]) for seat in told["seats"]} == set(given)
    assert post(program, "undo-plan", {}, plan.pk).json()["assignments"] == 3


def test_the_same_sent_again_gives_nothing(leases: Leases, clara: Rater, program: APIClient) -> None:
    assert post(program, "more-raters", {"people": 3}).status_code == 201

    again = post(program, "more-raters", {"people": 3})

    assert (again.status_code, again.json()) == (409, {"detail": "Nothing would be assigned."})
    assert Plan.objects.count() == 1


def test_only_what_was_drawn_is_given(leases: Leases, clara: Rater, program: APIClient) -> None:
    drawn = post(program, "draw-more-raters", {"people": 3}).json()
    actions.withdraw_row(row=leases.annas[0].row, reason="gone", by=leases.manager)

    late = post(program, "more-raters", {"people": 3, "digest": drawn["digest"]})

    assert late.status_code == 409
    assert late.json()["detail"].startswith("The study has changed since this was drawn. Nothing was assigned:")
    assert work_of(clara) == []


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        ({"takers": ["A9"]}, "takers", "The study has no rater “A9”."),
        ({"takers": []}, "takers", "This field is required."),
        ({"sheets": [999]}, "sheets", "999 is not one of the available choices"),
        ({"people": 1}, "people", "greater than or equal to 2"),
        ({"share": 50, "size": 2}, "size", "Give a share or a number, not both."),
    ],
)
def test_what_is_wrong_with_more_is_said(
    leases: Leases, program: APIClient, body: dict[str, Any], field: str, sentence: str
) -> None:
    for name in ("more-raters", "draw-more-raters"):
        refused = post(program, name, body)
        assert (refused.status_code, list(refused.json())) == (400, [field])
        assert sentence in str(refused.json()[field])
    assert not Plan.objects.exists()


def test_where_nobody_has_anything_the_plan_comes_first(leases: Leases, program: APIClient) -> None:
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)

    refused = post(program, "draw-more-raters", {})

    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("Nobody has any clauses that can still be labelled.")


@postgresql
@pytest.mark.django_db(transaction=True)
def test_of_two_who_give_to_more_at_once_one_gives(leases: Leases, clara: Rater, program: APIClient) -> None:
    said: list[object] = []
    with transaction.atomic():
        assert post(program, "more-raters", {"people": 3}).status_code == 201
        other = in_another_connection(lambda: post(program, "more-raters", {"people": 3}).status_code, said)
        other.join(1)
        assert said == []
    other.join(20)

    assert said == [409]
    assert Plan.objects.count() == 1
    assert work_of(clara) == [("Clause 1", "open"), ("Clause 2", "open")]


# --- taking back ----------------------------------------------------------------------------------------------------


def test_a_plan_is_listed_and_taken_back_and_then_it_is_gone(leases: Leases, loan: Sheet, program: APIClient) -> None:
    before = Assignment.objects.count()
    first = post(program, "plan", {"raters": ["A1"], "share_twice": 0, "raters_per_sheet": 1, "size": 1}).json()
    second = post(program, "plan", {"raters": ["A2"], "share_twice": 0, "raters_per_sheet": 1}).json()
    builders.label(Assignment.objects.get(plan=first["id"]))

    listed = program.get(reverse("api:plan", args=["leases"])).json()

    told = [{key: plan[key] for key in ("id", "by", "assignments", "may_undo")} for plan in listed["results"]]
    assert told == [
        {"id": second["id"], "by": leases.manager.username, "assignments": 3, "may_undo": True},
        {"id": first["id"], "by": leases.manager.username, "assignments": 1, "may_undo": False},
    ]
    undone = post(program, "undo-plan", {}, second["id"])
    assert (undone.status_code, undone.json()) == (200, {"assignments": 3, "goes_with": []})
    assert Assignment.objects.count() == before + 1
    assert post(program, "undo-plan", {}, second["id"]).status_code == 404
    begun = post(program, "undo-plan", {}, first["id"])
    assert begun.status_code == 409
    assert begun.json()["detail"].startswith("This plan cannot be taken back any more: some of its work was begun.")
    assert Plan.objects.get().pk == first["id"]
    assert program.get(reverse("api:plan", args=["leases"]), {"limit": 1, "offset": 1}).json()["results"] == []


def test_what_is_handed_on_is_a_plan_that_stays(leases: Leases, clara: Rater, program: APIClient) -> None:
    made = post(program, "reassign", {"leaving": ["A1"]}).json()

    assert post(program, "undo-plan", {}, made["id"]).status_code == 409
    [told] = program.get(reverse("api:plan", args=["leases"])).json()["results"]
    assert (told["id"], told["may_undo"], told["assignments"]) == (made["id"], False, 2)


@pytest.mark.parametrize("name", ["reassign", "draw-reassigned", "more-raters", "draw-more-raters", "undo-plan"])
def test_work_of_an_archived_study_stays(leases: Leases, clara: Rater, program: APIClient, name: str) -> None:
    plan = leases.study.plans.create(request={"extended": 0})
    actions.archive_study(study=leases.study, by=leases.manager)

    refused = post(program, name, {"leaving": ["A1"]}, *([plan.pk] if name == "undo-plan" else []))

    assert refused.status_code == 403
    assert "is archived: nothing is changed in it" in refused.json()["detail"]
    assert (work_of(clara), Plan.objects.count()) == ([], 1)


@postgresql
@pytest.mark.django_db(transaction=True)
def test_of_two_who_take_a_plan_back_at_once_one_is_refused(leases: Leases, loan: Sheet, program: APIClient) -> None:
    plan = post(program, "plan", {"raters": ["A1"], "share_twice": 0, "raters_per_sheet": 1}).json()["id"]
    said: list[object] = []
    with transaction.atomic():
        assert post(program, "undo-plan", {}, plan).status_code == 200
        other = in_another_connection(lambda: post(program, "undo-plan", {}, plan).json(), said)
        other.join(1)
        assert said == []
    other.join(20)

    assert said == [{"detail": "Somebody has taken this plan back meanwhile."}]
    assert not Plan.objects.exists()


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_plan_of_which_somebody_begins_work_meanwhile_stays(leases: Leases, loan: Sheet, program: APIClient) -> None:
    plan = post(program, "plan", {"raters": ["A1"], "share_twice": 0, "raters_per_sheet": 1}).json()["id"]
    said: list[Any] = []
    with transaction.atomic():
        builders.label(Assignment.objects.filter(plan=plan).order_by("pk")[1])
        other = in_another_connection(lambda: post(program, "undo-plan", {}, plan), said)
        other.join(1)
        assert said == []
    other.join(20)

    assert [one.status_code for one in said] == [409]
    assert Assignment.objects.filter(plan=plan).count() == 4


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_question_about_work_that_is_taken_back_meanwhile_is_refused(
    leases: Leases, loan: Sheet, program: APIClient, api_of: ApiOf
) -> None:
    plan = post(program, "plan", {"raters": ["A1"], "share_twice": 0, "raters_per_sheet": 1}).json()["id"]
    work = Assignment.objects.filter(plan=plan, row__sheet=loan).order_by("pk")[0]
    column = loan.columns.get(name="Pay rent")
    cell = {"column": column.pk, "question": "stated", "text": "Is it?"}
    said: list[Any] = []
    with transaction.atomic():
        assert post(program, "undo-plan", {}, plan).status_code == 200
        other = in_another_connection(
            lambda: api_of(leases.anna).post(reverse("api:assignment-notes", args=[work.pk]), cell, format="json"), said
        )
        other.join(1)
        assert said == []
    other.join(20)

    assert [(one.status_code, one.json()["detail"][-36:]) for one in said] == [
        (409, "is no longer assigned to this rater.")
    ]
