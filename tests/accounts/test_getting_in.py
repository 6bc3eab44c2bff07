"""Who gets in: by a password within limits, by single sign-on, with a second factor, by bound invitations."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core import mail
from django.core.cache import cache
from django.core.handlers.base import BaseHandler
from django.core.signals import request_finished
from django.db import close_old_connections
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts import actions as accounts
from accounts.models import ApiToken
from annotation import actions
from annotation.models import Attempt, AuditEvent, Invite, Role, User
from annotation.people.address import client_address
from tests import builders
from tests.accounts.provider import CLIENT, SECRET, Provider, followed, running
from tests.builders import ClientOf, Leases

pytestmark = [pytest.mark.django_db, pytest.mark.once]
PASSWORD = "a long enough Password 7"


def log_in(client: Client, name: str, password: str, **more: str) -> HttpResponse:
    return client.post(reverse("login"), {"username": name, "password": password}, **more)  # type: ignore[return-value]


def again(client: Client, password: str) -> None:
    """Say the password once more, as before what protects an account is changed."""
    client.post(reverse("account_reauthenticate"), {"password": password})


def is_in(client: Client) -> bool:
    return client.get(reverse("accounts:account")).status_code == 200


def kinds() -> list[str]:
    return list(AuditEvent.objects.order_by("pk").values_list("kind", flat=True))


def code_now(secret: str, *, later: int = 0) -> str:
    """What an app shows, `later` periods from now."""
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + later))


def set_up_totp(client: Client, password: str = "") -> str:
    """Set up an app that shows codes; returns its secret. Who has a password is asked for it again. A period in which
    a slow machine would not come to an end is waited for: the code before this one is taken no longer in the next."""
    if (left := 30 - time.time() % 30) < 8:
        time.sleep(left)
    if password:
        asked = client.get(reverse("mfa_activate_totp"))
        assert asked["Location"].startswith(reverse("account_reauthenticate"))
        client.post(asked["Location"], {"password": password})
    page = client.get(reverse("mfa_activate_totp"), follow=True).content.decode()
    [secret] = re.findall(r'id="secret">([A-Z2-7]+)<', page)
    response = client.post(reverse("mfa_activate_totp"), {"code": code_now(secret, later=-1)})
    assert response.status_code == 302, response.content.decode()[-900:]
    return secret


@pytest.fixture(autouse=True)
def _no_counts() -> None:
    cache.clear()  # allauth's own: of codes that were used


# --- passwords ------------------------------------------------------------------------------------------------------


def test_a_password_lets_in_and_is_logged(leases: Leases, client: Client) -> None:
    assert log_in(client, "anna", "wrong").status_code == 200
    assert log_in(client, "anna", "anna")["Location"] == "/"

    assert is_in(client)
    failed, entered = AuditEvent.objects.filter(kind__startswith="login").order_by("pk")
    assert (failed.kind, failed.of, failed.by, failed.what) == ("login-failed", leases.anna.pk, None, "")
    assert (entered.kind, entered.by, entered.address) == ("login", leases.anna.pk, "127.0.0.1")


def test_a_refused_form_is_heard(leases: Leases, client: Client) -> None:
    """By the title, which is read first, and by an alert of what is said of the whole form."""
    assert "<title>Log in · Palate</title>" in client.get(reverse("login")).content.decode()
    refused = log_in(client, "anna", "wrong").content.decode()
    assert "<title>Error: Log in · Palate</title>" in refused
    assert '<div role="alert"><ul class="errorlist nonfield">' in refused
    missing = log_in(client, "anna", "").content.decode()
    assert "<title>Error: Log in · Palate</title>" in missing
    assert '<ul class="errorlist" id="id_password_error">' in missing


def test_after_ten_wrong_passwords_the_right_one_waits(leases: Leases, client: Client) -> None:
    for _time in range(10):
        log_in(client, "anna", "wrong")

    refused = log_in(client, "anna", "anna")

    assert "Too many attempts. Try again in 15 minutes." in refused.content.decode()
    assert not is_in(client)
    log_in(client, "anna", "anna")
    assert kinds()[-11:] == ["login-failed"] * 10 + ["login-limited"]  # once, however often it is tried
    assert AuditEvent.objects.latest("pk").of == leases.anna.pk
    # From another address she still gets in; a quarter of an hour later from this one too.
    assert log_in(Client(REMOTE_ADDR="192.0.2.7"), "anna", "anna").status_code == 302
    Attempt.objects.update(at=timezone.now() - timedelta(minutes=15, seconds=1))
    assert log_in(client, "anna", "anna").status_code == 302


def test_one_account_is_not_guessed_from_many_addresses(leases: Leases, settings: Settings) -> None:
    settings.PALATE_LOGIN_TRIES_ACCOUNT = 3
    for n in range(3):
        log_in(Client(REMOTE_ADDR=f"192.0.2.{n}"), "anna", "wrong")

    stranger = Client(REMOTE_ADDR="192.0.2.9")
    log_in(stranger, "ANNA", "wrong")  # one try is left to each address
    assert "Too many attempts" in log_in(stranger, "ANNA", "anna").content.decode()
    for n in range(3, 29):
        log_in(Client(REMOTE_ADDR=f"198.51.100.{n}"), "anna", "wrong")
    assert "Too many attempts" in log_in(Client(REMOTE_ADDR="203.0.113.1"), "anna", "anna").content.decode()


def test_guessing_from_many_addresses_does_not_lock_the_owner_out(leases: Leases, settings: Settings) -> None:
    settings.PALATE_LOGIN_TRIES_ACCOUNT = 3
    home = {"REMOTE_ADDR": "198.51.100.200"}
    assert log_in(Client(**home), "anna", "anna").status_code == 302

    def guess() -> None:
        for n in range(40):  # also past the hard limit
            log_in(Client(REMOTE_ADDR=f"192.0.2.{n}"), "anna", "wrong")

    guess()
    log_in(Client(**home), "anna", "mistyped")
    assert log_in(Client(**home), "anna", "anna").status_code == 302
    # From an address of which nothing is known she has one try, as long as the hard limit is not reached.
    for n in range(5):
        log_in(Client(REMOTE_ADDR=f"192.0.2.{n}"), "anna", "wrong")
    assert log_in(Client(REMOTE_ADDR="203.0.113.9"), "anna", "anna").status_code == 302
    # What is known of one account lets nobody guess another one.
    for n in range(40):
        log_in(Client(REMOTE_ADDR=f"192.0.2.{n}"), "boris", "wrong")
    assert "Too many attempts" in log_in(Client(**home), "boris", "boris").content.decode()


def test_a_network_of_ipv6_is_one_address_and_all_of_ipv4_is_none(leases: Leases, settings: Settings) -> None:
    settings.PALATE_LOGIN_TRIES, settings.PALATE_LOGIN_TRIES_ACCOUNT = 3, 3
    assert log_in(Client(REMOTE_ADDR="2001:db8:0:7::1"), "anna", "anna").status_code == 302
    for n in range(4):
        log_in(Client(REMOTE_ADDR=f"2001:db8:0:8::{n}"), "anna", "wrong")

    # Each of the guesser's addresses is the same one; hers changes by the hour and is known all the same.
    assert "Too many" in log_in(Client(REMOTE_ADDR="2001:db8:0:8:9:9:9:9"), "anna", "anna").content.decode()
    log_in(Client(REMOTE_ADDR="2001:db8:0:7:aa::"), "anna", "mistyped")
    assert log_in(Client(REMOTE_ADDR="2001:db8:0:7:bb::"), "anna", "anna").status_code == 302
    # As a socket that listens to both protocols has it, IPv4 lies in one network of IPv6.
    for _time in range(4):
        log_in(Client(REMOTE_ADDR="::ffff:192.0.2.1"), "boris", "wrong")
    assert "Too many" in log_in(Client(REMOTE_ADDR="192.0.2.1"), "boris", "boris").content.decode()
    assert log_in(Client(REMOTE_ADDR="::ffff:192.0.2.2"), "boris", "boris").status_code == 302


def test_one_address_does_not_guess_many_accounts(leases: Leases, client: Client, settings: Settings) -> None:
    settings.PALATE_LOGIN_TRIES_ADDRESS = 3
    for n in range(3):
        log_in(client, f"nobody-{n}", "wrong")

    assert "Too many attempts" in log_in(client, "anna", "anna").content.decode()
    # All addresses of one IPv6 network count as one.
    for n in range(3):
        log_in(Client(REMOTE_ADDR=f"2001:db8::{n}"), f"no-{n}", "wrong")
    assert "Too many" in log_in(Client(REMOTE_ADDR="2001:db8::ffff"), "anna", "anna").content.decode()


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "198.51.100.1", "192.0.2.1"),
        (1, "198.51.100.1, 203.0.113.5", "203.0.113.5"),
        (2, "198.51.100.1, 203.0.113.5", "198.51.100.1"),
        (2, "203.0.113.5", "192.0.2.1"),
        (1, "203.0.113.5:51234", "203.0.113.5"),
        (1, "[2001:db8::1]:51234", "2001:db8::1"),
        (1, "2001:db8::1", "2001:db8::1"),
        (1, "::ffff:203.0.113.5", "203.0.113.5"),
        (1, "nonsense", "192.0.2.1"),
    ],
)
def test_the_address_is_the_one_that_our_outermost_proxy_saw(
    settings: Settings, rf: object, proxies: int, forwarded: str, address: str
) -> None:
    settings.PALATE_PROXIES = proxies
    request = rf.get("/", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=forwarded)  # type: ignore[attr-defined]
    assert client_address(request) == address


# --- second factors -------------------------------------------------------------------------------------------------


def test_a_second_factor_outlives_its_key_while_that_is_known(
    leases: Leases, client_of: ClientOf, settings: Settings
) -> None:
    secret = set_up_totp(client_of(leases.anna), "anna")
    earlier, settings.SECRET_KEY = settings.SECRET_KEY, "another key"
    client = Client()
    log_in(client, "anna", "anna")
    answer = client.post(reverse("mfa_authenticate"), {"code": code_now(secret)})
    assert "Your second factor cannot be read here any more. Ask an owner" in answer.content.decode()
    settings.SECRET_KEY_FALLBACKS = [earlier]
    client.post(reverse("mfa_authenticate"), {"code": code_now(secret)})
    assert is_in(client)
    # A page that shows what is encrypted says it too.
    settings.SECRET_KEY_FALLBACKS = []
    answer = client.get(reverse("mfa_index"))
    assert (answer.status_code, "cannot be read here" in answer.content.decode()) == (403, True)


@pytest.mark.django_db(transaction=True)  # allauth tells of a second factor once it is committed
def test_with_a_second_factor_the_password_alone_opens_nothing(leases: Leases, client: Client) -> None:
    log_in(client, "anna", "anna")
    secret = set_up_totp(client, "anna")
    stored = Authenticator.objects.get(user=leases.anna, type="totp").data["secret"]
    assert secret not in stored
    other = Client()

    assert log_in(other, "anna", "anna")["Location"] == reverse("mfa_authenticate")
    assert not is_in(other)
    assert other.post(reverse("mfa_authenticate"), {"code": "000000"}).status_code == 200
    assert not is_in(other)
    other.post(reverse("mfa_authenticate"), {"code": code_now(secret)})
    assert is_in(other)
    # The same code does not work twice.
    third = Client()
    log_in(third, "anna", "anna")
    third.post(reverse("mfa_authenticate"), {"code": code_now(secret)})
    assert not is_in(third)
    factors = AuditEvent.objects.filter(kind="second-factor").order_by("pk").values_list("what", flat=True)
    assert list(factors) == ["+totp", "+recovery_codes", "wrong code", "wrong code"]
    assert mail.outbox[-1].to == ["anna@example.org"]


@pytest.mark.django_db(transaction=True)
def test_a_token_for_a_password_alone_ends_with_the_second_factor(leases: Leases, client: Client) -> None:
    """Who had found a password out kept what it opens for 90 days."""
    key = client.post(reverse("api:token"), {"username": "anna", "password": "anna"}).json()["token"]
    own = accounts.make_token(user=leases.anna, name="laptop", days=1)[1]
    log_in(client, "anna", "anna")

    set_up_totp(client, "anna")

    outcomes = []
    for sent in (key, own):
        program = APIClient()
        program.credentials(HTTP_AUTHORIZATION=f"Token {sent}")
        outcomes.append(program.get(reverse("api:root")).status_code)
    assert outcomes == [401, 200]


def test_codes_are_not_guessed(leases: Leases, client: Client) -> None:
    log_in(client, "anna", "anna")
    secret = set_up_totp(client, "anna")
    other = Client()
    log_in(other, "anna", "anna")
    for _time in range(10):
        other.post(reverse("mfa_authenticate"), {"code": "000000"})

    page = other.post(reverse("mfa_authenticate"), {"code": code_now(secret)}).content.decode()

    assert "Too many attempts." in page
    assert not is_in(other)


def test_the_code_that_showed_an_app_to_be_set_up_logs_nobody_in(leases: Leases, client: Client) -> None:
    log_in(client, "anna", "anna")
    secret = set_up_totp(client, "anna")

    log_in(other := Client(), "anna", "anna")
    other.post(reverse("mfa_authenticate"), {"code": code_now(secret, later=-1)})

    assert not is_in(other)
    other.post(reverse("mfa_authenticate"), {"code": code_now(secret)})
    assert is_in(other)


@pytest.mark.django_db(transaction=True)  # mails wait for the commit
def test_a_second_factor_is_set_up_though_the_mail_server_is_away(
    leases: Leases, client: Client, settings: Settings
) -> None:
    """Who sets one up is written to."""
    log_in(client, "anna", "anna")
    settings.EMAIL_BACKEND = "nowhere.EmailBackend"

    set_up_totp(client, "anna")

    assert Authenticator.objects.filter(user=leases.anna, type="totp").exists()
    assert client.get(reverse("mfa_view_recovery_codes")).status_code == 200


def test_a_recovery_code_works_once(leases: Leases, client: Client) -> None:
    log_in(client, "anna", "anna")
    set_up_totp(client, "anna")
    page = client.get(reverse("mfa_view_recovery_codes")).content.decode()
    code = re.findall(r"<li>(\d{8})</li>", page)[0]
    outcomes = []
    for _time in range(2):
        other = Client()
        log_in(other, "anna", "anna")
        other.post(reverse("mfa_authenticate"), {"code": code})
        outcomes.append(is_in(other))

    assert outcomes == [True, False]


def test_a_role_may_need_a_second_factor(leases: Leases, client_of: ClientOf, settings: Settings) -> None:
    settings.PALATE_SECOND_FACTOR = ["manager"]
    manager, anna = Client(), Client()
    log_in(manager, "mara", "mara")
    log_in(anna, "anna", "anna")

    assert anna.get("/").status_code == 200
    assert manager.get("/")["Location"] == reverse("mfa_index")
    assert manager.get(reverse("api:studies")).status_code == 403
    assert manager.post(reverse("annotation:pay", args=["leases"])).status_code == 403
    elsewhere = Client()
    log_in(elsewhere, "mara", "mara")
    again(elsewhere, "mara")
    token = elsewhere.post(reverse("accounts:account"), {"name": "x", "days": "30"})
    assert token["Location"] == reverse("mfa_index")
    assert manager.post(reverse("api:token"), {"username": "mara", "password": "mara"}).status_code == 403
    program = APIClient()
    program.credentials(HTTP_AUTHORIZATION=f"Token {accounts.make_token(user=leases.manager, name='x', days=1)[1]}")
    refused = program.get(reverse("api:root"))
    assert (refused.status_code, refused.json()["detail"][:34]) == (403, "Your role needs a second factor. S")
    set_up_totp(manager, "mara")
    assert manager.get(reverse("annotation:my-work")).status_code == 200
    assert program.get(reverse("api:root")).status_code == 200
    # Taken away in another session, it is missed in this one.
    Authenticator.objects.filter(user=leases.manager).delete()
    assert manager.get("/")["Location"] == reverse("mfa_index")


def test_the_administration_has_no_door_beside_the_second_factor(client: Client) -> None:
    User.objects.create_superuser("root", password="root")
    response = client.post("/admin/login/", {"username": "root", "password": "root", "next": "/admin/"})

    assert response["Location"].startswith(reverse("login"))
    assert client.get("/admin/").status_code == 302


# --- sessions -------------------------------------------------------------------------------------------------------


def test_other_sessions_are_listed_and_ended(leases: Leases) -> None:
    here, there = Client(HTTP_USER_AGENT="Here 1"), Client(HTTP_USER_AGENT="There 2")
    for client in (here, there):
        log_in(client, "anna", "anna")

    page = here.get(reverse("usersessions_list")).content.decode()
    here.post(reverse("usersessions_list"))

    assert "Here 1" in page
    assert "There 2" in page
    assert is_in(here)
    assert not is_in(there)


# --- single sign-on -------------------------------------------------------------------------------------------------


@pytest.fixture
def provider(settings: Settings) -> Iterator[Provider]:
    with running() as found:
        settings.OIDC_SERVER_URL = found.url
        settings.OIDC_NAME = "University"
        app = {"provider_id": "sso", "name": "University", "client_id": CLIENT, "secret": SECRET}
        app["settings"] = {"server_url": found.url, "oauth_pkce_enabled": True}  # type: ignore[assignment]
        settings.SOCIALACCOUNT_PROVIDERS = {
            "openid_connect": {**settings.SOCIALACCOUNT_PROVIDERS["openid_connect"], "APPS": [app]}
        }
        found.person = {
            "sub": "4711",
            "preferred_username": "nina",
            "email": "nina@example.org",
            "email_verified": True,
        }
        yield found


def sign_on(client: Client, there: str = "") -> HttpResponse:
    """Press the button, go to the provider and come back."""
    pressed = client.post(reverse("openid_connect_login", args=["sso"]), query_params={"next": there} if there else {})
    back = followed(pressed["Location"])
    return client.get(back.removeprefix("http://testserver"))  # type: ignore[return-value]


def shown(client: Client) -> str:
    """What the log-in page says."""
    return client.get(reverse("login")).content.decode()


def test_single_sign_on_with_an_invitation_and_two_factors(
    leases: Leases, provider: Provider, settings: Settings
) -> None:
    settings.PALATE_SECOND_FACTOR = ["annotator"]
    _invite, token = actions.invite(study=leases.study, role=Role.ANNOTATOR, by=leases.manager)
    link = reverse("annotation:join", args=[token])
    client = Client()
    assert "Log in with University" in client.get(link).content.decode()

    assert sign_on(client, link)["Location"] == reverse("annotation:home")
    nina = User.objects.get(username="nina")
    assert not nina.has_usable_password()
    assert nina.memberships.get().study == leases.study
    # Her role needs a second factor; single sign-on alone does not do after that.
    assert client.get("/")["Location"] == reverse("mfa_index")
    secret = set_up_totp(client)
    assert client.get("/").status_code == 200
    again = Client()
    assert sign_on(again)["Location"] == reverse("mfa_authenticate")
    assert not is_in(again)
    again.post(reverse("mfa_authenticate"), {"code": code_now(secret)})
    assert is_in(again)
    assert User.objects.filter(username__startswith="nina").count() == 1


def test_a_closed_account_is_told_so_by_single_sign_on(leases: Leases, provider: Provider) -> None:
    """“This account is inactive.” says neither who did that, nor whom to ask."""
    _invite, token = actions.invite(study=leases.study, role=Role.ANNOTATOR, by=leases.manager)
    sign_on(Client(), reverse("annotation:join", args=[token]))
    owner = builders.user("root", superuser=True)
    accounts.set_active(user=User.objects.get(username="nina"), active=False, by=owner)
    client = Client()
    there = sign_on(client)["Location"]
    assert not is_in(client)
    said = client.get(there).content.decode()
    assert "An owner of the installation has closed it. What you labelled is safe." in said


def test_who_presses_the_button_of_a_provider_that_is_away_is_told(provider: Provider, settings: Settings) -> None:
    [app] = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
    app["settings"]["server_url"] = "http://127.0.0.1:9"

    page = Client().post(reverse("openid_connect_login", args=["sso"]), follow=True)

    assert page.redirect_chain == [(reverse("login"), 302)]
    assert "Single sign-on does not answer." in page.content.decode()


def test_one_invitation_makes_one_account(leases: Leases, provider: Provider) -> None:
    """Two who follow the same link at once: the account and its role come together, or neither."""
    invite, token = actions.invite(study=leases.study, role=Role.ANNOTATOR, by=leases.manager)
    link = reverse("annotation:join", args=[token])
    first, second = Client(), Client()
    sign_on(first, link)
    provider.person |= {"sub": "4712", "preferred_username": "olga", "email": "olga@example.org"}
    sign_on(second, link)

    assert is_in(first)
    assert not is_in(second)
    invite.refresh_from_db()
    assert invite.used_by == User.objects.get(email="nina@example.org")
    assert not User.objects.filter(email="olga@example.org").exists()


def test_of_two_who_use_an_invitation_at_once_one_gets_an_account(
    leases: Leases, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second is let past the first look, as when both came in the same moment."""
    invite, token = actions.invite(study=leases.study, role=Role.ANNOTATOR, by=leases.manager)
    link = reverse("annotation:join", args=[token])
    actions.join(invite=invite, user=leases.stranger)
    monkeypatch.setattr("accounts.adapters.invitation_at", lambda _url: invite)
    client = Client()

    assert sign_on(client, link)["Location"] == reverse("login")
    assert "This link was used already" in client.get(reverse("login")).content.decode()
    assert not User.objects.filter(email="nina@example.org").exists()


