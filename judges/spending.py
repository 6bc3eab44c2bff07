"""What runs have spent, and whether that is all that they may."""

from __future__ import annotations

from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Sum
from django.utils.translation import gettext as _

from judges.models import Run
from llm.prices import Spent


def spent(run: Run) -> Spent:
    """One query."""
    sums = run.items.aggregate(tokens=Sum("tokens", default=0), written=Sum("written", default=0))
    return Spent(sums["tokens"] - sums["written"], sums["written"], run.prices)


def reached(run: Run) -> str | None:
    """The limit that a run has reached, as a sentence; None while there is none. At most one query."""
    if run.most_tokens is None and run.most_cost is None:
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
