"""An invitation that is bound to an address: a code is mailed there, and who types it has shown that it is theirs.

The browser's session keeps the digest of the code; tries are counted for the invitation, by all processes.
"""

from __future__ import annotations

import secrets
import time

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from annotation import actions
from annotation.models import Invite
from annotation.people import mail

_LASTS = 15 * 60  # seconds
_TRIES = 10  # in a quarter of an hour: mails, and typed codes
_SENT, _SHOWN = "invite_code", "invite_shown"


def is_sent(request: HttpRequest, invite: Invite) -> bool:
    sent = request.session.get(_SENT, {})
    return bool(sent.get("invite") == invite.pk and sent["until"] > time.time())


def is_shown(request: HttpRequest, invite: Invite) -> bool:
    return bool(request.session.get(_SHOWN) == invite.pk)


def send(request: HttpRequest, invite: Invite) -> None:
    """Mail a code.

    Raises:
        Refused: too often, or no mail can be sent.
    """
    _count(f"invite-mail:{invite.pk}")
    code = f"{secrets.randbelow(10**6):06}"
    text = _("Your code to join “%(study)s” is %(code)s. It works for 15 minutes, in the browser that asked for it.")
    subject = _("Your code to join “%(study)s”") % {"study": invite.study.title}
    if not mail.send(subject=subject, text=text % {"study": invite.study.title, "code": code}, to=invite.email):
        raise actions.Refused(_("The code could not be sent. Try again later."))
    request.session[_SENT] = {"invite": invite.pk, "digest": _digest(code), "until": time.time() + _LASTS}


def show(request: HttpRequest, invite: Invite, code: str) -> None:
    """Take a typed code.

    Raises:
        Refused: too often, or it is not the code.
    """
    _count(f"invite-code:{invite.pk}")
    if not is_sent(request, invite) or not constant_time_compare(
        request.session[_SENT]["digest"], _digest(code.strip())
    ):
        raise actions.Refused(_("That is not the code that was sent, or it is too old."))
    del request.session[_SENT]
    request.session[_SHOWN] = invite.pk


def _digest(code: str) -> str:
    return salted_hmac("annotation.invite", code, algorithm="sha256").hexdigest()


def _count(name: str) -> None:
    if actions.try_allowed([(name, _TRIES)]):
        raise actions.Refused(_("Too many attempts. Try again in a quarter of an hour."))