def test_single_sign_on_does_not_pass_a_bound_invitation_by(
    leases: Leases, provider: Provider, client_of: ClientOf
) -> None:
    link, client = bound(leases, client_of), Client()
    sign_on(client, link)
    assert not User.objects.filter(email="nina@example.org").exists()

    client.post(link)
    [code] = re.findall(r"is (\d{6})\.", mail.outbox[-1].body)
    client.post(link, {"code": code})
    sign_on(client, link)
    assert User.objects.get(email="nina@example.org").memberships.get().study == leases.study


def test_who_is_not_invited_gets_no_account(leases: Leases, provider: Provider, settings: Settings) -> None:
    page = sign_on(Client())

    assert "Accounts are made by invitation." in page.content.decode()
    assert not User.objects.filter(email="nina@example.org").exists()
    invite, token = actions.invite(study=leases.study, role=Role.ANNOTATOR, by=leases.manager)
    actions.revoke_invite(invite=invite, by=leases.manager)
    sign_on(Client(), reverse("annotation:join", args=[token]))
    assert not User.objects.filter(email="nina@example.org").exists()
    settings.OIDC_ADMITS = "everybody"
    client = Client()
    sign_on(client)
    assert is_in(client)


def test_an_address_that_is_known_opens_no_account_that_is_not_connected(
    leases: Leases, provider: Provider, settings: Settings
) -> None:
    settings.OIDC_ADMITS = "everybody"
    provider.person["email"] = "anna@example.org"
    User.objects.filter(pk=leases.anna.pk).update(email="Anna@Example.org")
    client = Client()

    assert sign_on(client)["Location"] == reverse("login")
    assert "An account here has your address already." in client.get(reverse("login")).content.decode()
    log_in(client, "anna", "anna")
    again(client, "anna")
    pressed = client.post(reverse("openid_connect_login", args=["sso"]), query_params={"process": "connect"})
    client.get(followed(pressed["Location"]).removeprefix("http://testserver"))
    other = Client()
    sign_on(other)
    assert other.get("/").context["user"] == leases.anna


