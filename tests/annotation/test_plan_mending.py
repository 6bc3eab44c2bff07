"""Plans that meet what has changed: rows withdrawn, raters gone, another plan; only a plan that was seen is applied."""

from __future__ import annotations

import pytest
from django.db import transaction
from django.urls import reverse

from annotation import actions
from annotation.actions import Refused
from annotation.models import Assignment, Plan, Role, Sheet
from annotation.planning import OverlapRequest, balanced_design
from tests import builders
from tests.annotation.at_once import in_another_connection, postgresql
from tests.annotation.planning import CHANGED, apply, draw, numbers, offered, plan_url, rows_of
from tests.builders import ClientOf, Leases

# --- rows that are withdrawn ----------------------------------------------------------------------------------------


def test_a_withdrawn_row_is_asked_of_nobody_else_and_keeps_what_is_begun(leases: Leases, client_of: ClientOf) -> None:
    builders.label(leases.annas[0])
    manager = client_of(leases.manager)
    row = leases.annas[0].row

    page = manager.post(
        reverse("annotation:withdraw-row", args=[leases.study.slug]),
        {"row": row.pk, "reason": "The page is gone"},
        follow=True,
    ).content.decode()

    # Boris and the judge had not begun it.
    assert "“Clause 1” is withdrawn; its labels stay. 2 raters who had not begun it do not have it any more." in page
    assert "The page is gone" in page
    states = dict(row.assignments.values_list("rater__code", "state"))
    assert states == {"A1": "started", "A2": "withdrawn", "J1": "withdrawn"}
    row.refresh_from_db()
    assert (row.withdrawn_by, row.withdrawn_reason) == (leases.manager, "The page is gone")
    assert leases.annas[0].labels.count() == len(builders.COMPLETE)


