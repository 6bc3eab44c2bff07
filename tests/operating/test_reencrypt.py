"""A key that leaked has to go: what it encrypted is encrypted by another one."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.core.management import CommandError, call_command
from pytest_django import Settings

from annotation.models import AuditEvent, Webhook
from annotation.webhooks import actions as webhooks
from annotation.webhooks import signing
from tests import builders
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

    assert said.getvalue().startswith("Secrets that lie encrypted by SECRET_KEY: 4.")
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

    with pytest.raises(CommandError, match=f"of user #{leases.anna.pk}. Where you have the key"):
        call_command("reencrypt", stdout=StringIO())

    assert Authenticator.objects.get().data == stored


def test_who_restores_under_another_key_is_told(transactional_db: None, settings: Settings, tmp_path: Path) -> None:
    """Whoever has a second factor was locked out, every owner perhaps, and nothing said so before they tried."""
    settings.PALATE_EXPORTS, settings.PALATE_UPLOADS = tmp_path / "exports", tmp_path / "uploads"
    leases = builders.leases()
    TOTP.activate(leases.anna, "JBSWY3DPEHPK3PXP")
    call_command("backup", str(tmp_path / "b.zip"), stdout=StringIO())
    told = StringIO()
    for key in (settings.SECRET_KEY, "another-key-of-the-installation"):
        call_command("flush", interactive=False, verbosity=0)
        settings.SECRET_KEY = key
        assert told.getvalue() == ""
        call_command("restore", str(tmp_path / "b.zip"), stdout=StringIO(), stderr=told)

    assert f"of user #{leases.anna.pk}. Set the one" in told.getvalue()
