"""The planner: which rows and sections it offers, to people and to judges, and in which order."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import actions, doors, queries
from annotation.crowd import actions as crowd
from annotation.models import Assignment, CrowdLink, Plan, Rater, Role, Sheet, User
from annotation.planning import OverlapRequest, balanced_design
from tests import builders
from tests.annotation.planning import CHANGED, apply_sections, draw, numbers, offered, plan_url
from tests.builders import ApiOf, ClientOf, Leases

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


def test_of_few_sheets_each_goes_to_so_many_at_first_that_nobody_is_left_out(
    leases: Leases, loan: Sheet, client_of: ClientOf
) -> None:
    """Of three people and one sheet one got nothing, until somebody found the number to raise."""
    builders.rater(leases.study, leases.stranger)

    form = client_of(leases.manager).get(plan_url(leases)).context["form"]

    assert len(form.initial["raters"]) == 3
    assert len(form.initial["sheets"]) == 1
    assert form.initial["raters_per_sheet"] == 3


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


# --- what it will be like -------------------------------------------------------------------------------------------


def _preview(client: Client, leases: Leases, data: dict[str, Any]) -> dict[str, Any]:
    response = client.get(plan_url(leases), data, headers={"HX-Request": "true"})
    return {**response.context["preview"], "page": " ".join(re.sub(r"<[^>]+>", "", response.content.decode()).split())}


def test_the_preview_is_what_stands_after_applying(leases: Leases, client_of: ClientOf) -> None:
    """Anna has nine clauses, some also a simulated rater and somebody who left; two others join, for nine more."""
    anna = leases.annas[0].rater
    Assignment.objects.filter(rater__user=leases.boris).delete()
    old, free = builders.sheet(leases.study, "Old", n_rows=7), builders.sheet(leases.study, "Loan", n_rows=9)
    simulated = Rater.objects.create(study=leases.study, kind=Rater.Kind.PERSON, code="S1", simulated=True)
    left = Rater.objects.create(study=leases.study, kind=Rater.Kind.PERSON, code="L1", active=False)
    actions.assign(rater=anna, rows=old.rows.all())
    actions.assign(rater=simulated, rows=[*old.rows.all(), *free.rows.all()[:2]])
    actions.assign(rater=left, rows=free.rows.all()[:1])
    boris, clara = leases.boriss[0].rater, builders.rater(leases.study, leases.stranger)
    manager = client_of(leases.manager)
    data = numbers(leases, free, raters=[anna, boris, clara], raters_per_sheet=3, share_twice=100)

    drawn = _preview(manager, leases, data)
    page = manager.get(plan_url(leases), data, headers={"HX-Request": "true"}).content.decode()
    assert all("·" not in caption for caption in re.findall("<caption>.*?</caption>", page))  # that is the style's
    manager.post(plan_url(leases), {**data, "drawn": drawn["digest"]})
    stands = manager.get(plan_url(leases)).context["standing"]

    foretold = drawn["coverage"]
    for name in ("times", "labels", "pairs", "intervals", "left_out"):
        assert getattr(foretold, name) == getattr(stands, name)
    assert [(one.rater, one.times, one.labels) for one in foretold.loads] == [
        (one.rater, one.times, one.labels) for one in stands.loads
    ]
    places = [[(rater, [place.people for place in of]) for rater, of in m.lines] for m in foretold.matrices]
    assert places == [[(rater, [place.people for place in of]) for rater, of in m.lines] for m in stands.matrices]
    # 9 of hers and 9 new ones twice are 9 each; she gets none of the new ones.
    assert {one.rater.code: (one.before, one.times.rows) for one in foretold.loads} == {
        "A1": (9, 9),
        "A2": (0, 9),
        "A3": (0, 9),
        "L1": (1, 1),
        "S1": (9, 9),
    }
    assert "Each rater of this plan has 9 clauses; each two share 0 to 9." in drawn["page"]
    # Hers of the lease alone; hers and the simulated rater's of the old sheet, seven of the loan; two there have more.
    assert "14 of 18 clauses are labelled twice, 2 once, 2 three times or more." in drawn["page"]
    assert "What follows counts the clauses that raters have already" in drawn["page"]


def test_without_standing_work_nothing_is_said_of_it(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    Assignment.objects.filter(rater__kind="person").delete()

    drawn = _preview(client_of(leases.manager), leases, numbers(leases, loan))

    assert "48 labels in all" in drawn["page"]  # six clauses of eight cells
    assert "2 of 4 clauses are labelled twice, 2 once." in drawn["page"]
    assert "have already" not in drawn["page"]
    assert "before" not in drawn["page"]


def test_another_section_of_the_same_rows_is_foretold_as_it_will_stand(
    leases: Leases, loan: Sheet, client_of: ClientOf
) -> None:
    """Anna has the duties of all four clauses; the acts go to her and Boris, half of them twice."""
    anna = leases.annas[0].rater
    apply_sections(leases, loan, anna, ["duties"])
    manager = client_of(leases.manager)
    data = numbers(leases, loan, sections=["acts"])

    drawn = _preview(manager, leases, data)
    manager.post(plan_url(leases), {**data, "drawn": drawn["digest"]})
    stands = manager.get(plan_url(leases), {"section": "acts"}).context["standing"]

    assert drawn["section"].key == "acts"
    assert (drawn["coverage"].times, drawn["coverage"].labels) == (stands.times, stands.labels)
    assert drawn["coverage"].intervals == stands.intervals
    assert drawn["coverage"].times.rows == 6


def test_a_page_opened_with_numbers_has_them_drawn_beside_it(
    leases: Leases, loan: Sheet, client_of: ClientOf, django_assert_max_num_queries: Any
) -> None:
    manager, asked = client_of(leases.manager), numbers(leases, loan, share_twice=30, seed=7)

    with django_assert_max_num_queries(36):
        page = manager.get(plan_url(leases), asked)

    assert "preview" not in page.context  # the form asks for it as soon as it is there
    assert re.search(r'<form[^>]*hx-trigger="[^"]*\bload"', page.content.decode())
    form = page.context["form"]
    assert (form["seed"].value(), form["share_twice"].value(), form.errors) == ("7", "30", {})
    assert draw(manager, leases, asked)["drawn"]


def test_work_given_after_the_drawing_is_drawn_first(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    """The same rows are free and the same people here, but one of them has more to do by now."""
    manager = client_of(leases.manager)
    other = builders.sheet(leases.study, "Other", n_rows=3)
    drawn = draw(manager, leases, numbers(leases, loan))
    actions.assign(rater=leases.annas[0].rater, rows=other.rows.all())

    response = manager.post(plan_url(leases), drawn)

    assert CHANGED in response.content.decode()
    assert not Plan.objects.exists()


# --- sections -------------------------------------------------------------------------------------------------------


def test_one_section_is_planned_by_itself(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    manager = client_of(leases.manager)

    manager.post(plan_url(leases), draw(manager, leases, numbers(leases, loan, sections=["duties"])))

    planned = Assignment.objects.filter(row__sheet=loan)
    assert {tuple(assignment.sections) for assignment in planned} == {("duties",)}
    # The acts of all four clauses have nobody; the duties of none.
    assert offered(manager, leases) == ["Loan · 4 of 4 clauses free"]
    page = manager.get(plan_url(leases), numbers(leases, loan), headers={"HX-Request": "true"}).content.decode()
    assert "4 clauses are left out: somebody has them for one of these sections already." in page


def test_labels_of_a_plan_are_those_of_its_sections(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    manager = client_of(leases.manager)
    data = numbers(leases, loan, sections=["duties"])

    preview = manager.get(plan_url(leases), data, headers={"HX-Request": "true"}).context["preview"]

    # Two duties with one question; four clauses, two of them twice. Anna and Boris have two more each.
    assert preview["new_labels"] == 2 * 6
    assert preview["coverage"].labels == 2 * (6 + 4)


def test_the_other_section_goes_to_the_same_rater_as_one_assignment(leases: Leases, loan: Sheet) -> None:
    anna = leases.annas[0].rater
    apply_sections(leases, loan, anna, ["duties"])

    apply_sections(leases, loan, anna, ["acts"])

    assert {tuple(a.sections) for a in anna.assignments.filter(row__sheet=loan)} == {("acts", "duties")}


def test_the_other_section_goes_to_somebody_else(leases: Leases, loan: Sheet) -> None:
    anna, boris = leases.annas[0].rater, leases.boriss[0].rater
    apply_sections(leases, loan, anna, ["duties"])

    apply_sections(leases, loan, boris, ["acts"])

    assert {tuple(a.sections) for a in boris.assignments.filter(row__sheet=loan)} == {("acts",)}
    assert queries.free_rows([loan]) == {}


def test_a_submitted_row_that_is_asked_more_is_open_again_with_its_labels(leases: Leases, loan: Sheet) -> None:
    anna = leases.annas[0].rater
    apply_sections(leases, loan, anna, ["duties"])
    first = anna.assignments.filter(row__sheet=loan).order_by("row__position")[0]
    builders.label(first, {("Pay rent", "stated"): "stated", ("Insure", "stated"): "absent"})
    actions.submit(assignment=first)

    apply_sections(leases, loan, anna, ["acts"])

    first.refresh_from_db()
    assert (first.state, first.submitted_at, first.labels.count()) == (Assignment.State.STARTED, None, 2)


def test_asking_more_costs_the_same_for_a_few_submitted_rows_and_many(
    leases: Leases, loan: Sheet, long_loan: Sheet, django_assert_num_queries: Any
) -> None:
    anna = leases.annas[0].rater
    for sheet in (loan, long_loan):
        apply_sections(leases, sheet, anna, ["duties"])
        for given in anna.assignments.filter(row__sheet=sheet):
            actions.submit(assignment=given, allow_open=True)

    with CaptureQueriesContext(connection) as few:
        apply_sections(leases, loan, anna, ["acts"])
    with django_assert_num_queries(len(few)):
        apply_sections(leases, long_loan, anna, ["acts"])

    assert {given.state for given in anna.assignments.filter(row__sheet=long_loan)} == {Assignment.State.STARTED}


# --- orders ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def long_loan(leases: Leases) -> Sheet:
    return builders.sheet(leases.study, "Long loan", n_rows=12)


def test_each_rater_sees_a_sheet_in_an_order_of_their_own(
    leases: Leases, long_loan: Sheet, client_of: ClientOf
) -> None:
    manager = client_of(leases.manager)
    data = numbers(leases, long_loan, share_twice=100, own_order="on")

    manager.post(plan_url(leases), draw(manager, leases, data))

    def seen(user: User) -> list[str]:
        mine = Assignment.objects.of_user(user)
        return [assignment.row.name for assignment in queries.grid(long_loan, mine).assignments]

    sheets_order = list(long_loan.rows.values_list("name", flat=True))
    annas, boriss = seen(leases.anna), seen(leases.boris)
    assert sorted(annas) == sorted(boriss) == sorted(sheets_order)
    assert len({tuple(annas), tuple(boriss), tuple(sheets_order)}) == 3
    assert Plan.objects.get().request["own_order"] is True
    # What the page shows is that order.
    page = client_of(leases.anna).get(reverse("annotation:sheet", args=[long_loan.pk])).content.decode()
    assert list(dict.fromkeys(re.findall(r'<span class="name[^"]*">(Clause \d+)</span>', page))) == annas


def test_without_that_everybody_sees_the_order_of_the_sheet(
    leases: Leases, long_loan: Sheet, client_of: ClientOf
) -> None:
    manager = client_of(leases.manager)

    manager.post(plan_url(leases), draw(manager, leases, numbers(leases, long_loan)))

    assert set(Assignment.objects.filter(row__sheet=long_loan).values_list("order", flat=True)) == {None}


def test_withdrawn_work_that_is_planned_again_gets_its_place_anew(
    leases: Leases, long_loan: Sheet, client_of: ClientOf
) -> None:
    anna = leases.annas[0].rater
    builders.assignments(anna, long_loan)
    actions.remove_member(membership=leases.anna.memberships.get())
    actions.add_member(study=leases.study, user=leases.anna, role=Role.ANNOTATOR)
    manager = client_of(leases.manager)

    data = numbers(leases, long_loan, raters=[anna], raters_per_sheet=1, share_twice=0, own_order="on")
    manager.post(plan_url(leases), draw(manager, leases, data))

    assert sorted(anna.assignments.filter(row__sheet=long_loan).values_list("order", flat=True)) == list(range(12))


def test_rows_that_come_later_come_later_in_the_order(leases: Leases, loan: Sheet) -> None:
    anna = leases.annas[0].rater
    for _ in range(2):
        rows = queries.free_rows([loan])[loan.pk]
        request = OverlapRequest(1, (len(rows),), 1, 0, seed=7)
        actions.apply_design(
            study=leases.study,
            design=balanced_design(request),
            request=request,
            raters=[anna],
            sheets=[loan],
            by=None,
            own_order=True,
        )
        if loan.rows.count() == 4:
            builders.row(loan, "Clause 5")

    orders = dict(anna.assignments.filter(row__sheet=loan).values_list("row__name", "order"))
    assert sorted(orders.values()) == [0, 1, 2, 3, 4]
    assert orders["Clause 5"] == 4


# --- judges ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def judge_j9(monkeypatch: pytest.MonkeyPatch) -> str:
    """A judge that can work in every study, as an app above announces one."""
    monkeypatch.setattr(doors, "_judge_names", [lambda study: ["J9"]])
    return "J9"


def test_a_judge_labels_what_several_people_label(
    leases: Leases, loan: Sheet, client_of: ClientOf, judge_j9: str
) -> None:
    manager = client_of(leases.manager)

    drawn = draw(manager, leases, numbers(leases, loan, judge_0="shared"))
    page = manager.post(plan_url(leases), drawn, follow=True).content.decode()

    assert "“J9” has 2 clauses to label" in page
    rater = leases.study.raters.get(code="J9")
    people = Counter(Assignment.objects.filter(row__sheet=loan, rater__kind="person").values_list("row", flat=True))
    assert rater.kind == Rater.Kind.JUDGE
    assert set(rater.assignments.values_list("row", flat=True)) == {row for row, n in people.items() if n == 2}
    assert {assignment.plan for assignment in rater.assignments.all()} == {Plan.objects.get()}


def test_a_judge_labels_everything_that_people_have_already(leases: Leases, client_of: ClientOf, judge_j9: str) -> None:
    manager = client_of(leases.manager)
    assert offered(manager, leases) == ["Lease · 0 of 2 clauses free"]

    data = numbers(leases, leases.sheet, judge_0="all", sections=["acts"]) | {"raters": []}
    manager.post(plan_url(leases), draw(manager, leases, data))

    given = leases.study.raters.get(code="J9").assignments.all()
    assert [assignment.sections for assignment in given] == [["acts"], ["acts"]]
    assert Assignment.objects.filter(rater__kind="person").count() == 4


def test_a_sheet_of_which_people_have_all_is_not_called_empty(
    leases: Leases, client_of: ClientOf, judge_j9: str
) -> None:
    data = numbers(leases, leases.sheet)
    page = client_of(leases.manager).get(plan_url(leases), data, headers={"HX-Request": "true"}).content.decode()
    assert "All clauses of these contracts are given to people already." in page
    assert "have 0" not in page


def test_a_judge_gets_only_what_it_has_not(leases: Leases, loan: Sheet, client_of: ClientOf, judge_j9: str) -> None:
    actions.assign(rater=builders.judge(leases.study, "J9"), rows=loan.rows.all()[:3])
    manager = client_of(leases.manager)

    data = numbers(leases, loan, judge_0="all") | {"raters": []}
    page = manager.post(plan_url(leases), draw(manager, leases, data), follow=True).content.decode()

    assert "“J9” has 1 clause to label" in page
    assert leases.study.raters.get(code="J9").assignments.count() == 4


def test_a_plan_for_nobody_is_told_so(leases: Leases, loan: Sheet, client_of: ClientOf, judge_j9: str) -> None:
    data = numbers(leases, loan) | {"raters": []}

    page = client_of(leases.manager).get(plan_url(leases), data, headers={"HX-Request": "true"}).content.decode()

    assert "Choose somebody who labels: people, a judge, or both." in page


# --- the words of the study -----------------------------------------------------------------------------------------


def test_the_planner_speaks_of_clauses(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    manager = client_of(leases.manager)

    def preview(**changed: object) -> str:
        data = numbers(leases, loan, **changed)
        return manager.get(plan_url(leases), data, headers={"HX-Request": "true"}).content.decode()

    said = [preview(), preview(share_twice=0), preview(raters_per_sheet=1), preview(share_twice=30)]

    # The two of the lease, and half of these four.
    assert "4 of 6</strong> clauses are labelled twice, 2 once." in said[0]
    # The note is of the new draw; with the work that stands two are, and it would contradict the line above it.
    assert "2 of 6</strong> clauses are labelled twice" in said[1]
    assert "No clause is labelled twice" not in said[1]
    assert "Any clause labelled twice needs two different raters, but only 1 rater per contract is asked for" in said[2]
    # 30 % of 4 is 1.2.
    assert "1 of 4 will be labelled twice." in said[3]
    assert not any("document" in text or "a sheet" in text for text in said)


def test_of_one_clause_the_planner_speaks_as_of_one(leases: Leases, client_of: ClientOf) -> None:
    study = builders.study("single", by=leases.manager)
    sheet = builders.sheet(study, "Loan", n_rows=1)
    raters = [builders.rater(study, leases.anna), builders.rater(study, leases.boris)]
    data = numbers(leases, sheet, raters=raters, share_twice=100)
    url = reverse("annotation:plan", args=[study.slug])

    page = client_of(leases.manager).get(url, data, headers={"HX-Request": "true"}).content.decode()

    assert "1 of 1</strong> clause is labelled twice, 0 once." in page
    assert "Each rater of this plan has <strong>1</strong> clause" in page
    assert "1</strong> clauses" not in page


def test_shares_are_said_in_percent(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    manager = client_of(leases.manager)

    def page(**changed: object) -> str:
        data = numbers(leases, loan, **changed)
        return manager.get(plan_url(leases), data, headers={"HX-Request": "true"}).content.decode()

    both = page(share_twice=60, share_thrice=60)
    assert "labelled twice and three times are 120 % together, and there is no more than 100 %." in both
    # A number that cannot be takes the plan away that was drawn before, and says why; the browser lets it be sent.
    too_much = page(share_twice=150)
    assert "Labelled twice (%): Ensure this value is less than or equal to 100." in too_much
    assert "drawn" not in too_much
    assert 'id="plan-form" novalidate' in manager.get(plan_url(leases)).content.decode()


def test_an_empty_planner_speaks_of_contracts(leases: Leases, client_of: ClientOf) -> None:
    page = client_of(leases.manager).get(plan_url(leases)).content.decode()

    assert "There are no contracts left to plan: all of their clauses are assigned." in page
    empty = builders.study("empty", of=leases.study.scheme, by=leases.manager)
    page = client_of(leases.manager).get(reverse("annotation:plan", args=[empty.slug])).content.decode()
    assert "There is nothing to plan yet. First bring in the contracts with their clauses." in page
    assert f'class="button primary" href="{reverse("annotation:import", args=["empty"])}"' in page


# --- by a program -----------------------------------------------------------------------------------------------------


def test_a_program_plans_as_the_page_does(leases: Leases, loan: Sheet, api_of: ApiOf, client_of: ClientOf) -> None:
    api, plan = api_of(leases.manager), reverse("api:plan", args=["leases"])
    asked: dict[str, Any] = {"raters_per_sheet": 2, "share_twice": 50, "seed": 3}
    shown = draw(client_of(leases.manager), leases, numbers(leases, loan, own_order="on", **asked))

    drawn = api.post(f"{plan}drawn/", asked, format="json")
    assert (drawn.status_code, Plan.objects.count()) == (200, 0)
    assert drawn.json()["digest"] == shown["drawn"]
    assert sum(drawn.json()["raters"].values()) == len(drawn.json()["seats"]) == 6
    done = api.post(plan, {**asked, "digest": drawn.json()["digest"]}, format="json")
    assert (done.status_code, done.json()) == (201, {**drawn.json(), "id": Plan.objects.get().pk})
    given = Assignment.objects.filter(plan=Plan.objects.get())
    assert {(seat["row"], seat["rater"]) for seat in done.json()["seats"]} == set(
        given.values_list("row", "rater__code")
    )
    again = api.post(plan, asked, format="json")
    assert again.status_code == 409
    assert again.json()["detail"].startswith("All clauses of these contracts are given to people already.")


@pytest.mark.parametrize(
    ("asked", "field", "sentence"),
    [
        ({"raters": ["A9"]}, "raters", "The study has no rater “A9”."),
        ({"judges": {"nobody": "all"}}, "judges", "No judge “nobody” can work in this study."),
        ({"judges": {"nobody": "some"}}, "judges", "is not a valid choice"),
        ({"facets": {"colour": ["red"]}}, "facets", "No rows can be chosen by a facet “colour”."),
        ({"sections": ["nothing"]}, "sections", "nothing"),
        ({"raters": []}, "raters", "Choose somebody who labels: people, a judge, or both."),
        ({"size": 2, "each": True}, "by", "Say of which groups, or draw so many in all."),
        ({"by": ["colour"]}, "by", "colour"),
    ],
)
def test_a_program_is_told_what_is_wrong_with_a_plan(
    leases: Leases, loan: Sheet, api_of: ApiOf, asked: dict[str, Any], field: str, sentence: str
) -> None:
    refused = api_of(leases.manager).post(reverse("api:plan", args=["leases"]), asked, format="json")
    assert (refused.status_code, list(refused.json())) == (400, [field])
    assert sentence in str(refused.json()[field])
    assert not Plan.objects.exists()


def of_a_crowd(leases: Leases, n: int) -> list[Rater]:
    sheet = builders.sheet(leases.study, "Crowd", n_rows=2)
    link = crowd.make_link(
        study=leases.study, title="May", sheets=[sheet], rows_each=1, people_per_row=9, most_people=9, hours=3,
        asks_for="", completion_code="", completion_url="", by=leases.manager,
    )  # fmt: skip
    return [crowd.take_place(link=link, number=f"p{one}").rater for one in range(n)]


@pytest.mark.parametrize(("few", "listed"), [(3, True), (2, False)], ids=["a few", "many"])
def test_many_of_a_crowd_are_given_rows_by_their_link_and_not_planned(
    leases: Leases, loan: Sheet, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch, few: int, listed: bool
) -> None:
    monkeypatch.setattr("annotation.queries.people.FEW_OF_CROWD", few)
    manager, raters = client_of(leases.manager), of_a_crowd(leases, 3)
    for page in ("plan", "replan", "more-raters"):
        shown = manager.get(reverse(f"annotation:{page}", args=["leases"])).content.decode()
        boxes = set(re.findall(r'name="(?:raters|takers|leaving)" value="(\d+)"', shown))
        assert [str(rater.pk) in boxes for rater in raters] == [listed] * 3
        assert ("3 people came by links for a crowd" in shown) is not listed
    plan = manager.get(plan_url(leases))
    assert ("3 people of a crowd" in plan.content.decode()) is not listed
    planned = set(plan.context["form"].initial["raters"])
    assert planned.isdisjoint(rater.pk for rater in raters) is not listed


def test_a_plan_is_no_larger_for_a_large_crowd(
    leases: Leases, loan: Sheet, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.queries.people.FEW_OF_CROWD", 2)
    manager, told = client_of(leases.manager), []
    of_a_crowd(leases, 3)
    for _ in range(2):
        with CaptureQueriesContext(connection) as asked:
            size = len(manager.get(plan_url(leases)).content)
        told.append((len(asked), size))
        for number in range(6):
            crowd.take_place(link=CrowdLink.objects.get(), number=f"more{number}")
    assert told[0][0] == told[1][0]
    assert abs(told[0][1] - told[1][1]) < 200
