"""A kind of work that writes numbers down: the smallest that has all that the machine knows of one."""

from __future__ import annotations

from django.db import models

from work.models import Item, Run, item_constraints, item_indexes, run_constraints


class Batch(Run):
    wanted = models.CharField(max_length=20, default="cpu")

    class Meta:
        constraints = run_constraints("batch")

    @property
    def wanted_queue(self) -> str:
        return self.wanted


class Piece(Item):
    run = models.ForeignKey(Batch, models.CASCADE, related_name="items")
    number = models.PositiveIntegerField()
    void = models.BooleanField(default=False)
    weight = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = item_constraints("piece")
        indexes = item_indexes("piece")


class Written(models.Model):
    """What was done; nothing in the table forbids that it is done twice."""

    number = models.PositiveIntegerField()
    key = models.UUIDField()
    note = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.number} {self.note}"
