"""What runs have spent, and whether that is all that they may."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Max, Sum
from django.utils.translation import gettext as _

from judges.spending.models import SpendingRun
from llm.engine.prompt import Generated, PromptTooLong, Tokens
from llm.prices import Spent

SMALLEST_COST = Decimal("0.0001")  # that a limit can say


def spent(run: SpendingRun) -> Spent:
    """With what rows took that have left the run since. One query."""
    sums = (
        type(run)
        ._default_manager.filter(pk=run.pk)
        .aggregate(
            tokens=Sum("items__tokens", default=0) + Max("left_tokens"),
            written=Sum("items__written", default=0) + Max("left_written"),
        )
    )
    return Spent(sums["tokens"] - sums["written"], sums["written"], run.prices)


def reached(run: SpendingRun) -> str | None:
    """The limit that a run has reached, as a sentence; None while there is none. At most one query."""
    if not run.is_limited:
        return None
    used = spent(run)
    if run.most_tokens is not None and used.tokens >= run.most_tokens:
        return _("The run paused at its limit of %(most)s tokens; it has used %(used)s.") % {
            "most": intcomma(run.most_tokens),
            "used": intcomma(used.tokens),
        }
    if run.most_cost is not None and used.cost is not None and used.cost >= run.most_cost:
        return _("The run paused at its limit of %(most)s %(currency)s; it has cost %(used)s.") % {
            "most": f"{run.most_cost:f}",
            "currency": used.currency,
            "used": f"{used.cost:.4f}",
        }
    return None


@dataclass(frozen=True)
class Limits:
    """Of a run, in tokens and in money; `as_much_again`: one of them stands in place of one that was reached."""

    most_tokens: int | None
    most_cost: Decimal | None
    as_much_again: bool


def proposed(run: SpendingRun, used: Spent) -> Limits:
    """With which limits a paused run may go on: in place of one that was reached, as much again as it was."""
    tokens, cost = run.most_tokens, run.most_cost
    if more_tokens := tokens is not None and used.tokens >= tokens:
        tokens += used.tokens
    if more_cost := cost is not None and used.cost is not None and used.cost >= cost:
        cost += used.cost.quantize(SMALLEST_COST, ROUND_UP)
    return Limits(tokens, cost, as_much_again=more_tokens or more_cost)


def written_in(answers: Sequence[Generated | PromptTooLong]) -> int:
    """The tokens of these answers, where they were counted."""
    return sum(answer.tokens or 0 for answer in answers if isinstance(answer, Generated))


def even_shares(n: int, of: Sequence[object]) -> list[int]:
    """A number in even parts for those that are something; the others have none of it."""
    asking = [place for place, one in enumerate(of) if one]
    parts = [0] * len(of)
    for turn, place in enumerate(asking):
        parts[place] = n // len(asking) + (turn < n % len(asking))
    return parts


def divided(fed: int, told: int, answers: Sequence[Sequence[Generated | PromptTooLong]]) -> list[Tokens]:
    """The tokens of a call in which several items were answered, by item. `fed`: all of them; `told`: those of them
    that a backend says it has written; each item has what its answers have, or where nobody counted an even share."""
    counted = [written_in(of_item) for of_item in answers]
    written = counted if any(counted) else even_shares(told, answers)
    read = even_shares(max(fed - sum(written), 0), answers)
    return [Tokens(read=n_read, written=n_written) for n_read, n_written in zip(read, written, strict=True)]
