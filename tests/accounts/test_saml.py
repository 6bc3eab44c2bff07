"""Single sign-on by SAML with a real identity provider on loopback; runs where the group `saml` is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation import actions
from annotation.models import AuditEvent, Role, User
from tests.accounts.identity_provider import PERSISTENT, TRANSIENT, Provider, _key_and_certificate, running
from tests.builders import Leases
from tests.test_settings import started

pytest.importorskip("onelogin", reason="the group saml is not installed")

from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers import registry

from accounts import saml

pytestmark = [pytest.mark.django_db, pytest.mark.once]
HOST = "palate.example.org"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def provider(settings: Settings) -> Iterator[Provider]:
    with running() as found:
        settings.ROOT_URLCONF = "tests.accounts.saml_urls"
        settings.ALLOWED_HOSTS = [HOST]
        settings.SAML_IDP, settings.SAML_NAME = found.entity, "University"
        idp = {"entity_id": found.entity, "sso_url": f"{found.url}/sso", "x509cert": found.keys[1]}
        app = {"provider_id": found.entity, "name": "University", "client_id": "sso"}
        app["settings"] = {"idp": idp, "sp": {}, "uid": []}  # type: ignore[assignment]
        settings.SOCIALACCOUNT_PROVIDERS = {"saml": {"APPS": [app]}}
        registry.load()
        registry.register(saml.Provider)
        found.person = {
            "urn:oasis:names:tc:SAML:attribute:subject-id": "nina@university.example",
            "urn:oid:0.9.2342.19200300.100.1.1": "nina",
            "urn:oid:0.9.2342.19200300.100.1.3": "nina@example.org",
        }
        yield found
        registry.provider_map.pop("saml")


def browser() -> Client:
    return Client(HTTP_HOST=HOST)


def answer(client: Client, there: str = "", **query: str) -> str:
    """Press the button and go to the provider: what it sends back."""
    query = {**query, **({"next": there} if there else {})}
    pressed = client.post(reverse("saml_login", args=["sso"]), query_params=query)
    with urllib.request.urlopen(pressed["Location"], timeout=10) as page:
        found = re.search('name="SAMLResponse" value="([^"]+)"', page.read().decode())
    assert found
    return found[1]


def come_back(client: Client, sent: str) -> HttpResponse:
    back = client.post(reverse("saml_acs", args=["sso"]), {"SAMLResponse": sent})
    return client.get(back["Location"])  # type: ignore[return-value]


def sign_on(client: Client, there: str = "", **query: str) -> HttpResponse:
    return come_back(client, answer(client, there, **query))


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_who_is_invited_comes_from_the_university(leases: Leases, provider: Provider) -> None:
    _invite, token = actions.invite(study=leases.study, role=Role.ANNOTATOR, by=leases.manager)
    link = reverse("annotation:join", args=[token])
    client = browser()
    assert "Log in with University" in client.get(link).content.decode()

    assert sign_on(client, link)["Location"] == reverse("annotation:home")
    nina = User.objects.get(username="nina")
    assert (nina.email, nina.has_usable_password()) == ("nina@example.org", False)
    assert nina.memberships.get().study == leases.study
    again = browser()
    sign_on(again)
    assert int(again.session["_auth_user_id"]) == nina.pk
    assert User.objects.filter(email="nina@example.org").count() == 1


def test_who_is_not_invited_gets_no_account_by_saml(leases: Leases, provider: Provider, settings: Settings) -> None:
    client = browser()
    assert "Accounts are made by invitation." in sign_on(client).content.decode()
    assert not is_in(client)
    settings.SAML_ADMITS = "everybody"
    sign_on(client)
    assert is_in(client)


def test_an_address_that_is_known_is_not_opened_by_saml(leases: Leases, provider: Provider, settings: Settings) -> None:
    settings.SAML_ADMITS = "everybody"
    settings.SOCIALACCOUNT_EMAIL_AUTHENTICATION = True
    User.objects.filter(pk=leases.anna.pk).update(email="Nina@Example.org")
    client = browser()

    assert sign_on(client)["Location"] == reverse("login")
    assert not is_in(client)
    client.force_login(leases.anna, backend="annotation.sessions.Backend")
    client.post(reverse("account_reauthenticate"), {"password": "anna"})
    sign_on(client, process="connect")
    other = browser()
    sign_on(other)
    assert int(other.session["_auth_user_id"]) == leases.anna.pk


FORGED: dict[str, Callable[[Provider], None]] = {
    "not signed": lambda idp: setattr(idp, "signs", False),
    "signed by another key": lambda idp: setattr(idp, "with_keys", _key_and_certificate()),
    "for another service": lambda idp: setattr(idp, "audience", "https://other.example.org"),
    "an old one": lambda idp: setattr(idp, "late", True),
    "an answer to nothing that was asked": lambda idp: setattr(idp, "answers_to", "_somebody-else"),
}


@pytest.mark.parametrize("forged", FORGED)
def test_an_answer_that_is_not_the_providers_opens_nothing(
    leases: Leases, provider: Provider, settings: Settings, forged: str
) -> None:
    settings.SAML_ADMITS = "everybody"
    FORGED[forged](provider)
    client = browser()
    sign_on(client)
    assert not is_in(client)
    assert not User.objects.filter(email="nina@example.org").exists()


def test_an_answer_opens_once_and_in_its_own_browser(leases: Leases, provider: Provider, settings: Settings) -> None:
    settings.SAML_ADMITS = "everybody"
    client, thief = browser(), browser()
    sent = answer(client)
    come_back(thief, sent)
    assert not is_in(thief)
    come_back(client, sent)
    assert is_in(client)
    client.logout()
    come_back(client, sent)
    assert not is_in(client)


def test_a_changed_answer_opens_nothing(leases: Leases, provider: Provider, settings: Settings) -> None:
    """The signature is of the assertion: another one put before it, or another name in it, is refused."""
    import base64

    settings.SAML_ADMITS = "everybody"
    client = browser()
    sent = base64.b64decode(answer(client)).decode()
    changed = sent.replace("nina@university.example", "boss@university.example")
    come_back(client, base64.b64encode(changed.encode()).decode())
    assert not is_in(client)
    [assertion] = re.findall("<saml:Assertion.*</saml:Assertion>", sent, re.DOTALL)
    unsigned = re.sub("<ds:Signature.*</ds:Signature>", "", assertion, flags=re.DOTALL)
    forged = unsigned.replace("nina@", "boss@").replace('ID="_', 'ID="_x', 1)
    wrapped = sent.replace(assertion, forged + assertion)
    sign_anew = browser()
    answer(sign_anew)
    come_back(sign_anew, base64.b64encode(wrapped.encode()).decode())
    assert not is_in(sign_anew)


@pytest.mark.parametrize("where", ["attribute", "name ID"])
def test_a_comment_cuts_no_name_off(
    leases: Leases, provider: Provider, settings: Settings, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Whoever may choose `boss<!-- -->.evil` there has it signed, and is not `boss` here."""
    settings.SAML_ADMITS = "everybody"
    monkeypatch.setattr("tests.accounts.identity_provider.escape", str)  # a comment is signed as no part of the text
    known = []
    for name in ("boss", "boss<!-- -->.evil"):
        if where == "attribute":
            provider.person = {"urn:oasis:names:tc:SAML:attribute:subject-id": name}
        else:
            provider.person, provider.name = {"employee": "e"}, (name, PERSISTENT)
        client = browser()
        sign_on(client)
        known.append(client.session["_auth_user_id"])

    assert len(set(known)) == 2
    assert sorted(SocialAccount.objects.values_list("uid", flat=True)) == ["boss", "boss.evil"]