def test_a_token_for_somebody_else_opens_nothing(leases: Leases, provider: Provider, settings: Settings) -> None:
    settings.OIDC_ADMITS = "everybody"
    provider.audience = "another site"
    client = Client()

    sign_on(client)

    assert not is_in(client)
    assert not User.objects.filter(email="nina@example.org").exists()


UNUSABLE: dict[str, tuple[dict[str, object], str]] = {
    "no sub": ({"sub": None}, "sub is missing"),
    "an empty sub": ({"sub": ""}, "sub is missing"),
    "a sub that is a list": ({"sub": ["4711"]}, "sub is not text"),
    "a sub that is true": ({"sub": True}, "sub is not text"),
    "a sub without end": ({"sub": "4" * 192}, "sub is longer than 191 characters"),
    "an address that is a list": ({"email": ["nina@example.org"]}, "email is not text"),
    "an address that is an object": ({"email": {"work": "nina@example.org"}}, "email is not text"),
    "verified as text": ({"email_verified": "false"}, "email_verified is not true or false"),
    "verified as a number": ({"email_verified": 1}, "email_verified is not true or false"),
    "a name that is a number": ({"name": 4711}, "name is not text"),
    "a given name that is a list": ({"given_name": ["Nina"]}, "given_name is not text"),
    "a family name that is an object": ({"family_name": {"en": "Novak"}}, "family_name is not text"),
    "a user name that is a number": ({"preferred_username": 4711}, "preferred_username is not text"),
    "a user name without end": (
        {"preferred_username": "n" * 10_000},
        "preferred_username is longer than 300 characters",
    ),
    "a name without end": ({"name": "N" * 10_000}, "name is longer than 300 characters"),
    "a NUL in a name": ({"name": "Ni\0na"}, "name has signs that cannot be stored"),
    "half a sign in what is not read": ({"groups": [{"of": "\ud83d"}]}, "groups has signs that cannot be stored"),
    "no number": ({"age": float("nan")}, "age is not a number"),
}


