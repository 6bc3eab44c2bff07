"""Many people by one link: each gets rows that lack people, a place while there are some, and a code at the end."""

from __future__ import annotations

import csv
import io
from collections import Counter
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts import actions as accounts
from annotation import actions as annotating
from annotation.crowd import actions, queries
from annotation.models import Assignment, AuditEvent, CrowdLink, Participant, Rater, Row, Sheet, User
from tests import builders
from tests.annotation.at_once import in_another_connection, postgresql
from tests.builders import ApiOf, ClientOf, Leases

ALBA, BORA, CELO = (f"{name}{'0' * 20}" for name in ("a1ba", "b0ca", "ce10"))  # as Prolific has them


def crowd_sheet(leases: Leases, rows: int = 6) -> Sheet:
    return builders.sheet(leases.study, "Crowd", n_rows=rows)


def made(leases: Leases, *sheets: Sheet, **given: object) -> CrowdLink:
    settings = {"rows_each": 2, "people_per_row": 2, "most_people": 10, "hours": 3, "asks_for": "PROLIFIC_PID"}
    settings |= {"title": "May", "completion_code": "C0DE", "completion_url": "https://crowd.example/done", **given}
    return actions.make_link(study=leases.study, sheets=sheets, by=leases.manager, **settings)  # type: ignore[arg-type]


def address(link: CrowdLink, number: str = "") -> str:
    return reverse("annotation:take-part", args=[link.token]) + (f"?PROLIFIC_PID={number}" if number else "")


def submit_all(participant: Participant) -> None:
    for assignment in participant.rater.assignments.filter(row__in=participant.rows).select_related("row__sheet"):
        builders.label(assignment)
        annotating.submit(assignment=assignment)


def test_somebody_comes_labels_and_gets_the_code(leases: Leases) -> None:
    sheet = crowd_sheet(leases)
    link, client = made(leases, sheet), Client()
    landing = client.get(address(link, ALBA))
    assert "up to 2 clauses" in landing.content.decode()
    assert not Participant.objects.exists()  # nothing is made of who only looks
    begun = client.post(address(link, ALBA))
    assert begun.url == reverse("annotation:sheet", args=[sheet.pk])  # type: ignore[attr-defined]
    participant = Participant.objects.get()
    assert client.get(begun.url).status_code == 200  # type: ignore[attr-defined]
    assert participant.user is not None
    assert not participant.user.has_usable_password()
    assert [m.role for m in participant.user.memberships.all()] == ["annotator"]
    end = reverse("annotation:crowd-done", args=[participant.pk])
    assert "2 clauses are left" in client.get(end).content.decode()
    assert "C0DE" not in client.get(end).content.decode()
    first, second = participant.rater.assignments.select_related("row__sheet")
    builders.label(first)
    annotating.submit(assignment=first)
    builders.label(second)
    told = client.post(reverse("annotation:submit", args=[second.pk])).json()
    assert told["done"]["links"][0] == {"label": "Finish and get the code", "url": end}
    page = client.get(end).content.decode()
    assert "C0DE" in page
    assert "https://crowd.example/done" in page
    assert end in client.get(reverse("annotation:my-work")).content.decode()
    # By the address of the platform, too, who is done comes to the end.
    assert "Finish and get the code" in client.get(address(link, ALBA)).content.decode()
    assert client.post(address(link, ALBA)).url == end  # type: ignore[attr-defined]
    assert client.get(reverse("annotation:study", args=[leases.study.slug])).status_code == 200
    assert client.get(reverse("annotation:crowd", args=[leases.study.slug])).status_code == 403


def test_each_row_gets_as_many_people_as_are_wanted_and_no_more(leases: Leases) -> None:
    sheet = crowd_sheet(leases, rows=5)
    link = made(leases, sheet, rows_each=2, people_per_row=2)
    given = [actions.take_place(link=link, number=f"p{n}").rows for n in range(5)]
    assert all(len(set(rows)) == 2 for rows in given)
    assert Counter(row for rows in given for row in rows) == dict.fromkeys(sheet.rows.values_list("pk", flat=True), 2)
    with pytest.raises(actions.Full, match="All places are taken"):
        actions.take_place(link=link, number="p5")


def test_who_has_rows_by_a_plan_counts_and_few_sheets_are_given(leases: Leases) -> None:
    """Anna and Boris have the two rows of the first sheet already."""
    one, two = crowd_sheet(leases, rows=2), builders.sheet(leases.study, "Larger", n_rows=4)
    link = made(leases, leases.sheet, one, two, rows_each=3)
    participant = actions.take_place(link=link, number=ALBA)
    assert {assignment.row.sheet_id for assignment in participant.rater.assignments.select_related("row")} == {two.pk}


