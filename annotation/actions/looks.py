"""Who has seen other raters' labels."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from annotation.models import Look, Sheet, User


@transaction.atomic
def note_look(*, sheet: Sheet, user: User) -> Look:
    """Record that `user` sees everybody's labels of a sheet: what they label there from now on is exposed."""
    return Look.objects.create(sheet=sheet, user=user)


@transaction.atomic
def note_looks(*, sheets: Iterable[Sheet], user: User) -> list[Look]:
    """As `note_look`, for all sheets of which a download shows everybody's labels. One query."""
    return Look.objects.bulk_create(Look(sheet=sheet, user=user) for sheet in sheets)
