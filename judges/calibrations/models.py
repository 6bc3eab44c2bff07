"""Calibrations that were fitted to stored scores of a judge in a study, with what they were fitted to."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.models import Rater, Study
from judges.methods.calibration import Calibration


class FittedCalibration(models.Model):
    """The best way to choose anew from a judge's stored scores, by question. Never changed."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="calibrations")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="calibrations")
    fitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    fitted_at = models.DateTimeField(auto_now_add=True)
    questions = models.JSONField(
        help_text=_("By the question's name: how it chooses, its calibration, and how all candidates did.")
    )
    lineage = models.JSONField(
        help_text=_("The development documents, and digests of the scores and of the labels that it was fitted to.")
    )

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.rater.code} · {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("judges:calibrations", args=[self.study.slug, self.rater_id])

    @property
    def key(self) -> str:
        """As a report's filter names it."""
        return f"calibration-{self.pk}"

    @property
    def day(self) -> str:
        return f"{self.fitted_at:%Y-%m-%d}"

    @property
    def said(self) -> str:
        """What a report calls it; the same words in every language, since frozen reports hold them."""
        n = self.lineage["n_documents"]
        return f"calibration {self.pk}, fitted to {n} documents, labels {self.lineage['labels_sha256'][:8]}"

    def of(self, question: str) -> Calibration | None:
        """The calibration of a question by its name; None where nothing was fitted, or nothing chose better."""
        fitted: dict[str, Any] | None = self.questions.get(question)
        return None if fitted is None else Calibration.model_validate(fitted["calibration"])