@pytest.mark.parametrize("relay", ["https://evil.example/", "//evil.example", "/\\evil.example"])
def test_an_answer_leads_to_an_address_of_ours_alone(
    leases: Leases, provider: Provider, settings: Settings, relay: str
) -> None:
    settings.SAML_ADMITS = "everybody"
    client, other = browser(), browser()
    back = client.post(reverse("saml_acs", args=["sso"]), {"SAMLResponse": answer(client), "RelayState": relay})

    assert client.get(back["Location"])["Location"] == reverse("annotation:home")
    assert sign_on(other, relay)["Location"] == reverse("annotation:home")
    assert is_in(client)
    assert is_in(other)


def test_entities_of_an_answer_are_not_read(leases: Leases, provider: Provider) -> None:
    import base64

    client = browser()
    answer(client)
    nested = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    for entities in ('<!ENTITY e9 SYSTEM "file:///etc/passwd">', f'<!ENTITY e0 "x">{nested}'):
        sent = f"<!DOCTYPE x [{entities}]><x>&e9;</x>"
        assert come_back(client, base64.b64encode(sent.encode()).decode())["Location"] == reverse("login")
    assert not is_in(client)


def test_a_name_of_the_day_makes_no_account(leases: Leases, provider: Provider, settings: Settings) -> None:
    settings.SAML_ADMITS = "everybody"
    provider.name = ("_today", TRANSIENT)
    provider.person.pop("urn:oasis:names:tc:SAML:attribute:subject-id")
    client = browser()
    assert sign_on(client)["Location"] == reverse("login")
    assert "nothing by which you are known the next time" in client.get(reverse("login")).content.decode()
    assert not is_in(client)
    # A lasting name ID, or an attribute that this installation names, does.
    settings.SOCIALACCOUNT_PROVIDERS["saml"]["APPS"][0]["settings"]["uid"] = ["employee"]
    provider.person["employee"] = "e4711"
    sign_on(client)
    assert is_in(client)


