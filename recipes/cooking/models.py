"""Where a study's sheets and rows come from in the domain of recipes."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models import Row, Sheet
from recipes.cooking.mending_models import Mending
from recipes.cooking.retrieval_models import Fetched, Hit, Retrieval, Search, Site, Visit

__all__ = ["Document", "Fetched", "Hit", "Mending", "Recipe", "Retrieval", "Search", "Site", "Visit"]


class Recipe(models.Model):
    """The generated recipe whose ingredients and tasks are the columns of a sheet."""

    sheet = models.OneToOneField(Sheet, models.CASCADE, related_name="recipe")
    name = models.CharField(max_length=200)
    ingredients = models.JSONField()
    written = models.JSONField(
        default=list,
        blank=True,
        help_text=_("Each ingredient's line as it was written, with its amount; empty where that is the name."),
    )
    steps = models.JSONField()
    tasks = models.JSONField()

    class Meta:
        ordering = ["sheet"]

    def __str__(self) -> str:
        return self.name


class Document(models.Model):
    """The web page behind a row, kept as it was imported, so that its evidence can be taken out of it again."""

    row = models.OneToOneField(Row, models.CASCADE, related_name="document")
    source = models.CharField(max_length=500)
    host = models.CharField(max_length=255, blank=True)
    parser = models.CharField(max_length=100)
    # Which version of the reader it was: how often people mend its lines is counted for each.
    reader = models.CharField(max_length=10, default="1")
    doubts = models.JSONField(default=list, help_text=_("Why the reading may be wrong: keys of pages.doubts."))
    html_gz = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["row"]

    def __str__(self) -> str:
        return self.source
