"""Checks among the rows of who comes by a link for a crowd: rows with gold, drawn for each, and how they went."""

from __future__ import annotations

import csv
import io
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation import actions as annotating
from annotation.crowd import actions, checks, queries
from annotation.models import CrowdLink, Label, Participant, Rater, Row, Sheet
from annotation.queries import undoing
from annotation.queries.grid import grid
from tests import builders
from tests.annotation.at_once import in_another_connection, postgresql
from tests.annotation.test_crowd import ALBA, BORA, CELO, address, made, place, submit_all
from tests.annotation.test_skips import skip
from tests.builders import COMPLETE, ApiOf, ClientOf, Leases

OPTIONAL = """\
key: mails
version: 1
title: Mails
words: {sheet: batch, sheets: batches, row: mail, rows: mails}
sections:
  - key: mail
    title: The mail
    questions:
      - {key: urgent, title: Urgent, kind: flag}
      - {key: tone, title: Tone, kind: scale, min: 1, max: 3, optional: true, ask_unless: {urgent: ["no"]}}
      - {key: names, title: Names, kind: items, optional: true, items: {fewest: 0, fields: [{key: name}]}}
"""
OSLO = ':[{"name":"Oslo"}]'
WRONG = {**COMPLETE, ("Pay rent", "stated"): "absent"}  # one cell of six


def golden(leases: Leases, rows: Iterable[Row], given: Mapping[tuple[str, str], str | None] = COMPLETE) -> set[int]:
    """Gold on some rows, whose numbers are returned."""
    gold, _made = Rater.objects.get_or_create(study=leases.study, kind=Rater.Kind.GOLD, code="gold")
    for assignment in annotating.assign(rater=gold, rows=rows):
        builders.label(assignment, given)
    return {row.pk for row in rows}


def with_gold(leases: Leases, *, rows: int = 6, gold: int = 2, title: str = "Crowd") -> tuple[Sheet, set[int]]:
    """A sheet whose first rows have gold."""
    sheet = builders.sheet(leases.study, title, n_rows=rows)
    return sheet, golden(leases, list(sheet.rows.all()[:gold]))


def submit_checks(participant: Participant, given: Mapping[tuple[str, str], str | None]) -> None:
    for assignment in participant.rater.assignments.filter(row__in=participant.checks).select_related("row__sheet"):
        builders.label(assignment, given)
        annotating.submit(assignment=assignment)


def checked(participant: Participant) -> tuple[int, int]:
    told = checks.checked(participant.link.study, [participant])[participant.pk]
    return told.right, told.cells


# --- which rows -------------------------------------------------------------------------------------------------------
def test_everybody_gets_checks_and_each_other_row_as_many_people_as_are_wanted(leases: Leases) -> None:
    """Four rows ask something, so two people get two each; both get one of the two with gold, or the same."""
    sheet, gold = with_gold(leases)
    link = made(leases, sheet, rows_each=3, checks_each=1, people_per_row=1)
    given = [actions.take_place(link=link, number=number) for number in (ALBA, BORA)]
    for one in given:
        assert len(set(one.rows)) == 3
        assert len(one.checks) == 1
        assert set(one.checks) == set(one.rows) & gold
        assert set(one.rater.assignments.values_list("row", flat=True)) == set(one.rows)
    others = Counter(row for one in given for row in one.rows if row not in gold)
    assert others == dict.fromkeys(set(sheet.rows.values_list("pk", flat=True)) - gold, 1)
    with pytest.raises(actions.Full):
        actions.take_place(link=link, number=CELO)


def test_the_last_one_gets_as_many_checks_for_each_other_row_as_everybody(leases: Leases) -> None:
    """Two checks beside four others make one beside one or two, and two beside three."""
    for others, wanted in ((5, 1), (6, 1), (7, 2)):
        sheet, gold = with_gold(leases, rows=others + 2, title=f"Crowd of {others}")
        link = made(leases, sheet, rows_each=6, checks_each=2, people_per_row=1)
        first, last = (actions.take_place(link=link, number=f"{number}{others}") for number in (ALBA, BORA))
        assert (len(first.rows), len(first.checks)) == (6, 2)
        assert (len(last.rows), len(last.checks)) == (others - 4 + wanted, wanted)
        assert set(last.checks) == set(last.rows) & gold


