"""Where a provider's word for an address opens an account: only that of whom the address was shown to be."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.models import User
from tests.accounts.provider import Provider
from tests.accounts.test_getting_in import PASSWORD, again, is_in, log_in, provider, shown, sign_on
from tests.builders import Leases

__all__ = ["provider"]  # a fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
def trusting(provider: Provider, settings: Settings) -> Provider:
    """As `OIDC_TRUSTS_EMAIL=true` and `OIDC_ADMITS=everybody` have it."""
    settings.OIDC_ADMITS = "everybody"
    settings.SOCIALACCOUNT_EMAIL_AUTHENTICATION = settings.SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
    return provider


def mallory(leases: Leases) -> Client:
    """Somebody with an account of their own."""
    User.objects.create_user("mallory", password=PASSWORD)
    client = Client()
    log_in(client, "mallory", PASSWORD)
    again(client, PASSWORD)
    return client


def give(client: Client, address: str, *, as_own: bool) -> None:
    """On the page of one's addresses, as anybody may: nobody confirms it."""
    page = reverse("account_email")
    client.post(page, {"action_add": "", "email": address})
    if as_own:
        client.post(page, {"action_primary": "", "email": address})


def test_an_address_that_nobody_has_shown_to_be_theirs_opens_no_account(leases: Leases, trusting: Provider) -> None:
    """Whoever had given nina's address as their own had her in their account, with a key to it that stayed theirs."""
    there = mallory(leases)
    give(there, "nina@example.org", as_own=True)
    who = User.objects.get(username="mallory")
    assert who.email == "nina@example.org"
    nina = Client()

    assert sign_on(nina)["Location"] == reverse("login")

    assert "An account here has your address already." in shown(nina)
    assert not is_in(nina)
    assert (is_in(there), who.has_usable_password()) == (True, True)


def test_an_address_that_somebody_else_has_given_beside_their_own_keeps_nobody_out(
    leases: Leases, trusting: Provider
) -> None:
    there = mallory(leases)
    give(there, "nina@example.org", as_own=False)
    nina = Client()

    asked = sign_on(nina)["Location"]
    assert asked == reverse("socialaccount_signup")
    nina.post(asked, {"username": "nina", "email": ""})

    assert nina.get("/").context["user"] == User.objects.get(username="nina")


def test_an_address_that_was_confirmed_here_opens_its_account(leases: Leases, trusting: Provider) -> None:
    EmailAddress.objects.create(user=leases.anna, email="nina@example.org", verified=True, primary=True)
    client = Client()

    sign_on(client)

    assert client.get("/").context["user"] == leases.anna
