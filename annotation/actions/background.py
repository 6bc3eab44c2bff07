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


def refuse_before_first_page(*, study: Study, user: User) -> None:
    """
    Raises:
        Refused: a page is to be filled in first.
    """
    match first_page(study=study, user=user):
        case "annotation:consent":
            raise Refused(_("Agree to take part on the study's page of consent first."))
        case "annotation:background":
            raise Refused(_("Fill in the study's background form on its page first."))


def owed_of_sheet(*, sheet_id: int, user_id: int) -> str:
    """As `owed_in_study`, by ids. Four queries at most."""
    study = Study.objects.filter(sheets=sheet_id).first()
    user = User.objects.filter(pk=user_id).first()
    return owed_in_study(study=study, user=user) if study and user else ""


def owed_in_study(*, study: Study, user: User) -> str:
    """Why a page of the grid gets and saves nothing: a page that is to be filled in first; "" where there is none.

    It may have been opened before the study asked for it, or asked for it anew. Two queries at most.
    """
    match first_page(study=study, user=user):
        case "annotation:consent":
            return _(
                "The study asks for your consent first, or anew. Reload the page and agree to it; "
                "what you have answered waits in this browser until then."
            )
        case "annotation:background":
            return _(
                "The study asks something about you first. Reload the page and fill its form in; "
                "what you have answered waits in this browser until then."
            )
    return ""


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