@pytest.mark.parametrize("claims", UNUSABLE)
@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
@pytest.mark.sample(10)
def test_claims_that_cannot_be_used_open_nothing_and_are_told(
    leases: Leases, provider: Provider, settings: Settings, caplog: pytest.LogCaptureFixture, claims: str, known: bool
) -> None:
    caplog.set_level(logging.WARNING)
    settings.OIDC_ADMITS = "everybody"
    settings.SOCIALACCOUNT_EMAIL_AUTHENTICATION = True
    if known:
        sign_on(Client())
    accounts_before = User.objects.count()
    changed, reason = UNUSABLE[claims]
    provider.person |= changed
    if provider.person["sub"] is None:
        del provider.person["sub"]
    client = Client()

    answer = sign_on(client)

    assert (answer.status_code, answer["Location"]) == (302, reverse("login"))
    assert "Single sign-on sent something about you that cannot be used here." in shown(client)
    assert not is_in(client)
    assert User.objects.count() == accounts_before
    event = AuditEvent.objects.latest("pk")
    assert (event.kind, event.what) == ("login-failed", f"single sign-on: {reason}")
    assert reason in caplog.text


def test_an_address_that_is_called_verified_in_a_text_opens_no_account(
    leases: Leases, provider: Provider, settings: Settings
) -> None:
    settings.OIDC_ADMITS = "everybody"
    settings.SOCIALACCOUNT_EMAIL_AUTHENTICATION = True
    User.objects.filter(pk=leases.anna.pk).update(email="anna@example.org")
    EmailAddress.objects.create(user=leases.anna, email="anna@example.org", verified=True, primary=True)
    provider.person |= {"email": "anna@example.org", "email_verified": "false"}
    client = Client()

    sign_on(client)

    assert not is_in(client)


