"""Who comes for the first time: where each role lands, and the demo's tiles and its way through."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation import actions
from annotation.models import Assignment, AuditEvent, Role, User
from recipes import demo_logins
from recipes.memorization import demo_study
from tests import builders
from tests.builders import ClientOf, Leases

pytestmark = pytest.mark.once


def landing(client: Client) -> str:
    """The address of the page that “/” leads to."""
    answer = client.get("/")
    return answer["Location"] if answer.status_code == 302 else "/"


def test_without_an_address_each_role_lands_where_its_work_is(leases: Leases, client_of: ClientOf) -> None:
    anna, manager, researcher = (client_of(user) for user in (leases.anna, leases.manager, leases.researcher))
    assert "Continue" in anna.get("/").content.decode() or "Start" in anna.get("/").content.decode()
    assert landing(manager) == reverse("annotation:study", args=["leases"])
    assert landing(researcher) == reverse("reports:report", args=["leases"])


def test_who_may_make_studies_and_is_in_none_lands_where_the_first_is_made(db: None, client_of: ClientOf) -> None:
    """The owner of a new installation read that nothing was assigned to them."""
    owner, guest = builders.user("root", superuser=True), builders.user("guest")

    assert landing(client_of(owner)) == reverse("annotation:studies")
    assert landing(client_of(guest)) == "/"


def test_a_manager_with_work_of_their_own_lands_there_until_it_is_done(leases: Leases, client_of: ClientOf) -> None:
    actions.add_member(study=leases.study, user=leases.anna, role=Role.MANAGER)
    anna = client_of(leases.anna)
    assert landing(anna) == "/"
    Assignment.objects.of_user(leases.anna).update(state=Assignment.State.SUBMITTED, submitted_at=timezone.now())
    assert landing(anna) == reverse("annotation:study", args=["leases"])


def test_outside_of_a_demo_nobody_logs_in_without_a_password(demo_users: None, client: Client) -> None:
    assert client.post(reverse("annotation:demo-login", args=["manager"])).status_code == 404
    assert "manager" not in client.get(reverse("login")).content.decode()


@pytest.fixture
def demo_users(db: None) -> None:
    demo_study.build()


def test_the_password_of_the_demo_opens_nothing_elsewhere(demo_users: None, client: Client, settings: Settings) -> None:
    """Whoever went on with the demo's database in production had an owner whose password everybody may know."""
    sent = {"username": "administrator", "password": demo_logins.PASSWORD}

    assert "Please enter a correct username" in client.post(reverse("login"), sent).content.decode()
    assert client.post(reverse("api:token"), sent).status_code == 400
    assert AuditEvent.objects.filter(kind="login-failed").count() == 2
    settings.PALATE_ENV = "demo"
    assert client.post(reverse("login"), sent).status_code == 302


def test_production_makes_no_logins_of_the_demo(db: None, settings: Settings) -> None:
    settings.PALATE_ENV = "production"
    with pytest.raises(CommandError, match="a password that everybody may know"):
        call_command("build_demo")
    assert not User.objects.exists()


def test_the_tiles_of_the_demo_log_in_and_its_steps_tick_themselves(
    demo_users: None, client: Client, settings: Settings
) -> None:
    settings.PALATE_ENV = "demo"
    page = client.get(reverse("login")).content.decode()
    for name in demo_study.USERS:
        assert reverse("annotation:demo-login", args=[name]) in page
    plan = reverse("annotation:plan", args=["demo"])
    entered = client.post(reverse("annotation:demo-login", args=["manager"]), {"next": plan})
    assert entered["Location"] == plan
    assert "0 of 5" in client.get(reverse("annotation:studies")).content.decode()
    client.get(plan)
    assert "1 of 5" in client.get(reverse("annotation:studies")).content.decode()
    client.post(reverse("logout"))
    client.post(reverse("annotation:demo-login", args=["annotator"]))
    assert "1 of 5" in client.get("/").content.decode()  # whoever one is by now


def test_a_tile_leads_nowhere_else_and_to_nobody_else(demo_users: None, client: Client, settings: Settings) -> None:
    settings.PALATE_ENV = "demo"
    User.objects.create_user("carla", password="x")
    assert client.post(reverse("annotation:demo-login", args=["carla"])).status_code == 404
    answer = client.post(reverse("annotation:demo-login", args=["researcher"]), {"next": "https://evil.example/"})
    assert answer["Location"] == "/"


def test_the_end_of_a_sheet_says_so_and_leads_to_the_next_one(leases: Leases, client_of: ClientOf) -> None:
    anna, following = client_of(leases.anna), builders.sheet(leases.study, "Later", duties=["Pay"], n_rows=2)
    builders.assignments(leases.annas[0].rater, following)
    done = []
    for assignment in leases.annas:
        builders.label(assignment)
        answer = anna.post(reverse("annotation:submit", args=[assignment.pk])).json()
        done.append(answer.get("done"))
    assert done[:-1] == [None] * (len(leases.annas) - 1)
    assert "all 2 clauses are submitted" in done[-1]["sentence"]
    assert done[-1]["links"][0] == {
        "label": "Next: Later (2 to submit)",
        "url": reverse("annotation:sheet", args=[following.pk]),
    }
