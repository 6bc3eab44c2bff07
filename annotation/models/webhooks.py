"""Webhooks: addresses that are called when something happens in a study, and the calls. Runs of the work machine."""

from __future__ import annotations

import json
import uuid
from datetime import datetime
from urllib.parse import urlsplit

from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models.study import Study
from work.models import Item, Run, item_constraints, item_indexes, run_constraints


class Webhook(Run):
    """A program of somebody's that hears what happens in a study.

    It is a run that ends whenever nothing is left to send, and goes on with the next event: running or finished, it is
    on; cancelled, somebody has switched it off; failed, Palate has, and `error` says why. Its `rests` count failed
    attempts since the last that went well, and until `rest_until` nothing is tried.
    """

    class Event(models.TextChoices):
        ROW_SUBMITTED = "row.submitted", _("Somebody submitted a row")
        ROW_REOPENED = "row.reopened", _("A submitted row was taken back")
        SHEET_COMPLETED = "sheet.completed", _("Every row of a sheet is submitted")
        RUN_FINISHED = "run.finished", _("A judge's run finished")
        RUN_PAUSED = "run.paused", _("A judge's run paused at its limit")
        RUN_FAILED = "run.failed", _("A judge's run failed")
        REPORT_FROZEN = "report.frozen", _("A report was frozen")

    PING = "ping"  # sent by “Try it” alone
    ON = (Run.State.RUNNING, Run.State.FINISHED)

    study = models.ForeignKey(Study, models.CASCADE, related_name="webhooks")
    address = models.URLField(max_length=500)
    events = models.JSONField(default=list)
    # Encrypted (`annotation.webhooks.signing`). After a new one is made, the earlier one signs too for a while.
    secret = models.TextField()
    earlier_secret = models.TextField(blank=True)
    earlier_until = models.DateTimeField(null=True)
    origin = models.CharField(max_length=300, help_text=_("Where this installation was when it was made."))
    failing_since = models.DateTimeField(null=True, help_text=_("The first failure since a call that went well."))

    class Meta:
        ordering = ["pk"]
        constraints = run_constraints("webhook")

    def __str__(self) -> str:
        return urlsplit(self.address).netloc

    def get_absolute_url(self) -> str:
        return reverse("annotation:webhook", args=[self.study.slug, self.pk])

    @property
    def is_on(self) -> bool:
        return self.state in self.ON

    @property
    def signs_twice(self) -> bool:
        return self.earlier_until is not None and self.earlier_until > timezone.now()


class Delivery(Item):
    """One call. `number` is the same in all attempts, so that who is called twice can tell."""

    run = models.ForeignKey(Webhook, models.CASCADE, related_name="items")
    number = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    event = models.CharField(max_length=20)
    body = models.JSONField()
    made_at = models.DateTimeField(auto_now_add=True)
    wanted_at = models.DateTimeField(default=timezone.now, help_text=_("It is given up a day later."))
    tried_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True, help_text=_("Of the last answer."))

    class Meta:
        ordering = ["-pk"]
        constraints = item_constraints("delivery")
        indexes = item_indexes("delivery")

    def __str__(self) -> str:
        return f"{self.event} → {self.run}"

    @property
    def is_over(self) -> bool:
        return self.state in (self.State.DONE, self.State.FAILED)

    @property
    def body_text(self) -> str:
        return json.dumps(self.body, indent=2, ensure_ascii=False)

    @property
    def next_at(self) -> datetime | None:
        """When it is tried again; None where that is at once, or never."""
        return self.not_before if self.not_before is not None and self.not_before > timezone.now() else None