def test_without_checks_rows_with_gold_are_rows_as_others(leases: Leases) -> None:
    sheet, gold = with_gold(leases, rows=2, gold=1)
    participant = actions.take_place(link=made(leases, sheet), number=ALBA)
    assert gold < set(participant.rows)
    assert participant.checks == []
    assert set(participant.rater.assignments.values_list("order", flat=True)) == {None}
    [told] = queries.links(leases.study)
    assert told.n_rows == 2


def test_checks_are_drawn_by_chance_of_the_sheets_at_hand_first() -> None:
    rng = random.Random(7)
    rows = {1: [11, 12, 13], 2: [21, 22]}
    drawn = Counter(row for _time in range(3000) for row in actions.draw_checks(rows, 1, near={1}, rng=rng))
    assert drawn.keys() == {11, 12, 13}
    assert all(900 < n < 1100 for n in drawn.values())  # each 1000, of a standard deviation of 26
    both = [actions.draw_checks(rows, 4, near={1}, rng=rng) for _time in range(200)]
    assert all(set(one[:3]) == {11, 12, 13} and one[3] in (21, 22) for one in both)
    assert {one[3] for one in both} == {21, 22}
    assert sorted(actions.draw_checks(rows, 9, near=(), rng=rng)) == [11, 12, 13, 21, 22]
    assert actions.draw_checks({}, 2, near={1}, rng=rng) == []


def test_checks_come_from_the_sheet_of_the_others(leases: Leases) -> None:
    """The larger sheet comes first, and has one row with gold; the second check is of the other sheet."""
    large, of_large = with_gold(leases, rows=5, gold=1, title="Large")
    small, of_small = with_gold(leases, rows=3, gold=2, title="Small")
    link = made(leases, large, small, rows_each=3, checks_each=1, people_per_row=9)
    assert set(actions.take_place(link=link, number=ALBA).checks) == of_large
    two = made(leases, large, small, rows_each=4, checks_each=2, people_per_row=9)
    checks = set(actions.take_place(link=two, number=BORA).checks)
    assert checks > of_large
    assert checks - of_large < of_small


def test_each_sees_the_checks_at_another_place(leases: Leases) -> None:
    """The first rows of the sheet have gold: in its order the check would always come first."""
    sheet, _gold = with_gold(leases, rows=4, gold=1)
    link = made(leases, sheet, rows_each=4, checks_each=1, people_per_row=50, most_people=30)
    places = Counter[int]()
    for n in range(24):
        one = actions.take_place(link=link, number=f"p{n}")
        orders = dict(one.rater.assignments.values_list("row", "order"))
        assert sorted(orders.values()) == [0, 1, 2, 3]
        places[orders[one.checks[0]]] += 1
    assert len(places) >= 3  # that two of the four never come has a chance of 1 in 2.8 million


def test_who_comes_again_gets_no_row_twice_and_others_where_no_check_is_left(leases: Leases) -> None:
    sheet, gold = with_gold(leases, rows=8, gold=2)
    links = [made(leases, sheet, rows_each=2, checks_each=1, people_per_row=1) for _n in range(3)]
    came = [actions.take_place(link=link, number=ALBA) for link in links]
    rows = [row for one in came for row in one.rows]
    assert len(rows) == len(set(rows)) == 6
    assert [len(one.checks) for one in came] == [1, 1, 0]
    assert {row for one in came for row in one.checks} == gold
    assert len(set(came[2].rows) - gold) == 2
    orders = came[0].rater.assignments.values_list("order", flat=True)
    assert sorted(order for order in orders if order is not None) == list(range(6))


