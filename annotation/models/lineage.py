"""What rows and columns of derived studies rest on."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.scheme import Question
from annotation.models.study import Column, Row, Study
from annotation.models.work import Assignment


class Lineage(models.Model):
    """A row or a column of a derived study, and one thing of the study before that it rests on.

    That is a label, named by its cell (assignment, column and question) since a label that is cleared is gone, with the
    code that it had then; or a whole row, which it was.
    """

    class How(models.TextChoices):
        GOLD = "gold", _("gold")
        RATER = "rater", _("the rater that was named")
        MAJORITY = "majority", _("what most people said")

    study = models.ForeignKey(Study, models.CASCADE, related_name="lineage")
    made_row = models.ForeignKey(Row, models.CASCADE, null=True, related_name="lineage")
    made_column = models.ForeignKey(Column, models.CASCADE, null=True, related_name="lineage")
    row = models.ForeignKey(Row, models.SET_NULL, null=True, related_name="made")
    assignment = models.ForeignKey(Assignment, models.SET_NULL, null=True, related_name="+")
    column = models.ForeignKey(Column, models.SET_NULL, null=True, related_name="+")
    question = models.ForeignKey(Question, models.PROTECT, null=True, related_name="+")
    code = models.TextField(blank=True, help_text=_("What the label said then; empty where it was the row itself."))
    how = models.CharField(max_length=8, choices=How.choices, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(made_row__isnull=False, made_column=None) | Q(made_row=None, made_column__isnull=False),
                name="lineage_of_a_row_or_a_column",
            ),
            models.CheckConstraint(
                condition=Q(code="", how="") | ~Q(code="") & Q(how__in=["gold", "rater", "majority"]),
                name="lineage_says_how_a_label_was_chosen",
            ),
        ]
        indexes = [models.Index(fields=["assignment", "column", "question"], name="lineage_by_cell")]
        verbose_name_plural = "lineage"

    def __str__(self) -> str:
        return f"{self.made_row or self.made_column} ← {self.row} {self.code}".rstrip()
