"""Deletions of studies that are too large for a page to wait for: runs of the work machine."""

from __future__ import annotations

from django.db import models
from django.urls import reverse

from annotation.models.study import Study
from work.models import Item, Run, item_constraints, item_indexes, run_constraints


class Deletion(Run):
    """A study on its way out, which nobody sees any more (`Study.deleted_at`). A run of one item; outlives it."""

    study = models.ForeignKey(Study, models.SET_NULL, null=True, related_name="deletions")
    title = models.CharField(max_length=200)

    class Meta:
        ordering = ["-started_at", "-pk"]
        constraints = run_constraints("deletion")

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("annotation:studies")


class DeletionPart(Item):
    """The one item of a deletion."""

    run = models.ForeignKey(Deletion, models.CASCADE, related_name="items")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run"], name="deletion_part_once_a_deletion"),
            *item_constraints("deletion_part"),
        ]
        indexes = item_indexes("deletion_part")

    def __str__(self) -> str:
        return f"{self.run} ({self.state})"