@pytest.mark.parametrize("checks", [(1, 0), (0, 1), (0, 0)], ids=["first", "then", "never"])
def test_what_comes_by_another_link_comes_after_what_was_there(leases: Leases, checks: tuple[int, int]) -> None:
    """Without an order of their own rows come in that of the sheet."""
    sheet, _gold = with_gold(leases, rows=8, gold=2)
    links = [made(leases, sheet, rows_each=3, checks_each=n, people_per_row=9) for n in checks]
    came = [actions.take_place(link=link, number=ALBA) for link in links]
    mine = came[0].rater.assignments.filter(row__sheet=sheet)
    in_order = [one.row_id for one in grid(sheet, mine).assignments]
    if any(checks):
        assert set(in_order[:3]) == set(came[0].rows)
    else:
        assert in_order == [row.pk for row in sheet.rows.all() if row.pk in in_order]


def test_who_had_a_row_with_gold_by_a_link_without_checks_is_not_checked_by_it(leases: Leases) -> None:
    sheet, gold = with_gold(leases, rows=4, gold=1)
    first = actions.take_place(link=made(leases, sheet, rows_each=4), number=ALBA)
    assert gold < set(first.rows)
    other = builders.sheet(leases.study, "Other", n_rows=2)
    again = actions.take_place(link=made(leases, sheet, other, rows_each=2, checks_each=1), number=ALBA)
    assert again.checks == []
    assert len(again.rows) == 2


def test_who_deletes_a_sheet_reads_of_its_rows_and_not_of_what_ties_them_to_a_link(leases: Leases) -> None:
    sheet = builders.sheet(leases.study, "Crowd", n_rows=3)
    made(leases, sheet, rows_each=2, checks_each=1).check_rows.set(sheet.rows.all()[:2])
    assert dict(undoing.of_sheet(sheet).goes) == {"columns": sheet.columns.count(), "rows": 3}
    annotating.delete_sheet(sheet=sheet, by=leases.manager)
    assert not CrowdLink.check_rows.through.objects.exists()


# --- what counts as gold ----------------------------------------------------------------------------------------------
PRESETS = {("Inspect", "act"): "found", ("Inspect", "strictness"): "1"}  # the party follows from the column


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        (COMPLETE, True),
        ({**COMPLETE, **PRESETS}, True),
        ({**COMPLETE, ("Insure", "stated"): None}, False),
        ({("Pay rent", "stated"): "stated"}, False),
        ({key: code for key, code in COMPLETE.items() if key[1] != "strictness"}, False),
    ],
    ids=["all", "all but what the column presets", "a column is open", "one cell", "a question is open"],
)
def test_a_row_has_gold_where_all_that_is_asked_is_answered(
    leases: Leases, given: Mapping[tuple[str, str], str | None], counts: bool
) -> None:
    sheet = builders.sheet(leases.study, "Crowd")
    row = sheet.rows.all()[0]
    golden(leases, [row], given)
    assert checks.golden_rows(leases.study, [sheet]) == ({sheet.pk: [row.pk]} if counts else {})


def test_labels_of_people_and_rows_that_were_withdrawn_are_no_gold(leases: Leases) -> None:
    builders.label(leases.annas[0])
    sheet, gold = with_gold(leases, rows=3, gold=2)
    gone, stays = sheet.rows.filter(pk__in=gold)
    annotating.withdraw_row(row=gone, reason="The page is gone.", by=leases.manager)
    assert checks.golden_rows(leases.study, [leases.sheet, sheet]) == {sheet.pk: [stays.pk]}
    with CaptureQueriesContext(connection) as asked:
        checks.golden_rows(leases.study, [leases.sheet, sheet])
    assert len(asked) == 3


def test_gold_that_is_decided_while_people_are_at_work_makes_no_check(leases: Leases) -> None:
    """It rests on their answers, and its row still lacks people."""
    sheet, gold = with_gold(leases, rows=4, gold=1)
    link = made(leases, sheet, rows_each=4, checks_each=1, people_per_row=9)
    golden(leases, list(sheet.rows.all()[1:2]))
    participant = actions.take_place(link=link, number=ALBA)
    assert set(participant.checks) == gold
    assert len(participant.rows) == 4
    [told] = queries.links(leases.study)
    assert told.n_rows == 3


