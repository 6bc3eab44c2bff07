"""The planner: which rows it offers, that only a plan that was seen is applied, and that plans can be mended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from annotation import actions, queries
from annotation.actions import Refused
from annotation.models import Assignment, Plan, Rater, Role, Sheet, Study, User
from annotation.overlap import OverlapRequest, balanced_design
from tests import builders
from tests.builders import Leases

ClientOf = Callable[[User], Client]
CHANGED = "This plan has changed since it was drawn; look at it and apply it again."


@pytest.fixture
def loan(leases: Leases) -> Sheet:
    """A second sheet, of four clauses that nobody has; those of “Lease” are Anna's and Boris's."""
    return builders.sheet(leases.study, "Loan", n_rows=4)


def plan_url(leases: Leases) -> str:
    return reverse("annotation:plan", args=[leases.study.slug])


def numbers(leases: Leases, *sheets: Sheet, raters: Sequence[Rater] = (), **changed: object) -> dict[str, Any]:
    """What the form sends; without `raters` all that the planner offers."""
    chosen = raters or leases.study.raters.people().filter(active=True, user__isnull=False)
    data: dict[str, Any] = {
        "raters": [rater.pk for rater in chosen],
        "sheets": [sheet.pk for sheet in sheets],
        "sections": ["duties", "acts"],
        "raters_per_sheet": 2,
        "share_twice": 50,
        "seed": 1,
    }
    return data | changed


def draw(client: Client, leases: Leases, data: dict[str, Any]) -> dict[str, Any]:
    """The numbers with the digest of the plan that was drawn for them, as the browser has them."""
    preview = client.get(plan_url(leases), data, headers={"HX-Request": "true"})
    return {**data, "drawn": preview.context["preview"]["digest"]}


def offered(client: Client, leases: Leases) -> list[str]:
    field = client.get(plan_url(leases)).context["form"]["sheets"]
    return [str(widget.data["label"]) for widget in field.subwidgets]


def rows_of(rater: Rater) -> list[tuple[str, str, str]]:
    live = rater.assignments.exclude(state=Assignment.State.WITHDRAWN)
    return sorted(live.values_list("row__sheet__title", "row__name", "state"))


def apply(study: Study, sheet: Sheet, rater: Rater) -> Plan:
    """All free rows of a sheet to one rater."""
    rows = queries.free_rows([sheet]).get(sheet.pk, [])
    request = OverlapRequest(raters=1, sheets=(len(rows),), raters_per_sheet=1, share_twice=0, seed=1)
    return actions.apply_design(
        study=study,
        design=balanced_design(request),
        request=request,
        raters=[rater],
        sheets=[sheet],
        by=None,
        rows=[rows],
    )


# --- what is offered ------------------------------------------------------------------------------------------------


def test_sheets_are_offered_with_their_free_rows(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    actions.assign(rater=leases.annas[0].rater, rows=loan.rows.all()[:1])

    assert offered(client_of(leases.manager), leases) == ["Loan · 3 of 4 clauses free"]


def test_rows_that_came_after_the_plan_are_offered(leases: Leases, client_of: ClientOf) -> None:
    builders.row(leases.sheet, "Clause 3")

    assert offered(client_of(leases.manager), leases) == ["Lease · 1 of 3 clauses free"]


def test_rows_of_somebody_who_left_are_offered(leases: Leases, client_of: ClientOf) -> None:
    Assignment.objects.filter(rater__user=leases.boris).delete()
    builders.label(leases.annas[0])
    actions.submit(assignment=leases.annas[0])

    actions.remove_member(membership=leases.anna.memberships.get())

    # Also the one that she submitted: nobody who is here has it.
    assert offered(client_of(leases.manager), leases) == ["Lease · 2 of 2 clauses free"]


def test_rows_that_only_raters_without_a_login_have_are_offered(
    leases: Leases, loan: Sheet, client_of: ClientOf
) -> None:
    imported = Rater.objects.create(study=leases.study, kind=Rater.Kind.PERSON, code="old", active=False)
    simulated = Rater.objects.create(study=leases.study, kind=Rater.Kind.PERSON, code="S1", simulated=True)
    for rater in (imported, simulated, builders.judge(leases.study, "J2")):
        actions.assign(rater=rater, rows=loan.rows.all())

    assert offered(client_of(leases.manager), leases) == ["Loan · 4 of 4 clauses free"]


def test_raters_without_a_login_are_not_offered(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    Rater.objects.create(study=leases.study, kind=Rater.Kind.PERSON, code="old")

    form = client_of(leases.manager).get(plan_url(leases)).context["form"]

    assert [rater.code for rater in form.fields["raters"].queryset] == ["A1", "A2"]


def test_the_design_is_drawn_over_the_free_rows(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    taken, *free = loan.rows.all()
    anna, boris = leases.annas[0].rater, leases.boriss[0].rater
    actions.assign(rater=anna, rows=[taken])
    manager = client_of(leases.manager)

    manager.post(
        plan_url(leases),
        draw(manager, leases, numbers(leases, loan, raters=[boris], raters_per_sheet=1, share_twice=0)),
    )

    of_loan = Assignment.objects.filter(row__sheet=loan)
    assert set(of_loan.filter(rater=boris).values_list("row", flat=True)) == {row.pk for row in free}
    assert list(of_loan.filter(rater=anna).values_list("row", flat=True)) == [taken.pk]


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
    assert "6 clauses assigned." in response.content.decode()
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


def in_another_connection(act: Callable[[], object], said: list[object]) -> threading.Thread:
    def run() -> None:
        try:
            said.append(act())
        except Refused as refusal:
            said.append(refusal)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has one writer at a time: nothing to be ordered"
)


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


# --- the words of the study -----------------------------------------------------------------------------------------


def test_the_planner_speaks_of_clauses(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    manager = client_of(leases.manager)

    def preview(**changed: object) -> str:
        data = numbers(leases, loan, **changed)
        return manager.get(plan_url(leases), data, headers={"HX-Request": "true"}).content.decode()

    said = [preview(), preview(share_twice=0), preview(raters_per_sheet=1), preview(share_twice=30)]

    assert "2 of 4</strong> clauses are labelled twice" in said[0]
    assert "No clause is labelled twice" in said[1]
    assert "A clause labelled twice needs two different raters" in said[2]
    # 30 % of 4 is 1.2.
    assert "1 of 4 clauses are labelled twice." in said[3]
    assert not any("document" in text for text in said)


def test_an_empty_planner_speaks_of_contracts(leases: Leases, client_of: ClientOf) -> None:
    page = client_of(leases.manager).get(plan_url(leases)).content.decode()

    assert "There are no contracts left to plan: all of their clauses are assigned, or there are none yet." in page