def test_a_place_is_lost_by_who_is_late_and_what_they_submitted_stays(leases: Leases) -> None:
    link = made(leases, crowd_sheet(leases, rows=2), people_per_row=1, most_people=1)
    alba = actions.take_place(link=link, number=ALBA)
    first, second = alba.rater.assignments.select_related("row__sheet").order_by("pk")
    builders.label(first)
    annotating.submit(assignment=first)
    builders.label(second)
    with pytest.raises(actions.Full):
        actions.take_place(link=link, number=BORA)
    Participant.objects.update(came_at=timezone.now() - timedelta(hours=3, minutes=1))
    assert queries.place_of(Participant.objects.get(pk=alba.pk)).state == "late"
    bora = actions.take_place(link=link, number=BORA)
    assert bora.rows == [second.row_id]
    states = {one.pk: one.state for one in alba.rater.assignments.all()}
    assert states == {first.pk: Assignment.State.SUBMITTED, second.pk: Assignment.State.WITHDRAWN}
    assert second.labels.exists()
    assert queries.place_of(Participant.objects.get(pk=alba.pk)).state == "freed"
    gone = Client().get(address(link, ALBA))
    assert (gone.status_code, "your time is over" in gone.content.decode()) == (410, True)


def test_whose_rows_were_all_taken_back_is_told(leases: Leases) -> None:
    """They read that 0 clauses are left, and that the code comes then."""
    link, client = made(leases, crowd_sheet(leases, rows=2)), Client()
    client.post(address(link, ALBA))
    participant = Participant.objects.get()
    for row in Row.objects.filter(pk__in=participant.rows):
        annotating.withdraw_row(row=row, reason="The page is gone.", by=leases.manager)
    done = reverse("annotation:crowd-done", args=[participant.pk])
    for page in (address(link, ALBA), done):
        told = client.get(page)
        assert (told.status_code, "closed while you were at it" in told.content.decode()) == (200, True)


def close(sheet: Sheet, leases: Leases) -> None:
    annotating.close_sheet(sheet=sheet, by=leases.manager)


def place(participant: Participant) -> queries.Place:
    return queries.place_of(Participant.objects.select_related("link", "rater").get(pk=participant.pk))


def begun(leases: Leases, client: Client, link: CrowdLink, *, submitted: int = 1, number: str = ALBA) -> Participant:
    """Somebody who has submitted some of their rows."""
    client.post(address(link, number))
    participant = Participant.objects.get(number=number)
    for assignment in participant.rater.assignments.select_related("row__sheet").order_by("pk")[:submitted]:
        builders.label(assignment)
        annotating.submit(assignment=assignment)
    return participant


@pytest.mark.parametrize(
    ("how", "submitted"),
    [("the sheet is closed", 0), ("the sheet is closed", 1), ("the study is archived", 1), ("the rows are gone", 0)],
)
def test_whose_work_is_closed_midway_is_told_and_gets_a_code(leases: Leases, how: str, submitted: int) -> None:
    sheet, client = crowd_sheet(leases), Client()
    link = made(leases, sheet, ended_code="EARLY")
    participant = begun(leases, client, link, submitted=submitted)
    if how == "the sheet is closed":
        close(sheet, leases)
    elif how == "the study is archived":
        annotating.archive_study(study=leases.study, by=leases.manager)
    else:
        for row in Row.objects.filter(pk__in=participant.rows):
            annotating.withdraw_row(row=row, reason="The page is gone.", by=leases.manager)
    end = reverse("annotation:crowd-done", args=[participant.pk])
    for page in (address(link, ALBA), end):
        told = client.get(page)
        said = told.content.decode()
        assert told.status_code == 200
        assert "closed while you were at it" in said
        assert f"you have submitted {submitted} of 2 clauses" in said
        assert "Finish and get the code" in said
        assert "EARLY" not in said  # that they were given it is to be known
    assert end in client.get(reverse("annotation:my-work")).content.decode()
    assert client.post(address(link, ALBA)).url == end  # type: ignore[attr-defined]
    said = client.get(end).content.decode()
    assert "EARLY" in said
    assert "C0DE" not in said
    assert (place(participant).state, place(participant).outcome) == ("ended", f"ended early ({submitted} of 2 rows)")


def test_without_an_early_code_it_is_said_what_to_do(leases: Leases) -> None:
    sheet, client = crowd_sheet(leases), Client()
    participant = begun(leases, client, made(leases, sheet))
    close(sheet, leases)
    end = reverse("annotation:crowd-done", args=[participant.pk])
    assert "Finish</button>" in client.get(end).content.decode()
    said = client.post(end, follow=True).content.decode()
    assert "Return the study on the platform" in said
    assert "that you have submitted 1 of 2 clauses" in said


