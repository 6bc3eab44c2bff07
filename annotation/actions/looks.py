"""Who has seen other raters' labels."""

from __future__ import annotations

from django.db import transaction

from annotation.models import Look, Sheet, User


@transaction.atomic
def note_look(*, sheet: Sheet, user: User) -> Look:
    """Record that `user` sees everybody's labels of a sheet: what they label there from now on is exposed."""
    return Look.objects.create(sheet=sheet, user=user)
