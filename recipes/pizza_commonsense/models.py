"""What a table was in the file that it came from."""

from __future__ import annotations

from django.db import models

from annotation.models import Row


class SourceTable(models.Model):
    """The line of a file behind a row, so that it is written again as it was; "" where it came in another form."""

    row = models.OneToOneField(Row, models.CASCADE, related_name="pizza_source")
    published_id = models.CharField(max_length=200, blank=True)
    record = models.TextField(blank=True)

    class Meta:
        ordering = ["row"]

    def __str__(self) -> str:
        return str(self.row)
