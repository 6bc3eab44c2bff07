"""Verdicts that do not change. All writes are in `recipes.memorization.actions`."""

from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Study
from reports.models import FrozenError


class FrozenVerdictQuerySet(QuerySet["FrozenVerdict"]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise FrozenError(_("A frozen verdict is never changed."))


class FrozenVerdict(models.Model):
    """A verdict as it was on one day, with all that it takes to compute it again. It is never changed.

    `results` is `Contents.content`, `labels` a packed `LabelTable`, `beside` what was said of sense and where recipes
    are from (`verdict.freezing`): the results are a function of these, the filters and the language alone.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="frozen_verdicts")
    title = models.CharField(gettext_lazy("title"), max_length=200)
    filters = models.JSONField(default=dict)
    language = models.CharField(max_length=16)
    labels = models.BinaryField()
    beside = models.TextField(help_text=gettext_lazy("Canonical JSON."))
    results = models.TextField()
    data_digest = models.CharField(max_length=64, help_text=gettext_lazy("SHA-256 of the labels and what is beside."))
    results_digest = models.CharField(max_length=64, help_text=gettext_lazy("SHA-256 of all texts and numbers."))
    code_version = models.CharField(max_length=80)
    libraries = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = FrozenVerdictQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.title

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise FrozenError(_("A frozen verdict is never changed."))
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        return reverse("memorization:frozen-verdict", args=[self.study.slug, self.pk])
