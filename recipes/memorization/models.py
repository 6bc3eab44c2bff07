"""Verdicts that do not change. All writes are in `recipes.memorization.actions`."""

from __future__ import annotations

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy

from annotation.models import Study
from reports.models import Frozen


class FrozenVerdict(Frozen):
    """A verdict. `beside` is what was said of sense and where recipes are from (`verdict.freezing`); the results are a
    function of that, too."""

    NEVER = gettext_lazy("A frozen verdict is never changed.")

    study = models.ForeignKey(Study, models.PROTECT, related_name="frozen_verdicts")
    beside = models.TextField(help_text=gettext_lazy("Canonical JSON."))
    data_digest = models.CharField(max_length=64, help_text=gettext_lazy("SHA-256 of the labels and what is beside."))
    code_version = models.CharField(max_length=80)

    def get_absolute_url(self) -> str:
        return reverse("memorization:frozen-verdict", args=[self.study.slug, self.pk])
