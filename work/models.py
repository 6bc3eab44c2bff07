"""Runs and their items, abstract. An app has a subclass of each for a kind of work; see `work`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from django.conf import settings
from django.db import models
from django.db.models import BaseConstraint, CheckConstraint, Index, Q
from django.utils.translation import gettext_lazy as _

from work.states import ItemState, RunState


class Run(models.Model):
    """What somebody started; its items are the work."""

    State: TypeAlias = RunState
    made_by: ClassVar[tuple[str, ...]] = ()  # the relations that `maker` is read from

    state = models.CharField(max_length=10, choices=RunState.choices, default=RunState.RUNNING)
    error = models.TextField(blank=True)
    provenance = models.JSONField(default=dict)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    # Workers of which queue do it; `wanted_queue` as it was when the work was last put there.
    queue = models.CharField(max_length=20, default="cpu")
    # Since when its work stands on the queue, which is its place there; None: a process does it by itself.
    queued_at = models.DateTimeField(null=True)
    # When its work was last put on the queue, and how often; see actions.recover.
    enqueued_at = models.DateTimeField(null=True)
    enqueued_times = models.PositiveIntegerField(default=0)
    # While nobody is there to do the work, the whole run waits; see `outcomes.Away`.
    rests = models.PositiveSmallIntegerField(default=0)
    rest_until = models.DateTimeField(null=True)

    if TYPE_CHECKING:
        items: Any

    class Meta:
        abstract = True

    def get_absolute_url(self) -> str:
        raise NotImplementedError

    @property
    def wanted_queue(self) -> str:
        """The queue whose workers can do this run's work."""
        return "cpu"

    @classmethod
    def lets_end(cls) -> Q:
        """Which runs have what a worker has begun done."""
        return Q(state=RunState.RUNNING)

    @property
    def is_running(self) -> bool:
        return self.state == RunState.RUNNING

    @property
    def maker(self) -> str:
        """What does the work, for a list of runs."""
        return str(self)


class Item(models.Model):
    """One piece of a run's work, on its way through a worker.

    A worker claims an item with a conditional UPDATE, holds it under a lease that it renews while it works, and
    finishes it in the transaction that writes the result, if the item is still its own. So two workers on one item, a
    message that comes twice, and a worker that is killed do no harm.

    A subclass has a foreign key `run` to its run, with `related_name="items"`.
    """

    State: TypeAlias = ItemState

    state = models.CharField(max_length=8, choices=ItemState.choices, default=ItemState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)  # that ended badly, and the present one
    token = models.UUIDField(null=True)
    worker = models.CharField(max_length=120, blank=True, help_text=_("host:process that claimed it last"))
    lease_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text=_("A failed attempt waits before the next."))
    error = models.TextField(blank=True)
    seconds = models.FloatField(default=0)
    done_at = models.DateTimeField(null=True)

    if TYPE_CHECKING:
        run: Any
        run_id: Any

    class Meta:
        abstract = True


def run_constraints(name: str) -> list[BaseConstraint]:
    """What each table of runs has; `name` begins their names."""
    return [
        CheckConstraint(
            condition=(Q(state="running") & Q(ended_at=None)) | (~Q(state="running") & Q(ended_at__isnull=False)),
            name=f"{name}_ended_has_its_time",
        )
    ]


def item_constraints(name: str) -> list[BaseConstraint]:
    """What each table of items has; `name` begins their names."""
    return [
        CheckConstraint(
            condition=~Q(state="claimed") | Q(token__isnull=False, lease_until__isnull=False),
            name=f"{name}_claimed_has_a_lease",
        )
    ]


def item_indexes(name: str) -> list[Index]:
    return [Index(fields=["run", "state"], name=f"{name}_by_state")]