def test_a_row_whose_gold_was_taken_back_is_a_row_as_others(leases: Leases) -> None:
    sheet, gold = with_gold(leases, rows=3, gold=2)
    link = made(leases, sheet, rows_each=3, checks_each=2, people_per_row=9)
    taken_back = min(gold)
    of_gold = Rater.objects.get(code="gold").assignments.select_related("row__sheet").get(row=taken_back)
    builders.label(of_gold, dict.fromkeys(COMPLETE))
    participant = actions.take_place(link=link, number=ALBA)
    assert set(participant.checks) == gold - {taken_back}
    assert taken_back in participant.rows
    [told] = queries.links(leases.study)
    assert told.n_rows == 2


def test_counts_of_a_link_leave_its_checks_out(leases: Leases, client_of: ClientOf) -> None:
    sheet, _gold = with_gold(leases, rows=3, gold=1)
    made(leases, sheet, title="Plain", people_per_row=1)
    link = made(leases, sheet, rows_each=3, checks_each=1, people_per_row=1)
    submit_all(actions.take_place(link=link, number=ALBA))
    told = {one.link.title: (one.n_rows, one.n_full) for one in queries.links(leases.study)}
    assert told == {"May": (2, 2), "Plain": (3, 3)}
    page = client_of(leases.manager).get(reverse("annotation:crowd", args=["leases"])).content.decode()
    assert "<strong>2</strong> of 2 clauses have 1 submitted" in page
    assert "1 of them a check" in page
    assert page.count("of them") == 1


# --- how they went ----------------------------------------------------------------------------------------------------
def test_what_was_answered_as_the_gold_has_it_is_counted_cell_by_cell(leases: Leases) -> None:
    sheet, _gold = with_gold(leases, rows=8, gold=2)
    link = made(leases, sheet, rows_each=3, checks_each=2, people_per_row=9)
    right, wrong, unsure, begun = (actions.take_place(link=link, number=f"p{n}") for n in range(4))
    submit_all(right)
    submit_checks(wrong, WRONG)
    for assignment in unsure.rater.assignments.filter(row__in=unsure.checks).select_related("row__sheet"):
        builders.label(assignment, {**COMPLETE, ("Pay rent", "stated"): None})
        skip(assignment, ("Pay rent", "stated"))
        annotating.submit(assignment=assignment)
    builders.label(begun.rater.assignments.select_related("row__sheet").get(row=begun.checks[0]))
    assert checked(right) == (12, 12)  # not what they answered in the other row
    assert checked(wrong) == (10, 12)
    assert checked(unsure) == (10, 12)  # that they cannot tell is not right
    assert checked(begun) == (0, 0)  # not submitted


def test_what_their_own_answers_switch_off_does_not_count(leases: Leases) -> None:
    sheet, _gold = with_gold(leases, rows=2, gold=1)
    participant = actions.take_place(link=made(leases, sheet, checks_each=1), number=ALBA)
    notice = {("Give notice · tenant", key): None for key in ("party", "strictness")}
    submit_checks(participant, {**COMPLETE, **notice, ("Give notice · tenant", "act"): "absent"})
    assert checked(participant) == (3, 4)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"urgent": "yes", "tone": "2", "names": OSLO}, (3, 3)),
        ({"urgent": "yes"}, (1, 3)),
        ({"urgent": "yes", "tone": "2"}, (2, 3)),
        ({"urgent": "no"}, (0, 2)),
    ],
)
def test_what_is_optional_is_no_way_round_a_check(
    leases: Leases, given: Mapping[str, str], told: tuple[int, int]
) -> None:
    """It was asked, and gold answers it: left open it is not right. Of a mail that is not urgent no tone is asked."""
    study = builders.study("mails", of=builders.scheme(OPTIONAL), by=leases.manager)
    mails = replace(leases, study=study)
    sheet = annotating.add_sheet(study=study, title="Monday", columns={})
    for n in range(2):
        builders.row(sheet, f"Mail {n}")
    name = sheet.columns.get().name
    golden(mails, sheet.rows.all()[:1], {(name, "urgent"): "yes", (name, "tone"): "2", (name, "names"): OSLO})
    participant = actions.take_place(link=made(mails, sheet, checks_each=1), number=ALBA)
    submit_checks(participant, {(name, key): code for key, code in given.items()})
    assert checked(participant) == told


