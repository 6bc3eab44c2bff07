"""A key that leaked has to go: what it encrypted is encrypted by another one."""

from __future__ import annotations

from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.core.management import CommandError, call_command
from pytest_django import Settings

from annotation.models import AuditEvent, Webhook
from annotation.webhooks import actions as webhooks
from annotation.webhooks import signing
from tests.builders import Leases


def test_after_it_the_earlier_key_reads_nothing_and_may_go(leases: Leases, settings: Settings) -> None:
    TOTP.activate(leases.anna, "JBSWY3DPEHPK3PXP")
    codes = RecoveryCodes.activate(leases.anna).get_unused_codes()
    hook, first = webhooks.make_webhook(
        study=leases.study, address="https://example.org/", events=[], origin="https://p.org", by=leases.manager
    )
    second = webhooks.make_secret(hook=hook, by=leases.manager)
    earlier, settings.SECRET_KEY = settings.SECRET_KEY, "another-key-of-the-installation"
    settings.SECRET_KEY_FALLBACKS = [earlier]

    said = StringIO()
    call_command("reencrypt", stdout=said)
    settings.SECRET_KEY_FALLBACKS = []

    assert said.getvalue().startswith("4 secrets lie encrypted by SECRET_KEY.")
    factors = {one.type: one for one in Authenticator.objects.all()}
    assert RecoveryCodes(factors["recovery_codes"]).get_unused_codes() == codes
    assert "JBSWY3DPEHPK3PXP" not in str(factors["totp"].data)
    hook = Webhook.objects.get()
    assert (signing.unlocked(hook.secret), signing.unlocked(hook.earlier_secret)) == (second, first)
    assert AuditEvent.objects.filter(what="secrets encrypted by another key: 4").exists()
    # Once more changes nothing that can be told.
    call_command("reencrypt", stdout=said)
    assert RecoveryCodes(Authenticator.objects.get(type="recovery_codes")).get_unused_codes() == codes


def test_what_no_key_reads_is_named_and_stays(leases: Leases, settings: Settings) -> None:
    TOTP.activate(leases.anna, "JBSWY3DPEHPK3PXP")
    stored = Authenticator.objects.get().data
    settings.SECRET_KEY = "another-key-of-the-installation"

    with pytest.raises(CommandError, match=f"of user #{leases.anna.pk}. Keep the keys"):
        call_command("reencrypt", stdout=StringIO())

    assert Authenticator.objects.get().data == stored
