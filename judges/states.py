"""The states of runs and of their work, the same for judges and extractors."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

# Of a message to the queue; all others have 0, the first. So a recovery, or somebody's download, comes between two
# tasks of a long run and not after all of it. A queue in a folder, the demo's, knows no priorities.
LONG_WORK_PRIORITY = 6


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