def test_claims_that_are_null_are_as_if_they_were_not_there(
    leases: Leases, provider: Provider, settings: Settings
) -> None:
    settings.OIDC_ADMITS = "everybody"
    provider.person |= {"email": None, "email_verified": None, "name": None, "preferred_username": None}
    client = Client()

    sign_on(client)

    assert is_in(client)


def test_a_name_that_an_account_does_not_hold_is_cut(leases: Leases, provider: Provider, settings: Settings) -> None:
    settings.OIDC_ADMITS = "everybody"
    provider.person |= {"preferred_username": "n" * 300, "name": "N" * 300}

    sign_on(Client())

    nina = User.objects.get(email="nina@example.org")
    assert (nina.username, nina.first_name) == ("n" * 150, "N" * 150)


@pytest.mark.parametrize("userinfo", [["nina"], "nina", 4711, []], ids=str)
def test_who_is_told_of_in_no_object_is_not_let_in(
    leases: Leases, provider: Provider, settings: Settings, userinfo: object
) -> None:
    settings.OIDC_ADMITS = "everybody"
    provider.userinfo = userinfo
    client = Client()

    assert sign_on(client)["Location"] == reverse("login")
    assert "cannot be used here" in shown(client)
    assert not is_in(client)
    assert AuditEvent.objects.latest("pk").what == "single sign-on: its userinfo is not an object"


