"""What lies in the database encrypted by `SECRET_KEY`: second factors, and the secrets of webhooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from allauth.mfa.models import Authenticator
from django.conf import settings

from accounts.adapters import SECOND_FACTORS
from annotation.models import Webhook
from annotation.webhooks import signing
from base import ciphers

_OF_A_FACTOR = ("secret", "seed")  # of an app that shows codes, and of recovery codes
_OF_A_WEBHOOK = ("secret", "earlier_secret")

Holder: TypeAlias = Authenticator | Webhook


def holders(*, locked: bool = False) -> Iterator[Holder]:
    """Rows with something encrypted in them; `locked`: nobody else changes them before the transaction ends."""
    for model in (Authenticator, Webhook):
        rows = model._default_manager.order_by("pk")
        for row in rows.select_for_update(of=("self",)) if locked else rows:
            if stored(row):
                yield row


def stored(row: Holder) -> dict[str, str]:
    """By their names."""
    if isinstance(row, Authenticator):
        return {name: row.data[name] for name in _OF_A_FACTOR if name in row.data}
    return {name: getattr(row, name) for name in _OF_A_WEBHOOK if getattr(row, name)}


def decrypted(row: Holder) -> dict[str, str]:
    """
    Raises:
        ciphers.Unreadable: by neither `SECRET_KEY` nor an earlier one.
    """
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    if isinstance(row, Authenticator):
        return {name: ciphers.decrypted(one, keys, purpose=SECOND_FACTORS) for name, one in stored(row).items()}
    return {name: signing.unlocked(one) for name, one in stored(row).items()}


def encrypt(row: Holder, secrets: dict[str, str]) -> None:
    for name, secret in secrets.items():
        if isinstance(row, Authenticator):
            row.data[name] = ciphers.encrypted(secret, settings.SECRET_KEY, purpose=SECOND_FACTORS)
        else:
            setattr(row, name, signing.locked_up(secret))
    row.save(update_fields=["data"] if isinstance(row, Authenticator) else list(secrets))


def is_readable(row: Holder) -> bool:
    try:
        decrypted(row)
    except ciphers.Unreadable:
        return False
    return True


def name_of(row: Holder) -> str:
    """For an operator, who finds the user by the number in the address of the person's page."""
    if isinstance(row, Authenticator):
        return f"{row.get_type_display()} of user #{row.user_id}"
    return f"webhook #{row.pk}"
