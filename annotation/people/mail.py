"""Sending mail, where a way to is set up."""

from __future__ import annotations

import logging

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.translation import gettext as _

from annotation.models import Invite, Study

logger = logging.getLogger(__name__)

# Backends behind which there is no mail: what they get is printed to the log, or lost.
_NOT_SENDING = {f"django.core.mail.backends.{name}.EmailBackend" for name in ("console", "dummy", "filebased")}


def is_set_up() -> bool:
    return settings.EMAIL_BACKEND not in _NOT_SENDING


def send(*, subject: str, text: str, to: str) -> bool:
    """Send a mail and say whether it went out."""
    return sent(EmailMessage(" ".join(subject.split()), text, None, [to]))


def ask(study: Study) -> str:
    """The last lines of a mail: whom to ask about the study; "" where nobody is named."""
    if not study.contact_text:
        return ""
    return "\n\n" + _("Questions about this study? Contact %(who)s.") % {"who": study.contact_text}


def send_invite(invite: Invite, link: str) -> bool:
    """Send the link of an invitation to its address, and say whether it went out."""
    text = _(
        "You are invited to “%(study)s” as %(role)s.\n\nJoin with this link, which works once, until %(until)s:\n\n"
        "%(link)s"
    ) % {
        "study": invite.study.title,
        "role": invite.get_role_display(),
        "until": f"{invite.expires_at:%Y-%m-%d}",
        "link": link,
    }
    text += ask(invite.study)
    subject = _("Your invitation to “%(study)s”") % {"study": invite.study.title}
    return send(subject=subject, text=text, to=invite.email)


def sent(message: EmailMessage) -> bool:
    """Send what is made already, and say whether it went out."""
    try:
        message.send()
    except Exception:  # a backend may raise whatever it likes
        logger.exception("A mail could not be sent")
        return False
    return True
