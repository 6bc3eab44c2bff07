"""A security key as the second factor: set up and used in a browser, by an authenticator that Chromium plays itself."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import expect

from annotation.models import AuditEvent
from tests import builders
from tests.journeys.conftest import Browsing

pytestmark = pytest.mark.once

KEY = {
    "protocol": "ctap2",
    "transport": "usb",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def test_a_security_key_opens_what_the_password_does_not(browsing: Browsing) -> None:
    root = builders.user("root", superuser=True)
    page = browsing.person()
    cdp = page.context.new_cdp_session(page)
    cdp.send("WebAuthn.enable")
    cdp.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})

    def log_in() -> None:
        page.goto("/login/")
        page.get_by_label("Username").fill("root")
        page.get_by_label("Password").fill("root")
        page.get_by_role("button", name="Log in").click()

    log_in()
    page.goto("/account/second-factor/webauthn/add/")
    page.get_by_label("Password").fill("root")  # what matters is asked for again
    page.get_by_role("button", name="Go on").click()
    page.wait_for_load_state()  # the script that asks the key has come
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    log_in()
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    page.goto("/owner/")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    log_in()
    expect(page.get_by_role("button", name="Use a security key")).to_be_visible()
    page.wait_for_load_state()
    page.get_by_role("button", name="Use a security key").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    page.goto("/owner/log/")
    expect(page.get_by_role("cell", name="+webauthn")).to_be_visible()

    assert set(Authenticator.objects.values_list("type", flat=True)) == {"webauthn", "recovery_codes"}
    assert AuditEvent.objects.filter(kind="login", by=root.pk).count() == 2
