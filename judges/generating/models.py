"""Runs in which models write texts for the rows of a study: tables of `judges.models`."""

from __future__ import annotations

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.models import Row, Study
from judges.spending.models import SpendingItem, SpendingRun, spending_constraints
from llm.models import Generation, LanguageModel
from work import models as work


class GenerationRun(SpendingRun):
    """Texts by one model for rows of one study, as they were asked for together."""

    made_by = ("model",)

    study = models.ForeignKey(Study, models.CASCADE, related_name="generation_runs")
    model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="generation_runs")
    request = models.JSONField(default=dict, help_text=_("What was asked for, with the wordings."))

    class Meta:
        ordering = ["-started_at", "-pk"]
        constraints = [*spending_constraints("generation_run")]

    def __str__(self) -> str:
        return f"{self.maker} · {self.study}"

    def get_state_display(self) -> str:  # type: ignore[no-redef]  # Django makes one where there is none
        return self.state_told

    def get_absolute_url(self) -> str:
        return reverse("judges:generation", args=[self.study.slug, self.pk])

    @property
    def maker(self) -> str:
        return self.model.name

    @property
    def wanted_queue(self) -> str:
        return self.model.queue


class GenerationItem(SpendingItem):
    """One text of a run, on its way through a worker."""

    run = models.ForeignKey(GenerationRun, models.CASCADE, related_name="items")
    row = models.ForeignKey(Row, models.CASCADE, related_name="generation_items")
    generation = models.OneToOneField(Generation, models.CASCADE, related_name="item")
    prompt_type = models.CharField(max_length=40)
    number = models.PositiveSmallIntegerField(help_text=_("Which of the texts of its type, from 1."))

    class Meta:
        ordering = ["run", "pk"]
        constraints = [*work.item_constraints("generation_item")]
        indexes = work.item_indexes("generation_item")

    def __str__(self) -> str:
        return f"{self.generation.input} · {self.prompt_type} {self.number} ({self.state})"
