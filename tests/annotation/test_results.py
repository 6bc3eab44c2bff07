"""Whoever submitted rows of a sheet is told where the gold says something else, once it is closed and its manager shows
it; and nobody else, and nothing before."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation import actions
from annotation.models import Assignment, Label, Look, Rater, Sheet
from tests import builders
from tests.builders import COMPLETE, ApiOf, ClientOf, Leases


@pytest.fixture
def learning(leases: Leases) -> Sheet:
    """Anna has submitted two rows, Boris one; the gold says what she says but for one cell, for a reason."""
    gold = Rater.objects.create(study=leases.study, kind=Rater.Kind.GOLD, code="gold")
    golds = builders.assignments(gold, leases.sheet)
    cell, was = next(iter(COMPLETE.items()))
    other = next(one for one in ("stated", "implied", "absent") if one != was)
    builders.label(golds[0], {**COMPLETE, cell: other}, note="The rent is in clause 2.")
    builders.label(golds[1])
    for assignment in (*leases.annas[:2], leases.boriss[0]):
        builders.label(assignment)
        actions.submit(assignment=assignment)
    return leases.sheet


def shown(sheet: Sheet, by: Any) -> None:
    actions.show_gold(sheet=sheet, shown=True)
    actions.close_sheet(sheet=sheet, by=by)


def asked(client: Client, sheet: Sheet) -> Any:
    return client.get(reverse("annotation:results", args=[sheet.pk]))


def test_each_sees_where_the_gold_says_something_else_and_why(
    leases: Leases, learning: Sheet, client_of: ClientOf
) -> None:
    shown(learning, leases.manager)

    page = asked(client_of(leases.anna), learning)

    [cell] = page.context["others"]
    assert (cell.column.name, cell.question.key) == next(iter(COMPLETE))
    n = sum(
        Label.objects.filter(assignment__rater__kind="gold", preset=False, assignment__row=one.row).count()
        for one in leases.annas[:2]
    )
    told = page.context["questions"]
    assert (sum(of.cells for of in told), sum(of.right for of in told)) == (n, n - 1)
    text = page.content.decode()
    assert "The rent is in clause 2." in text
    assert "A2" not in text.partition("<main")[2]  # nothing of other raters
    assert len(asked(client_of(leases.boris), learning).context["others"]) == 1
    assert {look.user for look in Look.objects.filter(sheet=learning)} == {leases.anna, leases.boris}  # exposed now
    assert reverse("annotation:results", args=[learning.pk]) in client_of(leases.anna).get("/work/").content.decode()


def test_what_the_own_answers_switch_off_is_not_told(leases: Leases, learning: Sheet, client_of: ClientOf) -> None:
    """Who said that a duty is absent was not asked for the party."""
    Label.objects.filter(assignment=leases.annas[1], column__name="Give notice · tenant").exclude(
        question__key="act"
    ).delete()
    act = Label.objects.get(assignment=leases.annas[1], column__name="Give notice · tenant", question__key="act")
    Label.objects.filter(pk=act.pk).update(option=act.question.options.get(key="absent"))
    shown(learning, leases.manager)

    told = asked(client_of(leases.anna), learning).context["others"]

    assert [cell.question.key for cell in told if cell.assignment == leases.annas[1]] == ["act"]


def test_any_of_several_golds_is_right(leases: Leases, learning: Sheet, client_of: ClientOf) -> None:
    second = Rater.objects.create(study=leases.study, kind=Rater.Kind.GOLD, code="gold-2")
    builders.label(builders.assignments(second, learning)[0])
    shown(learning, leases.manager)

    page = asked(client_of(leases.anna), learning)

    assert page.context["others"] == []
    assert "All of your answers are right." in page.content.decode()


def test_a_skip_and_what_was_left_open_are_no_answers_and_the_right_one_is_told(
    leases: Leases, learning: Sheet, client_of: ClientOf
) -> None:
    Label.objects.filter(assignment=leases.annas[1]).first().delete()  # type: ignore[union-attr]
    shown(learning, leases.manager)

    page = asked(client_of(leases.anna), learning)

    assert [cell.mine is None for cell in page.context["others"]] == [False, True]
    assert "not answered" in page.content.decode()


@pytest.mark.parametrize("state", ["open", "closed", "shown", "archived"])
def test_nothing_is_told_before(leases: Leases, learning: Sheet, client_of: ClientOf, state: str) -> None:
    if state != "closed":
        actions.show_gold(sheet=learning, shown=state != "open")
    if state in ("closed", "archived"):
        actions.close_sheet(sheet=learning, by=leases.manager)
    if state == "archived":
        actions.archive_sheet(sheet=learning, by=leases.manager)
    anna = client_of(leases.anna)

    assert asked(anna, learning).status_code == 404
    assert reverse("annotation:results", args=[learning.pk]) not in anna.get("/work/").content.decode()


def test_rows_that_were_not_submitted_are_not_told(leases: Leases, learning: Sheet, client_of: ClientOf) -> None:
    Assignment.objects.filter(pk__in=[leases.annas[0].pk, leases.boriss[0].pk]).update(
        state=Assignment.State.STARTED, submitted_at=None
    )
    shown(learning, leases.manager)

    assert asked(client_of(leases.anna), learning).context["others"] == []
    assert [asked(client_of(who), learning).status_code for who in (leases.boris, leases.manager, leases.stranger)] == [
        404
    ] * 3


def test_who_owes_a_consent_gives_it_first(leases: Leases, learning: Sheet, client_of: ClientOf, api_of: ApiOf) -> None:
    leases.study.consent = "I take part."
    leases.study.save()
    shown(learning, leases.manager)

    assert "consent" in asked(client_of(leases.anna), learning)["Location"]
    assert api_of(leases.anna).get(reverse("api:right-answers", args=[learning.pk])).status_code == 409


def test_it_costs_as_many_queries_for_few_rows_as_for_more(
    leases: Leases, learning: Sheet, client_of: ClientOf, django_assert_max_num_queries: Any
) -> None:
    shown(learning, leases.manager)
    anna = client_of(leases.anna)
    asked(anna, learning)
    with django_assert_max_num_queries(14):
        asked(anna, learning)


def test_a_manager_says_so_on_the_page_of_the_sheet(leases: Leases, learning: Sheet, client_of: ClientOf) -> None:
    page = reverse("annotation:sheet-settings", args=[leases.study.slug, learning.pk])
    manager = client_of(leases.manager)

    manager.post(page, {"title": learning.title, "shows_gold": "on"})
    learning.refresh_from_db()
    assert learning.shows_gold
    manager.post(page, {"title": learning.title})
    learning.refresh_from_db()
    assert not learning.shows_gold


def test_a_program_shows_it_and_another_reads_it(leases: Leases, learning: Sheet, api_of: ApiOf) -> None:
    manager, anna = api_of(leases.manager), api_of(leases.anna)
    there = reverse("api:right-answers", args=[learning.pk])
    assert anna.get(there).status_code == 404

    told = manager.post(reverse("api:show-gold", args=[learning.pk]), {"shown": True}, format="json")
    assert (told.status_code, told.json()["shows_gold"]) == (200, True)
    manager.post(reverse("api:close-sheet", args=[learning.pk]))

    cells = anna.get(there).json()
    [wrong] = [cell for cell in cells if not cell["right"]]
    assert wrong["answer"] == next(iter(COMPLETE.values()))
    assert wrong["gold"] != [wrong["answer"]]
    assert (wrong["reasons"], wrong["skip"], wrong["row"]) == (["The rent is in clause 2."], "", leases.annas[0].row_id)
    assert all(cell["gold"] == [cell["answer"]] for cell in cells if cell["right"])