def test_a_withdrawn_row_is_not_planned(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    actions.withdraw_row(row=loan.rows.all()[0], reason="gone", by=leases.manager)

    assert offered(client_of(leases.manager), leases) == ["Loan · 3 of 3 clauses free"]


def test_a_row_is_withdrawn_with_a_reason(leases: Leases, client_of: ClientOf) -> None:
    url = reverse("annotation:withdraw-row", args=[leases.study.slug])

    page = client_of(leases.manager).post(url, {"row": leases.annas[0].row_id}, follow=True).content.decode()

    assert "This field is required." in page
    assert not Assignment.objects.filter(state="withdrawn").exists()


def test_a_row_that_is_brought_back_is_planned_again(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    row = loan.rows.all()[0]
    actions.withdraw_row(row=row, reason="gone", by=leases.manager)
    manager = client_of(leases.manager)

    manager.post(reverse("annotation:restore-row", args=[leases.study.slug, row.pk]))

    assert offered(manager, leases) == ["Loan · 4 of 4 clauses free"]


# --- mending --------------------------------------------------------------------------------------------------------


def test_the_rows_of_somebody_who_left_go_to_somebody_else(leases: Leases, client_of: ClientOf) -> None:
    anna, boris = leases.annas[0].rater, leases.boriss[0].rater
    boris.assignments.all().delete()
    actions.remove_member(membership=leases.anna.memberships.get())
    manager = client_of(leases.manager)

    data = numbers(leases, leases.sheet, raters=[boris], raters_per_sheet=1, share_twice=0)
    manager.post(plan_url(leases), draw(manager, leases, data))

    assert rows_of(boris) == [("Lease", "Clause 1", "open"), ("Lease", "Clause 2", "open")]
    assert rows_of(anna) == []


def test_withdrawn_work_is_planned_again_for_the_same_rater(leases: Leases, client_of: ClientOf) -> None:
    anna = leases.annas[0].rater
    Assignment.objects.filter(rater__user=leases.boris).delete()
    builders.label(leases.annas[0])
    actions.remove_member(membership=leases.anna.memberships.get())
    actions.add_member(study=leases.study, user=leases.anna, role=Role.ANNOTATOR)
    manager = client_of(leases.manager)

    data = numbers(leases, leases.sheet, raters=[anna], raters_per_sheet=1, share_twice=0)
    manager.post(plan_url(leases), draw(manager, leases, data))

    assert rows_of(anna) == [("Lease", "Clause 1", "started"), ("Lease", "Clause 2", "open")]
    assert anna.assignments.count() == 2
    assert builders.standing(leases.annas[0])["Pay rent", "stated"] == "stated"


# --- only what was shown --------------------------------------------------------------------------------------------


def test_a_plan_that_was_drawn_is_applied(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    manager = client_of(leases.manager)

    response = manager.post(plan_url(leases), draw(manager, leases, numbers(leases, loan)), follow=True)

    # Half of 4 clauses twice: 2 × 2 + 2.
    assert (
        "6 clauses assigned. Any clause that several raters get counts for each of them." in response.content.decode()
    )
    assert Assignment.objects.filter(row__sheet=loan).count() == 6
    assert Plan.objects.get().request["row_ids"] == [list(loan.rows.values_list("pk", flat=True))]


def test_a_plan_that_was_not_drawn_is_drawn_instead(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    manager = client_of(leases.manager)

    response = manager.post(plan_url(leases), numbers(leases, loan))

    page = response.content.decode()
    assert CHANGED in page
    assert f'name="drawn" value="{response.context["preview"]["digest"]}" form="plan-form"' in page
    assert not Plan.objects.exists()
    manager.post(plan_url(leases), numbers(leases, loan, drawn=response.context["preview"]["digest"]))
    assert Plan.objects.exists()


@pytest.mark.parametrize("changed", [{"share_twice": 100}, {"raters_per_sheet": 1, "share_twice": 0}, {"seed": 2}])
def test_numbers_that_changed_after_the_drawing_are_drawn_first(
    leases: Leases, loan: Sheet, client_of: ClientOf, changed: dict[str, int]
) -> None:
    manager = client_of(leases.manager)

    response = manager.post(plan_url(leases), draw(manager, leases, numbers(leases, loan)) | changed)

    assert CHANGED in response.content.decode()
    assert not Assignment.objects.filter(row__sheet=loan).exists()


def test_rows_that_changed_after_the_drawing_are_drawn_first(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    """As many rows are free as before, but not the same ones."""
    manager = client_of(leases.manager)
    drawn = draw(manager, leases, numbers(leases, loan))
    actions.assign(rater=leases.annas[0].rater, rows=loan.rows.all()[:1])
    builders.row(loan, "Clause 5")

    response = manager.post(plan_url(leases), drawn)

    assert CHANGED in response.content.decode()
    assert not Plan.objects.exists()


def test_raters_that_changed_after_the_drawing_are_drawn_first(
    leases: Leases, loan: Sheet, client_of: ClientOf
) -> None:
    manager = client_of(leases.manager)
    builders.rater(leases.study, leases.stranger)
    drawn = draw(manager, leases, numbers(leases, loan))

    response = manager.post(plan_url(leases), {**drawn, "raters": drawn["raters"][:2]})

    assert CHANGED in response.content.decode()
    assert not Plan.objects.exists()


def test_a_sheet_that_was_planned_meanwhile_is_refused(leases: Leases, loan: Sheet) -> None:
    anna, boris = leases.annas[0].rater, leases.boriss[0].rater
    request = OverlapRequest(raters=1, sheets=(4,), raters_per_sheet=1, share_twice=0, seed=1)
    apply(leases.study, loan, anna)

    with pytest.raises(Refused, match="has changed since this plan was drawn"):
        actions.apply_design(
            study=leases.study,
            design=balanced_design(request),
            request=request,
            raters=[boris],
            sheets=[loan],
            by=None,
        )

    assert not boris.assignments.filter(row__sheet=loan).exists()


def test_a_rater_who_left_meanwhile_gets_nothing(leases: Leases, loan: Sheet) -> None:
    actions.remove_member(membership=leases.anna.memberships.get())

    with pytest.raises(Refused, match="has changed since this plan was drawn"):
        apply(leases.study, loan, leases.annas[0].rater)

    assert not Plan.objects.exists()


# --- two managers at once -------------------------------------------------------------------------------------------


@postgresql
@pytest.mark.django_db(transaction=True)
def test_of_two_plans_at_once_one_is_refused(leases: Leases, loan: Sheet) -> None:
    anna, boris = leases.annas[0].rater, leases.boriss[0].rater
    said: list[object] = []
    with transaction.atomic():
        apply(leases.study, loan, anna)
        # Boris's plan is drawn before Anna's is visible, and has to wait for it.
        other = in_another_connection(lambda: apply(leases.study, loan, boris), said)
        other.join(1)
        assert said == []
    other.join(20)

    assert [type(answer) for answer in said] == [Refused]
    assert Assignment.objects.filter(row__sheet=loan).count() == 4


@postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", ["sheet", "row", "member"])
def test_places_and_codes_are_given_one_after_the_other(leases: Leases, what: str) -> None:
    newcomers = [builders.user("nina"), builders.user("otto")]

    def add(n: int) -> object:
        if what == "sheet":
            return actions.add_sheet(study=leases.study, title=f"Sheet {n}", columns={}).position
        if what == "row":
            return builders.row(leases.sheet, f"New {n}").position
        actions.add_member(study=leases.study, user=newcomers[n], role=Role.ANNOTATOR)
        return leases.study.raters.get(user=newcomers[n]).code

    said: list[object] = []
    with transaction.atomic():
        first = add(0)
        other = in_another_connection(lambda: add(1), said)
        other.join(1)
        assert said == []
    other.join(20)

    # One sheet, two rows and the raters A1 and A2 were there.
    assert [first, *said] == {"sheet": [1, 2], "row": [2, 3], "member": ["A3", "A4"]}[what]
