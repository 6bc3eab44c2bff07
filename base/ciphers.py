"""Secrets that have to be read again: they lie encrypted in the database, by a key that does not lie there."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class Unreadable(Exception):
    """It was encrypted by none of the keys."""


@cache
def _cipher(purpose: str, key: str) -> Fernet:
    from cryptography.fernet import Fernet

    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"{purpose}:{key}".encode()).digest()))


def encrypted(text: str, key: str, *, purpose: str) -> str:
    """What is encrypted for one purpose is read for no other.

    >>> decrypted(encrypted("whsec_1", "k", purpose="hooks"), ["new", "k"], purpose="hooks")
    'whsec_1'
    """
    return _cipher(purpose, key).encrypt(text.encode()).decode()


def decrypted(text: str, keys: Sequence[str], *, purpose: str) -> str:
    """By the first of the keys that fits.

    Raises:
        Unreadable: none does.
    """
    from cryptography.fernet import InvalidToken, MultiFernet

    try:
        return MultiFernet([_cipher(purpose, key) for key in keys]).decrypt(text.encode()).decode()
    except InvalidToken:
        raise Unreadable from None
