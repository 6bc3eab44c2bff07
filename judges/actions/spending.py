"""What a run spends: tokens are counted whatever becomes of an item, and a run that reached its limit pauses."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet, Sum
from django.db.models.expressions import CombinedExpression
from django.utils.translation import gettext as _

from annotation.actions import Refused
from judges.spending import queries as spending
from judges.spending.models import SpendingItem, SpendingRun
from llm.engine.prompt import Tokens
from llm.prices import Prices
from work import actions as work
from work.actions import Held, end
from work.outcomes import GiveUp
from work.states import RunState

LONGEST = Decimal(99_999_999)


def refuse_limits(run_prices: Prices | None, *, most_tokens: int | None, most_cost: Decimal | None) -> None:
    """Raises Refused for a limit that is none, or of money where nothing has a price."""
    if most_tokens is not None and not 1 <= most_tokens <= LONGEST * 1000:
        raise Refused(_("A limit of tokens is a whole number from 1 on."))
    if most_cost is None:
        return
    if run_prices is None:
        raise Refused(_("This model has no price, so that a run of it cannot have a limit of money."))
    if not 0 < most_cost <= LONGEST:
        raise Refused(_("A limit of money is a number over 0."))


def stored_prices(prices: Prices | None) -> dict[str, Any]:
    """For the record of a run: what `SpendingRun.prices` reads."""
    return {"prices": prices.stored()} if prices else {}


def resume(
    run: SpendingRun, *, most_tokens: int | None, most_cost: Decimal | None, without: Collection[str], enqueue: bool
) -> None:
    """Go on with a run under limits in the place of those that it has, which stay where None is given.

    Args:
        without: which limits (`most_tokens`, `most_cost`) it has no more.
        enqueue: as for `work.actions.resume`.

    Raises:
        Refused: such a limit is none, the run has spent what it may, or nothing is left to do.
    """
    refuse_limits(run.prices, most_tokens=most_tokens, most_cost=most_cost)
    for name, most in (("most_tokens", most_tokens), ("most_cost", most_cost)):
        if most is not None or name in without:
            setattr(run, name, most)
    if (reached := spending.reached(run)) is not None:
        raise Refused(_("%(reached)s Resume it with a higher limit.") % {"reached": reached})
    run.paused = False
    run.save(update_fields=["most_tokens", "most_cost", "paused"])
    if not work.resume(run, enqueue=enqueue):
        raise Refused(_("Nothing is left to do in this run."))


def pause_if_spent(run: SpendingRun) -> None:
    """Stop a run that has reached its limit; what others have begun is finished (`SpendingRun.lets_end`).

    No query of one that had no limit when its item was claimed: it is given one where it is resumed, which takes from
    their holders what they hold.

    Raises:
        GiveUp: it had.
    """
    if not run.is_limited:
        return
    run.refresh_from_db(fields=["most_tokens", "most_cost"])
    if (reached := spending.reached(run)) is None:
        return
    with transaction.atomic():
        end(run, RunState.CANCELLED, error=reached, paused=True)
    raise GiveUp


def keep(run: SpendingRun, items: QuerySet[Any]) -> None:
    """What items have spent that leave a run stays with it."""
    sums = items.aggregate(tokens=Sum("tokens", default=0), written=Sum("written", default=0))
    if sums["tokens"]:
        type(run)._default_manager.filter(pk=run.pk).update(
            left_tokens=F("left_tokens") + sums["tokens"], left_written=F("left_written") + sums["written"]
        )


class Counter:
    """What is told of the calls of a backend for one item, and goes on to the item's holder."""

    def __init__(self, held: Held[Any]) -> None:
        self._held = held
        self.tokens = self.written = 0

    def __call__(self, fed: int, done: int) -> None:
        self.tokens, self.written = int(fed), fed.written if isinstance(fed, Tokens) else 0
        self._held.beat(fed, done)

    def counted(self, written: int) -> None:
        """The tokens of the answers: of a backend that counts all alike, what it wrote. Each was fed to it once
        more."""
        if not self.written:
            self.written = min(written, self.tokens)

    @property
    def added(self) -> dict[str, CombinedExpression]:
        """For the end of the item: the numbers of all its attempts."""
        return {"tokens": F("tokens") + self.tokens, "written": F("written") + self.written}


@contextmanager
def counted(held: Held[Any]) -> Iterator[Counter]:
    """`held.beat`, with an ear for the tokens: where the item fails, those that it took are written to it."""
    counter = Counter(held)
    try:
        yield counter
    except BaseException:
        if counter.tokens:
            item: SpendingItem = held.item
            type(item)._default_manager.filter(pk=item.pk).update(**counter.added)
        raise
