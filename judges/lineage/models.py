"""What each version of a judge came from."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotation.models import Study


def with_its_study(collector: Any, field: Any, origins: Any, using: str) -> None:
    """A judge that others came from stays, unless it is known in one study alone: then it goes with that study, and
    what came from it and stays has no origin any more."""
    if kept := origins.filter(parent__study=None):
        models.PROTECT(collector, field, kept, using)
    models.CASCADE(collector, field, origins, using)


class Origin(models.Model):
    """Where a judge came from. What differs between the two stands in the judges themselves, which never change.

    A judge that weighs others together comes from all that its prompt names; of an average of arms `parent` is the
    judge whose arms they are, of a fitted stacker there is none. `rows` are of this step alone: those of the judges
    that it came from stand with them (`judges.lineage.queries.origins_behind`).
    """

    class How(models.TextChoices):
        COPY = "copy", _("copied")
        EXAMPLES = "examples", _("given examples")
        CALIBRATION = "calibration", _("calibrated")
        STACKER = "stacker", _("fitted together")
        ARM = "arm", _("an arm")
        AVERAGE = "average", _("averaged over arms")

    judge = models.OneToOneField("judges.Judge", models.CASCADE, related_name="origin")
    parent = models.ForeignKey("judges.Judge", with_its_study, null=True, blank=True, related_name="versions")
    how = models.CharField(max_length=12, choices=How.choices)
    study = models.ForeignKey(
        Study, models.SET_NULL, null=True, blank=True, related_name="+", help_text=_("Whose labels it was made by.")
    )
    rows = models.JSONField(
        null=True,
        blank=True,
        help_text=_("The keys of the rows that it was fitted to or has examples of; null: that was not kept."),
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(judge=F("parent")), name="origin_is_another_judge"),
            models.CheckConstraint(condition=Q(how="stacker") | Q(parent__isnull=False), name="origin_has_a_parent"),
            models.CheckConstraint(
                condition=Q(how__in=["copy", "examples", "calibration", "stacker", "arm", "average"]),
                name="origin_how_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge}: {self.get_how_display()}"
