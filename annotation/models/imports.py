"""Imports that take longer than a page may: runs of the work machine."""

from __future__ import annotations

import uuid

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation.models.study import Study
from work.models import Item, Run, item_constraints, item_indexes, run_constraints

# Files that a run is called by.
_NAMED = 3


class Import(Run):
    """Files that somebody brought, on their way into a study. A run of one item.

    Tables go in whole or not at all; of pages each goes in by itself.
    """

    class What(models.TextChoices):
        ROWS = "rows", _("rows and columns")
        LABELS = "labels", _("labels")
        PAGES = "pages", _("pages")
        TABLES = "tables", _("tables")
        GRAPHS = "graphs", _("graphs")

    study = models.ForeignKey(Study, models.CASCADE, related_name="imports")
    what = models.CharField(max_length=6, choices=What.choices)
    files = models.JSONField(help_text=_("{part of the form: [the file's own name, its name in PALATE_UPLOADS]}"))
    how = models.JSONField(default=dict, help_text=_("How the files are to be read."))
    language = models.CharField(max_length=16)
    outcome = models.JSONField(
        default=dict, help_text=_("What it did, in sentences; or what kept it from doing it; how far pages are.")
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
        names = [own for own, _stored in self.files.values()]
        named = ", ".join(names[:_NAMED])
        n = len(names) - _NAMED
        if n <= 0:
            return named
        return ngettext("%(named)s and %(n)s more", "%(named)s and %(n)s more", n) % {"named": named, "n": n}


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


class Arrival(models.Model):
    """An import that writes in parts: what of it is in the tables already, and is seen by nobody before its end.

    A study has one at a time. Whoever writes renews `beat_at` with each part; what has not been renewed for long is
    taken back (`annotation.exchange.arrivals`).
    """

    study = models.OneToOneField(Study, models.CASCADE, related_name="arrival")
    key = models.UUIDField(
        default=uuid.uuid4, help_text=_("Of this attempt: who writes under another one is too late.")
    )
    owner = models.CharField(max_length=80, blank=True, help_text=_("Who may begin it anew at once."))
    made = models.JSONField(default=dict, help_text=_("What it makes: {kind: [[first key, last key], …]}"))
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.study} · {self.key}"
