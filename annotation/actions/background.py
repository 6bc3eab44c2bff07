"""What annotators tell about themselves, once a study."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotation.actions.base import Refused
from annotation.actions.trust import has_agreed
from annotation.answers import Value
from annotation.models import Background, Study, User


def owes_background(*, study: Study, user: User) -> bool:
    """Whether the study asks for a background that this person has not told. One query at most."""
    return bool(study.background.strip()) and not Background.objects.filter(study=study, user=user).exists()


def first_page(*, study: Study, user: User) -> str:
    """The name of the page that somebody has to fill in before their first label; "" where there is none."""
    if not has_agreed(study=study, user=user):
        return "annotation:consent"
    return "annotation:background" if owes_background(study=study, user=user) else ""


def tell_background(*, study: Study, user: User, answers: Mapping[str, Value | None]) -> Background:
    """Keep what somebody tells: {question: option's key or value, None where they say nothing}.

    Raises:
        Refused: they have told it already.
    """
    kept = {key: value for key, value in answers.items() if value is not None}
    try:
        with transaction.atomic():
            return Background.objects.create(study=study, user=user, answers=kept)
    except IntegrityError as error:
        raise Refused(_("You have filled this form in already.")) from error
