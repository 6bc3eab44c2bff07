"""What every run of a model has to count and to limit what it spends: abstract, for the tables of `judges.models`."""

from __future__ import annotations

from django.db import models
from django.db.models import BaseConstraint, CheckConstraint, Q
from django.utils.translation import gettext_lazy as _

from llm.prices import Prices
from work import models as work


class SpendingRun(work.Run):
    most_tokens = models.PositiveBigIntegerField(
        null=True, blank=True, help_text=_("The run pauses when it has used so many; empty for no limit.")
    )
    most_cost = models.DecimalField(
        null=True, blank=True, max_digits=12, decimal_places=4,
        help_text=_("The run pauses when it has cost so much; empty for no limit."),
    )  # fmt: skip
    # What rows took that have left the run since: they were withdrawn.
    left_tokens = models.PositiveBigIntegerField(default=0)
    left_written = models.PositiveBigIntegerField(default=0)
    paused = models.BooleanField(default=False, help_text=_("It was stopped by its limit."))

    class Meta:
        abstract = True

    @classmethod
    def lets_end(cls) -> Q:
        """One that paused at its limit too: the next item is not begun."""
        return super().lets_end() | Q(state=cls.State.CANCELLED, paused=True)

    @property
    def state_told(self) -> str:
        """For `get_state_display`, which Django makes anew in each table that does not say it itself."""
        return str(_("paused") if self.paused else self.State(self.state).label)

    @property
    def prices(self) -> Prices | None:
        """By which it is counted: those of its model when it was started."""
        return Prices.stored_as(self.provenance.get("prices"))

    @property
    def is_limited(self) -> bool:
        return self.most_tokens is not None or self.most_cost is not None


class SpendingItem(work.Item):
    # Of all attempts, those that failed included. `written`: those of them that the model wrote.
    tokens = models.PositiveIntegerField(default=0)
    written = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True


def spending_constraints(name: str) -> list[BaseConstraint]:
    """What each such table of runs has besides; `name` begins their names."""
    return [
        CheckConstraint(
            condition=(Q(most_tokens=None) | Q(most_tokens__gte=1)) & (Q(most_cost=None) | Q(most_cost__gt=0)),
            name=f"{name}_may_spend_something",
        ),
        *work.run_constraints(name),
    ]
