"""The states of runs and of their work, the same for every kind."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

# Of messages to the queue: a lower number goes first, and those that have none, such as a recovery, are 0. So these
# come between two items of a long run and not after all of it.
SHORT_WORK_PRIORITY, LONG_WORK_PRIORITY = 3, 6


class RunState(models.TextChoices):
    RUNNING = "running", _("running")
    FINISHED = "finished", _("finished")
    CANCELLED = "cancelled", _("cancelled")
    FAILED = "failed", _("failed")


class ItemState(models.TextChoices):
    QUEUED = "queued", _("queued")
    CLAIMED = "claimed", _("at work")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
