"""Whom people of a study ask: named in its settings, and read wherever somebody who labels may need it."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts import actions as accounts
from accounts.views.account import personal_data
from annotation import actions, doors
from annotation.actions import Refused
from annotation.crowd import actions as crowd
from annotation.models import AuditEvent, Participant, Role, Study
from reports import actions as reporting
from reports.data.arrays import Filters
from reports.exports.making import path_of
from reports.models import Export
from tests import builders
from tests.annotation.test_crowd import ALBA, address, begun, close, crowd_sheet, made
from tests.builders import ApiOf, ClientOf, Leases

OFFICE = '<bdi>Study office</bdi>, <a href="mailto:office@example.org">office@example.org</a>'
QUESTIONS = f"Questions about this study? Contact {OFFICE}."
WHOEVER = "whoever gave you the link"


def name(study: Study, contact: str = "Study office", address: str = "office@example.org", **more: Any) -> None:
    actions.change_study(study=study, contact=contact, contact_address=address, **more)


@pytest.fixture
def named(leases: Leases) -> Leases:
    name(leases.study)
    return leases


def page(client: Client, view: str, *args: object, status: int = 200) -> str:
    answer = client.get(reverse(f"annotation:{view}", args=args))
    assert answer.status_code == status
    return answer.content.decode()


# --- the settings ---------------------------------------------------------------------------------------------------


def saved(leases: Leases, client: Client, **sent: str) -> str:
    """The page after these settings were sent; "" where they are saved."""
    whole = {"title": "Leases", "slug": "leases", "guideline": "", **sent}
    answer = client.post(reverse("annotation:settings", args=["leases"]), whole)
    leases.study.refresh_from_db()
    return html.unescape(answer.content.decode())


@pytest.mark.parametrize(
    ("contact", "address", "link"),
    [
        ("Anna Novak", "anna.novak@example.org", "mailto:anna.novak@example.org"),
        ("", "o'hara+study&x=1%@example.org", "mailto:o%27hara%2Bstudy%26x%3D1%25@example.org"),
        ("", "nobody@bücher.example", "mailto:nobody@b%C3%BCcher.example"),
        ("Study office", "https://lab.example/contact?study=1", "https://lab.example/contact?study=1"),
        ("Room 12, by the stairs", "", ""),
        ("", "", ""),
    ],
)
def test_a_contact_is_a_name_an_address_or_both(
    leases: Leases, client_of: ClientOf, contact: str, address: str, link: str
) -> None:
    assert saved(leases, client_of(leases.manager), contact=contact, contact_address=address) == ""
    study = leases.study
    assert (study.contact, study.contact_address, study.contact_link) == (contact, address, link)
    assert study.contact_text == ", ".join(filter(None, (contact, address)))


def test_a_name_is_one_line(leases: Leases, client_of: ClientOf) -> None:
    saved(leases, client_of(leases.manager), contact=" Anna\r\n Novak ")
    assert leases.study.contact == "Anna Novak"


@pytest.mark.parametrize(
    "wrong",
    [
        "room 12", "anna@", "@example.org", "anna@example", "anna@example.org, boris@example.org", "lab.example",
        "http://lab.example/", "https://", "https://lab example/", "ftp://lab.example/", "javascript:alert(1)",
        "javascript://lab.example/%0aalert(1)", "mailto:anna@example.org", '"a://b"@example.org',
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_in_a_sentence(leases: Leases, client_of: ClientOf, wrong: str) -> None:
    said = saved(leases, client_of(leases.manager), contact="Anna", contact_address=wrong)
    sentence = "This is neither an e-mail address, such as study@example.org, nor a web address that begins with https"
    assert sentence in said
    assert (leases.study.contact, leases.study.contact_address) == ("", "")


def test_the_settings_say_where_it_is_read(leases: Leases, client_of: ClientOf) -> None:
    said = page(client_of(leases.manager), "settings", "leases")
    assert "Shown with its address to everybody who has a link of this study or a role in it" in said
    assert "Who publishes a download publishes the contact too" in said


def test_members_read_it_by_the_api(named: Leases, api_of: ApiOf) -> None:
    for who in (named.anna, named.researcher):
        told = api_of(who).get(reverse("api:study", args=["leases"])).json()
        assert (told["contact"], told["contact_address"]) == ("Study office", "office@example.org")


# --- who labels -----------------------------------------------------------------------------------------------------


def test_who_labels_finds_it_before_and_while_they_do(named: Leases, client_of: ClientOf) -> None:
    anna = client_of(named.anna)
    sheet, work = page(anna, "sheet", named.sheet.pk), page(anna, "my-work")
    assert QUESTIONS in sheet.split('id="guide"')[1].split("</section>\n    <aside")[0]
    assert sheet.count(QUESTIONS) == work.count(QUESTIONS) == 1
    assert QUESTIONS in page(anna, "study", "leases")
    actions.change_study(
        study=named.study, consent="I take part.", background="questions: [{key: job, title: Job, kind: text}]"
    )
    assert QUESTIONS in page(anna, "consent", "leases").split("I have read this")[0]
    actions.agree(study=named.study, user=named.anna)
    assert QUESTIONS in page(anna, "background", "leases")


def test_without_one_nothing_is_said(leases: Leases, client_of: ClientOf) -> None:
    anna = client_of(leases.anna)
    actions.change_study(study=leases.study, consent="I take part.")
    consent = page(anna, "consent", "leases")
    actions.agree(study=leases.study, user=leases.anna)
    pages = [consent, page(anna, "sheet", leases.sheet.pk), page(anna, "my-work"), page(anna, "study", "leases")]
    assert not any("Questions about" in said or "mailto:" in said for said in pages)


def test_my_work_names_the_study_where_there_are_several(named: Leases, client_of: ClientOf) -> None:
    other = builders.study("other", of=named.study.scheme, by=named.manager)
    builders.assignments(builders.rater(other, named.anna), builders.sheet(other, "Other"))
    name(other, contact="", address="https://lab.example/ask")
    work = page(client_of(named.anna), "my-work")
    assert f"Questions about “Leases”? Contact {OFFICE}." in work
    beside = '<a href="https://lab.example/ask" target="_blank" rel="noreferrer">https://lab.example/ask</a>'
    assert f"Questions about “Other”? Contact {beside}." in work


def test_what_somebody_typed_is_no_html(leases: Leases, client_of: ClientOf) -> None:
    name(leases.study, contact="<script>alert(1)</script>", address='https://lab.example/"><b>')
    work = page(client_of(leases.anna), "my-work")
    assert "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>" in work
    assert 'href="https://lab.example/&quot;&gt;&lt;b&gt;"' in work


def test_who_is_paused_is_told_whom_to_ask(named: Leases, client_of: ClientOf) -> None:
    actions.pause(rater=named.annas[0].rater, by=named.manager)
    banner = page(client_of(named.anna), "my-work").split('class="banner"')[1].split("</p>")[0]
    assert "You are paused in “Leases”" in banner
    assert f"Questions? Contact {OFFICE}." in banner


def test_who_answers_on_a_closed_sheet_is_told_whom_to_ask(leases: Leases) -> None:
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)
    with pytest.raises(Refused, match="ask the manager to open it again"):
        builders.label(leases.annas[0])
    name(leases.study)
    asked = "What you saved is safe; to have it opened again, contact Study office, office@example.org"
    with pytest.raises(Refused, match=asked):
        builders.label(leases.annas[0])


def test_an_invitation_has_it(named: Leases, client_of: ClientOf) -> None:
    client_of(named.manager).post(
        reverse("annotation:people", args=["leases"]), {"role": "annotator", "email": "nina@example.org", "days": 7}
    )
    end = "Questions about this study? Contact Study office, office@example.org."
    assert mail.outbox[0].body.endswith(f"\n\n{end}")
    _bound, of_bound = actions.invite(
        study=named.study, role=Role.ANNOTATOR, email="otto@example.org", bound=True, by=named.manager
    )
    invite, token = actions.invite(study=named.study, role=Role.ANNOTATOR, by=named.manager)
    for one in (token, of_bound):
        assert QUESTIONS in page(Client(), "join", one)
    actions.revoke_invite(invite=invite, by=named.manager)
    assert QUESTIONS in page(Client(), "join", token, status=410)
    actions.archive_study(study=named.study, by=named.manager)
    said = page(Client(), "join", of_bound, status=403)
    assert QUESTIONS in said
    assert "nobody can join it." in said
    assert WHOEVER not in said
    name(named.study, contact="", address="")
    assert f"nobody can join it. Ask {WHOEVER}." in page(Client(), "join", of_bound, status=403)


def test_a_reminder_has_it(named: Leases, client_of: ClientOf) -> None:
    rater = named.annas[0].rater_id
    client_of(named.manager).post(reverse("annotation:remind", args=["leases", rater]))
    end = "Questions about this study? Contact Study office, office@example.org."
    assert mail.outbox[0].body.endswith(f"\n\n{end}")


# --- a crowd --------------------------------------------------------------------------------------------------------


def test_who_comes_by_a_link_reads_it_on_the_first_page_and_at_the_end(named: Leases) -> None:
    link, client = made(named, crowd_sheet(named)), Client()
    assert QUESTIONS in client.get(address(link, ALBA)).content.decode()
    assert QUESTIONS in client.get(reverse("annotation:take-part", args=[link.token])).content.decode()  # no id
    participant = begun(named, client, link, submitted=1)
    for said in (client.get(address(link, ALBA)).content.decode(), page(client, "crowd-done", participant.pk)):
        assert QUESTIONS in said
    for assignment in participant.rater.assignments.filter(state="open").select_related("row__sheet"):
        builders.label(assignment)
        actions.submit(assignment=assignment)
    for said in (client.get(address(link, ALBA)).content.decode(), page(client, "crowd-done", participant.pk)):
        assert said.count(QUESTIONS) == 1


@pytest.mark.parametrize("has_contact", [True, False])
def test_who_cannot_go_on_is_told_whom_to_write_to(leases: Leases, *, has_contact: bool) -> None:
    if has_contact:
        name(leases.study)
    link, client = made(leases, crowd_sheet(leases), most_people=1), Client()
    # In another browser, by an id that could be guessed.
    crowd.take_place(link=link, number="4711")
    elsewhere = Client().get(address(link, "4711"))
    Participant.objects.all().delete()
    participant = begun(leases, client, link, submitted=0)
    full = Client().post(address(link, "b0ca" + "0" * 20))
    Participant.objects.update(freed_at=timezone.now())
    over = [client.get(address(link, ALBA)), client.get(reverse("annotation:crowd-done", args=[participant.pk]))]
    assert [one.status_code for one in (elsewhere, full, *over)] == [403, 409, 410, 200]
    for answer, asked in (
        (elsewhere, f"Go on there, or contact {OFFICE}."),
        *((one, f"Contact {OFFICE}.") for one in over),
    ):
        said = answer.content.decode()
        assert (asked in said, WHOEVER in said) == (has_contact, not has_contact)
        assert said.count("office@example.org</a>") == has_contact
    assert (QUESTIONS in full.content.decode()) == has_contact


@pytest.mark.parametrize("has_contact", [True, False])
@pytest.mark.parametrize("code", ["", "EARLY"])
def test_whose_work_was_closed_is_told_whom_to_write_to(leases: Leases, code: str, *, has_contact: bool) -> None:
    if has_contact:
        name(leases.study)
    sheet, client = crowd_sheet(leases), Client()
    participant = begun(leases, client, made(leases, sheet, ended_code=code))
    close(sheet, leases)
    end = reverse("annotation:crowd-done", args=[participant.pk])
    assert (QUESTIONS in client.get(end).content.decode()) == has_contact
    said = client.post(end, follow=True).content.decode()
    assert said.count("office@example.org</a>") == has_contact
    told = f"and contact {OFFICE}: you have submitted 1 of 2 clauses, and they have the same number."
    assert (told in said) == (has_contact and not code)
    assert (WHOEVER in said) == (not has_contact and not code)


def test_the_page_of_links_says_where_none_is_named(leases: Leases, client_of: ClientOf) -> None:
    manager = client_of(leases.manager)
    assert "The study names no contact" in page(manager, "crowd", "leases")
    name(leases.study)
    assert "The study names no contact" not in page(manager, "crowd", "leases")


def test_the_demos_name_one(db: None) -> None:
    for demo in doors.demos():
        assert demo.build().contact_text.startswith("Study office (made up), ")


# --- erasing --------------------------------------------------------------------------------------------------------


SAID = ("contact", "contact_address", "publishes_contact")


@pytest.mark.parametrize("how", ["by an address that was confirmed", "as a manager"])
def test_who_is_forgotten_is_no_contact_any_more(leases: Leases, client_of: ClientOf, how: str) -> None:
    """However the address is written; others' contacts stay."""
    other = builders.study("other", of=leases.study.scheme, by=leases.manager)
    if how == "as a manager":
        actions.add_member(study=leases.study, user=leases.anna, role=Role.MANAGER)
    else:
        EmailAddress.objects.create(user=leases.anna, email="anna@example.org", verified=True)
    name(leases.study, contact="Anna", address="Anna@Example.org", publishes_contact=True)
    name(other, contact="Anna", address="annabel@example.org")
    anna = client_of(leases.anna)
    assert personal_data(leases.anna)["contact_of"] == [
        {"title": "Leases", "contact": "Anna", "contact_address": "Anna@Example.org"}
    ]
    leave = html.unescape(anna.get(reverse("accounts:leave")).content.decode())
    assert "You are the contact of “Leases”" in leave
    assert "“Other”" not in leave
    owner = client_of(builders.user("owner", superuser=True))
    of_owner = owner.get(reverse("accounts:owner-person", args=[leases.anna.pk])).content.decode()
    assert "The contact of “Leases” has this person" in html.unescape(of_owner)

    accounts.erase(user=leases.anna, by=leases.anna)

    assert Study.objects.values_list(*SAID).get(slug="leases") == ("", "", False)
    assert Study.objects.values_list(*SAID).get(slug="other") == ("Anna", "annabel@example.org", False)
    gone = AuditEvent.objects.filter(kind="deletion", study=leases.study, of=leases.anna.pk)
    assert [event.what for event in gone] == ["contact"]
    assert "Anna@" not in json.dumps(list(AuditEvent.objects.values_list("what", flat=True)))


