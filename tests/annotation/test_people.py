"""Inviting people, their first login, and taking roles away."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation import actions
from annotation.actions import Refused
from annotation.models import Assignment, Membership, Role, User
from tests import builders
from tests.builders import Leases

ClientOf = Callable[[User], Client]


def invite(client: Client, leases: Leases, username: str, role: Role = Role.ANNOTATOR) -> str:
    """The page that a manager sees after inviting."""
    url = reverse("annotation:people", args=[leases.study.slug])
    response = client.post(url, {"username": username, "email": "", "role": role.value}, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def link_in(client: Client, leases: Leases, username: str) -> str:
    url = reverse("annotation:people", args=[leases.study.slug])
    response = client.post(url, {"username": username, "email": "", "role": "annotator"}, follow=True)
    link = response.context["link"]
    assert link["username"] == username
    return str(link["url"])


def test_inviting_somebody_new_makes_an_account_and_a_rater(leases: Leases, client_of: ClientOf) -> None:
    invite(client_of(leases.manager), leases, "nina")

    nina = User.objects.get(username="nina")
    assert not nina.has_usable_password()
    assert leases.study.raters.get(user=nina).code == "A3"  # after Anna and Boris
    assert nina.memberships.get().role == Role.ANNOTATOR


def test_the_link_lets_a_new_account_choose_its_password(leases: Leases, client_of: ClientOf) -> None:
    link = link_in(client_of(leases.manager), leases, "nina")
    browser = Client()

    form = browser.get(link, follow=True)
    password = "a-long-phrase-of-ninas"
    browser.post(form.redirect_chain[-1][0], {"new_password1": password, "new_password2": password})

    assert Client().login(username="nina", password=password)


def test_the_link_works_once(leases: Leases, client_of: ClientOf) -> None:
    link = link_in(client_of(leases.manager), leases, "nina")
    browser = Client()
    form = browser.get(link, follow=True)
    password = "a-long-phrase-of-ninas"
    browser.post(form.redirect_chain[-1][0], {"new_password1": password, "new_password2": password})

    again = Client().get(link, follow=True)

    assert "was used already" in again.content.decode()


def test_the_link_is_shown_once(leases: Leases, client_of: ClientOf) -> None:
    manager = client_of(leases.manager)
    assert "/invited/" in invite(manager, leases, "nina")

    page = manager.get(reverse("annotation:people", args=[leases.study.slug])).content.decode()

    assert "/invited/" not in page


def test_no_link_is_shown_for_an_account_that_exists(leases: Leases, client_of: ClientOf) -> None:
    """Else the manager of any study could take over any account by inviting it."""
    page = invite(client_of(leases.manager), leases, "sam")

    assert "“sam” has an account already (sam@example.org) and is in now." in page
    assert "/invited/" not in page
    leases.stranger.refresh_from_db()
    assert leases.stranger.has_usable_password()


def test_inviting_does_not_change_the_email_of_an_account_that_exists(leases: Leases) -> None:
    actions.invite(study=leases.study, username="sam", email="thief@example.org", role=Role.ANNOTATOR)

    leases.stranger.refresh_from_db()
    assert leases.stranger.email == "sam@example.org"


def test_inviting_a_member_again_says_so(leases: Leases, client_of: ClientOf) -> None:
    page = invite(client_of(leases.manager), leases, "anna")

    assert "anna has that role in this study already." in page
    assert Membership.objects.filter(user=leases.anna).count() == 1


def test_inviting_a_member_to_a_second_role_keeps_the_first(leases: Leases, client_of: ClientOf) -> None:
    invite(client_of(leases.manager), leases, "anna", Role.RESEARCHER)

    assert set(leases.anna.memberships.values_list("role", flat=True)) == {"annotator", "researcher"}


def test_inviting_under_a_name_that_cannot_be_one_is_refused(leases: Leases, client_of: ClientOf) -> None:
    page = invite(client_of(leases.manager), leases, "no spaces please")

    assert "Enter a valid username" in page
    assert not User.objects.filter(username="no spaces please").exists()


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
    assert "anna lost that role; the labels stay. 2 clauses that were not submitted are taken back." in said
    assert sorted(leases.annas[0].rater.assignments.values_list("row__name", "state")) == [
        ("Clause 1", "submitted"),
        ("Clause 2", "withdrawn"),
        ("Clause 3", "withdrawn"),
    ]
    assert third.labels.count() == len(builders.COMPLETE)
    assert set(leases.boriss[0].rater.assignments.values_list("state", flat=True)) == {"open"}


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

    actions.invite(study=leases.study, username="anna", email="", role=Role.ANNOTATOR)

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


# --- who it is ------------------------------------------------------------------------------------------------------


def test_a_manager_sees_whom_a_known_name_let_in(leases: Leases, client_of: ClientOf) -> None:
    User.objects.filter(username="sam").update(first_name="Sam", last_name="Stone")

    page = invite(client_of(leases.manager), leases, "sam")

    assert "“sam” has an account already (Sam Stone, sam@example.org) and is in now." in page


def test_names_are_compared_as_accounts_store_them(leases: Leases) -> None:
    stored = User.objects.create_user("andré")  # one sign for the é

    user, created = actions.invite(study=leases.study, username="andre\u0301", email="", role=Role.ANNOTATOR)

    assert (user.pk, created) == (stored.pk, False)


# --- a new link -----------------------------------------------------------------------------------------------------


def ask_for_link(client: Client, leases: Leases, user: User) -> tuple[str, str | None]:
    """The page that a manager sees after asking for a new link, and the link."""
    membership = user.memberships.get(study=leases.study)
    url = reverse("annotation:new-link", args=[leases.study.slug, membership.pk])
    response = client.post(url, follow=True)
    link = response.context["link"]
    return response.content.decode(), link and link["url"]


def newcomer(leases: Leases, email: str = "") -> User:
    return actions.invite(study=leases.study, username="nina", email=email, role=Role.ANNOTATOR)[0]


def test_a_lost_link_is_made_again(leases: Leases, client_of: ClientOf) -> None:
    nina = newcomer(leases)

    page, link = ask_for_link(client_of(leases.manager), leases, nina)

    assert link is not None
    assert link in page
    assert "Choose a password" in Client().get(link, follow=True).content.decode()


def test_the_button_is_there_for_accounts_without_a_password(leases: Leases, client_of: ClientOf) -> None:
    newcomer(leases)

    page = client_of(leases.manager).get(reverse("annotation:people", args=[leases.study.slug])).content.decode()

    assert page.count("New link") == 1  # not for Anna, Boris, Mara and Rene


def test_no_link_into_an_account_with_a_password(leases: Leases, client_of: ClientOf) -> None:
    page, link = ask_for_link(client_of(leases.manager), leases, leases.anna)

    assert link is None
    assert "anna has a password already." in page


def test_no_link_into_an_account_of_another_study_too(leases: Leases, client_of: ClientOf) -> None:
    """Else the manager of any study could take over an account that another one just made."""
    nina = newcomer(leases)
    other = builders.study("other", of=leases.study.scheme)
    actions.add_member(study=other, user=nina, role=Role.RESEARCHER)

    page, link = ask_for_link(client_of(leases.manager), leases, nina)

    assert link is None
    assert "nina is let into more than this study." in page


@pytest.mark.parametrize("power", ["is_staff", "is_superuser"])
def test_no_link_into_an_account_of_an_administrator(leases: Leases, client_of: ClientOf, power: str) -> None:
    nina = newcomer(leases)
    User.objects.filter(pk=nina.pk).update(**{power: True})

    assert ask_for_link(client_of(leases.manager), leases, nina)[1] is None


@pytest.mark.django_db(transaction=True)
def test_the_link_is_sent_to_a_known_address(leases: Leases, client_of: ClientOf) -> None:
    nina = newcomer(leases, "nina@example.org")

    page, _link = ask_for_link(client_of(leases.manager), leases, nina)

    [sent] = mail.outbox
    assert sent.to == ["nina@example.org"]
    [link] = [line for line in sent.body.splitlines() if line.startswith("http")]
    assert "Choose a password" in Client().get(link, follow=True).content.decode()
    assert "The link was sent to nina@example.org too." in page


@pytest.mark.django_db(transaction=True)
def test_an_invitation_is_sent(leases: Leases, client_of: ClientOf) -> None:
    url = reverse("annotation:people", args=[leases.study.slug])

    client_of(leases.manager).post(url, {"username": "nina", "email": "nina@example.org", "role": "annotator"})

    assert [sent.to for sent in mail.outbox] == [["nina@example.org"]]


@pytest.mark.django_db(transaction=True)
def test_a_link_that_cannot_be_sent_is_shown_all_the_same(
    leases: Leases, client_of: ClientOf, settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1  # where nobody listens
    nina = newcomer(leases, "nina@example.org")

    page, link = ask_for_link(client_of(leases.manager), leases, nina)

    assert "The e-mail to nina@example.org could not be sent." in page
    assert link is not None


@pytest.mark.django_db(transaction=True)
def test_no_link_is_printed_where_no_mail_is_set_up(
    leases: Leases, client_of: ClientOf, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    nina = newcomer(leases, "nina@example.org")

    page, link = ask_for_link(client_of(leases.manager), leases, nina)

    assert link is not None
    assert "was sent" not in page
    assert "/invited/" not in capsys.readouterr().out