def test_what_is_told_of_somebody_else_opens_nothing(leases: Leases, provider: Provider, settings: Settings) -> None:
    settings.OIDC_ADMITS = "everybody"
    provider.userinfo = provider.person | {"sub": "4712"}
    client = Client()

    assert sign_on(client)["Location"] == reverse("login")
    assert not is_in(client)
    assert AuditEvent.objects.latest("pk").what == "single sign-on: its userinfo and its ID token are of two people"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"access_token": ["x"]}, "its token answer has no access_token"),
        ({"expires_in": "soon"}, "expires_in is no number of seconds"),
        ({"expires_in": 10**30}, "expires_in is no number of seconds"),
        ({"id_token": 4711}, "its ID token is not valid"),
        ({"id_token": "a.b.c"}, "its ID token is not valid"),
        ({"refresh_token": ["x"]}, None),
    ],
    ids=str,
)
@pytest.mark.sample(3)
def test_an_answer_with_wrong_tokens_is_told(
    leases: Leases, provider: Provider, settings: Settings, answer: dict[str, object], reason: str | None
) -> None:
    settings.OIDC_ADMITS = "everybody"
    provider.token_answer = answer
    client = Client()

    sign_on(client)

    assert is_in(client) == (reason is None)
    if reason:
        assert "cannot be used here" in shown(client)
        assert AuditEvent.objects.latest("pk").what == f"single sign-on: {reason}"