def test_the_closed_sheet_itself_leads_to_the_end(leases: Leases) -> None:
    sheet, client = crowd_sheet(leases), Client()
    participant = begun(leases, client, made(leases, sheet))
    page, end = reverse("annotation:sheet", args=[sheet.pk]), reverse("annotation:crowd-done", args=[participant.pk])
    assert end not in client.get(page).content.decode()
    close(sheet, leases)
    assert end in client.get(page).content.decode()


def test_who_can_go_on_ends_nothing(leases: Leases) -> None:
    client = Client()
    participant = begun(leases, client, made(leases, crowd_sheet(leases), ended_code="EARLY"))
    end = reverse("annotation:crowd-done", args=[participant.pk])
    said = client.post(end, follow=True).content.decode()
    assert "Nothing was closed: you can go on." in said
    assert "1 clause is left" in said
    assert "EARLY" not in said
    assert Participant.objects.get().ended_at is None


def test_who_was_through_with_what_was_closed_stays_so_when_it_is_opened_again(leases: Leases) -> None:
    """They were given a code, and their rows lack somebody again."""
    sheet, client = crowd_sheet(leases, rows=2), Client()
    link = made(leases, sheet, people_per_row=1, most_people=1, ended_code="EARLY")
    participant = begun(leases, client, link)
    close(sheet, leases)
    client.post(address(link, ALBA))
    annotating.open_sheet(sheet=sheet)
    assert place(participant).state == "ended"
    assert "EARLY" in client.get(reverse("annotation:crowd-done", args=[participant.pk])).content.decode()
    [told] = queries.links(leases.study)
    assert (dict(told.states), told.taken) == ({"ended": 1}, 0)
    bora = actions.take_place(link=link, number=BORA)
    assert len(bora.rows) == 1
    assert (place(participant).state, place(participant).outcome) == ("ended", "ended early (1 of 2 rows)")


def test_who_did_not_say_so_goes_on_when_it_is_opened_again(leases: Leases) -> None:
    sheet, client = crowd_sheet(leases), Client()
    participant = begun(leases, client, made(leases, sheet))
    close(sheet, leases)
    annotating.open_sheet(sheet=sheet)
    assert place(participant).state == "working"


@pytest.mark.parametrize(("hours_late", "state"), [(-1, "ended"), (1, "late")])
def test_it_was_their_fault_if_their_time_was_over_when_it_was_closed(
    leases: Leases, hours_late: float, state: str
) -> None:
    sheet, client = crowd_sheet(leases), Client()
    participant = begun(leases, client, made(leases, sheet, hours=3))
    Participant.objects.update(came_at=timezone.now() - timedelta(hours=3 + hours_late))
    close(sheet, leases)
    assert place(participant).state == state
    later = timezone.now() - timedelta(days=2)  # it stays what it was
    Participant.objects.update(came_at=later)
    Sheet.objects.filter(pk=sheet.pk).update(closed_at=later + timedelta(hours=3 + hours_late))
    assert place(participant).state == state


def test_who_comes_after_frees_no_place_of_whose_work_was_closed_as_if_they_were_late(leases: Leases) -> None:
    """They come two days later, to hear how it ended."""
    sheet, other, client = crowd_sheet(leases, rows=1), builders.sheet(leases.study, "Other", n_rows=1), Client()
    link = made(leases, sheet, other, rows_each=1, people_per_row=1, ended_code="EARLY")
    participant = begun(leases, client, link, submitted=0)
    mine = Row.objects.select_related("sheet").get(pk=participant.rows[0]).sheet
    close(mine, leases)
    then = timezone.now() - timedelta(days=2)
    Participant.objects.update(came_at=then)
    Sheet.objects.filter(pk=mine.pk).update(closed_at=then)
    actions.take_place(link=link, number=BORA)
    assert place(participant).state == "ended"
    assert client.post(address(link, ALBA)).url.endswith(f"/done/{participant.pk}/")  # type: ignore[attr-defined]
    assert "EARLY" in client.get(reverse("annotation:crowd-done", args=[participant.pk])).content.decode()


def test_one_closed_sheet_of_two_stops_nobody_who_has_work_on_the_other(leases: Leases) -> None:
    one, two = crowd_sheet(leases, rows=1), builders.sheet(leases.study, "Two", n_rows=1)
    participant = begun(leases, Client(), made(leases, one, two, rows_each=2), submitted=0)
    close(one, leases)
    assert place(participant).state == "working"
    close(two, leases)
    assert place(participant).state == "ended"


