"""Imports that take longer than a page may: runs of the work machine."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.models.study import Study
from work.models import Item, Run, item_constraints, item_indexes, run_constraints


class Import(Run):
    """Files that somebody brought, on their way into a study: all of them or nothing. A run of one item."""

    class What(models.TextChoices):
        ROWS = "rows", _("rows and columns")
        LABELS = "labels", _("labels")

    study = models.ForeignKey(Study, models.CASCADE, related_name="imports")
    what = models.CharField(max_length=6, choices=What.choices)
    files = models.JSONField(help_text=_("{part of the form: [the file's own name, its name in PALATE_UPLOADS]}"))
    how = models.JSONField(default=dict, help_text=_("How a file of labels is to be read."))
    language = models.CharField(max_length=16)
    outcome = models.JSONField(
        default=dict, help_text=_("What it did, in sentences; or the problems that kept it from doing anything.")
    )

    class Meta:
        ordering = ["-started_at", "-pk"]
        constraints = run_constraints("import")

    def __str__(self) -> str:
        return f"{self.names} · {self.study}"

    def get_absolute_url(self) -> str:
        return reverse("annotation:import-run", args=[self.study.slug, self.pk])

    @property
    def maker(self) -> str:
        return self.names

    @property
    def names(self) -> str:
        """Of the files, as the person knows them."""
        files: dict[str, Any] = self.files
        return ", ".join(own for own, _stored in files.values())


class ImportPart(Item):
    """The one item of an import."""

    run = models.ForeignKey(Import, models.CASCADE, related_name="items")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run"], name="import_part_once_an_import"),
            *item_constraints("import_part"),
        ]
        indexes = item_indexes("import_part")

    def __str__(self) -> str:
        return f"{self.run} ({self.state})"
