"""Frozen reports, and downloads that are made in the background. All writes are in `reports.actions`."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise, cached_property
from django.utils.translation import gettext_lazy

from annotation.models import Study
from reports.hiring.models import (
    Accepted,
    Certificate,
    Revocation,
    Split,
    SplitRow,
    Takeover,
    TakeoverRow,
    TestLook,
)
from work import models as work

__all__ = [
    "Accepted",
    "Certificate",
    "Export",
    "ExportPart",
    "FrozenError",
    "Report",
    "Revocation",
    "Split",
    "SplitRow",
    "Takeover",
    "TakeoverRow",
    "TestLook",
]


T = TypeVar("T", bound="Frozen")


class FrozenError(Exception):
    """Something was about to change what is frozen."""


class FrozenQuerySet(QuerySet[T]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise FrozenError(self.model.NEVER)


class Frozen(models.Model):
    """Numbers and words as they were on one day, with all that it takes to compute them again. It is never changed.

    `results` is `Contents.content`, and `labels` a packed `LabelTable`: the results are a function of the labels, the
    filters and the language alone. `save` and the query set refuse a change; so does a trigger of the database
    (`reports.frozen.guards`).
    """

    NEVER: str | Promise  # the sentence of a refusal

    study: models.ForeignKey[Any, Study]
    title = models.CharField(gettext_lazy("title"), max_length=200)
    filters = models.JSONField(default=dict)
    language = models.CharField(max_length=16)
    labels = models.BinaryField()
    results = models.TextField()
    data_digest = models.CharField(max_length=64, help_text=gettext_lazy("SHA-256 of the label table."))
    results_digest = models.CharField(max_length=64, help_text=gettext_lazy("SHA-256 of all texts and numbers."))
    code_version = models.CharField(max_length=60)
    libraries = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = FrozenQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.title

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise FrozenError(self.NEVER)
        super().save(*args, **kwargs)


class Report(Frozen):
    """A report."""

    NEVER = gettext_lazy("A frozen report is never changed.")

    study = models.ForeignKey(Study, models.PROTECT, related_name="reports")
    seeds = models.JSONField(default=dict)


class Export(work.Run):
    """A download on its way: of a frozen report, or of a study under filters. `file` is in `PALATE_EXPORTS`.

    A run of one item, which a worker makes.
    """

    class Shown(models.TextChoices):
        """Its state, as people who wait for a file say it."""

        WAITING = "waiting", gettext_lazy("waiting")
        WORKING = "working", gettext_lazy("being made")
        READY = "ready", gettext_lazy("ready")
        FAILED = "failed", gettext_lazy("failed")
        CANCELLED = "cancelled", gettext_lazy("cancelled")

    class Form(models.TextChoices):
        ZIP = "zip", gettext_lazy("everything in one ZIP")
        JSONL = "jsonl", gettext_lazy("labels for Hugging Face (JSONL)")
        LABEL_STUDIO = "label-studio", gettext_lazy("labels for Label Studio (JSON)")
        DOCCANO = "doccano", gettext_lazy("texts and labels for doccano (ZIP)")
        PRODIGY = "prodigy", gettext_lazy("texts and labels for Prodigy (JSONL)")
        INCEPTION = "inception", gettext_lazy("texts and marked words for INCEpTION (ZIP)")
        CONLL = "conll", gettext_lazy("texts and marked words as CoNLL-2003 (ZIP)")
        WIDE = "wide", gettext_lazy("labels, a column for each question (CSV)")

    study = models.ForeignKey(Study, models.CASCADE, related_name="exports")
    report = models.ForeignKey(Report, models.CASCADE, null=True, blank=True, related_name="exports")
    form = models.CharField(max_length=12, choices=Form.choices)
    filters = models.JSONField(default=dict)
    language = models.CharField(max_length=16)
    file = models.CharField(max_length=200, blank=True)
    size = models.PositiveBigIntegerField(default=0)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")

    class Meta:
        ordering = ["-started_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(state="finished") & ~Q(file="")) | (~Q(state="finished") & Q(file="")),
                name="export_ready_has_its_file",
            ),
            models.CheckConstraint(
                condition=(Q(state="failed") & ~Q(error="")) | (~Q(state="failed") & Q(error="")),
                name="export_failed_says_why",
            ),
            *work.run_constraints("export"),
        ]

    def __str__(self) -> str:
        return f"{self.get_form_display()} · {self.study}"

    def get_absolute_url(self) -> str:
        return reverse("reports:download", args=[self.study.slug, self.pk])

    @property
    def maker(self) -> str:
        return self.get_form_display()

    @cached_property
    def part(self) -> ExportPart:
        """Its one item. One query."""
        [found] = self.items.all()  # which may be fetched already
        return found

    @property
    def shown(self) -> Export.Shown:
        at_work = self.is_running and self.part.state == ExportPart.State.CLAIMED
        return self.Shown.WORKING if at_work else _SHOWN[work.Run.State(self.state)]


_SHOWN = {
    work.Run.State.RUNNING: Export.Shown.WAITING,
    work.Run.State.FINISHED: Export.Shown.READY,
    work.Run.State.FAILED: Export.Shown.FAILED,
    work.Run.State.CANCELLED: Export.Shown.CANCELLED,
}


class ExportPart(work.Item):
    """The one item of a download. It takes minutes, and says how far it is."""

    run = models.ForeignKey(Export, models.CASCADE, related_name="items")
    percent = models.PositiveSmallIntegerField(default=0)
    step = models.CharField(max_length=80, blank=True, help_text=gettext_lazy("What is being made at the moment."))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run"], name="export_part_once_an_export"),
            *work.item_constraints("export_part"),
        ]
        indexes = work.item_indexes("export_part")

    def __str__(self) -> str:
        return f"{self.run} ({self.state})"
