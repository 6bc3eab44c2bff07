"""Judges tried on one cell, before they are stored: tables of `judges.models`."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Column, Question, Row, Study
from llm.models import LanguageModel
from work import models as work

MODEL_FIELDS = (
    "backend", "location", "revision", "gguf_file", "dtype", "device", "served_name", "api_key_env",
    "requests_per_minute", "price_read", "price_written",
)  # fmt: skip

# Nobody waits for a trial whose page has not asked for it for so long. Pages that are not seen ask once a minute.
_UNASKED = timedelta(seconds=90)


class Trial(work.Run):
    """A judge as a form describes it, at one cell. It leaves no label, and goes with the next trial a day later."""

    made_by = ("row", "column", "question")

    study = models.ForeignKey(Study, models.CASCADE, related_name="trials")
    row = models.ForeignKey(Row, models.CASCADE, related_name="+")
    column = models.ForeignKey(Column, models.CASCADE, related_name="+")
    question = models.ForeignKey(Question, models.CASCADE, related_name="+")
    judge = models.JSONField()  # as the form described it
    asked_at = models.DateTimeField(default=timezone.now)  # when a page last asked how far it is

    class Meta:
        ordering = ["-started_at"]
        constraints = [*work.run_constraints("trial")]

    def __str__(self) -> str:
        return " · ".join(filter(None, map(str, (self.row, self.column, self.question))))  # a form's column has no name

    def get_absolute_url(self) -> str:
        return reverse("judges:trial", args=[self.study.slug, self.pk])

    @classmethod
    def lets_end(cls) -> Q:
        """Not one that nobody waits for."""
        return super().lets_end() & Q(asked_at__gt=timezone.now() - _UNASKED)

    @property
    def maker(self) -> str:
        return _("Trial: %(cell)s") % {"cell": self}

    @property
    def wanted_queue(self) -> str:
        model = model_of(self.judge)
        return model.queue if model else "cpu"


class TrialItem(work.Item):
    """The one cell of a trial."""

    run = models.ForeignKey(Trial, models.CASCADE, related_name="items")
    found = models.JSONField(default=dict)  # what it was asked, what came back, and what that took

    class Meta:
        ordering = ["pk"]
        constraints = [*work.item_constraints("trial_item")]
        indexes = work.item_indexes("trial_item")

    def __str__(self) -> str:
        return f"{self.run} ({self.state})"


def model_of(described: dict[str, Any]) -> LanguageModel | None:
    """The model of a described judge: a stored one, one that nobody has stored, or none."""
    named = described.get("model")
    if isinstance(named, int):
        return LanguageModel.objects.filter(pk=named).first()
    if not named:
        return None
    prices = {key: Decimal(named[key]) for key in ("price_read", "price_written") if named.get(key)}
    return LanguageModel(name=named["location"][-90:], **{**named, **prices})