def test_who_leaves_an_optional_list_open_may_mean_that_there_is_nothing_in_it(leases: Leases) -> None:
    study = builders.study("mails", of=builders.scheme(OPTIONAL), by=leases.manager)
    mails = replace(leases, study=study)
    sheet = annotating.add_sheet(study=study, title="Monday", columns={})
    for n in range(2):
        builders.row(sheet, f"Mail {n}")
    name = sheet.columns.get().name
    golden(mails, sheet.rows.all()[:1], {(name, "urgent"): "yes", (name, "names"): ":[]"})
    participant = actions.take_place(link=made(mails, sheet, checks_each=1), number=ALBA)
    submit_checks(participant, {(name, "urgent"): "yes"})
    assert checked(participant) == (1, 1)


def test_any_of_several_golds_is_right_and_it_is_the_gold_of_now(leases: Leases) -> None:
    sheet, gold = with_gold(leases, rows=2, gold=1)
    participant = actions.take_place(link=made(leases, sheet, checks_each=1), number=ALBA)
    submit_checks(participant, WRONG)
    assert checked(participant) == (5, 6)
    second = Rater.objects.create(study=leases.study, kind=Rater.Kind.GOLD, code="gold-2")
    [theirs] = annotating.assign(rater=second, rows=sheet.rows.filter(pk__in=gold))
    builders.label(theirs, WRONG)
    assert checked(participant) == (6, 6)


def test_nothing_to_answer_and_what_a_column_presets_are_not_checked(leases: Leases) -> None:
    sheet = builders.sheet(leases.study, "Crowd")
    given = {**COMPLETE, **PRESETS}
    golden(leases, sheet.rows.all()[:1], given)
    assert Label.objects.filter(preset=True).count() == 1
    participant = actions.take_place(link=made(leases, sheet, checks_each=1), number=ALBA)
    submit_checks(participant, given)
    assert checked(participant) == (7, 7)


def test_the_counts_cost_the_same_however_many_came(leases: Leases, client_of: ClientOf) -> None:
    sheet, _gold = with_gold(leases)
    link = made(leases, sheet, rows_each=2, checks_each=1, people_per_row=40, most_people=40)
    manager, asked = client_of(leases.manager), []
    page = reverse("annotation:crowd-people", args=["leases", link.pk])
    file = reverse("annotation:crowd-participants", args=["leases", link.pk])
    manager.get(page)
    for n in (2, 7):
        for number in range(n):
            submit_all(actions.take_place(link=link, number=f"{n}-{number}"))
        for at in (page, f"{page}?order=checks", file):
            with CaptureQueriesContext(connection) as queries_of:
                assert manager.get(at).status_code == 200
            asked.append(len(queries_of))
    assert asked[:3] == asked[3:]
    assert asked[0] == asked[1]


def test_the_list_for_payment_says_how_the_checks_went(leases: Leases, client_of: ClientOf, api_of: ApiOf) -> None:
    sheet, _gold = with_gold(leases)
    link, manager = made(leases, sheet, checks_each=1), client_of(leases.manager)
    page = reverse("annotation:crowd-people", args=["leases", link.pk])
    good, careless, nothing = (actions.take_place(link=link, number=number) for number in (ALBA, BORA, CELO))
    submit_checks(good, COMPLETE)
    submit_checks(careless, WRONG)

    def codes(query: str) -> list[str]:
        shown = manager.get(page + query).content.decode()
        return re.findall(r'<th scope="row">.*?>(\w+)<', shown)

    in_turn = [one.rater.code for one in (good, careless, nothing)]
    assert codes("") == in_turn
    assert codes("?order=checks") == [in_turn[1], in_turn[0], in_turn[2]]
    shown = manager.get(page).content.decode()
    assert "6 of 6" in shown
    assert "5 of 6" in shown
    told = manager.get(reverse("annotation:crowd-participants", args=["leases", link.pk])).content.decode()
    lines = {
        line["participant"]: (line["checks_right"], line["checks_cells"]) for line in csv.DictReader(io.StringIO(told))
    }
    assert lines == {ALBA: ("6", "6"), BORA: ("5", "6"), CELO: ("0", "0")}
    came = api_of(leases.manager).get(reverse("api:crowd-participants", args=["leases", link.pk])).json()
    assert [(one["checks_right"], one["checks_cells"]) for one in came] == [(6, 6), (5, 6), (0, 0)]
    plain = made(leases, sheet)
    actions.take_place(link=plain, number="plain")
    shown = manager.get(reverse("annotation:crowd-people", args=["leases", plain.pk])).content.decode()
    assert "order=checks" not in shown


