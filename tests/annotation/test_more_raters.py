"""More people for rows that somebody has: which rows, what each lacks, who gets it, and what is left alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation import actions, queries
from annotation.actions import Refused
from annotation.models import Assignment, Plan, Rater, Role, Sheet
from annotation.planning import OverlapRequest, balanced_design
from annotation.planning.adding import Added, Held, Sections, drawn, lacking, more_people
from annotation.queries import MoreRequest, undoing
from tests import builders
from tests.builders import ClientOf, Leases

EVERY = ("acts", "duties")


def loads(held: list[Held], added: list[Added]) -> Counter[int | None]:
    return Counter([one.rater for one in held] + [one.rater for one in added])


# --- the arithmetic -------------------------------------------------------------------------------------------------


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[Held], list[tuple[int, int]], int, list[int], int]:
    documents = [(sheet, n) for sheet in range(draw(st.integers(1, 3))) for n in range(draw(st.integers(1, 5)))]
    some = st.sampled_from([(), ("acts",), ("duties",), EVERY])
    held = [
        Held(document, rater, draw(some))
        for document in documents
        for rater in draw(st.lists(st.integers(0, 5), max_size=4, unique=True))
    ]
    takers = draw(st.lists(st.integers(0, 8), unique=True))
    asked = draw(st.lists(st.sampled_from(documents), unique=True))
    return held, asked, draw(st.integers(2, 6)), takers, draw(st.integers(0, 3))


def people_of(held: list[Held], added: list[Added], document: tuple[int, int], section: str) -> list[int | None]:
    places: list[Held | Added] = [*held, *added]
    return [one.rater for one in places if one.document == document and (not one.sections or section in one.sections)]


@settings(max_examples=200)
@given(situations())
def test_what_is_added_keeps_the_rules(
    situation: tuple[list[Held], list[tuple[int, int]], int, list[int], int],
) -> None:
    held, asked, people, takers, seed = situation

    added = more_people(held, asked, people=people, takers=takers, every=EVERY, seed=seed)

    had = {one.document for one in held}
    assert {one.document for one in added} <= had & set(asked)
    assert {one.rater for one in added} <= {*takers, None}
    there = Counter(
        [(one.document, one.rater) for one in held]
        + [(one.document, one.rater) for one in added if one.rater is not None]
    )
    assert set(there.values()) <= {1}
    for document in asked:
        for section in EVERY:
            before, after = (people_of(held, more, document, section) for more in ([], added))
            # So many as are wanted, and no more; what nobody was asked is asked of nobody.
            assert len(after) == (max(len(before), people) if before else 0)
        if any(one.rater is None for one in added if one.document == document):
            assert set(takers) <= {rater for one, rater in there if one == document}


@given(situations())
def test_the_same_seed_adds_the_same(situation: tuple[list[Held], list[tuple[int, int]], int, list[int], int]) -> None:
    held, asked, people, takers, seed = situation

    first, again = (
        more_people(held, asked, people=people, takers=takers, every=EVERY, seed=seed) for _time in range(2)
    )

    assert first == again


@given(
    st.lists(st.integers(1, 10_000), unique=True, max_size=60),
    st.integers(1, 70),
    st.integers(0, 20),
    st.integers(0, 9),
)
def test_a_larger_number_adds_rows(rows: list[int], size: int, more: int, seed: int) -> None:
    small, large = (drawn(rows, share=None, size=n, seed=seed) for n in (size, size + more))

    assert len(small) == min(size, len(rows))
    assert small <= large
    assert small == drawn(rows[::-1], share=None, size=size, seed=seed)


@given(st.lists(st.integers(1, 10_000), unique=True, max_size=60), st.integers(1, 100), st.integers(0, 9))
def test_a_share_is_rounded_up(rows: list[int], share: int, seed: int) -> None:
    n = len(drawn(rows, share=share, size=None, seed=seed))

    assert share * len(rows) <= 100 * n < share * len(rows) + 100
    assert drawn(rows, share=100, size=None, seed=seed) == drawn(rows, share=None, size=None, seed=seed) == set(rows)


def test_another_seed_draws_other_rows() -> None:
    assert drawn(range(100), share=20, size=None, seed=1) != drawn(range(100), share=20, size=None, seed=2)


@pytest.mark.parametrize(
    ("held", "people", "expected"),
    [
        ([()], 2, [()]),
        ([()], 4, [(), (), ()]),
        ([(), ()], 2, []),
        ([("duties",)], 2, [("duties",)]),
        ([("duties",), ("acts",)], 2, [EVERY]),
        ([("duties",), ()], 2, [("acts",)]),
        ([("duties",), ()], 3, [(), ("acts",)]),
        ([], 3, []),
    ],
)
def test_what_a_row_lacks(held: list[Sections], people: int, expected: list[Sections]) -> None:
    assert lacking(held, people, EVERY) == expected


def test_a_small_sample_of_one_sheet_is_shared_out() -> None:
    """One has a hundred rows; each of four others gets five of the twenty, and nobody all of them."""
    held = [Held((0, n), 0) for n in range(100)]

    added = more_people(held, [(0, n) for n in range(20)], people=2, takers=range(5), every=EVERY, seed=1)

    assert Counter(one.rater for one in added) == {1: 5, 2: 5, 3: 5, 4: 5}


def test_loads_and_pairs_are_level_over_many_sheets() -> None:
    design = balanced_design(OverlapRequest(raters=7, sheets=(18,) * 20, raters_per_sheet=1, share_twice=0, seed=1))
    held = [Held((sheet, row), rater) for sheet, row, rater in design.assignments]

    added = more_people(held, [one.document for one in held], people=2, takers=range(7), every=EVERY, seed=1)

    load = loads(held, added)
    assert max(load.values()) - min(load.values()) <= 2
    at: dict[tuple[int, int], list[int]] = defaultdict(list)
    for one in [*held, *added]:
        assert one.rater is not None
        at[one.document].append(one.rater)
    pairs = Counter(pair for raters in at.values() for pair in combinations(sorted(raters), 2))
    # 360 rows for 21 pairs: some 17 each, and nobody learns all sheets for it.
    assert min(pairs[pair] for pair in combinations(range(7), 2)) >= 9
    assert max(pairs.values()) <= 26
    assert len({(one.document[0], one.rater) for one in added}) <= 60


def test_who_has_much_already_gets_less() -> None:
    held = [Held((0, n), 0) for n in range(20)] + [Held((1, n), 1) for n in range(10)]

    added = more_people(held, [(0, n) for n in range(20)], people=2, takers=[1, 2], every=EVERY, seed=1)

    load = loads(held, added)
    assert load.total() == 50
    assert abs(load[1] - load[2]) <= 2  # 15 each, but that pairs count too


# --- the page -------------------------------------------------------------------------------------------------------


@pytest.fixture
def clara(leases: Leases) -> Rater:
    return builders.rater(leases.study, builders.user("clara"))


@pytest.fixture
def loan(leases: Leases) -> Sheet:
    """Ten clauses that Anna alone has."""
    made = builders.sheet(leases.study, "Loan", n_rows=10)
    builders.assignments(leases.annas[0].rater, made)
    return made


def url(leases: Leases) -> str:
    return reverse("annotation:more-raters", args=[leases.study.slug])


def asked(leases: Leases, *sheets: Sheet, **changed: object) -> dict[str, Any]:
    takers = leases.study.raters.plannable()
    numbers = {"takers": [rater.pk for rater in takers], "sheets": [sheet.pk for sheet in sheets]}
    return {**numbers, "people": 2, "seed": 1, **changed}


def preview(client: Client, leases: Leases, data: dict[str, Any]) -> dict[str, Any]:
    response = client.get(url(leases), data, headers={"HX-Request": "true"})
    page = response.content.decode()
    return {"page": page, "more": response.context["preview"]["more"], "given": response.context["preview"]["given"]}


def apply(client: Client, leases: Leases, data: dict[str, Any]) -> str:
    digest = preview(client, leases, data)["more"].digest
    return client.post(url(leases), {**data, "drawn": digest}, follow=True).content.decode()


def give(leases: Leases, *sheets: Sheet, takers: list[Rater], **changed: Any) -> Plan:
    request = MoreRequest(tuple(one.pk for one in takers), tuple(sheet.pk for sheet in sheets), **changed)
    digest = queries.draw_more(leases.study, request, queries.had(leases.study)).digest
    return actions.give_to_more(study=leases.study, request=request, drawn=digest, by=leases.manager)


def rows_with(sheet: Sheet, people: int) -> set[str]:
    """Names of the rows that so many people have."""
    live = Assignment.objects.filter(row__sheet=sheet, rater__kind=Rater.Kind.PERSON).exclude(state="withdrawn")
    counts = Counter(live.values_list("row__name", flat=True))
    return {name for name, n in counts.items() if n == people}


def test_a_part_of_the_rows_goes_to_a_second_person(
    leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf
) -> None:
    manager, data = client_of(leases.manager), asked(leases, loan, size=4)

    shown = preview(manager, leases, data)
    assert rows_with(loan, 1) == {f"Clause {n}" for n in range(1, 11)}  # nothing is given before it is applied
    page = manager.post(url(leases), {**data, "drawn": shown["more"].digest}, follow=True).content.decode()

    assert (
        "Drawn: <strong>4</strong> of 10 clauses that somebody has; with fewer than 2 people: <strong>4</strong>."
        in shown["page"]
    )
    assert "<strong>4</strong> assignments are added." in shown["page"]
    # Boris has two clauses of the other sheet already, which count.
    assert [(line["rater"].code, line["n"], line["sheets"]) for line in shown["given"]] == [
        ("A2", 1, [("Loan", 1)]),
        ("A3", 3, [("Loan", 3)]),
    ]
    assert "4 clauses assigned." in page
    assert len(rows_with(loan, 2)) == 4
    [plan] = leases.study.plans.all()
    assert plan.applied_by == leases.manager
    assert plan.request["more"]["size"] == len(plan.request["given"]) == 4


def test_the_same_again_gives_nothing_and_a_larger_number_adds(
    leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf
) -> None:
    manager = client_of(leases.manager)
    apply(manager, leases, asked(leases, loan, size=4))
    first = rows_with(loan, 2)

    again = preview(manager, leases, asked(leases, loan, size=4))
    page = manager.post(url(leases), {**asked(leases, loan, size=4), "drawn": again["more"].digest}).content.decode()
    assert "Nothing would be assigned." in page
    assert "has changed since" not in page
    with pytest.raises(Refused, match="Nothing would be assigned"):
        give(leases, loan, takers=[leases.boriss[0].rater, clara], size=4)
    apply(manager, leases, asked(leases, loan, size=7))

    assert again["more"].drawn == 4
    assert len(rows_with(loan, 2)) == 7
    assert first < rows_with(loan, 2)
    # The same rows to a third one, by a share.
    apply(manager, leases, asked(leases, loan, share=40, people=3))
    assert rows_with(loan, 3) == first
    assert len(rows_with(loan, 2)) == 3


def test_it_says_what_cannot_be_filled(leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf) -> None:
    manager, data = client_of(leases.manager), asked(leases, loan, leases.sheet, people=3)
    data["takers"] = [leases.boriss[0].rater_id]

    shown = preview(manager, leases, data)
    apply(manager, leases, data)

    # He has the two clauses of the lease, and is the second one on the loan, which lacks a third.
    assert (shown["more"].fewer, shown["more"].lacking, len(shown["more"].given)) == (12, 12, 10)
    assert "12 clauses will have fewer than 3 people" in shown["page"]
    assert len(rows_with(loan, 2)) == 10
    assert len(rows_with(leases.sheet, 2)) == 2


def test_every_row_goes_to_three(leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf) -> None:
    shown = preview(client_of(leases.manager), leases, asked(leases, loan, leases.sheet, people=3))
    apply(client_of(leases.manager), leases, asked(leases, loan, leases.sheet, people=3))

    assert (shown["more"].fewer, shown["more"].lacking) == (12, 0)
    assert len(rows_with(loan, 3)) + len(rows_with(leases.sheet, 3)) == 12


def test_only_what_was_drawn_is_given(leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf) -> None:
    manager, data = client_of(leases.manager), asked(leases, loan, size=4)
    shown = preview(manager, leases, data)
    actions.assign(rater=clara, rows=loan.rows.all()[:1])

    page = manager.post(url(leases), {**data, "drawn": shown["more"].digest}).content.decode()
    other = manager.post(url(leases), {**data, "size": 5, "drawn": shown["more"].digest}).content.decode()

    assert "This has changed since it was drawn; look at it and apply it again." in page
    assert "This has changed since it was drawn; look at it and apply it again." in other
    assert len(rows_with(loan, 2)) == 1
    assert not Plan.objects.exists()


def test_who_goes_on_labelling_does_not_change_it(
    leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf
) -> None:
    manager, data = client_of(leases.manager), asked(leases, loan, size=4)
    shown = preview(manager, leases, data)
    builders.label(leases.annas[0].rater.assignments.get(row=loan.rows.all()[0]))

    page = manager.post(url(leases), {**data, "drawn": shown["more"].digest}, follow=True).content.decode()

    assert "4 clauses assigned." in page


@pytest.mark.parametrize("what", ["pause", "close", "withdraw"])
def test_a_change_between_looking_and_locking_is_refused(leases: Leases, loan: Sheet, clara: Rater, what: str) -> None:
    request = MoreRequest((clara.pk,), (loan.pk,))
    digest = queries.draw_more(leases.study, request, queries.had(leases.study)).digest
    if what == "pause":
        actions.pause(rater=clara, by=leases.manager)
    elif what == "close":
        actions.close_sheet(sheet=loan, by=leases.manager)
    else:
        actions.withdraw_row(row=loan.rows.all()[0], reason="gone", by=leases.manager)

    with pytest.raises(Refused, match="has changed since this was drawn"):
        actions.give_to_more(study=leases.study, request=request, drawn=digest, by=leases.manager)

    assert not clara.assignments.exists()
    assert not Plan.objects.exists()


def test_what_cannot_be_labelled_and_what_nobody_has_is_left_alone(
    leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf
) -> None:
    gone, *others = loan.rows.all()
    builders.label(leases.annas[0].rater.assignments.get(row=gone))  # so that it stays hers
    actions.withdraw_row(row=gone, reason="gone", by=leases.manager)
    closed = builders.sheet(leases.study, "Closed", n_rows=3)
    nobodys = builders.sheet(leases.study, "Nobody's", n_rows=3)
    builders.assignments(leases.annas[0].rater, closed)
    builders.assignments(builders.judge(leases.study, "J2"), nobodys)
    actions.close_sheet(sheet=closed, by=leases.manager)
    manager = client_of(leases.manager)

    form = manager.get(url(leases)).context["form"]
    labels = [str(one.data["label"]) for one in form["sheets"].subwidgets]
    plan = give(leases, leases.sheet, loan, closed, nobodys, takers=[clara], people=3)

    assert labels == ["Lease · 2 clauses", "Loan · 9 clauses"]
    # A judge has both clauses of the lease, and is nobody.
    rows = {*(row.pk for row in others), *leases.sheet.rows.values_list("pk", flat=True)}
    assert {row_id for row_id, _code in plan.request["given"]} == rows
    assert set(clara.assignments.values_list("row", flat=True)) == rows


def test_somebody_paused_or_gone_is_not_offered(leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf) -> None:
    actions.pause(rater=clara, by=leases.manager)
    manager, data = client_of(leases.manager), asked(leases, loan)
    data["takers"] = [clara.pk]

    page = manager.post(url(leases), {**data, "drawn": ""}).content.decode()

    assert f"{clara.pk} is not one of the available choices" in page
    assert not clara.assignments.exists()


def test_only_rows_that_somebody_has_submitted(leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf) -> None:
    anna = leases.annas[0].rater
    done = anna.assignments.filter(row__in=loan.rows.all()[:3])
    for assignment in done:
        builders.label(assignment)
        actions.submit(assignment=assignment)
    builders.label(anna.assignments.get(row=loan.rows.all()[3]))  # begun alone
    data = asked(leases, loan, submitted="on")

    shown = preview(client_of(leases.manager), leases, data)
    apply(client_of(leases.manager), leases, data)

    assert "Drawn: <strong>3</strong> of 3 clauses that somebody has submitted; with" in shown["page"]
    assert rows_with(loan, 2) == {"Clause 1", "Clause 2", "Clause 3"}
    assert {one.state for one in done.all()} == {"submitted"}  # what stands stays as it is


def test_the_sections_are_those_of_who_has_the_row(leases: Leases, loan: Sheet, clara: Rater) -> None:
    anna, boris = leases.annas[0].rater, leases.boriss[0].rater
    first, second, third = loan.rows.all()[:3]
    anna.assignments.filter(row__in=[first, second]).update(sections=["duties"])
    actions.assign(rater=boris, rows=[second], sections=["acts"])

    give(leases, loan, takers=[clara])

    sections = dict(clara.assignments.values_list("row", "sections"))
    assert (sections[first.pk], sorted(sections[second.pk]), sections[third.pk]) == (["duties"], ["acts", "duties"], [])


def test_the_picture_is_of_one_section_where_they_differ(
    leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf
) -> None:
    leases.annas[0].rater.assignments.filter(row__sheet=loan).update(sections=["acts"])

    shown = preview(client_of(leases.manager), leases, asked(leases, loan, leases.sheet))

    assert "It is counted for “Duties”: not everybody labels every section." in shown["page"]


def test_whoever_is_new_takes_a_place_that_was_lost(leases: Leases, clara: Rater) -> None:
    """Anna is gone, so that each row lacks somebody; who is added here is not followed by one more."""
    actions.remove_member(membership=leases.anna.memberships.get())
    assert queries.vacancies(leases.study).seats == 2

    plan = give(leases, leases.sheet, takers=[clara], size=1)

    assert queries.vacancies(leases.study).seats == 1
    [(row_id, _code)] = plan.request["given"]
    assert leases.annas[0].rater.assignments.get(row=row_id).handed_to == clara
    # And it is lost again if the plan is taken back.
    actions.undo_plan(plan=plan)
    assert queries.vacancies(leases.study).seats == 2


def test_who_comes_back_has_their_own_place_again(leases: Leases, clara: Rater) -> None:
    builders.label(leases.annas[0])
    actions.remove_member(membership=leases.anna.memberships.get())
    actions.add_member(study=leases.study, user=leases.anna, role=Role.ANNOTATOR)
    anna = leases.annas[0].rater

    plan = give(leases, leases.sheet, takers=[anna])

    assert list(anna.assignments.order_by("row").values_list("state", "handed_to")) == [
        ("started", None),
        ("open", None),
    ]
    assert queries.vacancies(leases.study).seats == 0
    assert leases.annas[0].labels.count() == len(builders.COMPLETE)
    # It would take work with it that is older.
    assert plan.request["extended"] == 2
    assert not undoing.may_undo(plan)


def test_who_comes_back_takes_nobody_elses_place(leases: Leases, clara: Rater) -> None:
    actions.assign(rater=clara, rows=leases.sheet.rows.all())
    for user in (leases.anna, clara.user):
        assert user is not None
        actions.remove_member(membership=user.memberships.get())
    actions.add_member(study=leases.study, user=leases.anna, role=Role.ANNOTATOR)
    assert queries.vacancies(leases.study).seats == 4

    give(leases, leases.sheet, takers=[leases.annas[0].rater])

    assert queries.vacancies(leases.study).seats == 2
    assert set(clara.assignments.values_list("handed_to", flat=True)) == {None}


def test_a_place_of_other_sections_stays_lost(leases: Leases, clara: Rater) -> None:
    leases.annas[0].rater.assignments.update(sections=["acts"])
    leases.boriss[0].rater.assignments.update(sections=["duties"])
    actions.remove_member(membership=leases.anna.memberships.get())

    give(leases, leases.sheet, takers=[clara])

    assert [one.sections for one in clara.assignments.all()] == [["duties"], ["duties"]]
    assert queries.vacancies(leases.study).seats == 2


def test_empty_work_that_comes_back_is_not_taken_away(leases: Leases) -> None:
    """Undone, the plan would delete that Anna ever had the rows, and that they lack somebody."""
    actions.remove_member(membership=leases.anna.memberships.get())
    actions.add_member(study=leases.study, user=leases.anna, role=Role.ANNOTATOR)

    plan = give(leases, leases.sheet, takers=[leases.annas[0].rater])

    assert [one.state for one in plan.assignments.all()] == ["open", "open"]
    with pytest.raises(Refused, match="cannot be taken back"):
        actions.undo_plan(plan=plan)


def test_it_is_taken_back_until_somebody_has_begun(
    leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf
) -> None:
    before = set(Assignment.objects.values_list("pk", "state", "handed_to", "plan"))
    manager = client_of(leases.manager)
    apply(manager, leases, asked(leases, loan, people=3))
    plan = leases.study.plans.get()
    assert (
        reverse("annotation:undo-plan", args=["leases", plan.pk])
        in manager.get("/studies/leases/plan/").content.decode()
    )

    manager.post(reverse("annotation:undo-plan", args=["leases", plan.pk]))
    assert set(Assignment.objects.values_list("pk", "state", "handed_to", "plan")) == before

    apply(manager, leases, asked(leases, loan, people=3))
    builders.label(clara.assignments.all()[0])
    with pytest.raises(Refused, match="some of its work was begun"):
        actions.undo_plan(plan=leases.study.plans.get())


def test_the_rows_come_in_an_order_as_others_have_them(leases: Leases, loan: Sheet, clara: Rater) -> None:
    plan = give(leases, loan, takers=[clara])
    assert set(clara.assignments.values_list("order", flat=True)) == {None}
    actions.undo_plan(plan=plan)
    for place, assignment in enumerate(leases.annas[0].rater.assignments.filter(row__sheet=loan)):
        Assignment.objects.filter(pk=assignment.pk).update(order=place)

    give(leases, loan, takers=[clara])

    assert sorted(clara.assignments.values_list("order", flat=True)) == list(range(10))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"people": 1}, "greater than or equal to 2"),
        ({"people": 11}, "less than or equal to 10"),
        ({"people": ""}, "People per clause, in all: This field is required."),
        ({"share": 0}, "greater than or equal to 1"),
        ({"share": 101}, "less than or equal to 100"),
        ({"size": -1}, "greater than or equal to 1"),
        ({"share": 20, "size": 3}, "Give a share or a number, not both."),
        ({"takers": []}, "Who may take them: This field is required."),
        ({"sheets": []}, "Contracts: This field is required."),
        ({"takers": ["9" * 30]}, "is not one of the available choices"),
        ({"seed": "x"}, "Enter a whole number."),
    ],
)
def test_bad_input_is_said_and_nothing_is_given(
    leases: Leases, loan: Sheet, client_of: ClientOf, changed: dict[str, object], said: str
) -> None:
    manager, data = client_of(leases.manager), asked(leases, loan, **changed)
    before = Assignment.objects.count()

    shown = manager.get(url(leases), data, headers={"HX-Request": "true"}).content.decode()
    page = manager.post(url(leases), {**data, "drawn": "x"}).content.decode()

    assert said in shown
    assert said in page
    assert Assignment.objects.count() == before


def test_managers_alone(leases: Leases, loan: Sheet, client_of: ClientOf) -> None:
    data = asked(leases, loan)
    before = Assignment.objects.count()

    for user, status in ((leases.anna, 403), (leases.researcher, 403), (leases.stranger, 404)):
        assert client_of(user).get(url(leases), data).status_code == status
        assert client_of(user).post(url(leases), data).status_code == status
    assert Assignment.objects.count() == before


def test_a_study_where_nobody_has_anything_leads_to_the_plan(leases: Leases, client_of: ClientOf) -> None:
    Assignment.objects.all().delete()

    page = client_of(leases.manager).get(url(leases)).content.decode()

    assert "Nobody has any clauses that can still be labelled." in page
    assert "<form" not in page.partition("<main")[2] or "more-form" not in page


def test_it_costs_the_same_for_a_few_rows_and_many(
    leases: Leases, loan: Sheet, clara: Rater, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    manager, data = client_of(leases.manager), asked(leases, loan)
    with CaptureQueriesContext(connection) as few:
        manager.get(url(leases), data)
    with CaptureQueriesContext(connection) as few_given:
        plan = give(leases, loan, takers=[clara])
    actions.undo_plan(plan=plan)
    for n in range(11, 60):
        row = builders.row(loan, f"Clause {n}")
        actions.assign(rater=leases.annas[0].rater, rows=[row])

    with django_assert_num_queries(len(few)):
        manager.get(url(leases), data)
    with django_assert_num_queries(len(few_given)):
        give(leases, loan, takers=[clara])
