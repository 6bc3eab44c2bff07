"""What all actions share."""

from __future__ import annotations

from annotation.models import (
    Study,
)


class Refused(Exception):
    """What was asked for cannot be done; `str()` is the sentence for the person who asked."""


class NotNow(Refused):
    """It cannot be done now, and may be later: a submission can be taken back, a closed sheet opened."""


class SheetClosed(NotNow):
    pass


def lock_study(study_id: int) -> None:
    """Make others who change the make-up of this study (its people, sheets, rows, plans) wait for this transaction."""
    # Not the stronger lock: it would hold up everybody who adds something that refers to the study.
    Study.objects.select_for_update(no_key=True).values_list("pk").get(pk=study_id)