def test_a_provider_that_does_not_say_where_it_is_asked_is_told_of(provider: Provider) -> None:
    provider.discovered = {"authorization_endpoint": None}

    page = Client().post(reverse("openid_connect_login", args=["sso"]), follow=True)

    assert page.redirect_chain == [(reverse("login"), 302)]
    assert "Single sign-on does not say where it is asked." in page.content.decode()


def test_who_comes_back_when_the_provider_is_away_is_told(provider: Provider) -> None:
    provider.discovered = {"token_endpoint": "http://127.0.0.1:9/token"}
    client = Client()

    assert sign_on(client)["Location"] == reverse("login")
    assert "Single sign-on does not answer." in shown(client)


# --- invitations that are bound to an address -----------------------------------------------------------------------


def bound(leases: Leases, client_of: ClientOf) -> str:
    data = {"role": "annotator", "email": "nina@example.org", "days": 7, "bound": "on"}
    client_of(leases.manager).post(reverse("annotation:people", args=[leases.study.slug]), data)
    [link] = re.findall(r"http://testserver(/join/\S+)", mail.outbox[-1].body)
    return str(link)


def test_a_bound_invitation_asks_for_the_code_that_was_mailed(leases: Leases, client_of: ClientOf) -> None:
    link = bound(leases, client_of)
    client = Client()
    account = {"username": "nina", "password1": PASSWORD, "password2": PASSWORD}
    assert "This invitation is for one e-mail address." in client.get(link).content.decode()
    client.post(link, account)  # nothing but another code
    assert not User.objects.filter(username="nina").exists()
    [code] = re.findall(r"is (\d{6})\.", mail.outbox[-1].body)
    assert mail.outbox[-1].to == ["nina@example.org"]

    wrong = client.post(link, {"code": f"{(int(code) + 1) % 10**6:06}"})
    elsewhere = Client().post(link, {"code": code})
    client.post(link, {"code": code})
    client.post(link, account)

    for refused in (wrong, elsewhere):
        assert "That is not the code that was sent" in refused.content.decode()
    assert User.objects.get(username="nina").memberships.get().study == leases.study


