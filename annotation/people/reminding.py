"""A person is reminded of the work that waits."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.actions import Refused
from annotation.models import Assignment, Rater
from annotation.people import mail


@dataclass(frozen=True)
class Reminder:
    """What was sent `to` an address; or where it was not `sent`, what somebody may send by whatever way there is. `to`
    is empty where no mail could be tried."""

    text: str
    to: str
    sent: bool


def remind(rater: Rater, link: str) -> Reminder:
    """Send a mail where that can be. `link`: to where the work is.

    Raises:
        Refused: the person cannot log in, or has nothing left to do.
    """
    assert rater.user is not None
    if not rater.user.is_active:
        raise Refused(_("The account of %(code)s is closed: reassign the work.") % {"code": rater.code})
    work = rater.assignments.filter(state__in=[Assignment.State.OPEN, Assignment.State.STARTED])
    left = work.filter(row__sheet__closed_at=None).count()
    if not left:
        raise Refused(_("%(code)s has nothing left to do.") % {"code": rater.code})
    text = ngettext(
        "Hello %(name)s,\n\n%(n)s %(row)s of “%(study)s” waits for you. You can go on where you stopped:\n\n%(link)s",
        "Hello %(name)s,\n\n%(n)s %(rows)s of “%(study)s” wait for you. You can go on where you stopped:\n\n%(link)s",
        left,
    ) % {
        "name": rater.user.get_short_name() or rater.user.username,
        "n": left,
        "study": rater.study.title,
        "link": link,
        **rater.study.scheme.parsed.words.model_dump(),
    }
    text += mail.ask(rater.study)
    to = rater.user.email if mail.is_set_up() else ""
    subject = _("A reminder of “%(study)s”") % {"study": rater.study.title}
    return Reminder(text, to, sent=bool(to) and mail.send(subject=subject, text=text, to=to))
