"""Extractors, what they took out of documents, and their runs over studies: tables of `judges.models`."""

from __future__ import annotations

from functools import cached_property

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.models import Row, Study
from judges.extraction.prompts import ExtractionPrompt, load_extraction_prompt
from judges.spending.models import SpendingItem, SpendingRun, spending_constraints
from llm.models import LanguageModel
from work import models as work


class Extractor(models.Model):
    """Takes lists of items out of documents: the page's own structured data, or a model with a prompt.

    It never changes, so that what it took out is said by its name.
    """

    class Kind(models.TextChoices):
        PARSER = "parser", _("parser: what the document states for programs")
        MODEL = "model", _("model: a language model writes the lists")

    name = models.CharField(max_length=60, unique=True)
    kind = models.CharField(max_length=6, choices=Kind.choices)
    parser = models.CharField(max_length=60, blank=True, help_text=_("Key of a parser of this installation."))
    model = models.ForeignKey(LanguageModel, models.PROTECT, null=True, blank=True, related_name="extractors")
    prompt = models.TextField(blank=True, help_text=_("The text of its prompt file."))
    prompt_digest = models.CharField(max_length=64, blank=True)
    chat_template = models.BooleanField(default=False)
    max_new_tokens = models.PositiveIntegerField(default=2048, help_text=_("Most tokens of one answer."))

    archived_at = models.DateTimeField(null=True, blank=True, help_text=_("Since when it is not offered any more."))

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(kind="parser", model=None, prompt="", prompt_digest="") & ~Q(parser=""))
                | (Q(kind="model", model__isnull=False, parser="") & ~Q(prompt="") & ~Q(prompt_digest="")),
                name="extractor_has_what_its_kind_takes",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @cached_property
    def parsed_prompt(self) -> ExtractionPrompt:
        return load_extraction_prompt(self.prompt)

    @property
    def queue(self) -> str:
        return self.model.queue if self.model else "cpu"


class Extraction(models.Model):
    """One list that an extractor took out of one document, or why what it wrote could not be read as one."""

    extractor = models.ForeignKey(Extractor, models.PROTECT, related_name="extractions")
    row = models.ForeignKey(Row, models.CASCADE, related_name="extractions")
    kind = models.CharField(max_length=12, help_text=_("Kind of the blocks that the items are."))
    items = models.JSONField(default=list, help_text=_("Each: its fields, and which of them the document has not."))
    raw = models.TextField(blank=True, help_text=_("As it was written."))
    repairs = models.JSONField(default=dict, help_text=_("How often each rule mended it."))
    refused = models.TextField(blank=True, help_text=_("Why there are no items."))
    unsupported = models.PositiveIntegerField(default=0, help_text=_("Items that the document has not."))
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["extractor", "row", "kind"]
        constraints = [
            models.UniqueConstraint(fields=["extractor", "row", "kind"], name="extraction_once"),
            models.CheckConstraint(
                condition=(Q(refused="") & ~Q(items=[])) | (~Q(refused="") & Q(items=[])),
                name="extraction_has_items_or_says_why_not",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.extractor} · {self.row} · {self.kind}"


class Correction(models.Model):
    """What a person made of an extracted list. None is ever changed: the last one counts, the others are its history.

    A list that was looked at and left as it is has one, too: only lists with a correction count for an error rate.
    """

    extraction = models.ForeignKey(Extraction, models.CASCADE, related_name="corrections")
    items = models.JSONField(default=list, help_text=_("Each: its fields, and which item it was, from 0 on, or null."))
    changed = models.PositiveIntegerField(help_text=_("Items that say something else than was taken out."))
    dropped = models.PositiveIntegerField()
    added = models.PositiveIntegerField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["extraction", "pk"]

    def __str__(self) -> str:
        return f"{self.extraction}: +{self.added} −{self.dropped} ±{self.changed}"


class ExtractionRun(SpendingRun):
    """One extractor over the documents of one study."""

    made_by = ("extractor",)

    study = models.ForeignKey(Study, models.CASCADE, related_name="extraction_runs")
    extractor = models.ForeignKey(Extractor, models.PROTECT, related_name="runs")

    class Meta:
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "extractor"], condition=Q(state="running"), name="extraction_run_one_at_a_time"
            ),
            *spending_constraints("extraction_run"),
        ]

    def __str__(self) -> str:
        return f"{self.extractor} · {self.study}"

    def get_state_display(self) -> str:  # type: ignore[no-redef]  # Django makes one where there is none
        return self.state_told

    def get_absolute_url(self) -> str:
        return reverse("judges:extraction", args=[self.study.slug, self.pk])

    @property
    def maker(self) -> str:
        return self.extractor.name

    @property
    def wanted_queue(self) -> str:
        return self.extractor.queue


class ExtractionItem(SpendingItem):
    """One document of an extraction run on its way through a worker."""

    run = models.ForeignKey(ExtractionRun, models.CASCADE, related_name="items")
    row = models.ForeignKey(Row, models.CASCADE, related_name="extraction_items")

    class Meta:
        ordering = ["run", "row__sheet__position", "row__position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "row"], name="extraction_item_once_a_run"),
            *work.item_constraints("extraction_item"),
        ]
        indexes = work.item_indexes("extraction_item")

    def __str__(self) -> str:
        return f"{self.row} ({self.state})"