@pytest.mark.parametrize(
    ("submitted", "state"), [(0, "ended"), (1, "ended"), (2, "finished")], ids=["nothing", "a part", "all"]
)
def test_archiving_their_sheet_ends_it_early_as_closing_it_does(leases: Leases, submitted: int, state: str) -> None:
    """What nobody has begun is taken back then: who had submitted one of two was told that all were."""
    sheet, client = crowd_sheet(leases), Client()
    link = made(leases, sheet, ended_code="EARLY")
    participant = begun(leases, client, link, submitted=submitted)
    annotating.archive_sheet(sheet=sheet, by=leases.manager)
    assert (place(participant).state, place(participant).submitted) == (state, submitted)
    end = client.post(address(link, ALBA)).url  # type: ignore[attr-defined]
    assert ("C0DE" in client.get(end).content.decode()) == (state == "finished")


@pytest.mark.parametrize("submitted", [0, 1])
def test_archiving_a_sheet_excuses_nobody_whose_time_was_over(leases: Leases, submitted: int) -> None:
    sheet = crowd_sheet(leases)
    participant = begun(leases, Client(), made(leases, sheet, hours=3), submitted=submitted)
    Participant.objects.update(came_at=timezone.now() - timedelta(hours=4))
    annotating.archive_sheet(sheet=sheet, by=leases.manager)
    assert place(participant).state == "late"


def test_who_is_done_with_what_was_not_handed_on_stays_so_when_the_sheet_is_archived(leases: Leases) -> None:
    sheet = crowd_sheet(leases)
    participant = begun(leases, Client(), made(leases, sheet))
    participant.rater.assignments.filter(state="open").update(state="withdrawn", handed_to=leases.annas[0].rater)
    assert place(participant).state == "finished"
    annotating.archive_sheet(sheet=sheet, by=leases.manager)
    assert place(participant).state == "finished"


def test_who_is_removed_gets_no_code_though_the_sheet_is_closed(leases: Leases) -> None:
    sheet, client = crowd_sheet(leases), Client()
    link = made(leases, sheet, ended_code="EARLY")
    participant = begun(leases, client, link)
    close(sheet, leases)
    assert participant.user is not None
    annotating.remove_member(membership=participant.user.memberships.get(), by=leases.manager)
    assert place(participant).state == "removed"
    assert client.get(address(link, ALBA)).status_code == 410
    client.post(reverse("annotation:crowd-done", args=[participant.pk]))
    assert Participant.objects.get().ended_at is None


def test_who_finds_all_places_taken_is_told_what_to_do(leases: Leases) -> None:
    link = made(leases, crowd_sheet(leases), most_people=1)
    actions.take_place(link=link, number=ALBA)
    refused = Client().post(address(link, BORA))
    assert refused.status_code == 409
    assert "All places are taken." in refused.content.decode()
    assert "return the study there" in refused.content.decode()


