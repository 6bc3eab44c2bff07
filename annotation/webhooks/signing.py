"""Secrets, and signatures by them, as Standard Webhooks has them: any library of that name can verify them."""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Iterable

from django.conf import settings

from base import ciphers

_PREFIX = "whsec_"
_PURPOSE = "webhooks"


def new_secret() -> str:
    return _PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def locked_up(secret: str) -> str:
    """A secret as it lies in the database: by `SECRET_KEY`, as those of second factors."""
    return ciphers.encrypted(secret, settings.SECRET_KEY, purpose=_PURPOSE)


def unlocked(stored: str) -> str:
    """
    Raises:
        ciphers.Unreadable: it was locked up under a `SECRET_KEY` that is not known any more.
    """
    return ciphers.decrypted(stored, [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS], purpose=_PURPOSE)


def signature(secret: str, *, number: str, seconds: int, body: bytes) -> str:
    """HMAC-SHA256 over the number of the call, its time and its body.

    >>> key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> signature(key, number="msg_p5jXN8AQM9LWM0D4loKWxJek", seconds=1614265330, body=b'{"test": 2432232314}')
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    digest = hmac.digest(key, f"{number}.{seconds}.".encode() + body, "sha256")
    return "v1," + base64.b64encode(digest).decode()


def headers(signing: Iterable[str], *, number: str, seconds: int, body: bytes) -> dict[str, str]:
    """`signing`: secrets, each of which signs."""
    signed = " ".join(signature(one, number=number, seconds=seconds, body=body) for one in signing)
    return {"webhook-id": number, "webhook-timestamp": str(seconds), "webhook-signature": signed}