@pytest.mark.parametrize("lists", [False, True])
def test_nobody_takes_a_contact_away_by_giving_its_address_as_their_own(
    leases: Leases, client_of: ClientOf, *, lists: bool
) -> None:
    """Nor do they learn which studies have it."""
    name(leases.study, contact="Mara", address="mara@example.org")
    leases.stranger.email = "mara@example.org"
    leases.stranger.save()
    if lists:
        EmailAddress.objects.create(user=leases.stranger, email="mara@example.org", verified=False)
    assert personal_data(leases.stranger)["contact_of"] == []
    assert "Leases" not in client_of(leases.stranger).get(reverse("accounts:leave")).content.decode()
    accounts.erase(user=leases.stranger, by=leases.stranger)
    assert Study.objects.values_list(*SAID).get(slug="leases") == ("Mara", "mara@example.org", False)


def test_who_has_no_address_is_nobodys_contact(leases: Leases) -> None:
    leases.anna.email = ""
    leases.anna.save()
    name(leases.study, contact="Anna", address="")
    assert personal_data(leases.anna)["contact_of"] == []
    accounts.erase(user=leases.anna, by=None)
    assert Study.objects.get(slug="leases").contact == "Anna"


@pytest.mark.django_db(transaction=True)  # files go once it is committed
def test_downloads_that_wait_name_them_no_more(leases: Leases, settings: Settings, tmp_path: Path) -> None:
    settings.PALATE_EXPORTS = tmp_path / "exports"
    builders.label(leases.annas[0])
    name(leases.study, address="anna@example.org", publishes_contact=True)
    EmailAddress.objects.create(user=leases.anna, email="anna@example.org", verified=True)
    report = reporting.freeze(study=leases.study, title="First", filters=Filters(), by=leases.researcher)
    exports = []
    for form, of in (("zip", None), ("zip", report), ("jsonl", None)):
        export = reporting.ask_for_export(study=leases.study, form=form, filters=Filters(), by=None, report=of)
        reporting.make_export(export_id=export.pk)
        exports.append(Export.objects.get(pk=export.pk))

    accounts.erase(user=leases.anna, by=None)

    assert [path_of(export).exists() for export in exports] == [False, False, True]
    assert list(Export.objects.all()) == exports[2:]