# --- a person's way ---------------------------------------------------------------------------------------------------
def test_the_code_comes_once_the_checks_are_submitted_too_and_nothing_tells_them_apart(leases: Leases) -> None:
    sheet, _gold = with_gold(leases, rows=4, gold=1)
    link, client = made(leases, sheet, rows_each=3, checks_each=1), Client()
    assert "up to 3 clauses" in client.get(address(link, ALBA)).content.decode()
    client.post(address(link, ALBA))
    participant = Participant.objects.get()
    page = client.get(reverse("annotation:sheet", args=[sheet.pk])).content.decode()
    assert "gold" not in page.lower()
    in_order = participant.rater.assignments.order_by("order").values_list("row__name", flat=True)
    assert list(dict.fromkeys(re.findall(r'<span class="name[^"]*">(Clause \d+)</span>', page))) == list(in_order)
    mine = participant.rater.assignments.select_related("row__sheet")
    for assignment in mine.exclude(row__in=participant.checks):
        builders.label(assignment)
        annotating.submit(assignment=assignment)
    end = reverse("annotation:crowd-done", args=[participant.pk])
    assert "1 clause is left" in client.get(end).content.decode()
    check = mine.get(row__in=participant.checks)
    builders.label(check, WRONG)
    told = client.post(reverse("annotation:submit", args=[check.pk])).json()
    assert told["done"]["links"][0]["url"] == end
    assert "C0DE" in client.get(end).content.decode()
    assert checked(participant) == (5, 6)


def test_who_is_late_loses_the_checks_that_they_have_not_submitted(leases: Leases) -> None:
    sheet, gold = with_gold(leases, rows=3, gold=1)
    link = made(leases, sheet, rows_each=3, checks_each=1, people_per_row=1, most_people=1)
    alba = actions.take_place(link=link, number=ALBA)
    Participant.objects.update(came_at=timezone.now() - timedelta(hours=4))
    bora = actions.take_place(link=link, number=BORA)
    assert set(bora.rows) == set(alba.rows)
    assert set(bora.checks) == gold
    assert set(alba.rater.assignments.values_list("state", flat=True)) == {"withdrawn"}
    assert (place(alba).state, place(alba).outcome) == ("freed", "left (0 of 3 rows)")


def test_who_is_removed_is_still_known_by_their_checks_and_their_rows_go_to_others(leases: Leases) -> None:
    sheet, _gold = with_gold(leases, rows=3, gold=1)
    link = made(leases, sheet, rows_each=3, checks_each=1, people_per_row=1, most_people=1)
    alba = actions.take_place(link=link, number=ALBA)
    submit_checks(alba, WRONG)
    assert alba.user is not None
    annotating.remove_member(membership=alba.user.memberships.get(), by=leases.manager)
    assert checked(alba) == (5, 6)
    assert set(actions.take_place(link=link, number=BORA).rows) == set(alba.rows)


def test_whose_work_is_closed_midway_has_checks_among_what_they_submitted(leases: Leases) -> None:
    sheet, _gold = with_gold(leases, rows=3, gold=1)
    alba = actions.take_place(link=made(leases, sheet, rows_each=3, checks_each=1), number=ALBA)
    submit_checks(alba, COMPLETE)
    annotating.close_sheet(sheet=sheet, by=leases.manager)
    assert (place(alba).state, place(alba).outcome) == ("ended", "ended early (1 of 3 rows)")
    assert checked(alba) == (6, 6)


