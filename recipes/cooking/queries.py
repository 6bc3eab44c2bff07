"""Reads of the domain's own tables. Each says how many queries it costs."""

from __future__ import annotations

from django.urls import reverse

from annotation.models import Row
from recipes.cooking.models import Document


def stored_page(row: Row) -> str | None:
    """Where the page behind a row can be looked at, or None where none is kept. One query."""
    return reverse("recipes:stored-page", args=[row.pk]) if Document.objects.filter(row=row).exists() else None
