"""What a manager settles about the work: when a sheet is finished, and what an hour is paid."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from annotation.models import Sheet, Study, User


@transaction.atomic
def close_sheet(*, sheet: Sheet, by: User) -> Sheet:
    """From now on its people change nothing, and take nothing back. What is not submitted stays as it is."""
    Sheet.objects.filter(pk=sheet.pk, closed_at=None).update(closed_at=timezone.now(), closed_by=by)
    sheet.refresh_from_db()
    return sheet


@transaction.atomic
def open_sheet(*, sheet: Sheet) -> Sheet:
    """Let the people of a closed sheet work on it again."""
    Sheet.objects.filter(pk=sheet.pk).update(closed_at=None, closed_by=None, archived_at=None)
    sheet.refresh_from_db()
    return sheet


@transaction.atomic
def show_gold(*, sheet: Sheet, shown: bool) -> Sheet:
    """Whether its people see where their answers differ from the gold, once it is closed."""
    Sheet.objects.filter(pk=sheet.pk).update(shows_gold=shown)
    sheet.refresh_from_db()
    return sheet


@transaction.atomic
def set_pay(*, study: Study, hourly_rate: Decimal | None, currency: str) -> Study:
    """What an hour of active work is paid; None shows hours alone."""
    study.hourly_rate, study.currency = hourly_rate, currency if hourly_rate is not None else ""
    study.save(update_fields=["hourly_rate", "currency"])
    return study