def test_an_answer_without_any_name_makes_no_account(leases: Leases, provider: Provider, settings: Settings) -> None:
    settings.SAML_ADMITS = "everybody"
    provider.name = ("", "")
    provider.person.pop("urn:oasis:names:tc:SAML:attribute:subject-id")
    client = browser()
    assert sign_on(client)["Location"] == reverse("login")
    assert "nothing by which you are known the next time" in client.get(reverse("login")).content.decode()
    assert not is_in(client)
    event = AuditEvent.objects.latest("pk")
    assert (event.kind, event.what) == ("login-failed", "single sign-on: no name that lasts")


def _attribute(name: str, value: str) -> str:
    return f'<saml:Attribute Name="{name}">{value}</saml:Attribute>'


_NESTED = "<saml:AttributeValue><saml:NameID>x</saml:NameID></saml:AttributeValue>"
_EMAIL, _GIVEN = "urn:oid:0.9.2342.19200300.100.1.3", "urn:oid:2.5.4.42"
UNUSABLE: dict[str, tuple[dict[str, str], str, str]] = {
    "an address that is a name ID": ({}, _attribute(_EMAIL, _NESTED), "email is not text"),
    "a given name that is a name ID": ({}, _attribute(_GIVEN, _NESTED), "first_name is not text"),
    "a name that is too long": ({_GIVEN: "N" * 10_000}, "", "first_name is longer than 300 characters"),
    "a user name that is too long": (
        {"urn:oid:0.9.2342.19200300.100.1.1": "n" * 10_000}, "", "username is longer than 300 characters"
    ),
    "an identifier that is too long": (
        {"urn:oasis:names:tc:SAML:attribute:subject-id": "n" * 192}, "", "uid is longer than 191 characters"
    ),
}  # fmt: skip


@pytest.mark.parametrize("sent", UNUSABLE)
@pytest.mark.sample(2)
def test_attributes_that_cannot_be_used_open_nothing_and_are_told(
    leases: Leases, provider: Provider, settings: Settings, sent: str
) -> None:
    settings.SAML_ADMITS = "everybody"
    person, provider.more, reason = UNUSABLE[sent]
    if provider.more:
        provider.person.pop(_EMAIL)
    provider.person |= person
    client = browser()

    assert sign_on(client)["Location"] == reverse("login")
    assert (
        "Single sign-on sent something about you that cannot be used here."
        in client.get(reverse("login")).content.decode()
    )
    assert not is_in(client)
    event = AuditEvent.objects.latest("pk")
    assert (event.kind, event.what) == ("login-failed", f"single sign-on: {reason}")


@pytest.mark.parametrize("more", [_attribute(_EMAIL, ""), _attribute(_EMAIL, "<saml:AttributeValue/>")])
def test_who_comes_without_any_attribute_has_a_lasting_name_alone(
    leases: Leases, provider: Provider, settings: Settings, more: str
) -> None:
    settings.SAML_ADMITS = "everybody"
    provider.person, provider.more = {}, more
    client = browser()

    sign_on(client)

    assert User.objects.get(pk=client.session["_auth_user_id"]).email == ""


