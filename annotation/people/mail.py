"""Sending mail, where a way to is set up."""

from __future__ import annotations

import logging

from django.conf import settings
from django.core.mail import EmailMessage

logger = logging.getLogger(__name__)

# Backends behind which there is no mail: what they get is printed to the log, or lost.
_NOT_SENDING = {f"django.core.mail.backends.{name}.EmailBackend" for name in ("console", "dummy", "filebased")}


def is_set_up() -> bool:
    return settings.EMAIL_BACKEND not in _NOT_SENDING


def send(*, subject: str, text: str, to: str) -> bool:
    """Send a mail and say whether it went out."""
    return sent(EmailMessage(" ".join(subject.split()), text, None, [to]))


def sent(message: EmailMessage) -> bool:
    """Send what is made already, and say whether it went out."""
    try:
        message.send()
    except Exception:  # a backend may raise whatever it likes
        logger.exception("A mail could not be sent")
        return False
    return True
