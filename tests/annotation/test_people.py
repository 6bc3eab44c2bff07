"""Invitations by a link that works once, joining by it, and taking roles away."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation import actions
from annotation.actions import Refused
from annotation.models import Assignment, AuditEvent, Invite, Membership, Role, User
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases

PASSWORD = "a-long-phrase-of-ninas"


def people_url(leases: Leases) -> str:
    return reverse("annotation:people", args=[leases.study.slug])


def link_from(client: Client, leases: Leases, role: Role = Role.ANNOTATOR, email: str = "") -> str:
    """The address that a manager's page shows after an invitation."""
    data = {"role": role.value, "email": email, "days": 7}
    response = client.post(people_url(leases), data, follow=True)
    assert response.status_code == 200
    link = str(response.context["link"]["url"])
    assert link in response.content.decode()
    return link.removeprefix("http://testserver")


def made(leases: Leases, role: Role = Role.ANNOTATOR) -> tuple[Invite, str]:
    invite, token = actions.invite(study=leases.study, role=role, by=leases.manager)
    return invite, reverse("annotation:join", args=[token])


def sign_up(link: str, name: str = "nina", client: Client | None = None) -> str:
    """What somebody new sees at last who follows the link and makes an account."""
    data = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    return (client or Client()).post(link, data, follow=True).content.decode()


# --- inviting -------------------------------------------------------------------------------------------------------


def test_somebody_new_makes_an_account_by_the_link_and_is_a_rater(leases: Leases, client_of: ClientOf) -> None:
    link = link_from(client_of(leases.manager), leases)
    browser = Client()

    assert "You are invited as <strong>annotator</strong>." in browser.get(link).content.decode()
    page = sign_up(link, client=browser)

    nina = User.objects.get(username="nina")
    assert "You are in “Leases” as annotator." in page
    assert leases.study.raters.get(user=nina).code == "A3"  # after Anna and Boris
    assert nina.memberships.get().role == Role.ANNOTATOR
    assert Client().login(username="nina", password=PASSWORD)
    # She is logged in already.
    assert browser.get(reverse("annotation:my-work")).status_code == 200


def test_somebody_with_an_account_joins_with_it(leases: Leases, client_of: ClientOf) -> None:
    link = link_from(client_of(leases.manager), leases, Role.RESEARCHER)
    sam = client_of(leases.stranger)

    assert "Join as sam" in sam.get(link).content.decode()
    response = sam.post(link, follow=True)

    assert response.redirect_chain == [(reverse("annotation:study", args=[leases.study.slug]), 302)]
    assert leases.stranger.memberships.get().role == Role.RESEARCHER
    assert not leases.study.raters.filter(user=leases.stranger).exists()


def test_looking_at_the_link_uses_nothing_up(leases: Leases, client_of: ClientOf) -> None:
    invite, link = made(leases)

    client_of(leases.stranger).get(link)
    Client().get(link)

    assert Invite.objects.get(pk=invite.pk).state == "open"


def test_who_has_an_account_finds_the_way_to_the_login_and_back(leases: Leases) -> None:
    _invite, link = made(leases)

    page = Client().get(link).content.decode()

    assert f'href="/login/?next={link}"' in page


def test_the_link_works_once(leases: Leases) -> None:
    invite, link = made(leases)
    sign_up(link)

    again = Client().get(link)
    page = sign_up(link, "otto")

    assert again.status_code == 410
    assert "This link was used already." in page
    assert not User.objects.filter(username="otto").exists()
    invite.refresh_from_db()
    assert invite.used_by == User.objects.get(username="nina")


def test_of_two_who_follow_it_at_once_one_is_refused(leases: Leases) -> None:
    invite, _link = made(leases)
    actions.join(invite=invite, user=leases.stranger)

    # `invite` still says that it is open, as the second request has read it.
    with pytest.raises(Refused, match="used already"):
        actions.sign_up(invite=invite, username="nina", password=PASSWORD)
    assert not User.objects.filter(username="nina").exists()


def test_a_link_that_is_too_old_lets_nobody_in(leases: Leases) -> None:
    _invite, link = made(leases)
    Invite.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert "This link is too old." in sign_up(link)
    assert not User.objects.filter(username="nina").exists()