@pytest.mark.parametrize("sent", ["", "no base64", "PHg+", "PHgvPg==", "bm8gWE1M"])
@pytest.mark.sample(2)
def test_an_answer_that_cannot_be_read_is_told(leases: Leases, provider: Provider, sent: str) -> None:
    client = browser()
    answer(client)

    assert come_back(client, sent)["Location"] == reverse("login")
    assert "an answer that is not valid" in client.get(reverse("login")).content.decode()
    assert not is_in(client)


def test_an_answer_with_an_empty_statement_of_attributes_is_told(
    leases: Leases, provider: Provider, settings: Settings
) -> None:
    settings.SAML_ADMITS = "everybody"
    provider.person = {}
    client = browser()

    assert sign_on(client)["Location"] == reverse("login")
    assert "an answer that is not valid" in client.get(reverse("login")).content.decode()
    assert not is_in(client)


def test_nobody_is_logged_out_by_a_message(leases: Leases, provider: Provider) -> None:
    client = browser()
    client.force_login(leases.anna)
    there = reverse("saml_sls", args=["sso"])
    for how in (client.get, client.post):
        assert how(there, {"SAMLRequest": "x", "RelayState": "https://evil.example/"}).status_code == 404
    assert is_in(client)


def test_environment_variables_are_all_that_it_needs(tmp_path: Path) -> None:
    certificate = tmp_path / "idp.pem"
    certificate.write_text(_key_and_certificate()[1])
    variables = {
        "SAML_IDP": "https://idp.example.org/metadata",
        "SAML_SSO_URL": "https://idp.example.org/sso",
        "SAML_CERTIFICATE": str(certificate),
    }

    def told(says: str) -> str:
        environment = {**os.environ, **variables, "PALATE_ENV": "test", "PALATE_VAR": str(tmp_path)}
        environment.pop("DJANGO_SETTINGS_MODULE", None)
        done = subprocess.run(
            [sys.executable, "manage.py", "shell", "-v", "0", "-c", says],
            cwd=ROOT, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout + done.stderr

    metadata = told(
        "from allauth.socialaccount.providers.saml.utils import build_saml_config;"
        "from django.conf import settings; from django.test import RequestFactory;"
        "from onelogin.saml2.settings import OneLogin_Saml2_Settings as Checked; settings.ALLOWED_HOSTS = ['*'];"
        "[app] = settings.SOCIALACCOUNT_PROVIDERS['saml']['APPS'];"
        "request = RequestFactory().get('/', headers={'host': 'palate.example.org'});"
        "print(Checked(build_saml_config(request, app['settings'], 'sso')).get_sp_metadata());"
        "print(settings.CONTENT_SECURITY_POLICY['DIRECTIVES']['form-action'])"
    )
    assert 'entityID="http://palate.example.org/account/saml/sso/metadata/"' in metadata, metadata
    assert 'Location="http://palate.example.org/account/saml/sso/acs/"' in metadata
    assert "'https://idp.example.org'" in metadata
    oidc = {"OIDC_SERVER_URL": "https://a.example.org", "OIDC_CLIENT_ID": "a", "OIDC_CLIENT_SECRET": "b"}
    for wrong, said in (
        ({"SAML_SSO_URL": ""}, "SAML_CERTIFICATE"),
        ({"SAML_CERTIFICATE": "/nowhere.pem"}, "cannot be read"),
        (oidc, "one single sign-on"),
    ):
        with pytest.raises(ImproperlyConfigured, match=said):
            started(tmp_path, **{**variables, **wrong, "PALATE_ENV": "test"})


def test_two_providers_do_not_share_names(leases: Leases, provider: Provider, settings: Settings) -> None:
    settings.SAML_ADMITS = "everybody"
    sign_on(browser())
    with running() as second:
        second.person = {**provider.person, "urn:oid:0.9.2342.19200300.100.1.3": "nina@elsewhere.example"}
        other = replace(second)
        app = settings.SOCIALACCOUNT_PROVIDERS["saml"]["APPS"][0]
        app["provider_id"] = other.entity
        app["settings"]["idp"] = {"entity_id": other.entity, "sso_url": f"{second.url}/sso", "x509cert": other.keys[1]}
        client = browser()
        sign_on(client)
        assert is_in(client)
    assert User.objects.filter(email__startswith="nina@").count() == 2
