"""An experiment: people see a judge's answers in some documents, drawn for each of them, and not in the others."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.people import Rater
from annotation.models.study import Study
from annotation.models.work import Assignment


class Experiment(models.Model):
    """Whose answers are shown, and the seed that drew where."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="experiments")
    judge = models.ForeignKey(Rater, models.CASCADE, related_name="experiments")
    seed = models.PositiveIntegerField()
    drawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    drawn_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.study} · {self.judge}"


class ExperimentSeat(models.Model):
    """One person at one document. `shown`: they see what the judge answered there, so that what they label is
    `exposed`."""

    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="seats")
    assignment = models.OneToOneField(Assignment, models.CASCADE, related_name="experiment_seat")
    shown = models.BooleanField()

    def __str__(self) -> str:
        return f"{self.assignment}: {'shown' if self.shown else 'hidden'}"
