"""Whether a certificate holds today."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from reports.hiring.queries.certifying import changes
from reports.hiring.queries.supervising import supervision_of
from reports.models import Certificate, Revocation

if TYPE_CHECKING:
    from reports.stats.hiring.supervision import Watch


@dataclass(frozen=True)
class Standing:
    """Whether a certificate holds today, and why not; `code` for pages: standing, expired, changed, alarm, revoked."""

    code: str
    reason: str = ""

    @property
    def holds(self) -> bool:
        return self.code == "standing"


def standing_of(certificate: Certificate, watched: Watch | None = None, *, today: date | None = None) -> Standing:
    """As it is now, whether or not somebody has written down yet that it is revoked."""
    revocation = Revocation.objects.filter(certificate=certificate).first()
    if revocation is not None:
        return Standing("revoked", revocation.reason)
    if changed := changes(certificate):
        return Standing("changed", why_changed(changed))
    if (watched or supervision_of(certificate).watch).alarm:
        return Standing("alarm", why_alarm(certificate))
    if certificate.until < (today or timezone.localdate()):
        return Standing("expired", _("It was given until %(day)s.") % {"day": certificate.until.isoformat()})
    return Standing("standing")


def why_changed(changed: Collection[str]) -> str:
    return _("Not as it was when it was certified: %(what)s.") % {"what": ", ".join(changed)}


def why_alarm(certificate: Certificate) -> str:
    return _("Supervision has shown that more than %(epsilon)s %% of the accepted cells are wrong.") % {
        "epsilon": f"{certificate.epsilon * 100:g}"
    }
