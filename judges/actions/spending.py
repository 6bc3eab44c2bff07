"""What a run spends: tokens are counted whatever becomes of a row, and a run that reached its limit pauses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import Refused
from judges import spending
from judges.models import Run, WorkItem
from llm.engine.prompt import OnProgress, Tokens
from work.actions import Held
from work.outcomes import GiveUp
from work.states import RunState

LONGEST = Decimal(99_999_999)


def refuse_limits(run_prices: object, *, most_tokens: int | None, most_cost: Decimal | None) -> None:
    """Raises Refused for a limit that is none, or of money where nothing has a price."""
    if most_tokens is not None and not 1 <= most_tokens <= LONGEST * 1000:
        raise Refused(_("A limit of tokens is a whole number from 1 on."))
    if most_cost is None:
        return
    if run_prices is None:
        raise Refused(_("This model has no price, so that a run of it cannot have a limit of money."))
    if not 0 < most_cost <= LONGEST:
        raise Refused(_("A limit of money is a number over 0."))


def pause_if_spent(run: Run) -> None:
    """Stop a run that has reached its limit; the rows that others have begun are finished.

    Raises:
        GiveUp: it had.
    """
    run.refresh_from_db(fields=["most_tokens", "most_cost"])
    if (reached := spending.reached(run)) is None:
        return
    with transaction.atomic():
        Run.objects.filter(pk=run.pk, state=RunState.RUNNING).update(
            state=RunState.CANCELLED, paused=True, ended_at=timezone.now(), error=reached
        )
    raise GiveUp


@contextmanager
def counted(held: Held[WorkItem]) -> Iterator[OnProgress]:
    """`held.beat`, with an ear for the tokens: where the row fails, those that it took are written to its item."""
    tokens, written = 0, 0

    def beat(fed: int, done: int) -> None:
        nonlocal tokens, written
        tokens, written = int(fed), fed.written if isinstance(fed, Tokens) else 0
        held.beat(fed, done)

    try:
        yield beat
    except BaseException:
        if tokens:
            WorkItem.objects.filter(pk=held.item.pk).update(tokens=F("tokens") + tokens, written=F("written") + written)
        raise