def test_the_action_refuses_who_has_not_shown_the_address(leases: Leases, client_of: ClientOf) -> None:
    bound(leases, client_of)
    with pytest.raises(actions.Refused, match="for one address"):
        actions.join(invite=Invite.objects.get(), user=leases.stranger)


def test_an_invitation_without_an_address_is_not_bound(leases: Leases, client_of: ClientOf) -> None:
    url = reverse("annotation:people", args=[leases.study.slug])
    page = client_of(leases.manager).post(url, {"role": "annotator", "email": "", "days": 7, "bound": "on"})

    assert "Say for which address." in page.content.decode()
    assert not Invite.objects.exists()


# --- an address that must be confirmed ------------------------------------------------------------------------------


def test_an_address_is_confirmed_before_the_account_opens(leases: Leases, settings: Settings) -> None:
    settings.PALATE_CONFIRM_EMAIL = True
    client = Client()

    assert log_in(client, "anna", "anna")["Location"] == reverse("account_email_verification_sent")
    assert not is_in(client)
    [link] = re.findall(r"http://testserver(/account/email/\S+)", mail.outbox[-1].body)
    client.post(link)
    log_in(client, "anna", "anna")
    assert is_in(client)


def test_who_has_not_confirmed_the_address_makes_no_token(
    leases: Leases, settings: Settings, client_of: ClientOf
) -> None:
    settings.PALATE_CONFIRM_EMAIL = True
    anna, asked = client_of(leases.anna), {"username": "anna", "password": "anna"}

    refused = Client().post("/api/v1/token/", asked)
    assert (refused.status_code, "Confirm your e-mail address" in refused.json()["detail"]) == (403, True)
    again = anna.post(reverse("accounts:account"), {"name": "laptop", "days": 30})["Location"]
    page = anna.post(again, {"password": "anna"}, follow=True)
    assert "Confirm your e-mail address" in page.content.decode()
    EmailAddress.objects.create(user=leases.anna, email=leases.anna.email, verified=True, primary=True)
    assert Client().post("/api/v1/token/", asked).status_code == 200


def test_a_forgotten_password_is_set_anew_by_mail(leases: Leases) -> None:
    client = Client()
    accounts.make_token_by_password(user=leases.anna)
    client.post(reverse("account_reset_password"), {"email": "anna@example.org"})
    [link] = re.findall(r"http://testserver(/account/password/\S+)", mail.outbox[-1].body)

    page = client.get(link, follow=True)
    client.post(page.request["PATH_INFO"], {"password1": PASSWORD, "password2": PASSWORD})

    assert log_in(Client(), "anna", PASSWORD).status_code == 302
    assert not ApiToken.objects.live().exists()


def test_who_asks_for_it_too_often_is_told_on_a_page_of_ours() -> None:
    client = Client()
    said = [client.post(reverse("account_reset_password"), {"email": "nobody@example.org"}) for _n in range(6)]
    assert [page.status_code for page in said] == [302] * 5 + [429]
    assert "That was too often in a short time" in (page := said[-1].content.decode())
    assert "palate/base" in page


def test_who_forgot_a_password_learns_nothing_of_whose_addresses_have_accounts(leases: Leases) -> None:
    asked = ["anna@example.org", "nobody@example.org"]

    said = [Client().post(reverse("account_reset_password"), {"email": each}, follow=True) for each in asked]

    known, unknown = (re.sub(r'"\w{64}"', "", page.content.decode()) for page in said)
    assert known.replace(asked[0], "") == unknown.replace(asked[1], "")
    assert [sent.to for sent in mail.outbox] == [[asked[0]]]


def test_who_forgot_a_password_is_answered_before_the_mail_goes_out(leases: Leases, settings: Settings) -> None:
    """By waiting for the mail server, or by its failing, an address would be known to have an account."""
    site = BaseHandler()
    site.load_middleware()
    request = RequestFactory().post(reverse("account_reset_password"), {"email": "anna@example.org"})
    request._dont_enforce_csrf_checks = True

    answer = site.get_response(request)
    before = list(mail.outbox)
    request_finished.disconnect(close_old_connections)  # the test goes on with the connection
    try:
        answer.close()
    finally:
        request_finished.connect(close_old_connections)

    assert answer["Location"] == reverse("account_reset_password_done")
    assert before == []
    assert [sent.to for sent in mail.outbox] == [["anna@example.org"]]
    settings.EMAIL_BACKEND = "nowhere.EmailBackend"
    failed = Client().post(reverse("account_reset_password"), {"email": "anna@example.org"})
    assert failed["Location"] == answer["Location"]
