"""Handing open work on: what it offers, what it shows, what it moves, and what it leaves."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation import actions, queries
from annotation.actions import Refused
from annotation.models import Assignment, Rater, Role, Sheet
from annotation.planning import OverlapRequest, balanced_design
from annotation.queries import ReplanRequest
from tests import builders
from tests.builders import ClientOf, Leases


@pytest.fixture
def clara(leases: Leases) -> Rater:
    """A third rater, who has nothing yet."""
    return builders.rater(leases.study, builders.user("clara"))


def url(leases: Leases) -> str:
    return reverse("annotation:replan", args=[leases.study.slug])


def asked(leases: Leases, **changed: object) -> dict[str, Any]:
    takers = leases.study.raters.plannable()
    return {"takers": [rater.pk for rater in takers], "seed": 1, **changed}


def preview(client: Client, leases: Leases, data: dict[str, Any]) -> dict[str, Any]:
    response = client.get(url(leases), data, headers={"HX-Request": "true"})
    shown: dict[str, Any] = response.context["preview"]
    return {**shown, "page": response.content.decode()}


def work_of(rater: Rater) -> list[tuple[str, str]]:
    live = rater.assignments.exclude(state="withdrawn")
    return sorted(live.values_list("row__name", "state"))


def people_at(row_name: str) -> list[str]:
    live = Assignment.objects.filter(row__name=row_name, rater__kind="person").exclude(state="withdrawn")
    return sorted(live.values_list("rater__code", flat=True))


def test_open_work_goes_on_and_what_is_begun_stays(leases: Leases, clara: Rater, client_of: ClientOf) -> None:
    builders.label(leases.annas[0])
    manager, anna = client_of(leases.manager), leases.annas[0].rater
    data = asked(leases, leaving=[anna.pk])

    shown = preview(manager, leases, data)
    page = manager.post(url(leases), {**data, "drawn": shown["digest"]}, follow=True).content.decode()

    assert "<strong>1</strong> clause changes hands." in shown["page"]
    assert "1 clause moved." in page
    assert work_of(anna) == [("Clause 1", "started")]
    assert work_of(clara) == [("Clause 2", "open")]
    # Still two different people.
    assert people_at("Clause 2") == ["A2", "A3"]
    assert anna.assignments.get(row__name="Clause 2").handed_to == clara


def test_nothing_moves_before_it_is_applied(leases: Leases, clara: Rater, client_of: ClientOf) -> None:
    preview(client_of(leases.manager), leases, asked(leases, leaving=[leases.annas[0].rater_id]))

    assert work_of(clara) == []


def test_only_what_was_drawn_is_moved(leases: Leases, clara: Rater, client_of: ClientOf) -> None:
    manager = client_of(leases.manager)
    data = asked(leases, leaving=[leases.annas[0].rater_id])
    shown = preview(manager, leases, data)
    builders.label(leases.annas[1])  # meanwhile Anna begins one of them

    page = manager.post(url(leases), {**data, "drawn": shown["digest"]}).content.decode()

    assert "This has changed since it was drawn; look at it and apply it again." in page
    assert work_of(clara) == []


def test_a_change_between_looking_and_locking_is_refused(leases: Leases, clara: Rater) -> None:
    request = ReplanRequest(takers=(clara.pk,), leaving=(leases.annas[0].rater_id,))
    drawn = queries.draw_replan(leases.study, request).digest
    builders.label(leases.annas[1])

    with pytest.raises(Refused, match="has changed since this was drawn"):
        actions.apply_replan(study=leases.study, request=request, drawn=drawn, by=leases.manager)


def test_where_everybody_has_it_already_it_stays(leases: Leases, client_of: ClientOf) -> None:
    anna = leases.annas[0].rater
    shown = preview(client_of(leases.manager), leases, asked(leases, leaving=[anna.pk]))

    assert "2 clauses stay as they are: everybody who could take them has them already." in shown["page"]
    # What stays is no move from anybody to nobody.
    assert shown["moves"] == []
    assert "nobody" not in shown["page"].lower().replace("nobody has begun", "")
    assert work_of(anna) == [("Clause 1", "open"), ("Clause 2", "open")]


def test_the_seats_of_somebody_who_left_are_filled(leases: Leases, clara: Rater, client_of: ClientOf) -> None:
    """Boris still has both rows, so that the planner offers none of them: but they are to be labelled twice."""
    actions.remove_member(membership=leases.anna.memberships.get())
    manager = client_of(leases.manager)
    plan = manager.get(reverse("annotation:plan", args=[leases.study.slug])).content.decode()
    data = asked(leases)

    shown = preview(manager, leases, data)
    manager.post(url(leases), {**data, "drawn": shown["digest"]})

    assert "2 clauses lost a rater and have no other yet." in plan
    assert "Labelled twice: <strong>0 → 2</strong> clauses" in shown["page"]
    assert people_at("Clause 1") == people_at("Clause 2") == ["A2", "A3"]
    # Filled once and for all.
    assert queries.vacancies(leases.study).seats == 0


def test_where_nobody_can_take_what_was_lost_no_plan_is_made(leases: Leases, client_of: ClientOf) -> None:
    """The page says so, and not that it has changed."""
    actions.remove_member(membership=leases.anna.memberships.get())
    manager, data = client_of(leases.manager), asked(leases)
    shown = preview(manager, leases, data)

    page = manager.post(url(leases), {**data, "drawn": shown["digest"]}, follow=True).content.decode()

    assert shown["stuck"] == 2
    assert "Nothing would move." in page
    assert "has changed since" not in page
    assert not leases.study.plans.exists()
    request = ReplanRequest(takers=(leases.boriss[0].rater_id,))
    with pytest.raises(Refused, match="Nothing would move"):
        actions.apply_replan(study=leases.study, request=request, drawn=shown["digest"], by=leases.manager)


def test_somebody_who_comes_back_gets_their_own_work_back(leases: Leases) -> None:
    builders.label(leases.annas[0])
    actions.remove_member(membership=leases.anna.memberships.get())
    actions.add_member(study=leases.study, user=leases.anna, role=Role.ANNOTATOR)
    anna = leases.annas[0].rater
    request = ReplanRequest(takers=(anna.pk, leases.boriss[0].rater_id))

    drawn = queries.draw_replan(leases.study, request)
    actions.apply_replan(study=leases.study, request=request, drawn=drawn.digest, by=None)

    assert work_of(anna) == [("Clause 1", "started"), ("Clause 2", "open")]
    assert leases.annas[0].labels.count() == len(builders.COMPLETE)


def test_planning_the_rows_again_fills_their_seats(leases: Leases, clara: Rater) -> None:
    Assignment.objects.filter(rater__user=leases.boris).delete()
    actions.remove_member(membership=leases.anna.memberships.get())
    assert queries.vacancies(leases.study).seats == 2
    request = OverlapRequest(1, (2,), 1, 0, seed=1)
    actions.apply_design(
        study=leases.study,
        design=balanced_design(request),
        request=request,
        raters=[clara],
        sheets=[leases.sheet],
        by=None,
    )

    assert queries.vacancies(leases.study).seats == 0


@pytest.fixture
def loan(leases: Leases, clara: Rater) -> Sheet:
    """Four clauses: Anna and Boris have the first, and the others alone in turn."""
    made = builders.sheet(leases.study, "Loan", n_rows=4)
    first, second, third, fourth = made.rows.all()
    actions.assign(rater=leases.annas[0].rater, rows=[first, second, fourth])
    actions.assign(rater=leases.boriss[0].rater, rows=[first, third])
    return made


def test_a_withdrawn_row_that_two_had_is_made_up_for(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    actions.withdraw_row(row=loan.rows.all()[0], reason="gone", by=leases.manager)
    manager, data = client_of(leases.manager), asked(leases, make_up="on")

    shown = preview(manager, leases, data)
    manager.post(url(leases), {**data, "drawn": shown["digest"]})

    people = [
        people_at_row for row in loan.rows.all()[1:] if (people_at_row := people_of(row.pk)) and len(people_at_row) == 2
    ]
    assert len(people) == 1
    assert queries.vacancies(leases.study).made_up == 0


def test_a_withdrawn_row_is_told_of_alone_where_nothing_else_was_lost(
    leases: Leases, loan: Sheet, client_of: ClientOf
) -> None:
    actions.withdraw_row(row=loan.rows.all()[0], reason="gone", by=leases.manager)

    page = client_of(leases.manager).get(f"/studies/{leases.study.slug}/plan/").content.decode()

    assert "1 clause that several people had was withdrawn." in page
    assert "0 clauses lost a rater" not in page


def test_a_withdrawn_row_is_one_however_many_had_it(leases: Leases, loan: Sheet, clara: Rater) -> None:
    first = loan.rows.all()[0]
    actions.assign(rater=clara, rows=[first])

    actions.withdraw_row(row=first, reason="gone", by=leases.manager)

    assert queries.vacancies(leases.study).made_up == 1


def people_of(row_id: int) -> list[str]:
    live = Assignment.objects.filter(row=row_id, rater__kind="person").exclude(state="withdrawn")
    return sorted(live.values_list("rater__code", flat=True))


def test_making_up_is_a_choice(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    actions.withdraw_row(row=loan.rows.all()[0], reason="gone", by=leases.manager)

    shown = preview(client_of(leases.manager), leases, asked(leases))

    assert shown["n_moves"] == 0


def test_somebody_new_gets_a_part_when_it_is_levelled(leases: Leases, loan: Sheet, clara: Rater) -> None:
    request = ReplanRequest(
        takers=(leases.annas[0].rater_id, leases.boriss[0].rater_id, clara.pk), level=True, make_up=False
    )

    drawn = queries.draw_replan(leases.study, request)
    actions.apply_replan(study=leases.study, request=request, drawn=drawn.digest, by=leases.manager)

    # Nine seats for three.
    assert len(work_of(clara)) in (2, 3)
    assert all(len(set(people_of(row.pk))) == len(people_of(row.pk)) for row in loan.rows.all())


def test_a_paused_rater_gets_nothing_and_a_closed_sheet_moves_nothing(
    leases: Leases, clara: Rater, client_of: ClientOf
) -> None:
    actions.pause(rater=clara, by=leases.manager)
    form = client_of(leases.manager).get(url(leases)).context["form"]
    assert [rater.code for rater in form.fields["takers"].queryset] == ["A1", "A2"]
    actions.go_on(rater=clara)
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)

    request = ReplanRequest(takers=(clara.pk,), leaving=(leases.annas[0].rater_id,))
    assert queries.draw_replan(leases.study, request).moves == ()


def test_moved_rows_come_last_in_the_order_of_who_gets_them(leases: Leases, loan: Sheet, clara: Rater) -> None:
    anna = leases.annas[0].rater
    anna.assignments.filter(row__sheet=loan).update(order=5)
    clara_has = actions.assign(rater=clara, rows=loan.rows.all()[2:3])
    Assignment.objects.filter(pk=clara_has[0].pk).update(order=3)
    request = ReplanRequest(takers=(clara.pk,), leaving=(anna.pk,))

    drawn = queries.draw_replan(leases.study, request)
    actions.apply_replan(study=leases.study, request=request, drawn=drawn.digest, by=None)

    orders = sorted(clara.assignments.filter(row__sheet=loan).values_list("order", flat=True))
    assert orders == [3, 4, 5, 6]


def test_a_move_keeps_the_sections(leases: Leases, clara: Rater) -> None:
    anna = leases.annas[0].rater
    anna.assignments.update(sections=["duties"])
    request = ReplanRequest(takers=(clara.pk,), leaving=(anna.pk,))

    drawn = queries.draw_replan(leases.study, request)
    actions.apply_replan(study=leases.study, request=request, drawn=drawn.digest, by=None)

    assert [assignment.sections for assignment in clara.assignments.all()] == [["duties"], ["duties"]]