def test_the_list_for_payment_says_of_each_how_it_went(
    leases: Leases, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet, manager = crowd_sheet(leases), client_of(leases.manager)
    link = made(leases, sheet)
    submit_all(actions.take_place(link=link, number=ALBA))
    begun(leases, Client(), link, number=BORA)
    late = actions.take_place(link=link, number=CELO)
    Participant.objects.filter(pk=late.pk).update(came_at=timezone.now() - timedelta(hours=5))
    close(sheet, leases)
    told = manager.get(reverse("annotation:crowd-participants", args=["leases", link.pk])).content.decode()
    lines = {line["participant"]: line for line in csv.DictReader(io.StringIO(told))}
    assert [(lines[one]["state"], lines[one]["outcome"]) for one in (ALBA, BORA, CELO)] == [
        ("finished", "completed"),
        ("ended", "ended early (1 of 2 rows)"),
        ("late", "left (0 of 2 rows)"),
    ]
    page = reverse("annotation:crowd-people", args=["leases", link.pk])
    people = manager.get(page).content.decode()
    codes = list(Rater.objects.filter(participations__link=link).order_by("pk").values_list("code", flat=True))
    assert all(code in people for code in codes)
    assert not any(number in people for number in (ALBA, BORA, CELO))  # the platform's ids stand in the file alone
    only = manager.get(f"{page}?state=ended").content.decode()
    assert [f'"{code}"' in only or f">{code}<" in only for code in codes] == [False, True, False]
    assert "1 of 2" in only
    found = manager.get(f"{page}?q={codes[2].lower()}").content.decode()
    assert [f">{code}<" in found for code in codes] == [False, False, True]
    monkeypatch.setattr("annotation.crowd.views.PEOPLE_A_PAGE", 2)
    assert "page 1 of 2" in manager.get(page).content.decode()
    assert f">{codes[2]}<" in manager.get(f"{page}?page=2").content.decode()
    assert "Nobody is like that" in manager.get(f"{page}?state=freed").content.decode()
    assert manager.get(reverse("annotation:crowd-people", args=["leases", link.pk + 1])).status_code == 404


def test_somebody_is_removed_from_the_list_and_one_comes_back_to_it(leases: Leases, client_of: ClientOf) -> None:
    link, manager = made(leases, crowd_sheet(leases)), client_of(leases.manager)
    alba = actions.take_place(link=link, number=ALBA)
    assert alba.user is not None
    page = reverse("annotation:crowd-people", args=["leases", link.pk])
    remove = reverse("annotation:remove-member", args=["leases", alba.user.memberships.get().pk])
    assert remove in manager.get(page).content.decode()
    assert manager.post(remove, {"crowd": link.pk}).url == page  # type: ignore[attr-defined]
    assert remove not in manager.get(page).content.decode()
    assert place(alba).state == "removed"


def test_an_early_code_is_given_once_it_is_wanted(leases: Leases, client_of: ClientOf, api_of: ApiOf) -> None:
    sheet, client, manager = crowd_sheet(leases), Client(), client_of(leases.manager)
    link = made(leases, sheet)
    participant = begun(leases, client, link)
    annotating.archive_study(study=leases.study, by=leases.manager)
    client.post(address(link, ALBA))
    end = reverse("annotation:crowd-done", args=[participant.pk])
    assert "no code" in client.get(end).content.decode()
    kept = manager.post(reverse("annotation:crowd-ended-code", args=["leases", link.pk]), {"ended_code": "EARLY"})
    assert kept.url == reverse("annotation:crowd-people", args=["leases", link.pk])  # type: ignore[attr-defined]
    assert "EARLY" in client.get(end).content.decode()
    manager.post(reverse("annotation:crowd-ended-code", args=["leases", link.pk]), {"ended_code": "x" * 81})
    assert CrowdLink.objects.get().ended_code == "EARLY"
    at = reverse("api:crowd-ended-code", args=["leases", link.pk])
    told = api_of(leases.manager).post(at, {"ended_code": "LATER"}, format="json").json()
    assert (told["states"]["ended"], CrowdLink.objects.get().ended_code) == (1, "LATER")
    said = AuditEvent.objects.filter(kind=AuditEvent.Kind.INVITE).values_list("what", flat=True)
    assert Counter(said)[f"=crowd #{link.pk}"] == 2


def test_people_of_a_crowd_are_one_line_among_the_members(leases: Leases, client_of: ClientOf) -> None:
    link, page = made(leases, crowd_sheet(leases)), reverse("annotation:people", args=["leases"])
    manager = client_of(leases.manager)
    sizes, asked = [], []
    for n in (1, 5):
        for one in range(n):
            actions.take_place(link=link, number=f"{n}-{one}")
        with CaptureQueriesContext(connection) as queries_of:
            said = manager.get(page).content.decode()
        sizes.append(len(said))
        asked.append(len(queries_of))
    assert "6 people came by “May”" in said
    assert reverse("annotation:crowd-people", args=["leases", link.pk]) in said
    assert "crowd-" not in said.replace("/people/crowd", "")
    assert abs(sizes[1] - sizes[0]) < 20
    assert asked[0] == asked[1]
    boss = Participant.objects.latest("pk").user
    assert boss is not None
    annotating.add_member(study=leases.study, user=boss, role="researcher", by=leases.manager)  # type: ignore[arg-type]
    assert boss.username in manager.get(page).content.decode()


def test_without_a_code_none_is_promised(leases: Leases) -> None:
    link, client = made(leases, crowd_sheet(leases), completion_code="", completion_url=""), Client()
    assert "code" not in client.get(address(link, ALBA)).content.decode()
    client.post(address(link, ALBA))
    submit_all(participant := Participant.objects.get())
    done = reverse("annotation:crowd-done", args=[participant.pk])
    for page in (address(link, ALBA), reverse("annotation:my-work"), done):
        said = client.get(page).content.decode()
        assert ("Finish" in said or page == done, "the code" in said) == (True, False)


def test_of_a_study_that_is_being_deleted_nothing_is_said(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.actions.deleting.AT_ONCE", 0)
    link, client = made(leases, crowd_sheet(leases)), Client()
    client.post(address(link, ALBA))
    assert annotating.delete_study(study=leases.study, by=builders.user("root", superuser=True)) is not None
    done = reverse("annotation:crowd-done", args=[Participant.objects.get().pk])
    assert [client.get(page).status_code for page in (address(link, ALBA), done)] == [404, 404]


def test_places_of_many_who_are_late_are_freed_by_a_few_statements(leases: Leases) -> None:
    """Whoever comes waits for it, and all who change the study."""
    link = made(leases, crowd_sheet(leases, rows=4), people_per_row=5, rows_each=1, most_people=20)
    asked = []
    for n in (2, 8):
        for number in range(n):
            actions.take_place(link=link, number=f"{n}-{number}")
        Participant.objects.filter(freed_at=None).update(came_at=timezone.now() - timedelta(days=1))
        with CaptureQueriesContext(connection) as queries_of:
            assert actions.free_late_places(link=link) == n
        asked.append(len(queries_of))
    assert asked[0] == asked[1]


def test_who_is_done_is_not_looked_at_again_by_each_who_comes(leases: Leases) -> None:
    link = made(leases, crowd_sheet(leases))
    for number in (ALBA, BORA):
        submit_all(actions.take_place(link=link, number=number))
    Participant.objects.update(came_at=timezone.now() - timedelta(hours=5))
    with CaptureQueriesContext(connection) as captured:
        assert actions.free_late_places(link=link) == 0
    assert len([query for query in captured if "SAVEPOINT" not in query["sql"]]) == 1


def test_who_is_late_and_done_keeps_the_place(leases: Leases) -> None:
    link = made(leases, crowd_sheet(leases, rows=2), people_per_row=1, most_people=1)
    alba = actions.take_place(link=link, number=ALBA)
    submit_all(alba)
    Participant.objects.update(came_at=timezone.now() - timedelta(days=2))
    with pytest.raises(actions.Full):
        actions.take_place(link=link, number=BORA)
    assert queries.place_of(Participant.objects.get()).is_done


def test_an_id_that_nobody_guesses_lets_back_in_from_elsewhere_and_others_do_not(leases: Leases) -> None:
    link = made(leases, crowd_sheet(leases))
    mine, other = Client(), Client()
    uuid = "0b5e9a52-7c1f-4c0e-9d3a-2f6b8e1d4c77"
    for number, status in ((ALBA, 302), (uuid, 302), ("17", 403), ("student.name@university.example", 403)):
        mine.post(address(link, number))
        assert mine.get(address(link, number)).status_code == 200
        assert other.post(address(link, number)).status_code == status
    assert Participant.objects.count() == 4


def test_an_id_that_can_be_guessed_takes_nobody_over_by_another_link(leases: Leases) -> None:
    """Who has begun goes on by the second link as the same rater, in the browser where they began alone."""
    sheet = crowd_sheet(leases)
    first, second = made(leases, sheet), made(leases, sheet)
    mine, other = Client(), Client()
    mine.post(address(first, "17"))
    refused = other.post(address(second, "17"))
    assert (refused.status_code, "in another browser" in refused.content.decode()) == (403, True)
    assert "_auth_user_id" not in other.session
    assert mine.post(address(second, "17")).status_code == 302
    assert len({one.rater_id for one in Participant.objects.all()}) == 1


def test_without_a_parameter_a_cookie_is_all_that_lets_back_in(leases: Leases) -> None:
    link, client = made(leases, crowd_sheet(leases), asks_for=""), Client()
    client.post(address(link))
    assert "Welcome back" in client.get(address(link)).content.decode()
    client.post(address(link))
    assert Participant.objects.count() == 1
    Client().post(address(link))
    assert Participant.objects.count() == 2


@pytest.mark.parametrize("query", ["", "?PROLIFIC_PID=", "?PROLIFIC_PID=a b", "?PROLIFIC_PID=%7B%7B%25", "?other=1"])
def test_an_address_without_an_id_says_what_it_lacks(leases: Leases, query: str) -> None:
    link = made(leases, crowd_sheet(leases))
    for method in ("get", "post"):
        answer = getattr(Client(), method)(address(link) + query)
        assert (answer.status_code, "PROLIFIC_PID" in answer.content.decode()) == (400, True)
    assert not Participant.objects.exists()


def test_who_is_removed_leaves_place_and_rows_to_somebody_else(leases: Leases, client_of: ClientOf) -> None:
    """What was submitted too: who labelled at random is removed, and asked for again."""
    link = made(leases, crowd_sheet(leases, rows=2), people_per_row=1, most_people=1)
    alba = actions.take_place(link=link, number=ALBA)
    submit_all(alba)
    assert alba.user is not None
    annotating.remove_member(membership=alba.user.memberships.get(), by=leases.manager)
    [told] = queries.links(leases.study)
    assert (dict(told.states), told.taken, told.n_full) == ({"removed": 1}, 0, 0)
    assert "1 removed" in client_of(leases.manager).get(reverse("annotation:crowd", args=["leases"])).content.decode()
    assert set(actions.take_place(link=link, number=BORA).rows) == set(alba.rows)


def test_who_is_erased_keeps_what_they_did(leases: Leases) -> None:
    link = made(leases, crowd_sheet(leases, rows=2), people_per_row=1)
    alba = actions.take_place(link=link, number=ALBA)
    submit_all(alba)
    assert alba.user is not None
    accounts.erase(user=alba.user, by=None)
    [told] = queries.links(leases.study)
    assert (dict(told.states), told.taken, told.n_full) == ({"finished": 1}, 1, 2)
    with pytest.raises(actions.Full):
        actions.take_place(link=link, number=BORA)


def test_a_closed_link_lets_nobody_new_in_and_lets_go_on(leases: Leases, client_of: ClientOf) -> None:
    link = made(leases, crowd_sheet(leases))
    Client().post(address(link, ALBA))
    manager = client_of(leases.manager)
    manager.post(reverse("annotation:close-crowd", args=[leases.study.slug, link.pk]))
    refused = Client().post(address(link, BORA))
    assert (refused.status_code, "by this link any more" in refused.content.decode()) == (409, True)
    assert Client().post(address(link, ALBA)).status_code == 302
    manager.post(reverse("annotation:close-crowd", args=[leases.study.slug, link.pk]))
    assert Client().post(address(link, BORA)).status_code == 302
    said = AuditEvent.objects.filter(study=leases.study, kind=AuditEvent.Kind.INVITE).values_list("what", flat=True)
    assert Counter(said) == {f"+crowd #{link.pk}": 2, f"-crowd #{link.pk}": 1}


def test_who_came_before_is_the_same_rater_and_gets_other_rows(leases: Leases) -> None:
    sheet = crowd_sheet(leases, rows=4)
    first, second = made(leases, sheet), made(leases, sheet)
    before, after = (actions.take_place(link=link, number=ALBA) for link in (first, second))
    assert before.rater == after.rater
    assert not set(before.rows) & set(after.rows)
    submit_all(before)
    assert [queries.place_of(one).is_done for one in (before, after)] == [True, False]
    with pytest.raises(actions.Full):
        actions.take_place(link=made(leases, sheet), number=ALBA)


def test_many_new_people_from_one_address_wait(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.crowd.views._NEW_FROM_ONE", 2)
    link = made(leases, crowd_sheet(leases))
    statuses = [Client().post(address(link, number)).status_code for number in (ALBA, BORA, CELO)]
    assert statuses == [302, 302, 429]
    assert Participant.objects.count() == 2


def test_the_managers_page_makes_links_and_counts(leases: Leases, client_of: ClientOf) -> None:
    sheet, manager = crowd_sheet(leases, rows=2), client_of(leases.manager)
    page = reverse("annotation:crowd", args=[leases.study.slug])
    assert page in manager.get(reverse("annotation:people", args=[leases.study.slug])).content.decode()
    sent = {"title": "May", "sheets": [sheet.pk], "rows_each": 2, "people_per_row": 1, "most_people": 2, "hours": 3}
    said = manager.post(page, {**sent, "completion_url": "http://crowd.example/"}).content.decode()
    assert "begins with https://" in said
    manager.post(page, {**sent, "asks_for": "PROLIFIC_PID"})
    link = CrowdLink.objects.get()
    assert f"/crowd/{link.token}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}" in manager.get(page).content.decode()
    submit_all(actions.take_place(link=link, number=f"={ALBA}".removeprefix("=")))
    shown = manager.get(page).content.decode()
    assert "<strong>1</strong> of 2 places taken" in shown
    assert "<strong>2</strong> of 2 clauses have 1 submitted" in shown
    file = manager.get(reverse("annotation:crowd-participants", args=[leases.study.slug, link.pk])).content.decode()
    head, line = csv.reader(io.StringIO(file))
    told = dict(zip(head, line, strict=True))
    rater = Rater.objects.get(participations__link=link)
    assert (told["participant"], told["rater"], told["state"], told["submitted"]) == (ALBA, rater.code, "finished", "2")


def test_where_annotators_need_a_second_factor_there_are_no_links(
    leases: Leases, client_of: ClientOf, settings: Settings
) -> None:
    sheet = crowd_sheet(leases)
    form = {"title": "May", "sheets": [sheet.pk], "rows_each": 2, "people_per_row": 1, "most_people": 2, "hours": 3}
    settings.PALATE_SECOND_FACTOR = ["annotator"]
    page = client_of(leases.manager).post(reverse("annotation:crowd", args=[leases.study.slug]), form)
    assert "nobody of a crowd has one" in page.content.decode()
    assert not CrowdLink.objects.exists()


def test_where_annotators_need_a_second_factor_by_now_nobody_new_comes(leases: Leases, settings: Settings) -> None:
    link = made(leases, crowd_sheet(leases))
    settings.PALATE_SECOND_FACTOR = ["annotator"]
    assert Client().post(address(link, ALBA)).status_code == 409
    assert not Participant.objects.exists()


def test_an_account_that_is_erased_leaves_no_id(leases: Leases) -> None:
    participant = actions.take_place(link=made(leases, crowd_sheet(leases)), number=ALBA)
    assert participant.user is not None
    actions.take_place(link=participant.link, number=f"erased-{participant.pk}")  # somebody tries to be in the way
    accounts.erase(user=participant.user, by=None)
    participant.refresh_from_db()
    assert (participant.number, participant.user) == (f"erased {participant.pk}", None)
    assert Client().get(address(participant.link, participant.number)).status_code == 400


def test_without_a_parameter_an_erased_account_is_not_taken_for_who_comes_next(leases: Leases) -> None:
    link = made(leases, crowd_sheet(leases), asks_for="")
    first = actions.take_place(link=link, number="cookie")
    assert first.user is not None
    accounts.erase(user=first.user, by=None)
    assert Client().get(address(link)).status_code == 200
    assert Client().post(address(link)).status_code == 302


def test_by_the_api(leases: Leases, api_of: ApiOf) -> None:
    sheet = crowd_sheet(leases, rows=2)
    program, links = api_of(leases.manager), reverse("api:crowd-links", args=[leases.study.slug])
    refused = program.post(links, {"title": "May", "most_people": 2, "sheets": [10**6]}, format="json")
    assert (refused.status_code, list(refused.json())) == (400, ["sheets"])
    many = {"title": "May", "most_people": 2, "sheets": list(range(1, 300_000))}
    refused = program.post(links, many, format="json")
    assert (refused.status_code, list(refused.json())) == (400, ["sheets"])
    told = program.post(
        links, {"title": "May", "most_people": 2, "sheets": [sheet.pk], "completion_code": "C0DE"}, format="json"
    )
    assert told.status_code == 201
    link = CrowdLink.objects.get()
    assert (link.rows_each, link.people_per_row, link.hours, link.completion_code) == (10, 3, 3, "C0DE")
    submit_all(actions.take_place(link=link, number=ALBA))
    [one] = program.get(links).json()
    assert (one["taken"], one["states"]["finished"], one["rows"], one["full"]) == (1, 1, 2, 0)
    [came] = program.get(reverse("api:crowd-participants", args=[leases.study.slug, link.pk])).json()
    assert (came["participant"], came["state"], came["submitted"]) == (ALBA, "finished", 2)
    closed = program.post(reverse("api:close-crowd-link", args=[leases.study.slug, link.pk]), {}, format="json")
    assert closed.json()["closed_at"]


@postgresql
@pytest.mark.django_db(transaction=True)
def test_who_submits_the_last_row_while_somebody_comes_keeps_the_place() -> None:
    leases = builders.leases()
    link = made(leases, crowd_sheet(leases, rows=2), people_per_row=1, most_people=1, rows_each=1)
    alba = actions.take_place(link=link, number=ALBA)
    Participant.objects.update(came_at=timezone.now() - timedelta(days=1))
    assignment = alba.rater.assignments.select_related("row__sheet").get()
    builders.label(assignment)
    said: list[object] = []
    with transaction.atomic():
        annotating.submit(assignment=assignment)
        thread = in_another_connection(partial(actions.take_place, link=link, number=BORA), said)
        thread.join(timeout=1)
        assert not said  # it waits
    thread.join()
    assert [type(one).__name__ for one in said] == ["Full"]
    assert queries.place_of(Participant.objects.get()).is_done


@postgresql
@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_no_more_come_than_there_are_places() -> None:
    leases = builders.leases()
    link = made(leases, crowd_sheet(leases, rows=3), people_per_row=1, rows_each=1, most_people=2)
    said: list[object] = []
    threads = [in_another_connection(partial(actions.take_place, link=link, number=number), said) for number in "abcd"]
    for thread in threads:
        thread.join()
    assert sorted(type(one).__name__ for one in said) == ["Full", "Full", "Participant", "Participant"]
    assert Participant.objects.count() == 2
    assert User.objects.filter(username__startswith="crowd-").count() == 2
