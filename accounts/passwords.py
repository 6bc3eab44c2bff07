"""What a password must not be made of, beside what Django's own validators refuse."""

from __future__ import annotations

import re

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from accounts import actions
from annotation.actions import note
from annotation.models import AuditEvent, User
from base.logs import now_about

# What anybody would try first at this place; its host names come to it.
WORDS = (
    "palate", "demo", "annotation", "annotations", "annotate", "annotator", "manager", "researcher", "owner", "admin",
    "administrator", "university", "study", "label", "labels", "judge", "password", "heslo", "welcome",
)  # fmt: skip
_LEFT = 4  # letters that have to be left when these words are taken out


class NotOfThisPlace:
    """Refuses a password of which little is left without the words of this place, digits and signs."""

    def validate(self, password: str, user: User | None = None) -> None:
        hosts = (
            part for host in settings.ALLOWED_HOSTS for part in re.split(r"[^a-z]+", host.lower()) if len(part) > 3
        )
        words = sorted({*WORDS, *hosts}, key=len, reverse=True)
        letters = re.sub(r"[\W\d_]+", "", password.lower())
        left = re.sub("|".join(map(re.escape, words)), "", letters)
        if left != letters and len(left) < _LEFT:
            raise ValidationError(
                _("This password is made of words that anybody would try here first."), code="password_of_this_place"
            )

    def password_changed(self, password: str, user: User) -> None:
        """Django calls it wherever a password is set: by the administration and `manage.py changepassword` too."""
        actions.withdraw_by_password(user=user, by=None)
        if "request" not in now_about():  # no page was asked, which would note who did it
            note(AuditEvent.Kind.PASSWORD, of=user, what="set by a command")

    def get_help_text(self) -> str:
        return _("Your password can’t be made of the name of this place or of what people do here.")