# --- the form ---------------------------------------------------------------------------------------------------------
def sent(*sheets: Sheet, **given: object) -> dict[str, Any]:
    settings = {"title": "May", "rows_each": 3, "people_per_row": 1, "most_people": 2, "hours": 3, **given}
    return {**settings, "sheets": [sheet.pk for sheet in sheets]}


@pytest.mark.parametrize(
    ("gold", "given", "said"),
    [
        (2, {"checks_each": 3}, "Choose fewer checks than clauses for one person."),
        (2, {"checks_each": 3, "rows_each": 2}, "Choose fewer checks than clauses for one person."),
        (1, {"checks_each": 2}, "the chosen contracts have 1 clause with gold on all that is asked."),
        (0, {"checks_each": 1}, "have no clauses with gold on all that is asked. Import the right answers first"),
        (4, {"checks_each": 1}, "All clauses of the chosen contracts have gold: nothing would be left but checks."),
    ],
)  # fmt: skip
def test_checks_that_cannot_be_are_refused(
    leases: Leases, client_of: ClientOf, api_of: ApiOf, gold: int, given: dict[str, int], said: str
) -> None:
    sheet, _gold = with_gold(leases, rows=4, gold=gold)
    page = reverse("annotation:crowd", args=["leases"])
    assert said in client_of(leases.manager).post(page, sent(sheet, **given)).content.decode()
    told = api_of(leases.manager).post(reverse("api:crowd-links", args=["leases"]), sent(sheet, **given), format="json")
    assert (told.status_code, list(told.json())) == (400, ["checks_each"])
    assert not CrowdLink.objects.exists()


def test_the_form_says_how_many_rows_have_gold_and_makes_a_link_with_checks(
    leases: Leases, client_of: ClientOf, api_of: ApiOf
) -> None:
    sheet, gold = with_gold(leases)
    page, manager = reverse("annotation:crowd", args=["leases"]), client_of(leases.manager)
    shown = manager.get(page).content.decode()
    assert "Crowd (2 clauses with gold)" in shown
    assert "Lease (" not in shown
    manager.post(page, sent(sheet, checks_each=2))
    link = CrowdLink.objects.get()
    assert link.checks_each == 2
    assert set(link.check_rows.values_list("pk", flat=True)) == gold
    links = reverse("api:crowd-links", args=["leases"])
    told = api_of(leases.manager).post(links, sent(sheet, checks_each=1), format="json").json()
    assert (told["checks_each"], told["rows"]) == (1, 4)
    plain = api_of(leases.manager).post(links, sent(sheet), format="json").json()
    assert (plain["checks_each"], plain["rows"]) == (0, 6)
    assert not CrowdLink.objects.get(pk=plain["id"]).check_rows.exists()


def test_the_database_too_wants_fewer_checks_than_rows(leases: Leases) -> None:
    sheet, _gold = with_gold(leases)
    with pytest.raises(IntegrityError, match="crowd_link_asks_more_than_checks"):
        made(leases, sheet, rows_each=2, checks_each=2)


# --- at once ----------------------------------------------------------------------------------------------------------
@postgresql
@pytest.mark.django_db(transaction=True)
def test_of_two_who_come_at_once_both_are_checked_and_no_other_row_goes_to_both() -> None:
    leases = builders.leases()
    sheet, gold = with_gold(leases, rows=5, gold=1)
    link = made(leases, sheet, rows_each=3, checks_each=1, people_per_row=1)
    said: list[object] = []
    threads = [in_another_connection(partial(actions.take_place, link=link, number=number), said) for number in "ab"]
    for thread in threads:
        thread.join()
    came = [one for one in said if isinstance(one, Participant)]
    assert [set(one.checks) for one in came] == [gold, gold]
    others = [set(one.rows) - gold for one in came]
    assert [len(rows) for rows in others] == [2, 2]
    assert not others[0] & others[1]
