"""How people mended what the reader took out of pages: tables of `recipes.cooking.models`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.evidence.blocks import Block, blocks_from_json
from annotation.models import Row


class Mending(models.Model):
    """One time that somebody went through a document's lines; one without changes says that they are right.

    Entries are added and never changed: what the reader found, and each state since, can be told from them.
    """

    row = models.ForeignKey(Row, models.CASCADE, related_name="mendings")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    before = models.JSONField(help_text=_("The document's blocks until then."))
    after = models.JSONField()
    changes = models.JSONField(default=list, help_text=_("Each with what was done, the kind of line and its text."))
    n_added = models.PositiveIntegerField(default=0)
    n_dropped = models.PositiveIntegerField(default=0)
    n_moved = models.PositiveIntegerField(default=0)
    n_changed = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["row", "pk"]

    def __str__(self) -> str:
        return f"{self.row}: +{self.n_added} −{self.n_dropped}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError("Entries of the history of mendings are not changed.")
        super().save(*args, **kwargs)

    @property
    def blocks_before(self) -> list[Block]:
        return blocks_from_json(self.before)

    @property
    def is_confirmation(self) -> bool:
        return not self.changes