def test_a_link_that_was_taken_back_lets_nobody_in(leases: Leases, client_of: ClientOf) -> None:
    invite, link = made(leases)
    manager = client_of(leases.manager)

    said = manager.post(reverse("annotation:revoke-invite", args=[leases.study.slug, invite.pk]), follow=True)

    assert "The link does not work any more." in said.content.decode()
    assert "This link was taken back." in sign_up(link)
    invite.refresh_from_db()
    assert invite.revoked_by == leases.manager


def test_a_link_that_was_used_cannot_be_taken_back(leases: Leases, client_of: ClientOf) -> None:
    invite, link = made(leases)
    sign_up(link)
    url = reverse("annotation:revoke-invite", args=[leases.study.slug, invite.pk])

    page = client_of(leases.manager).post(url, follow=True).content.decode()

    assert "Somebody has used the link already" in page
    assert "nina joined on" in page


def test_a_wrong_link_is_none(leases: Leases) -> None:
    assert Client().get(reverse("annotation:join", args=["made-up"])).status_code == 404


def test_the_link_is_shown_once_and_stored_nowhere(leases: Leases, client_of: ClientOf) -> None:
    manager = client_of(leases.manager)
    link = link_from(manager, leases)
    token = link.split("/")[-2]

    page = manager.get(people_url(leases)).content.decode()

    assert token not in page
    assert token not in str(Invite.objects.values())
    assert "open until" in page


@pytest.mark.parametrize("page", ["annotation:people", "accounts:my-data"])
def test_what_shows_a_link_or_all_that_is_kept_is_kept_by_no_browser(
    leases: Leases, client_of: ClientOf, page: str
) -> None:
    """“Back” after somebody has logged out showed the next person a link that lets in whoever has it."""
    address = reverse(page, args=[leases.study.slug] if page == "annotation:people" else [])
    assert "no-store" in client_of(leases.manager).get(address)["Cache-Control"]


def test_a_member_does_not_use_up_a_link_for_a_role_they_have(leases: Leases, client_of: ClientOf) -> None:
    invite, link = made(leases)

    page = client_of(leases.anna).post(link, follow=True).content.decode()

    assert "You have that role in this study already." in page
    assert Membership.objects.filter(user=leases.anna).count() == 1
    assert Invite.objects.get(pk=invite.pk).state == "open"


def test_a_member_joins_in_a_second_role_and_keeps_the_first(leases: Leases, client_of: ClientOf) -> None:
    _invite, link = made(leases, Role.RESEARCHER)

    client_of(leases.anna).post(link)

    assert set(leases.anna.memberships.values_list("role", flat=True)) == {"annotator", "researcher"}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"username": "no spaces please"}, "Enter a valid username"),
        ({"username": "Anna"}, "A user with that username already exists."),
        ({"password1": "12345678", "password2": "12345678"}, "This password is too common."),
        ({"password2": "another"}, "The two password fields didn’t match."),
    ],
    ids=["name", "taken in other capitals", "weak", "mistyped"],
)
def test_an_account_that_cannot_be_is_told_why_and_the_link_stays(
    leases: Leases, data: dict[str, str], sentence: str
) -> None:
    invite, link = made(leases)

    page = Client().post(link, {"username": "nina", "password1": PASSWORD, "password2": PASSWORD} | data)

    assert sentence in page.content.decode()
    assert Invite.objects.get(pk=invite.pk).state == "open"


# --- by mail --------------------------------------------------------------------------------------------------------


def test_the_link_is_sent_to_a_known_address(leases: Leases, client_of: ClientOf) -> None:
    data = {"role": "annotator", "email": "nina@example.org", "days": 7}

    page = client_of(leases.manager).post(people_url(leases), data, follow=True).content.decode()

    [sent] = mail.outbox
    assert sent.to == ["nina@example.org"]
    [link] = re.findall(r"http://testserver(/join/\S+)", sent.body)
    assert "The link was sent to nina@example.org too." in page
    sign_up(link)
    assert User.objects.get(username="nina").email == "nina@example.org"


