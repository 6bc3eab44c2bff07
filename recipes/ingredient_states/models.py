"""The pictures of recipes."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models import Row


class Picture(models.Model):
    """What the finished dish looks like. People see it with the recipe, and so do models that read pictures."""

    row = models.OneToOneField(Row, models.CASCADE, related_name="picture")
    media_type = models.CharField(max_length=20)
    data = models.BinaryField()

    class Meta:
        ordering = ["row"]
        constraints = [
            models.CheckConstraint(
                condition=Q(media_type__in=["image/png", "image/jpeg", "image/webp"]), name="picture_is_of_a_known_kind"
            )
        ]

    def __str__(self) -> str:
        return f"{self.row} · {self.media_type}"