def test_a_link_that_cannot_be_sent_is_shown_all_the_same(
    leases: Leases, client_of: ClientOf, settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1  # where nobody listens
    data = {"role": "annotator", "email": "nina@example.org", "days": 7}

    page = client_of(leases.manager).post(people_url(leases), data, follow=True).content.decode()

    assert "The e-mail to nina@example.org could not be sent." in page
    assert "/join/" in page


def test_no_link_is_printed_where_no_mail_is_set_up(
    leases: Leases, client_of: ClientOf, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    data = {"role": "annotator", "email": "nina@example.org", "days": 7}

    page = client_of(leases.manager).post(people_url(leases), data, follow=True).content.decode()

    assert "was sent" not in page
    assert "/join/" not in capsys.readouterr().out


def test_a_program_invites_as_the_page_does(leases: Leases, api_of: ApiOf, settings: Settings) -> None:
    api, address = api_of(leases.manager), reverse("api:invites", args=[leases.study.slug])
    made = api.post(address, {"role": "annotator", "email": "nina@example.org"}, format="json")
    [sent] = mail.outbox
    assert (made.status_code, made.json()["sent"], sent.to) == (201, True, ["nina@example.org"])
    assert made.json()["url"] in sent.body
    sign_up(made.json()["url"])
    used = api.post(reverse("api:revoke-invite", args=[leases.study.slug, made.json()["id"]]))
    assert (used.status_code, "Somebody has used the link already" in used.json()["detail"]) == (409, True)
    other = api.post(address, {"role": "annotator"}, format="json").json()["id"]
    revoked = [api.post(reverse("api:revoke-invite", args=[leases.study.slug, other])) for _twice in range(2)]
    assert [told.status_code for told in revoked] == [200, 409]
    assert revoked[1].json() == {"detail": "The link was taken back already."}

    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    body = {"role": "annotator", "email": "nora@example.org"}
    assert api.post(address, body, format="json").json()["sent"] is False
    bound = api.post(address, {**body, "bound": True}, format="json")
    assert (bound.status_code, bound.json()) == (409, {"detail": "Needs e-mail, which is not set up here."})
    assert [one["state"] for one in api.get(address).json()] == ["open", "revoked", "used"]
    assert "url" not in api.get(address).json()[0]


# --- leaving --------------------------------------------------------------------------------------------------------


def test_a_removed_annotator_loses_the_work_and_keeps_the_labels(leases: Leases, client_of: ClientOf) -> None:
    builders.label(leases.annas[0])
    membership = leases.anna.memberships.get()

    client_of(leases.manager).post(reverse("annotation:remove-member", args=[leases.study.slug, membership.pk]))

    assert not leases.anna.memberships.exists()
    assert leases.annas[0].labels.count() == len(builders.COMPLETE)
    assert client_of(leases.anna).get(reverse("annotation:sheet", args=[leases.sheet.pk])).status_code == 404


def test_removing_an_annotator_withdraws_what_is_not_submitted(leases: Leases, client_of: ClientOf) -> None:
    builders.label(leases.annas[0])
    actions.submit(assignment=leases.annas[0])
    third = actions.assign(rater=leases.annas[0].rater, rows=[builders.row(leases.sheet, "Clause 3")])[0]
    builders.label(third)
    membership = leases.anna.memberships.get()
    manager, url = client_of(leases.manager), reverse("annotation:people", args=[leases.study.slug])
    asked = manager.get(url).content.decode()

    said = manager.post(
        reverse("annotation:remove-member", args=[leases.study.slug, membership.pk]), follow=True
    ).content.decode()

    # Clause 2 is open, Clause 3 started.
    assert "Labels stay. 2 clauses that were not submitted are taken back." in asked
    assert "anna lost that role; the labels stay." in said
    assert "2 clauses that were not submitted are taken back. Reassign them from the plan." in said
    assert sorted(leases.annas[0].rater.assignments.values_list("row__name", "state")) == [
        ("Clause 1", "submitted"),
        ("Clause 2", "withdrawn"),
        ("Clause 3", "withdrawn"),
    ]
    assert third.labels.count() == len(builders.COMPLETE)
    assert set(leases.boriss[0].rater.assignments.values_list("state", flat=True)) == {"open"}


def test_a_manager_who_is_removed_does_not_come_back_by_a_link_of_their_own(
    leases: Leases, client_of: ClientOf
) -> None:
    """Links that a manager had made went on working, those for managers too."""
    eve = builders.user("eve")
    membership = actions.add_member(study=leases.study, user=eve, role=Role.MANAGER)
    own, token = actions.invite(study=leases.study, role=Role.MANAGER, by=eve)
    _other, of_others = made(leases)
    manager = client_of(leases.manager)
    asked = manager.get(people_url(leases)).content.decode()

    away = reverse("annotation:remove-member", args=[leases.study.slug, membership.pk])
    said = manager.post(away, follow=True).content.decode()

    assert "Labels stay. 1 invitation of theirs that nobody has used is taken back." in asked
    assert "the labels stay. 1 invitation of theirs that nobody has used is taken back." in said
    assert client_of(eve).post(reverse("annotation:join", args=[token])).status_code == 410
    assert not eve.memberships.exists()
    own.refresh_from_db()
    assert (own.state, own.revoked_by) == ("revoked", leases.manager)
    assert AuditEvent.objects.filter(kind="invite", what=f"-manager #{own.pk}", by=leases.manager.pk).exists()
    assert client_of(eve).get(of_others).status_code == 200


def test_an_owner_who_leaves_a_study_leaves_its_links(leases: Leases) -> None:
    """Who has set a study up for others, and comes in anyway."""
    root = builders.user("root", superuser=True)
    membership = actions.add_member(study=leases.study, user=root, role=Role.MANAGER)
    invite, _token = actions.invite(study=leases.study, role=Role.ANNOTATOR, by=root)

    actions.remove_member(membership=membership, by=root)

    invite.refresh_from_db()
    assert invite.state == "open"


def test_taking_another_role_away_withdraws_nothing(leases: Leases) -> None:
    actions.add_member(study=leases.study, user=leases.anna, role=Role.RESEARCHER)

    assert actions.remove_member(membership=leases.anna.memberships.get(role=Role.RESEARCHER)) == 0
    assert set(leases.annas[0].rater.assignments.values_list("state", flat=True)) == {"open"}


def test_withdrawn_work_is_not_counted_as_somebodys(leases: Leases, client_of: ClientOf) -> None:
    actions.remove_member(membership=leases.anna.memberships.get())

    page = client_of(leases.manager).get(reverse("annotation:study", args=[leases.study.slug]))

    assert [(item.rater.code, item.rows) for item in page.context["raters"]] == [("A1", 0), ("A2", 2), ("J1", 2)]
    assert [sheet.n_people for sheet in page.context["sheets"]] == [1]


def test_withdrawn_work_that_is_given_again_goes_on_where_it_was(leases: Leases) -> None:
    builders.label(leases.annas[0])
    actions.remove_member(membership=leases.anna.memberships.get())
    actions.add_member(study=leases.study, user=leases.anna, role=Role.ANNOTATOR)

    again = actions.assign(rater=leases.annas[0].rater, rows=leases.sheet.rows.all())

    assert {assignment.pk: assignment.state for assignment in again} == {
        leases.annas[0].pk: Assignment.State.STARTED,
        leases.annas[1].pk: Assignment.State.OPEN,
    }
    assert leases.annas[0].labels.count() == len(builders.COMPLETE)


def test_an_annotator_who_is_added_again_by_the_action_is_active(leases: Leases) -> None:
    actions.remove_member(membership=leases.anna.memberships.get())

    actions.add_member(study=leases.study, user=leases.anna, role=Role.ANNOTATOR)

    assert leases.study.raters.get(user=leases.anna).active


def test_an_annotator_who_is_invited_again_goes_on_as_the_same_rater(leases: Leases) -> None:
    actions.remove_member(membership=leases.anna.memberships.get())

    invite, _token = made(leases)
    actions.join(invite=invite, user=leases.anna)

    rater = leases.study.raters.get(user=leases.anna)
    assert (rater.code, rater.active) == ("A1", True)


def test_the_last_manager_cannot_be_removed(leases: Leases, client_of: ClientOf) -> None:
    membership = leases.manager.memberships.get(role=Role.MANAGER)
    url = reverse("annotation:remove-member", args=[leases.study.slug, membership.pk])

    page = client_of(leases.manager).post(url, follow=True).content.decode()

    assert "This is the last manager of the study." in page
    assert leases.manager.memberships.filter(role=Role.MANAGER).exists()


def test_a_manager_can_be_removed_when_there_is_another(leases: Leases) -> None:
    actions.add_member(study=leases.study, user=leases.stranger, role=Role.MANAGER)

    actions.remove_member(membership=leases.manager.memberships.get(role=Role.MANAGER))

    with pytest.raises(Refused, match="last manager"):
        actions.remove_member(membership=leases.stranger.memberships.get(role=Role.MANAGER))


def test_a_member_of_another_study_cannot_be_removed_from_here(leases: Leases, client_of: ClientOf) -> None:
    other = builders.study("other", of=leases.study.scheme, by=leases.stranger)
    membership = other.memberships.get(role=Role.RESEARCHER)

    response = client_of(leases.manager).post(
        reverse("annotation:remove-member", args=[leases.study.slug, membership.pk])
    )

    assert response.status_code == 404
    assert Membership.objects.filter(pk=membership.pk).exists()
